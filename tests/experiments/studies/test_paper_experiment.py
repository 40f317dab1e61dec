"""make paper: what is asked for, what is to be made, and single, which makes it. Snakemake itself is not needed here."""

import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from samples import ROOT, STAND_IN, calls, kept, record, recorded, rewrite, study, trees_file

from experiments import paper
from experiments.engine import options, records
from experiments.engine import workflow as engine
from experiments.engine.treebank import Treebank
from experiments.studies import paper as workflow
from experiments.studies import report
from mh4.data import treebanks
from mh4.errors import InputError


@pytest.fixture
def make_one(stand_in, tmp_path):
    """Calls single with the stand-in, for the toy treebank."""

    def call(*arguments):
        return study("single", "--lang", "toy", *arguments, home=tmp_path / "home", trainer=[sys.executable, str(STAND_IN)])

    return call


def test_by_default_it_is_the_whole_paper():
    asked = {one.lang: one for one in options.requests()}
    assert list(asked) == treebanks.languages() and len(asked) == 20
    of_table_4 = ("mh3", "mst", "mh4-two", "mh4-hybrid", "1ec", "greedy-mh3", "greedy-mh4")
    assert {one.systems for lang, one in asked.items() if lang not in paper.coverage()} == {of_table_4}
    assert asked["hu"].systems == (*of_table_4, "greedy-mh4-two", "greedy-mh4-three")
    assert {one.seeds for one in asked.values()} == {(1, 2, 3, 4, 5)}
    assert options.requests(langs="toy")[0].seeds == (1, 2)


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (("--langs", "hu xx"), "paper: LANGS: xx is not the code of a treebank; there are eu ur "),
        (("--lang=hu",), "paper: LANG=hu: this study is not of one treebank; to choose some of its treebanks, give LANGS\n"),
        (("--systems", "mh9"), "paper: SYSTEMS: no system mh9; there are mh3, "),
        (("--seeds", "0"), "paper: SEEDS: 0 is not a positive whole number"),
        (("--profile", "cloud"), "paper: PROFILE: cloud is neither local nor slurm"),
        (("--ud", "nowhere"), "paper: UD: nowhere is not a folder"),
        (("--jobs", "many"), "paper: JOBS: many is not a whole number from 1 to 9999"),
    ],
)
def test_bad_input_gets_one_sentence(tmp_path, capsys, arguments, sentence):
    assert study("paper", *arguments, home=tmp_path) == 2
    said = capsys.readouterr().err
    assert said.startswith(sentence) and said.count("\n") == 1


def test_the_plan_reads_its_input_likewise(tmp_path, capsys):
    assert study("plan", "--langs", "hu", "--cores", "no", home=tmp_path) == 2
    assert capsys.readouterr().err == "plan: CORES: no is not a whole number from 1 to 9999\n"
    assert study("plan", "--langs", "hu", "--ud", str(tmp_path), home=tmp_path) == 2
    assert capsys.readouterr().err.startswith("plan: no training set is here to measure speed on: ")


