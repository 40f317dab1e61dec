"""Runs by an executor, local or of Dask: their number, stopping, resuming and retries."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
from running import wait_for
from samples import ROOT, STAND_IN, calls, kept, toy

from experiments.engine import executor, experiment

pytestmark = pytest.mark.slow


def test_no_more_than_the_asked_number_at_a_time(run, monkeypatch):
    most = []
    real = executor.child

    def counted(*arguments, **options):
        most.append(len(executor._children))
        return real(*arguments, **options)

    monkeypatch.setattr(executor, "child", counted)
    assert run("--lang", "toy", "--systems", "mh3 mst", "--seeds", "1 2 3", "--jobs", "2") == 0
    assert len(most) == 6 and max(most) <= 1 and not executor._children


def test_the_same_records_by_workers_of_dask(run, stand_in, tmp_path, monkeypatch):
    """A run on workers of Dask, of which one is killed during training, resumes and has the same record."""
    clusters = pytest.importorskip("mh4.corpus.clusters", reason="Dask is not installed", exc_type=ImportError)
    words = ("--lang", "toy", "--systems", "mst", "--seeds", "1", "--jobs", "2")
    assert run(*words) == 0
    here = kept(tmp_path, "toy/mst-seed1")
    shutil.rmtree(tmp_path / "home")

    @contextmanager
    def by_dask(home, jobs, calls):
        with clusters.connected(2, str(home / "logs")) as (client, cluster):
            client.run(sys.path.append, str(ROOT))
            killer = threading.Thread(target=kill_one, args=(client, home))
            killer.start()
            yield executor.Workers(client.get_executor(pure=False, retries=2), cluster.keep, local=False)
            killer.join()

    def kill_one(client, home):
        metrics = home / "models" / "toy" / "mst" / "seed1" / "metrics.jsonl"
        wait_for(lambda: lines_of(metrics) >= 2)
        [working] = [worker for worker, calls in client.processing().items() if calls]
        os.kill(client.run(os.getpid)[working], signal.SIGKILL)
        (stand_in / "slow").unlink()

    (stand_in / "slow").write_text("mst-1")
    monkeypatch.setattr(experiment, "workers", by_dask)
    assert run(*words) == 0
    assert kept(tmp_path, "toy/mst-seed1") == here and len(calls(stand_in)) == 3  # once locally, twice by Dask


DRIVER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from experiments.__main__ import main
from experiments.engine.workplace import Bench
main(["reproduce", *sys.argv[4:]], obj=Bench(Path(sys.argv[3]), [sys.executable, sys.argv[2]]))
"""


def start_and_wait_for(stand_in, tmp_path, run_name, *arguments):
    """Start the command as a process whose run `run_name` hangs after two evaluations, and wait until it does."""
    (stand_in / "slow").write_text(run_name)
    system, _, seed = run_name.rpartition("-")
    home = tmp_path / "home"
    command = [sys.executable, "-c", DRIVER, str(ROOT), str(STAND_IN), str(home), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    metrics = home / "models" / "toy" / system / ("seed" + seed) / "metrics.jsonl"
    wait_for(lambda: lines_of(metrics) == 2, process)
    return process


def lines_of(path):
    return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.usefixtures("ending_signals")
def test_stopped_and_started_again_it_goes_on_from_there(run, stand_in, tmp_path, number):
    process = start_and_wait_for(stand_in, tmp_path, "mst-1", *toy("--seeds", "1 2", "--jobs", "1"))
    process.send_signal(number)
    error = process.communicate(timeout=60)[1]
    what = "interrupted" if number == signal.SIGINT else "stopped by %s" % number.name
    assert process.returncode == 128 + number
    assert error == "reproduce: %s; run the same command again to resume\n" % what
    assert not is_held(tmp_path / "home" / "models" / "toy" / "mst" / "seed1" / "train.log")  # no child runs
    assert [call["run"] for call in calls(stand_in)] == ["mh3-1", "mst-1"]
    (stand_in / "slow").unlink()
    assert run(*toy("--seeds", "1 2", "--jobs", "1")) == 0
    assert [call["run"] for call in calls(stand_in)[2:]] == ["mst-1", "mh3-2", "mst-2"]
    assert [one["evaluation"] for one in kept(tmp_path, "toy/mst-seed1")["curve"]] == [1, 2, 3]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux ends a process with its parent")
def test_a_killed_command_takes_its_trainings_along(stand_in, tmp_path):
    process = start_and_wait_for(stand_in, tmp_path, "mst-1", "--lang", "toy", "--systems", "mst", "--seeds", "1")
    log = tmp_path / "home" / "models" / "toy" / "mst" / "seed1" / "train.log"
    assert is_held(log)
    process.kill()
    process.communicate()
    wait_for(lambda: not is_held(log))


def test_two_commands_never_train_one_model(run, stand_in, tmp_path, capsys):
    only = ("--lang", "toy", "--systems", "mst", "--seeds", "1")  # with several runs, both commands could be first
    process = start_and_wait_for(stand_in, tmp_path, "mst-1", *only)
    assert run(*only) == 1
    assert "mst seed 1 failed: another process is training it now" in capsys.readouterr().out
    (stand_in / "slow").unlink()
    assert process.wait(timeout=60) == 0
    process.communicate()
    assert [call["run"] for call in calls(stand_in)].count("mst-1") == 1


def test_a_worker_that_waits_for_a_lock_is_stopped(tmp_path):
    def wait():
        begun.set()
        with executor.alone(tmp_path / "lock"):
            pass

    begun, other = threading.Event(), open(tmp_path / "lock", "ab")
    fcntl.flock(other, fcntl.LOCK_EX)
    release = threading.Timer(10, other.close)
    release.start()
    with pytest.raises(KeyboardInterrupt), executor.workers(tmp_path, executor.Jobs(1), 1) as them:
        call = them.executor.submit(wait)
        begun.wait()
        raise KeyboardInterrupt
    release.cancel()
    assert isinstance(call.exception(), executor.Failed) and not other.closed
    other.close()


def is_held(path):
    with open(path, "ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        return False
