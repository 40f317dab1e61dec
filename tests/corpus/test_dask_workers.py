"""`mh4 corpus` with real Dask workers: killed processes, Ctrl-C, and protection against other users."""

import os
import signal
import subprocess
import sys
import time
from threading import Thread
from types import SimpleNamespace

import corpora
import pytest
from running import wait_for
from trial import Trial, contents

from mh4.errors import InputError

workers = pytest.importorskip("mh4.corpus.workers", reason="Dask is not installed", exc_type=ImportError)
psutil = pytest.importorskip("psutil", reason="Dask is not installed")
clusters = pytest.importorskip("mh4.corpus.clusters", reason="Dask is not installed", exc_type=ImportError)

INTRUDER = os.path.join(os.path.dirname(__file__), "intruder.py")


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    return Trial(tmp_path_factory.mktemp("trial"), megabytes=3)


@pytest.mark.slow
def test_a_worker_and_the_driver_are_killed(trial, tmp_path):
    """After a worker and the driver are killed, no process remains, and the next driver writes what `mh4 parse` writes.

    `make corpus-test` kills far more processes.
    """
    folder = tmp_path / "corpus"
    driver = trial.start(folder, "--workers", "2", "--quiet")
    wait_for(lambda: corpora.in_mid_shard(folder))
    corpora.workers_of(driver)[0].kill()
    wait_for(lambda: corpora.records(folder))
    workers = corpora.workers_of(driver)
    driver.kill()
    driver.communicate()
    wait_for(lambda: not any(map(corpora.alive, workers)))
    done = len(corpora.records(folder))
    code, out, said = corpora.run(*trial.command(folder, "--workers", "1"))
    assert code == 0 and out == "" and all(" shard" in line for line in said.splitlines()), said  # lines of progress
    assert 1 <= done <= len(corpora.records(folder))
    code, _, said = corpora.run("corpus", "join", str(folder), "-o", str(tmp_path / "joined") + "/")
    assert code == 0 and contents(tmp_path / "joined") == trial.parsed, said


def test_workers_are_not_taken_for_gone(monkeypatch):
    """Workers are counted although the client's periodic questions to the scheduler are answered without workers."""
    ask = workers.Client._update_scheduler_info

    async def asked_meanwhile(client, **options):
        await ask(client, **options)
        await ask(client)

    monkeypatch.setattr(workers.Client, "_update_scheduler_info", asked_meanwhile)
    monkeypatch.setattr(workers, "problem", lambda settings: "")
    with clusters.LocalCluster(n_workers=1, processes=False, dashboard_address="127.0.0.1:0") as cluster:
        with workers.Client(cluster) as client:
            assert workers.Workers(client, settings=None, cluster=None).count() == 1


def test_a_client_that_has_closed_itself(monkeypatch):
    """A client closes itself if it cannot reconnect to the scheduler, at any moment; this is one InputError."""
    monkeypatch.setattr(workers, "problem", lambda settings: "")
    moments = [lambda pool: pool._look(), lambda pool: pool.submit(len, ""), lambda pool: pool.finished(1)]
    with clusters.LocalCluster(n_workers=1, processes=False, dashboard_address="127.0.0.1:0") as cluster:
        for number, moment in enumerate(moments):
            client = workers.Client(cluster)
            pool = workers.Workers(client, settings=None, cluster=None)
            assert pool.count() == 1
            if number == 2:
                pool.submit(time.sleep, 1)
            client.close()
            assert client.scheduler is None
            with pytest.raises(InputError, match="the scheduler of the workers is gone"):
                moment(pool)


@pytest.mark.slow
def test_workers_that_dask_has_given_up_are_started_again(monkeypatch):
    """Workers are started again even if starting them takes longer than Dask waits, as on a busy machine."""
    monkeypatch.setattr(workers, "problem", lambda settings: "")
    us = SimpleNamespace(pid=os.getpid())
    with (
        clusters.dask.config.set({"distributed.deploy.lost-worker-timeout": "1ms"}),
        workers.start(SimpleNamespace(settings=None, folder=""), 1) as pool,
    ):
        wait_for(pool.count)
        first = pool._able()
        for worker in corpora.workers_of(us):  # including the one that Dask starts in place of a slow one
            worker.kill()
        wait_for(lambda: pool.count() and not first & pool._able())