def test_without_slurm(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert study("paper", "--langs", "toy", "--profile", "slurm", home=tmp_path) == 2
    assert capsys.readouterr().err.startswith("paper: PROFILE=slurm: there is no Slurm here (no sbatch, sinfo, ")
    others = [(name, "exit 0") for name in ("sbatch", "squeue", "scancel", "sacct")]
    for name, body in (*others, ("sinfo", "echo 'slurm_load_partitions: Unable to contact' >&2; exit 1")):
        (tmp_path / name).write_text("#!/bin/sh\n%s\n" % body)
        (tmp_path / name).chmod(0o755)
    assert study("paper", "--langs", "toy", "--profile", "slurm", home=tmp_path) == 2
    assert capsys.readouterr().err == "paper: PROFILE=slurm: Slurm does not answer: slurm_load_partitions: Unable to contact\n"


def test_only_one_driver_at_a_time_even_if_the_first_was_killed(tmp_path, capsys, monkeypatch):
    """The lock is that of Snakemake too, which may outlive the driver that started it."""
    with engine.only_one(tmp_path) as lock:
        outliving = subprocess.Popen(["sleep", "60"], pass_fds=[lock])
    monkeypatch.setattr(engine, "SNAKEMAKE", STAND_IN)
    try:
        assert study("paper", "--langs", "toy", home=tmp_path) == 2
        assert capsys.readouterr().err.startswith("paper: another make paper is running in ")
    finally:
        outliving.kill()
        outliving.wait()
    with engine.only_one(tmp_path):
        pass


def grid(home, *systems, seeds=(1, 2)):
    [asked] = [options.request("toy", " ".join(systems), " ".join(map(str, seeds)), "", "")]
    grids, left_out = workflow.found([asked], home)
    assert not left_out
    return grids[0]


def test_a_full_disk_is_noticed_before_training(tmp_path, monkeypatch):
    monkeypatch.setattr(engine.shutil, "disk_usage", lambda folder: SimpleNamespace(free=100 * 1_000_000))
    engine.check_folders([grid(tmp_path, "mst", seeds=[1])], 1)
    with pytest.raises(InputError, match="the disk is too full: training needs about 220 MB in .*, and 100 MB are free"):
        engine.check_folders([grid(tmp_path, "mst", "mh3")], 2)


def test_that_records_cannot_be_written_is_noticed_before_training(tmp_path, monkeypatch):
    monkeypatch.setattr(engine.os, "access", lambda path, mode: False)  # as for a file system that is read-only
    with pytest.raises(InputError, match="results: records cannot be written there"):
        engine.check_folders([grid(tmp_path, "mst")], 1)


def test_records_of_other_settings_are_named_before_training(hungarian, tmp_path):
    record(tmp_path / "results", "hu", "mst", 1, 80.0, changed={"training": {"clip": 1.0}})
    [one], _ = workflow.found(options.requests(langs="hu", systems="mst", seeds="1", ud=str(hungarian)), tmp_path)
    with pytest.raises(InputError, match="hu.jsonl: mst seed 1 is of a run with other settings .training.clip is 1.0 there, 5.0"):
        engine.execute([one], "make paper", "local", 1, engine.Resources(), (), 0)


def test_ensembles_of_models_that_were_trained_again_are_combined_again(hungarian, tmp_path, monkeypatch, capsys):
    """Of a seed whose models are recorded but not here, the record stays, and this is said, as of one without a record."""
    monkeypatch.setattr(engine, "SNAKEMAKE", "true")
    members = "mh4-hybrid", "1ec", "mst"
    asked = options.requests(langs="hu", systems=" ".join(members), seeds="1 2", ud=str(hungarian))
    [one], _ = workflow.found(asked, tmp_path)
    files = {"train": one.bank.blobs["train"], "dev": {"path": "hu-ud-dev.conllu", "git_blob": one.bank.blobs["dev"]}}
    for seed in (1, 2):
        made_of = [{"system": system, "seed": seed, "dev_uas": 80.0, "commit": "abc"} for system in members]
        for system in members:
            record(tmp_path / "results", "hu", system, seed, 80.0, **files)
        record(tmp_path / "results", "hu", "ensemble", seed, 82.0, members=made_of, **files)
    trees_file(tmp_path / "results", "hu/ensemble-seed1").write_bytes(b"trees")
    [one], _ = workflow.found(asked, tmp_path)
    assert one.missing == [] and one.not_combined == []
    for seed in (1, 2):
        record(tmp_path / "results", "hu", "mst", seed, 81.0, **files)  # trained again
    for system in members:
        folder = tmp_path / "runs" / "hu" / system / "seed1"
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text('{"finished": true}')
        (folder / "config.toml").write_text(one.bank.config(system).to_toml())
    [one], _ = workflow.found(asked, tmp_path)
    assert [run.name for run in one.missing] == ["ensemble seed 1"] and one.not_combined == [2]
    with engine.only_one(tmp_path) as lock:
        engine.execute([one], "make paper", "local", 1, engine.Resources(), (), lock)
    said = "to be combined again, as members are no longer those that are recorded: hu ensemble seed 1\n"
    assert capsys.readouterr().out == said
    assert [bool(recorded(tmp_path / "results", "hu/ensemble-seed%d" % seed)) for seed in (1, 2)] == [False, True]


@pytest.fixture
def without_snakemake(monkeypatch):
    """`make paper` up to the start of Snakemake, and after it."""
    started = []
    monkeypatch.setattr(engine, "SNAKEMAKE", STAND_IN)
    monkeypatch.setattr(engine, "execute", lambda *arguments: started.append(arguments))
    return started


@pytest.mark.slow
def test_a_damaged_record_is_named_before_training(make_one, without_snakemake, tmp_path, capsys):
    """One that is to be made, or any other, as all of them are needed for the report."""
    home, words = tmp_path / "home", ["--langs", "toy", "--systems", "mst", "--seeds", "1"]
    assert make_one("--system", "mst", "--seed", "1") == 0
    record(home / "results", "hu", "mh3", 1, 80.0)
    mine, other = (home / "results" / name for name in ("toy.jsonl", "hu.jsonl"))
    for path in (mine, other):
        whole = path.read_text()
        path.write_text(whole[:100])
        assert study("paper", *words, home=home) == 2
        said = capsys.readouterr().err
        assert "%s, line 1: not JSON: " % path.name in said and said.count("\n") == 1
        path.write_text(whole)
    record(home / "results", "hu", "mst", 1, 80.0, train="other")
    assert study("paper", *words, home=home) == 2
    assert "hu.jsonl were trained or evaluated on different files" in capsys.readouterr().err
    assert kept(tmp_path, "hu/mst-seed1") and not without_snakemake


def test_what_snakemake_cannot_be_told(without_snakemake, tmp_path, capsys):
    assert study("paper", "--langs", "toy", "--snakemake='", home=tmp_path) == 2
    assert capsys.readouterr().err == "paper: SNAKEMAKE: ' cannot be split into options: no closing quotation\n"


@pytest.mark.slow
def test_failed_runs_are_named_even_if_the_pages_cannot_be_written(make_one, without_snakemake, tmp_path, capsys, monkeypatch):
    def fail(*arguments):
        raise InputError("the disk is full")

    assert make_one("--system", "mst", "--seed", "1") == 0
    monkeypatch.setattr(report, "write_all", fail)
    words = ["--langs", "toy", "--systems", "mst", "--seeds", "1 2"]
    assert study("paper", *words, home=tmp_path / "home") == 2
    failed, log, why = capsys.readouterr().err.splitlines()
    assert failed == "toy mst seed 2: no record; its job was not started" and log.endswith("snakemake.log")
    assert why == "paper: the disk is full"
    assert without_snakemake


@pytest.mark.slow
def test_pages_are_written_even_if_all_runs_on_a_treebank_fail(make_one, without_snakemake, hungarian, tmp_path, capsys):
    assert make_one("--system", "mst", "--seed", "1") == 0
    words = ["--langs", "hu toy", "--systems", "mst mh4-hybrid 1ec", "--seeds", "1", "--ud", str(hungarian)]
    assert study("paper", *words, home=tmp_path / "home") == 1
    assert "hu mst seed 1: no record; its job was not started" in capsys.readouterr().err.splitlines()
    assert (tmp_path / "home" / "results" / "toy.md").exists() and not (tmp_path / "home" / "results" / "hu.md").exists()


def test_table_3_is_measured_with_any_settings(tmp_path, monkeypatch):
    monkeypatch.setattr(workflow.coverage, "measure", lambda folder: folder)
    written = []
    monkeypatch.setattr(workflow.coverage, "write", lambda measured, *_: written.append(measured))
    train = tmp_path / "hu-ud-train.conllu"
    train.touch()
    for settings, release, expected in (("", "UD 2.0", [tmp_path]), ("authors", "UD 2.0", [tmp_path]), ("", "UD 1.4", [])):
        bank = Treebank("hu", "hu", release, {"train": train}, {}).with_settings(settings)
        workflow._coverage([SimpleNamespace(bank=bank)], tmp_path / "results")
        assert written == expected
        written.clear()


def test_one_record_at_a_time(make_one, capsys):
    for words in (
        ["--seed", "1"],
        ["--system", "mst"],
        ["--system", "mst mh3", "--seed", "1"],
        ["--system", "mst", "--seed", "1 2"],
    ):
        assert make_one(*words) == 2
        assert capsys.readouterr().err in ("single: --system: expected one\n", "single: --seed: expected one\n")


def test_treebanks_that_cannot_be_had_are_left_out_and_named(hungarian, tmp_path):
    asked = options.requests(langs="hu got", systems="mst", seeds="1", ud=str(hungarian))
    grids, left_out = workflow.found(asked, tmp_path / "home")
    assert [one.bank.name for one in grids] == ["hu"] and list(left_out) == ["got"]
    assert left_out["got"].endswith("has no got-ud-train.conllu and no got-ud-dev.conllu")
    assert grids[0].options == ["--lang", "hu", "--ud", str(hungarian)]


@pytest.mark.slow
def test_a_treebank_that_cannot_be_had_is_a_failure(make_one, without_snakemake, hungarian, tmp_path, capsys):
    assert make_one("--system", "mst", "--seed", "1") == 0
    words = ["--systems", "mst", "--seeds", "1", "--ud", str(hungarian)]
    assert study("paper", "--langs", "toy", *words, home=tmp_path / "home") == 0
    assert study("paper", "--langs", "got toy", *words, home=tmp_path / "home") == 1
    assert capsys.readouterr().err.startswith("left out: got: ") and not without_snakemake


@pytest.mark.slow
def test_what_is_recorded_is_not_made_again_and_ensembles_need_models(make_one, tmp_path):
    """A seed's models are combined if all of them are here or still to be trained, not if there is only a record of one."""
    members = "mh4-hybrid", "1ec", "mst"
    names = [run.name for run in grid(tmp_path / "home", *members).missing]
    assert names == ["%s seed %d" % (system, seed) for seed in (1, 2) for system in members] + [
        "ensemble seed 1",
        "ensemble seed 2",
    ]
    assert make_one("--system", "mst", "--seed", "1") == 0
    made = kept(tmp_path, "toy/mst-seed1")
    record(tmp_path / "home" / "results", "toy", "mst", 2, 80.0, lang="toy", release="toy treebank")
    elsewhere = {**kept(tmp_path, "toy/mst-seed2"), "train": made["train"], "dev": made["dev"]}
    rewrite(tmp_path / "home" / "results", "toy/mst-seed2", elsewhere)
    assert [run.name for run in grid(tmp_path / "home", *members).missing] == [
        "mh4-hybrid seed 1",
        "1ec seed 1",
        "mh4-hybrid seed 2",
        "1ec seed 2",
        "ensemble seed 1",
    ]
    assert grid(tmp_path / "home", *members).not_combined == [2]
    assert grid(tmp_path / "home", "mst").missing == []


@pytest.mark.slow
def test_a_record_says_where_and_how_it_was_made(make_one, tmp_path):
    assert make_one("--system", "mst", "--seed", "3", "--command", "make paper LANGS=toy") == 0
    made = kept(tmp_path, "toy/mst-seed3")
    assert made["reproduce"] == "make paper LANGS=toy" and (made["system"], made["seed"]) == ("mst", 3)
    [machine] = made["machines"]
    assert {"processor", "cores", "system", "python", "numpy"} <= set(machine)
    assert os.uname().nodename not in machine.values()
    assert not list((tmp_path / "home" / "results").glob("*.md"))  # pages are made at the end, by one process


@pytest.mark.slow
def test_a_model_that_cannot_parse_has_no_record_and_is_tried_again(make_one, stand_in, tmp_path):
    (stand_in / "mute").write_text("mst-1")
    assert make_one("--system", "mst", "--seed", "1") == 1
    assert not kept(tmp_path, "toy/mst-seed1")
    (stand_in / "mute").unlink()
    assert make_one("--system", "mst", "--seed", "1") == 0
    assert len(calls(stand_in)) == 1 and "test_las" in kept(tmp_path, "toy/mst-seed1")


@pytest.mark.slow
def test_what_has_a_record_has_all_else_of_it(make_one, monkeypatch, tmp_path):
    """If a process is killed before the record is written, it is made again; afterwards it is not."""

    def fail(*arguments, **options):
        raise InputError("the disk is full")

    monkeypatch.setattr(records.lines, "changed", fail)
    assert make_one("--system", "mst", "--seed", "1") == 2
    assert not kept(tmp_path, "toy/mst-seed1") and trees_file(tmp_path / "home" / "results", "toy/mst-seed1").exists()


@pytest.mark.slow
def test_a_record_that_differs_from_one_of_the_same_inputs_is_reported(make_one, tmp_path, capsys):
    assert make_one("--system", "mst", "--seed", "1") == 0
    results = tmp_path / "home" / "results"
    assert make_one("--system", "mst", "--seed", "1") == 0 and "differs" not in capsys.readouterr().err
    rewrite(results, "toy/mst-seed1", {**kept(tmp_path, "toy/mst-seed1"), "dev_uas": 82.0, "commit": "abc"})
    assert make_one("--system", "mst", "--seed", "1") == 0
    assert "mst seed 1 differs from the record of the same inputs, of commit abc on " in capsys.readouterr().err
    made = kept(tmp_path, "toy/mst-seed1")
    assert made["dev_uas"] == pytest.approx(82.6) and made["differs_from"]["dev_uas"] == 82.0
    assert make_one("--system", "mst", "--seed", "1") == 0  # and this is not forgotten
    assert kept(tmp_path, "toy/mst-seed1")["differs_from"]["dev_uas"] == 82.0


SINGLE = """
import sys
sys.path.insert(0, sys.argv[1])
from experiments.__main__ import main
from experiments.engine.workplace import Bench
main(sys.argv[3:], obj=Bench(trainer=[sys.executable, sys.argv[2]]))
"""


@pytest.mark.slow
def test_of_two_processes_for_one_record_the_second_waits(stand_in, tmp_path):
    """As when a driver is killed and started again, while a job that the first one started is still training."""
    words = ["--home", str(tmp_path / "home"), "single", "--lang", "toy", "--system", "mst", "--seed", "1"]
    command = [sys.executable, "-c", SINGLE, str(ROOT), str(STAND_IN), *words]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(3)]
    outputs = [process.communicate(timeout=60)[0].decode() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], outputs
    assert [call["run"] for call in calls(stand_in)] == ["mst-1"]


