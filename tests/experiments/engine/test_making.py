"""Runs made by an executor: their number, stopping, resuming, retries; here and by workers of Dask."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest
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
    """One of which is killed while it trains; the run goes on where it was."""
    clusters = pytest.importorskip("mh4.corpus.clusters", reason="Dask is not installed", exc_type=ImportError)
    words = ("--lang", "toy", "--systems", "mst", "--seeds", "1", "--jobs", "2")
    assert run(*words) == 0
    here = kept(tmp_path, "toy/mst-seed1")
    shutil.rmtree(tmp_path / "home")

    @contextmanager
    def by_dask(home, jobs, slurm):
        with clusters.connected(2, str(home / "logs")) as (client, cluster):
            client.run(sys.path.append, str(ROOT))
            killer = threading.Thread(target=kill_one, args=(client, home))
            killer.start()
            yield executor.Workers(client.get_executor(pure=False, retries=2), cluster.keep, local=False)
            killer.join()

    def kill_one(client, home):
        metrics = home / "models" / "toy" / "mst" / "seed1" / "metrics.jsonl"
        while not metrics.exists() or len(metrics.read_text().splitlines()) < 2:
            time.sleep(0.02)
        [working] = [worker for worker, calls in client.processing().items() if calls]
        os.kill(client.run(os.getpid)[working], signal.SIGKILL)
        (stand_in / "slow").unlink()

    (stand_in / "slow").write_text("mst-1")
    monkeypatch.setattr(experiment, "workers", by_dask)
    assert run(*words) == 0
    assert kept(tmp_path, "toy/mst-seed1") == here and len(calls(stand_in)) == 3  # once here, twice there


DRIVER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from experiments.__main__ import main
from experiments.engine.workplace import Bench
main(["reproduce", *sys.argv[4:]], obj=Bench(Path(sys.argv[3]), [sys.executable, sys.argv[2]]))
"""


def start_and_wait_for(stand_in, tmp_path, run_name, *arguments):
    """Starts the command as a process whose run `run_name` hangs after two evaluations, and returns once it does."""
    (stand_in / "slow").write_text(run_name)
    system, _, seed = run_name.rpartition("-")
    home = tmp_path / "home"
    command = [sys.executable, "-c", DRIVER, str(ROOT), str(STAND_IN), str(home), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    metrics = home / "models" / "toy" / system / ("seed" + seed) / "metrics.jsonl"
    for _ in range(3000):
        if metrics.exists() and len(metrics.read_text().splitlines()) == 2:
            return process
        if process.poll() is not None:
            break
        time.sleep(0.02)
    process.kill()
    pytest.fail("the run did not get that far: %s" % (process.communicate(),))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.usefixtures("ending_signals")
def test_stopped_and_started_again_it_goes_on_from_there(run, stand_in, tmp_path, number):
    process = start_and_wait_for(stand_in, tmp_path, "mst-1", *toy("--seeds", "1 2", "--jobs", "1"))
    process.send_signal(number)
    error = process.communicate(timeout=60)[1]
    what = "interrupted" if number == signal.SIGINT else "stopped by %s" % number.name
    assert process.returncode == 128 + number
    assert error == "reproduce: %s; run the same command again to resume\n" % what
    assert not is_held(tmp_path / "home" / "models" / "toy" / "mst" / "seed1" / "train.log")  # so no child is left
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
    for _ in range(3000):
        if not is_held(log):
            return
        time.sleep(0.02)
    pytest.fail("the training goes on")


def test_two_commands_never_train_one_model(run, stand_in, tmp_path, capsys):
    only = ("--lang", "toy", "--systems", "mst", "--seeds", "1")  # of other runs, either command might come first
    process = start_and_wait_for(stand_in, tmp_path, "mst-1", *only)
    assert run(*only) == 1
    assert "mst seed 1 failed: another process is training it now" in capsys.readouterr().out
    (stand_in / "slow").unlink()
    assert process.wait(timeout=60) == 0
    process.communicate()
    assert [call["run"] for call in calls(stand_in)].count("mst-1") == 1


def is_held(path):
    import fcntl

    with open(path, "ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        return False