def listening():
    """Return the addresses and ports on which this process and its children listen."""
    us = psutil.Process()
    sockets = [socket for process in (us, *us.children(recursive=True)) for socket in process.net_connections("inet")]
    return [socket.laddr for socket in sockets if socket.status == psutil.CONN_LISTEN]


def intrusions(ports):
    """Return the ports at which another user can have our processes run functions."""
    return subprocess.check_output([sys.executable, INTRUDER, *map(str, ports)], timeout=300).decode().splitlines()


@pytest.mark.slow
def test_nobody_else_runs_functions_in_our_processes(monkeypatch):
    """Neither another user (tried if the tests run as root) nor another machine can run functions in our processes."""
    monkeypatch.setattr(workers, "problem", lambda settings: "")
    with clusters.LocalCluster(n_workers=0, processes=False, protocol="tcp://", dashboard_address="127.0.0.1:0") as cluster:
        port = cluster.scheduler.port
        assert intrusions([port]) == ["%d %d" % (port, os.getuid())]  # the intruder succeeds without protection
    with workers.start(SimpleNamespace(settings=None, folder=""), 1) as pool:
        wait_for(pool.count)
        found = listening()
        assert len(found) >= 4 and {address for address, _ in found} == {"127.0.0.1"}  # scheduler, its HTTP server, nanny, worker
        assert intrusions(port for _, port in found) == []


def test_a_scheduler_whose_certificates_are_missing():
    with pytest.raises(InputError, match="^tls://127.0.0.1:1: no workers: TLS expects "):
        with workers.start(SimpleNamespace(settings=None, folder=""), 1, scheduler="tls://127.0.0.1:1"):
            pass


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_an_interrupt_waits_while_dask_starts_or_ends(ending_signals, number):
    """An interrupt is delivered after Dask has started or ended, and not to processes started meanwhile."""
    blocked = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    said, after = [], False
    signal.signal(signal.SIGHUP, signal.default_int_handler)  # the fixture restores it
    with pytest.raises(KeyboardInterrupt):
        with clusters._undisturbed():
            os.kill(os.getpid(), number)
            thread = Thread(target=lambda: said.append(subprocess.check_output([sys.executable, "-c", blocked])))
            thread.start()
            thread.join()
            after = True
    assert after and said == [b"True\n"]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_first_process_of_multiprocessing_leaves_interrupts_blocked():
    """Interrupts stay blocked although the resource tracker of multiprocessing, which starts too, lifts the block."""
    script = """if True:
        import multiprocessing, signal
        from mh4.corpus.clusters import _undisturbed
        with _undisturbed():
            multiprocessing.get_context("spawn").Process(target=int).start()
            print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"""
    assert subprocess.check_output([sys.executable, "-c", script]) == b"True\n"


@pytest.mark.slow
def test_an_interrupt_of_all_processes(trial, tmp_path, ending_signals):
    """However often Ctrl-C is pressed, one line is printed and no process or partial file remains."""
    folder = tmp_path / "corpus"
    driver = trial.start(folder, "--workers", "2", start_new_session=True)
    wait_for(lambda: corpora.in_mid_shard(folder))
    workers = corpora.workers_of(driver)
    for _ in range(2):
        os.killpg(driver.pid, signal.SIGINT)
        time.sleep(0.1)
    out, said = driver.communicate()
    assert (driver.returncode, out, said) == (130, b"", b"mh4: interrupted\n")
    assert not any(map(corpora.alive, workers))
    assert not corpora.in_mid_shard(folder)


@pytest.mark.slow
def test_files_of_workers_are_in_a_folder_of_their_own(tmp_path):
    """Workers write to a private folder: Dask's fixed names in a shared folder could be links to any file."""
    precious, shared = tmp_path / "precious", tmp_path / "shared"
    precious.write_text("precious")
    (shared / "dask-scratch-space").mkdir(parents=True)
    (shared / "dask-scratch-space" / "global.lock").symlink_to(precious)
    (tmp_path / "script.py").write_text(
        "from mh4.corpus.clusters import connected\n"
        "if __name__ == '__main__':\n"
        "    with connected(1, 'logs') as (client, _):\n"
        "        print(client.submit(len, 'abc').result())\n"
    )
    environment = dict(os.environ, TMPDIR=str(shared))
    done = subprocess.run([sys.executable, "script.py"], cwd=str(tmp_path), env=environment, stdout=-1, check=True)
    assert done.stdout == b"3\n" and precious.read_text() == "precious"
    assert [path.name for path in shared.iterdir()] == ["dask-scratch-space"]