DRIVER = """
import signal
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from experiments.__main__ import main
from experiments.engine import workflow
workflow.SNAKEMAKE = Path(sys.argv[2])
signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in a script, after &
main(sys.argv[3:])
"""

SNAKEMAKE = """#!%s
import time
from pathlib import Path
try:
    Path(%r).touch()
    time.sleep(60)
except KeyboardInterrupt:
    Path(%r).touch()
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.usefixtures("ending_signals")
def test_a_driver_that_is_told_to_end_interrupts_snakemake_first(tmp_path, number):
    snakemake, began, interrupted = (tmp_path / name for name in ("snakemake", "began", "interrupted"))
    snakemake.write_text(SNAKEMAKE % (sys.executable, str(began), str(interrupted)))
    snakemake.chmod(0o755)
    words = ["--home", str(tmp_path / "home"), "paper", "--langs", "toy", "--jobs", "1"]
    command = [sys.executable, "-c", DRIVER, str(ROOT), str(snakemake), *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not began.exists() and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(number)
    out, error = process.communicate(timeout=30)
    assert process.returncode == 130 and error == b""
    assert out.endswith(b"stopped; run the same command again to resume\n")
    assert interrupted.exists()


def test_a_run_that_failed_is_named_with_its_log(make_one, stand_in, tmp_path):
    mine = grid(tmp_path / "home", "mst", seeds=[1])
    [run] = mine.unfinished()
    assert engine.failure(mine, run) == "toy mst seed 1: no record; its job was not started"
    started = tmp_path / "home" / "runs" / "workflow" / "config.json"
    for folder in (run.folder, started.parent):
        folder.mkdir(parents=True)
    (run.folder / "job.log").write_text("loading\nmh4: a cycle\n\n")
    started.write_text("{}")
    os.utime(run.folder / "job.log", (0, 0))  # of an earlier driver
    assert engine.failure(mine, run) == "toy mst seed 1: no record; its job was not started"
    os.utime(run.folder / "job.log")
    assert engine.failure(mine, run).endswith("runs/toy/mst/seed1/job.log: mh4: a cycle")
    assert make_one("--system", "mst", "--seed", "1") == 0 and mine.unfinished() == []
