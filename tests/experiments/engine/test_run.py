"""The files in a run's folder, read while they are being written."""

import json
import multiprocessing
import time

import pytest

from experiments.engine.progress import failures
from experiments.engine.run import FAILED, Run, alone, finished_runs, requested_models
from experiments.engine.workplace import Bench
from mh4.errors import InputError


def line(evaluation):
    return json.dumps({"evaluation": evaluation}) + "\n"


def test_the_last_whole_line_is_what_is_known_of_a_training(tmp_path):
    run, metrics = Run("mh3", 1, tmp_path), tmp_path / "metrics.jsonl"
    run.read_metrics()
    assert run.metrics == {} and run.evaluations() == []
    for text, last in (
        ("", {}),
        (line(1)[:5], {}),  # still being written
        (line(1), {"evaluation": 1}),
        (line(1) + line(2) + line(3)[:-1], {"evaluation": 2}),
        (line(1) + line(2) + line(3), {"evaluation": 3}),
        (line(1) + line(2), {"evaluation": 2}),  # resumed from there
    ):
        metrics.write_text(text)
        run.read_metrics()
        assert run.metrics == last
    assert [found["evaluation"] for found in run.evaluations()] == [1, 2]


def test_one_process_at_a_time_has_a_lock(tmp_path):
    """One that is killed does not keep it."""
    lock, shared, fork = tmp_path / "folder" / "lock", tmp_path / "shared", multiprocessing.get_context("fork")
    shared.write_text("0")

    def count(forever):
        for _ in range(20):
            with alone(lock):
                number = int(shared.read_text())
                time.sleep(60 if forever else 0.001)
                shared.write_text(str(number + 1))

    processes = [fork.Process(target=count, args=(forever,), daemon=True) for forever in (True, False, False, False)]
    for process in processes:
        process.start()
    time.sleep(0.2)
    processes[0].kill()
    for process in processes[1:]:
        process.join(60)
    assert shared.read_text() == "60"


def test_folders_that_are_no_seeds(tmp_path):
    for name in ("seed2", "seed1", "seed²", "seed", "seed-1", "seed" + "9" * 200):
        folder = tmp_path / "mst" / name
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text(json.dumps({"finished": True}))
    assert [run.seed for run in finished_runs(tmp_path, "mst")] == [1, 2]


def test_each_system_needs_the_seeds_that_are_asked_for(tmp_path):
    """One of the default systems may have no model at all."""
    systems = ("mst", "mh3", "1ec")
    for name in ("mst/seed1", "mst/seed2", "mh3/seed1"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text(json.dumps({"finished": True}))
    for asked, seeds, found in (("", "", "mst 1, mst 2, mh3 1"), ("", "1", "mst 1, mh3 1"), ("mst", "2 1", "mst 1, mst 2")):
        runs = requested_models(tmp_path, asked, seeds, systems, systems)
        assert ", ".join("%s %d" % (run.system, run.seed) for run in runs) == found
    for asked, seeds, missing in (("", "1 2", "mh3 with seed 2"), ("mst", "3 1 4", "mst with seed 3, 4"), ("1ec", "", "1ec")):
        with pytest.raises(InputError, match="^no trained model of %s in " % missing):
            requested_models(tmp_path, asked, seeds, systems, systems)


def test_paths_with_brackets_are_shown_as_they_are(tmp_path, capsys):
    run = Run("mh3", 1, tmp_path / "[bold] :x:", state=FAILED, failure="ended with exit code 2", exit_code=2)
    assert failures([run], Bench().console) == 1
    said = capsys.readouterr().out
    assert said.splitlines()[0] == "mh3 seed 1 failed: ended with exit code 2 (%s)" % run.log
    assert "delete %s to" % run.folder in said
