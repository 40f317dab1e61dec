"""The experiment grid and its report, with a stand-in for ``mh4 train`` and ``mh4 parse`` that keeps their contract and learns nothing."""

import csv
import gzip
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXPERIMENTS = Path(__file__).resolve().parent.parent / "experiments"
sys.path.insert(0, str(EXPERIMENTS))

import features  # noqa: E402
import grid  # noqa: E402
import report  # noqa: E402
import reproduce  # noqa: E402

from mh4 import conllu, treebanks  # noqa: E402
from mh4.errors import InputError  # noqa: E402

# What the stand-in does is told by files in $STAND_IN: `fail` (a run that fails), `slow` (a run that waits, until it is removed),
# `mute` (a run whose model cannot parse). The scores it reports depend on the system and the seed, nothing else; in the trees it
# predicts the first word is the root's, and all others are its dependents.
STAND_IN = '''
import json, os, sys, time
from pathlib import Path

told = Path(os.environ["STAND_IN"])
if sys.argv[1] == "parse":
    _, model, file, _, output = sys.argv[2:]
    trained = json.loads(Path(model, "summary.json").read_text())
    name = "%(system)s-%(seed)d" % trained
    with open(told / "parses", "a") as calls:
        calls.write(json.dumps({"run": name, "file": os.path.basename(file), "env": dict(os.environ)}) + "\\n")
    if (told / "mute").exists() and (told / "mute").read_text() == name:
        print("loading")
        print("mh4: weights.npz is damaged", file=sys.stderr)
        sys.exit(2)
    with open(file, encoding="utf-8", newline="") as lines, open(output, "w", encoding="utf-8", newline="") as parsed:
        for line in lines:
            cells = line.split("\\t")
            if cells[0].isdigit():
                cells[6:8] = ["0", "root"] if cells[0] == "1" else ["1", "dep"]
            parsed.write("\\t".join(cells))
    sys.exit(0)
options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
folder, seed, system = Path(options["--model"]), int(options["--seed"]), options["--system"]
name = "%s-%d" % (system, seed)
with open(told / "calls", "a") as calls:
    calls.write(json.dumps({"run": name, "argv": sys.argv[1:], "env": dict(os.environ)}) + "\\n")
if (folder / "summary.json").exists():
    print("finished already")
    sys.exit(0)
metrics = folder / "metrics.jsonl"
begun = len(metrics.read_text().splitlines()) if metrics.exists() else 0
uas = {"mh3": 83.0, "mst": 82.5, "mh4-two": 83.5, "mh4-hybrid": 84.5, "greedy-mh4-two": 60.0,
       "greedy-mh4-three": 82.0, "greedy-mh4": 82.25, "mh3-arcs": 85.0, "mh4-arcs": 86.0}[system] + seed / 10
for evaluation in range(begun + 1, 4):
    if (told / "fail").exists() and (told / "fail").read_text() == name:
        print("loading")
        print("mh4: hu-ud-train.conllu, line 7: a cycle", file=sys.stderr)
        sys.exit(2)
    with open(metrics, "a") as lines:
        lines.write(json.dumps({"evaluation": evaluation, "updates": 500 * evaluation, "epoch": evaluation / 4,
                                "tokens_per_second": 1000.0, "dev_uas": uas - 3 + evaluation, "dev_las": uas - 8 + evaluation,
                                "best_dev_uas": uas - 3 + evaluation, "seconds": 100.0 * evaluation}) + "\\n")
    while evaluation == 2 and (told / "slow").exists() and (told / "slow").read_text() == name:
        time.sleep(0.02)
summary = {"finished": True, "system": system, "seed": seed, "dev_uas": uas, "dev_las": uas - 5, "updates": 1500, "epochs": 7.5,
           "seconds": 3725.0, "tokens_per_second": 1234.5, "mh4": "0",
           "sources": {split: {"file": os.path.basename(options["--" + split]), "git_blob": ""} for split in ("train", "dev")}}
(folder / "summary.json.part").write_text(json.dumps(summary))
os.replace(folder / "summary.json.part", folder / "summary.json")
'''


@pytest.fixture
def told(tmp_path, monkeypatch):
    folder = tmp_path / "told"
    folder.mkdir()
    (folder / "stand_in.py").write_text(STAND_IN)
    monkeypatch.setenv("STAND_IN", str(folder))
    monkeypatch.setattr(grid, "POLL_SECONDS", 0.02)  # nobody trains for long here
    return folder


@pytest.fixture
def run(told, tmp_path):
    """Calls the command with the stand-in; everything it writes is in tmp_path / "home"."""

    def call(*arguments):
        return reproduce.main(arguments, trainer=[sys.executable, str(told / "stand_in.py")], home=tmp_path / "home")

    return call


def calls(told, name="calls"):
    """What the stand-in was asked to train, or with "parses" to parse."""
    path = told / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def toy(*more):
    return ("--lang", "toy", "--systems", "mh3 mst", "--jobs", "2") + more


# ---- what is typed


@pytest.mark.parametrize("lang", ["", "en_US.UTF-8", "C.UTF-8", "C", "hu_HU", "xx", "HU", "../hu"])
def test_a_language_that_is_none_gets_the_usage_and_the_codes(run, capsys, lang):
    assert run("--lang", lang) == 2
    lines = capsys.readouterr().err.splitlines()
    assert 'usage: make reproduce LANG=hu [SYSTEMS="mh3 mst mh4-hybrid"] [SEEDS="1 2"] [UD=folder] [CONLL17=folder] [JOBS=2]' in lines
    codes = next(line for line in lines if line.startswith("  LANG "))
    assert set("bg cu da de el eu got he hi hu id it ja lv pl ro sk ur vi zh".split()) <= set(codes.replace(",", "").split())


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (("--systems", "mh3 mh9"), "reproduce: SYSTEMS: no system mh9; there are " + ", ".join(reproduce.SYSTEMS)),
        (("--seeds", "1 two"), 'reproduce: SEEDS: two is not a whole number from 1 on; expected something like SEEDS="1 2 3"'),
        (("--seeds", "0"), 'reproduce: SEEDS: 0 is not a whole number from 1 on; expected something like SEEDS="1 2 3"'),
        (("--seeds", "-1"), 'reproduce: SEEDS: -1 is not a whole number from 1 on; expected something like SEEDS="1 2 3"'),
        (("--jobs", "0"), "reproduce: JOBS: 0 is not a whole number from 1 on"),
        (("--jobs", "many"), "reproduce: JOBS: many is not a whole number from 1 on"),
        (("--ud", "no/such/folder"), "reproduce: UD: no/such/folder is not a folder"),
        (("--conll17", "no/such/folder"), "reproduce: CONLL17: no/such/folder is not a folder"),
    ],
)
def test_bad_values_get_one_sentence_before_anything_happens(run, told, tmp_path, capsys, arguments, sentence):
    arguments = [arguments[0] + "=" + arguments[1]]
    assert run("--lang", "hu", *arguments) == 2
    assert capsys.readouterr().err == sentence + "\n"
    assert not calls(told) and not (tmp_path / "home").exists()


def test_empty_values_mean_the_defaults():
    asked = reproduce.request("hu", "", "", "", "")
    assert asked.systems == ("mh3", "mst", "mh4-two", "mh4-hybrid", "1ec") and asked.seeds == (1, 2, 3) and asked.ud is asked.conll17 is None
    assert 1 <= asked.jobs <= 4
    assert reproduce.request("toy", "", "", "", "").seeds == (1, 2)
    assert reproduce.request("toy", "", "", os.curdir, "", os.curdir).conll17 is None  # its test set is our own
    assert reproduce.request("hu", "mst mst", "2 1 2", "", "9").seeds == (2, 1)


def test_the_command_on_record_has_no_absolute_path(tmp_path):
    folder = tmp_path / "ud-2.0"
    folder.mkdir()
    assert reproduce.request("hu", "mh3", "1 2", str(folder), "7").command() == 'make reproduce LANG=hu SYSTEMS="mh3" SEEDS="1 2" UD=ud-2.0'
    assert reproduce.request("hu", "", "", os.curdir, "").command() == 'make reproduce LANG=hu SEEDS="1 2 3" UD=.'
    with_segmentation = reproduce.request("hu", "", "1", str(folder), "", str(folder)).command()
    assert with_segmentation == 'make reproduce LANG=hu SEEDS="1" UD=ud-2.0 CONLL17=ud-2.0'
    assert reproduce.without_machine("mh4 train --train /a/b/hu.conllu --dev ../c/d.conllu --config=/x/y.toml") == (
        "mh4 train --train hu.conllu --dev ../c/d.conllu --config=y.toml"
    )


def test_the_commit_on_record(tmp_path):
    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *who, *arguments], cwd=str(tmp_path), check=True, stdout=subprocess.PIPE).stdout.decode().strip()

    folder = tmp_path / "experiments"
    (folder / "results").mkdir(parents=True)
    (tmp_path / "code.py").write_text("1")
    (folder / "results" / "hu.md").write_text("1")
    git("init", "-q")
    assert reproduce.commit(folder) == "unknown"
    git("add", "-A")
    git("commit", "-q", "-m", "a")
    head = git("rev-parse", "HEAD")[:12]
    (folder / "results" / "hu.md").write_text("2")
    assert reproduce.commit(folder) == head
    (tmp_path / "code.py").write_text("2")
    assert reproduce.commit(folder) == head + "+changes"


# ---- what the files are


def fake_manifest(monkeypatch, rows):
    """`rows`: the manifest's rows for contents; anything else is unknown."""
    monkeypatch.setattr(treebanks, "identify", lambda path: rows.get(Path(path).read_text()))


def row(lang, split, release):
    return treebanks.ManifestRow(lang, "UD", split, "r", "file", "id", release)


@pytest.mark.parametrize(
    "train, dev, name, release",
    [
        ("train 2.0", "dev 2.0", "eu", "UD 2.0"),
        ("train 1.4", "dev 1.4", "eu-ud1.4", "UD 1.4"),
        ("train 2.0", "dev 1.4", None, "unidentified files"),
        ("train 2.0", "something else", None, "unidentified files"),
        ("dev 2.0", "dev 2.0", None, "unidentified files"),
        ("other language", "dev 2.0", None, "unidentified files"),
    ],
)
def test_a_treebank_is_called_what_its_files_are(tmp_path, monkeypatch, train, dev, name, release):
    rows = {"%s %s" % (split, number): row("eu", split, number) for split in ("train", "dev") for number in ("2.0", "1.4")}
    fake_manifest(monkeypatch, {**rows, "other language": row("hu", "train", "2.0")})
    paths = {"train": tmp_path / "train", "dev": tmp_path / "dev"}
    paths["train"].write_text(train)
    paths["dev"].write_text(dev)
    bank = reproduce.treebank("eu", paths)
    assert bank.release == release
    assert bank.name == name if name else bank.name.startswith("eu-files-")
    paths["train"].write_text("edited")
    assert reproduce.treebank("eu", paths).name != bank.name


# ---- the table


def as_conllu(*words):
    """A sentence, of (form, head, relation)."""
    return "".join("%d\t%s\t_\t_\t_\t_\t%d\t%s\t_\t_\n" % (k, *word) for k, word in enumerate(words, start=1)) + "\n"


@pytest.fixture
def hungarian(tmp_path, monkeypatch):
    """A folder whose train and dev sets pass for those of UD 2.0; there is no segmentation of the test set in our own data folder."""
    folder = tmp_path / "ud"
    folder.mkdir()
    texts = {"train": as_conllu(("a", 0, "root"), ("b", 1, "obj")), "dev": as_conllu(("b", 0, "root"), ("a", 1, "obj"))}
    for split, text in texts.items():
        (folder / ("hu-ud-%s.conllu" % split)).write_text(text)
    fake_manifest(monkeypatch, {text: row("hu", split, "2.0") for split, text in texts.items()})
    treebanks.manifest()  # it is read only once
    monkeypatch.setattr(treebanks, "DATA", tmp_path / "data")
    return folder


def record(results, name, system, seed, uas, lang="hu", release="UD 2.0", train="aa", **more):
    folder = results / name
    folder.mkdir(parents=True, exist_ok=True)
    content = {"system": system, "seed": seed, "dev_uas": uas, "lang": lang, "release": release}
    content.update(train={"path": "t.conllu", "git_blob": train}, dev={"path": "d.conllu", "git_blob": "bb"})
    content.update(dev_las=uas - 5, seconds=3725.0, commit="abc", date="2018-07-15", reproduce="make reproduce LANG=" + lang)
    content.update(more)
    (folder / ("%s-seed%d.json" % (system, seed))).write_text(json.dumps(content))


def test_means_and_standard_deviations_stand_beside_the_papers(tmp_path):
    for seed, uas in ((1, 84.0), (2, 85.0), (3, 84.2)):
        record(tmp_path, "hu", "mh4-hybrid", seed, uas)
    record(tmp_path, "hu", "mh3", 2, 83.25)
    pages = report.write("hu", tmp_path)
    assert pages == [tmp_path / "hu.md", tmp_path / "hu.csv"]
    lines = pages[0].read_text(encoding="utf-8").splitlines()
    assert "| mh3 | 2 | 83.25 | 83.05 ± 0.17 | +0.20 |" in lines
    assert "| mh4-hybrid | 1 2 3 | 84.40 ± 0.53 | 84.59 ± 0.50 | -0.19 |" in lines
    assert "| mh4-hybrid | 2 | 85.00 | 80.00 |  |  |  | 1:02:05 |  |  | 2018-07-15 | abc |" in lines
    with open(pages[1], encoding="utf-8", newline="") as file:
        table = {line["system"]: line for line in csv.DictReader(file)}
    assert list(table) == ["mh3", "mh4-hybrid"]
    assert float(table["mh4-hybrid"]["mean"]) == pytest.approx(84.4)
    assert float(table["mh4-hybrid"]["std"]) == pytest.approx(statistics.stdev([84.0, 85.0, 84.2]), abs=1e-4)
    assert float(table["mh4-hybrid"]["difference"]) == pytest.approx(84.4 - 84.59)
    assert table["mh3"]["std"] == "" and table["mh3"]["seeds"] == "2" and table["mh3"]["data"] == "UD 2.0"


def test_test_scores_and_the_time_to_the_papers_mean_stand_beside_each_run(tmp_path):
    record(tmp_path, "hu", "mh4-hybrid", 1, 85.0, test_las=76.543, seconds_to_paper=3599.9)
    record(tmp_path, "hu", "mst", 1, 82.0, seconds_to_paper=None)  # it was never as good
    lines = report.write("hu", tmp_path)[0].read_text(encoding="utf-8").splitlines()
    header = next(line for line in lines if "test LAS" in line).strip("| ").split(" | ")
    assert header[3:5] == ["LAS", "test LAS"] and header[7:9] == ["time", "to the paper's mean"]
    assert "| mh4-hybrid | 1 | 85.00 | 80.00 | 76.54 |  |  | 1:02:05 | 0:59:59 |  | 2018-07-15 | abc |" in lines
    assert "| mst | 1 | 82.00 | 77.00 |  |  |  | 1:02:05 |  |  | 2018-07-15 | abc |" in lines


def test_the_papers_numbers_are_those_of_its_table():
    def published(lang, system, release="UD 2.0"):
        return report.published_dev_uas(lang, release, system)

    assert published("hu", "mh4-hybrid") == (84.59, 0.50)
    assert published("hu", "mh4-hybrid", release="UD 1.4") == published("toy", "mh3") == published("avg", "mh3") == (None, None)
    averages = {  # the table's last row
        "mh3": 86.49, "mst": 86.69, "mh4-two": 86.79, "mh4-hybrid": 87.27, "1ec": 87.21, "greedy-mh3": 85.60, "greedy-mh4": 85.27,
    }  # fmt: skip
    for system in report.SYSTEMS:
        means = [mean for mean, _ in (published(lang, system) for lang in treebanks.languages()) if mean is not None]
        assert len(means) == (10 if system in averages else 0)
        if means:
            assert statistics.mean(means) == pytest.approx(averages[system], abs=0.006)
    assert set(averages) < set(report.SYSTEMS)


@pytest.mark.parametrize("name, release", [("eu-ud1.4", "UD 1.4"), ("eu-files-0123abcd", "unidentified files"), ("toy", "toy treebank")])
def test_other_data_are_never_beside_the_paper(tmp_path, name, release):
    record(tmp_path, name, "mh4-hybrid", 1, 84.0, lang="toy" if name == "toy" else "eu", release=release)
    markdown, comma_separated = report.write(name, tmp_path)
    text = markdown.read_text(encoding="utf-8")
    assert release in text.splitlines()[0] and "| system | seeds | dev UAS |" in text
    assert "84.13" not in text and "do not compare" in text  # 84.13: the paper's, for eu
    with open(comma_separated, encoding="utf-8", newline="") as file:
        (line,) = csv.DictReader(file)
    assert line["data"] == release and line["paper_mean"] == line["paper_std"] == line["difference"] == ""


def test_a_language_of_which_the_paper_has_no_dev_scores(tmp_path):
    record(tmp_path, "ja", "mh3", 1, 90.0, lang="ja")
    text = report.write("ja", tmp_path)[0].read_text(encoding="utf-8")
    assert "no development-set UAS" in text and "| system | seeds | dev UAS |" in text


def test_runs_on_different_files_are_not_averaged(tmp_path):
    record(tmp_path, "eu", "mh3", 1, 80.0)
    record(tmp_path, "eu", "mh3", 2, 80.0, train="cc")
    with pytest.raises(InputError, match="different files"):
        report.write("eu", tmp_path)
    assert not (tmp_path / "eu.md").exists()


@pytest.mark.parametrize("content", ["", "[]", "{}", "not json"])
def test_a_broken_record_is_named(tmp_path, content):
    record(tmp_path, "eu", "mh3", 1, 80.0)
    (tmp_path / "eu" / "mst-seed1.json").write_text(content)
    with pytest.raises(InputError, match="mst-seed1.json"):
        report.write("eu", tmp_path)


def test_no_runs_no_table(tmp_path):
    with pytest.raises(InputError, match="no finished run of eu"):
        report.write("eu", tmp_path)


# ---- the grid


def test_every_run_is_trained_and_reported(run, told, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("LANG", "toy")
    monkeypatch.setenv("LC_TIME", "C")
    assert run(*toy("--seeds", "1 2")) == 0
    assert sorted(call["run"] for call in calls(told)) == ["mh3-1", "mh3-2", "mst-1", "mst-2"]
    for call in calls(told):
        assert call["argv"][0] == "train" and "--config" in call["argv"]
        assert call["env"]["OMP_NUM_THREADS"] == call["env"]["MKL_NUM_THREADS"] == call["env"]["OPENBLAS_NUM_THREADS"] == "1"
        assert "LANG" not in call["env"] and call["env"]["LC_TIME"] == "C"
    out = capsys.readouterr().out
    assert "83.15 ± 0.07" in out and "not the paper's data" in out
    results = tmp_path / "home" / "results"
    assert "| mh3 | 1 2 | 83.15 ± 0.07 |" in (results / "toy.md").read_text(encoding="utf-8").splitlines()
    kept = sorted(path.name for path in (results / "toy").iterdir())
    assert kept == ["%s-seed%d.%s" % (s, n, kind) for s in ("mh3", "mst") for n in (1, 2) for kind in ("json", "jsonl", "trees.gz")]
    assert len((results / "toy" / "mh3-seed1.jsonl").read_text().splitlines()) == 3
    summary = json.loads((results / "toy" / "mh3-seed1.json").read_text())
    paths = treebanks.locate("toy")
    assert summary["train"] == {"path": paths["train"].name, "git_blob": treebanks.git_blob_id(paths["train"])}
    assert summary["reproduce"] == 'make reproduce LANG=toy SYSTEMS="mh3 mst" SEEDS="1 2"'
    assert summary["command"].startswith("mh4 train --system mh3 --train toy-ud-train.conllu ") and "--seed 1" in summary["command"]
    assert "seconds_to_paper" not in summary  # the paper has no toys
    assert_nothing_of_this_machine(results, tmp_path)


def assert_nothing_of_this_machine(results, tmp_path):
    for path in results.rglob("*.*"):
        text = trees(path) if path.suffix == ".gz" else path.read_text(encoding="utf-8")
        assert str(tmp_path) not in text and str(EXPERIMENTS.parent) not in text


def trees(path):
    return gzip.decompress(path.read_bytes()).decode("utf-8")


def test_ud_2_0_files_come_out_beside_the_paper(run, hungarian, tmp_path, capsys):
    assert run("--lang", "hu", "--systems", "mh4-hybrid", "--seeds", "1 2 3", "--ud", str(hungarian)) == 0
    assert "| mh4-hybrid | 1 2 3 | 84.70 ± 0.10 | 84.59 ± 0.50 | +0.11 |" in (
        (tmp_path / "home" / "results" / "hu.md").read_text(encoding="utf-8").splitlines()
    )
    assert "84.59 ± 0.50" in capsys.readouterr().out
    assert [kept(tmp_path, "hu/mh4-hybrid-seed%d" % seed)["seconds_to_paper"] for seed in (1, 2, 3)] == [300.0] * 3


@pytest.fixture
def segmented(hungarian, tmp_path):
    """A folder with another segmentation of the Hungarian test set, which is four words there."""
    words = ("a", 0, "root"), ("b", 1, "det"), ("c", 1, "dep"), ("d", 3, "dep")
    (hungarian / "hu-ud-test.conllu").write_text(as_conllu(*words))
    folder = tmp_path / "conll17"
    folder.mkdir()
    (folder / "hu-udpipe.conllu").write_text(as_conllu(("a", 0, "_"), ("b", 0, "_"), ("cd", 0, "_")).replace("\t0\t", "\t_\t"))
    return folder


def of_hungarian(folder, *more):
    return ("--lang", "hu", "--systems", "mh3", "--seeds", "1", "--ud", str(folder)) + more


def kept(tmp_path, name="hu/mh3-seed1"):
    """The record of a finished run."""
    return json.loads((tmp_path / "home" / "results" / (name + ".json")).read_text())


@pytest.mark.parametrize("named", [True, False])
def test_a_finished_model_parses_the_shared_tasks_segmentation(run, told, hungarian, segmented, tmp_path, named, capsys):
    """In the folder that is named, or else in our own data folder."""
    if not named:
        (tmp_path / "data").mkdir()
        segmented = segmented.rename(tmp_path / "data" / "conll17")
    assert run(*of_hungarian(hungarian, *(("--conll17", str(segmented)) if named else ()))) == 0
    assert capsys.readouterr().err == ""
    assert [(call["run"], call["file"]) for call in calls(told, "parses")] == [("mh3-1", "hu-ud-dev.conllu"), ("mh3-1", "hu-udpipe.conllu")]
    assert all(call["env"]["OMP_NUM_THREADS"] == "1" for call in calls(told, "parses"))
    record = kept(tmp_path)
    # Of 3 words predicted and 4 gold ones, a and b are the same, and have the right heads; only a has the right label.
    assert record["test_uas"] == pytest.approx(100 * 2 * 2 / (3 + 4)) and record["test_las"] == pytest.approx(100 * 2 * 1 / (3 + 4))
    test, words = hungarian / "hu-ud-test.conllu", segmented / "hu-udpipe.conllu"
    assert record["test"] == {"path": test.name, "git_blob": treebanks.git_blob_id(test)}
    assert record["segmentation"] == {"path": words.name, "git_blob": treebanks.git_blob_id(words)}
    assert trees(tmp_path / "home" / "results" / "hu" / "mh3-seed1.trees.gz").splitlines() == [
        "# dev hu-ud-dev.conllu " + treebanks.git_blob_id(hungarian / "hu-ud-dev.conllu"), "0\troot", "1\tdep", "",
        "# test hu-udpipe.conllu " + treebanks.git_blob_id(words), "0\troot", "1\tdep", "1\tdep", "",
    ]  # fmt: skip
    assert " | 28.57 | " in (tmp_path / "home" / "results" / "hu.md").read_text(encoding="utf-8")
    assert ("CONLL17=conll17" in record["reproduce"]) == named
    assert_nothing_of_this_machine(tmp_path / "home" / "results", tmp_path)


def test_without_the_segmentation_there_are_trees_of_dev_only(run, told, hungarian, tmp_path):
    assert run(*of_hungarian(hungarian)) == 0
    assert [call["file"] for call in calls(told, "parses")] == ["hu-ud-dev.conllu"]
    assert not {"test", "segmentation", "test_uas", "test_las"} & set(kept(tmp_path))
    text = trees(tmp_path / "home" / "results" / "hu" / "mh3-seed1.trees.gz")
    assert [line.split()[1] for line in text.splitlines() if line.startswith("#")] == ["dev"]


def test_test_scores_of_the_toy_treebank(run, tmp_path):
    """They are in percent of its words, which are the same in the segmentation: it is the same file."""
    assert run("--lang", "toy", "--systems", "mh3", "--seeds", "1") == 0
    path = treebanks.locate("toy")["test"]
    sentences = conllu.read(str(path))
    words, roots = sum(map(len, sentences)), sum(sentence.heads[1] == 0 for sentence in sentences)
    others = sum((sentence.heads[2:] == 1).sum() for sentence in sentences)  # the right heads of words that are never "dep"
    record = kept(tmp_path, "toy/mh3-seed1")
    assert record["test_uas"] == pytest.approx(100 * (roots + others) / words)
    assert record["test_las"] == pytest.approx(100 * roots / words) and 0 < record["test_las"] < record["test_uas"]
    assert record["test"] == record["segmentation"] == {"path": path.name, "git_blob": treebanks.git_blob_id(path)}


def test_a_segmentation_that_comes_later_is_parsed_then(run, told, hungarian, segmented, tmp_path):
    assert run(*of_hungarian(hungarian)) == 0 and "test_las" not in kept(tmp_path)
    for _ in range(2):  # and only once
        assert run(*of_hungarian(hungarian, "--conll17", str(segmented))) == 0
    assert kept(tmp_path)["test_las"] == pytest.approx(100 * 2 * 1 / (3 + 4)) and len(calls(told)) == 1
    assert [call["file"] for call in calls(told, "parses")].count("hu-udpipe.conllu") == 1


def test_the_segmentation_must_be_in_the_folder_that_is_named(run, told, hungarian, tmp_path, capsys):
    assert run(*of_hungarian(hungarian, "--conll17", str(hungarian))) == 2
    assert capsys.readouterr().err == "reproduce: CONLL17: %s has no hu-udpipe.conllu\n" % hungarian
    assert not calls(told) and not (tmp_path / "home").exists()


def test_a_model_that_cannot_parse_has_no_test_scores(run, told, tmp_path, capsys):
    (told / "mute").write_text("mst-1")
    results = tmp_path / "home" / "results" / "toy"
    results.mkdir(parents=True)
    (results / "mst-seed1.trees.gz").write_bytes(b"trees of another model")
    assert run(*toy("--seeds", "1")) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mst seed 1: ") and line.endswith("mst/seed1 cannot parse toy-ud-dev.conllu: mh4: weights.npz is damaged")
    mst, mh3 = kept(tmp_path, "toy/mst-seed1"), kept(tmp_path, "toy/mh3-seed1")
    assert mst["dev_uas"] == pytest.approx(82.6) and not {"test", "segmentation", "test_uas", "test_las"} & set(mst)
    assert "test_las" in mh3 and not (results / "mst-seed1.trees.gz").exists()
    assert "mst,1," in (results.parent / "toy.csv").read_text(encoding="utf-8")

    (told / "mute").unlink()  # the next time it can
    assert run(*toy("--seeds", "1")) == 0
    assert len(calls(told)) == 2 and [call["run"] for call in calls(told, "parses")].count("mh3-1") == 2
    assert kept(tmp_path, "toy/mst-seed1")["test_las"] == mh3["test_las"]
    assert trees(results / "mst-seed1.trees.gz") == trees(results / "mh3-seed1.trees.gz")


def test_a_model_parses_once_unless_its_trees_are_lost(run, told, tmp_path):
    def again():
        assert run("--lang", "toy", "--systems", "mh3", "--seeds", "1") == 0
        assert len(calls(told)) == 1
        return len(calls(told, "parses"))

    assert again() == again() == 2
    record, path = kept(tmp_path, "toy/mh3-seed1"), tmp_path / "home" / "results" / "toy" / "mh3-seed1.trees.gz"
    before = path.read_bytes()
    path.unlink()
    assert again() == again() == 4
    (tmp_path / "home" / "runs" / "toy" / "mh3" / "seed1" / "predicted.json").unlink()  # as if it was stopped before
    assert again() == 6
    assert path.read_bytes() == before and kept(tmp_path, "toy/mh3-seed1") == record


def test_what_was_kept_of_an_older_toy_treebank_goes(run, tmp_path):
    """Also the trees, but not those of the run that takes the place of one."""
    folder = tmp_path / "home" / "results" / "toy"
    for system in ("mh3", "mst"):
        record(folder.parent, "toy", system, 1, 12.34, lang="toy", release="toy treebank")
        (folder / (system + "-seed1.jsonl")).write_text("")
        (folder / (system + "-seed1.trees.gz")).write_bytes(b"old")
    assert run("--lang", "toy", "--systems", "mh3", "--seeds", "1") == 0
    assert sorted(path.name for path in folder.iterdir()) == ["mh3-seed1.json", "mh3-seed1.jsonl", "mh3-seed1.trees.gz"]
    assert trees(folder / "mh3-seed1.trees.gz").startswith("# dev toy-ud-dev.conllu ")


def test_the_time_to_the_papers_mean(run, told, tmp_path, monkeypatch):
    """That of the first evaluation at the mean or above it; those of mh3 are 81.5, 82.5 and 83.5."""
    means = {"mh3": 82.5, "mst": 82.01, "mh4-two": 84.01, "mh4-hybrid": 70.0, "greedy-mh4": None}
    monkeypatch.setattr(report, "published_dev_uas", lambda lang, release, system, *paper: (means[system], means[system] and 0.1))
    assert run("--lang", "toy", "--systems", " ".join(means), "--seeds", "5", "--jobs", "4") == 0
    records = {system: kept(tmp_path, "toy/%s-seed5" % system) for system in means}
    assert "seconds_to_paper" not in records.pop("greedy-mh4")
    found = {system: record["seconds_to_paper"] for system, record in records.items()}
    assert found == {"mh3": 200.0, "mst": 300.0, "mh4-two": None, "mh4-hybrid": 100.0}


def test_what_is_finished_is_not_trained_again(run, told, tmp_path, capsys):
    assert run(*toy("--seeds", "1")) == 0
    first = (tmp_path / "home" / "results" / "toy.md").read_text(encoding="utf-8")
    assert run(*toy("--seeds", "1")) == 0
    assert len(calls(told)) == 2
    assert (tmp_path / "home" / "results" / "toy.md").read_text(encoding="utf-8") == first
    assert "0 to train, 2 finished before" in capsys.readouterr().out
    assert run(*toy("--seeds", "1 2")) == 0
    assert sorted(call["run"] for call in calls(told)[2:]) == ["mh3-2", "mst-2"]


def test_results_without_models_are_trained_again(run, told, tmp_path):
    """As in a fresh clone: the results are in git, the models are not. Results of another toy treebank go."""
    paths = treebanks.locate("toy")
    bank = reproduce.treebank("toy", {split: paths[split] for split in ("train", "dev")})
    files = {split: {"path": bank.paths[split].name, "git_blob": bank.blobs[split]} for split in ("train", "dev")}
    record(tmp_path / "home" / "results", "toy", "mh3", 1, 12.34, lang="toy", release="toy treebank", **{"dev": files["dev"]})
    path = tmp_path / "home" / "results" / "toy" / "mh3-seed1.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "train": files["train"]}))
    record(tmp_path / "home" / "results", "toy", "mst", 1, 12.34, lang="toy", release="toy treebank")
    (path.parent / "mst-seed1.jsonl").write_text("")
    assert run("--lang", "toy", "--systems", "mh3", "--seeds", "1") == 0
    assert len(calls(told)) == 1
    assert sorted(kept.name for kept in path.parent.iterdir()) == ["mh3-seed1.json", "mh3-seed1.jsonl", "mh3-seed1.trees.gz"]
    assert json.loads(path.read_text())["dev_uas"] == pytest.approx(83.1)


def test_changed_settings_are_for_the_trainer_to_judge(run, told, tmp_path):
    assert run("--lang", "toy", "--systems", "mh3", "--seeds", "1") == 0
    origin = tmp_path / "home" / "runs" / "toy" / "mh3" / "seed1" / "origin.json"
    content = json.loads(origin.read_text())
    content["inputs"]["settings"] = "others"
    origin.write_text(json.dumps(content))
    assert run("--lang", "toy", "--systems", "mh3", "--seeds", "1") == 0
    assert len(calls(told)) == 2


def test_a_failing_run_is_reported_and_the_others_go_on(run, told, tmp_path, capsys):
    (told / "fail").write_text("mst-1")
    assert run(*toy("--seeds", "1 2")) == 1
    out = capsys.readouterr().out
    assert "mst seed 1 failed: ended with exit code 2" in out
    assert "    mh4: hu-ud-train.conllu, line 7: a cycle\n" in out and "    loading\n" in out
    assert sorted(call["run"] for call in calls(told)) == ["mh3-1", "mh3-2", "mst-1", "mst-2"]
    table = (tmp_path / "home" / "results" / "toy.csv").read_text(encoding="utf-8")
    assert "mh3,1 2," in table and "mst,2," in table
    (told / "fail").unlink()
    assert run(*toy("--seeds", "1 2")) == 0
    assert [call["run"] for call in calls(told)[4:]] == ["mst-1"]
    assert "mst,1 2," in (tmp_path / "home" / "results" / "toy.csv").read_text(encoding="utf-8")


def test_a_run_that_ends_well_without_a_summary_has_failed(told, tmp_path, capsys):
    assert reproduce.main(("--lang", "toy", "--systems", "mh3", "--seeds", "1"), trainer=["true"], home=tmp_path / "home") == 1
    assert "ended without finishing its training" in capsys.readouterr().out


def test_no_more_than_the_asked_number_at_a_time(run, told, monkeypatch):
    most = []
    start = grid._start

    def counted(started, *more):
        start(started, *more)
        most.append(sum(other.poll() is None for other in processes))
        processes.append(started.process)

    processes = []
    monkeypatch.setattr(grid, "_start", counted)
    assert run("--lang", "toy", "--systems", "mh3 mst", "--seeds", "1 2 3", "--jobs", "2") == 0
    assert len(most) == 6 and max(most) <= 1


DRIVER = """
import signal
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import reproduce
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may have them ignored
signal.signal(signal.SIGHUP, signal.SIG_DFL)
sys.exit(reproduce.main(sys.argv[4:], trainer=[sys.executable, sys.argv[2]], home=Path(sys.argv[3])))
"""


def start_and_wait_for(told, tmp_path, run_name, *arguments):
    """Starts the command as a process whose run `run_name` hangs after two evaluations, and returns when it does."""
    (told / "slow").write_text(run_name)
    system, _, seed = run_name.rpartition("-")
    home = tmp_path / "home"
    command = [sys.executable, "-c", DRIVER, str(EXPERIMENTS), str(told / "stand_in.py"), str(home), *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    metrics = home / "runs" / "toy" / system / ("seed" + seed) / "metrics.jsonl"
    for _ in range(3000):
        if metrics.exists() and len(metrics.read_text().splitlines()) == 2:
            return process
        if process.poll() is not None:
            break
        time.sleep(0.02)
    process.kill()
    pytest.fail("the run did not come so far: %s" % (process.communicate(),))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stopped_and_started_again_it_goes_on_from_there(run, told, tmp_path, number):
    process = start_and_wait_for(told, tmp_path, "mst-1", *toy("--seeds", "1 2", "--jobs", "1"))
    process.send_signal(number)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 130 and error == ""
    assert out.endswith("stopped; the same command resumes from there\n")
    assert not is_held(tmp_path / "home" / "runs" / "toy" / "mst" / "seed1" / "train.log")  # so no child is left
    assert [call["run"] for call in calls(told)] == ["mh3-1", "mst-1"]
    (told / "slow").unlink()
    assert run(*toy("--seeds", "1 2", "--jobs", "1")) == 0
    assert [call["run"] for call in calls(told)[2:]] == ["mst-1", "mh3-2", "mst-2"]
    evaluations = (tmp_path / "home" / "results" / "toy" / "mst-seed1.jsonl").read_text().splitlines()
    assert [json.loads(line)["evaluation"] for line in evaluations] == [1, 2, 3]


def test_two_commands_never_train_one_model(run, told, tmp_path, capsys):
    process = start_and_wait_for(told, tmp_path, "mst-1", *toy("--seeds", "1"))
    assert run(*toy("--seeds", "1")) == 1
    assert "mst seed 1 failed: another process is training it now" in capsys.readouterr().out
    (told / "slow").unlink()
    assert process.wait(timeout=60) == 0
    process.communicate()
    assert [call["run"] for call in calls(told)].count("mst-1") == 1


def is_held(path):
    import fcntl

    with open(path, "ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        return False


def test_the_live_table_fits_the_terminal(told, tmp_path):
    """A table that fits the terminal."""
    from rich.console import Console

    runs = [grid.Run("mh3", seed, tmp_path / str(seed), []) for seed in range(1, 31)]
    runs[0].state, runs[0].metrics = grid.TRAINING, {"evaluation": 12, "epoch": 3.25, "tokens_per_second": 1480.3, "dev_uas": 82.1}
    console = Console(width=80, height=20, record=True, file=open(os.devnull, "w"))
    console.print(grid._Live(runs, console)._table())
    text = console.export_text()
    assert len(text.splitlines()) < 20 and "1480" in text and "82.10" in text and "1 training, 29 waiting" in text
    console.print(grid._Live(runs[:3], console)._table())
    assert console.export_text().count("mh3 seed") == 3


def test_nohup_is_respected():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with grid._ending_signals_interrupt():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) not in (signal.SIG_IGN, signal.SIG_DFL)
    finally:
        signal.signal(signal.SIGHUP, before)


# ---- Tables 1 and 2


@pytest.fixture
def run_features(told, tmp_path):
    def call(*arguments):
        return features.main(arguments, trainer=[sys.executable, str(told / "stand_in.py")], home=tmp_path / "home")

    return call


def test_features_trains_what_results_do_not_have(run_features, told, hungarian, tmp_path, capsys):
    folder, results = hungarian, tmp_path / "home" / "results"
    blobs = {split: treebanks.git_blob_id(folder / ("hu-ud-%s.conllu" % split)) for split in ("train", "dev")}
    files = {"train": blobs["train"], "dev": {"path": "hu-ud-dev.conllu", "git_blob": blobs["dev"]}}
    record(results, "hu", "mh4-hybrid", 1, 84.43, **files)
    record(results, "hu", "mh4-hybrid", 2, 84.15, **files)
    record(results, "hu", "mh4-hybrid", 3, 99.0, **files)  # not asked for
    record(results, "hu", "mh3", 1, 83.0, **files)  # of no table
    assert run_features("--lang", "hu", "--ud", str(folder)) == 0
    untrained = ("greedy-mh4-two", "greedy-mh4-three", "greedy-mh4", "mh4-two")
    trained = sorted(call["run"] for call in calls(told))
    assert trained == sorted("%s-%d" % (s, n) for s in untrained for n in (1, 2))
    page = (results / "hu-features.md").read_text(encoding="utf-8").splitlines()
    assert page[2].split(" | ")[-1] == "paper's average |"
    assert page[4:9] == [
        "| local | s0 b0 | greedy-mh4-two | 1 2 | 60.15 ± 0.07 | 49.83 |",
        "| local | s1 s0 b0 | greedy-mh4-three | 1 2 | 82.15 ± 0.07 | 85.17 |",
        "| local | s2 s1 s0 b0 | greedy-mh4 | 1 2 | 82.40 ± 0.07 | 85.27 |",
        "| global | s0 b0 | mh4-two | 1 2 | 83.65 ± 0.07 | 86.79 |",
        "| global | hybrid | mh4-hybrid | 1 2 | 84.29 ± 0.20 | 87.27 |",
    ]
    assert "averages over 10 languages" in "\n".join(page) and 'make features LANG=hu SEEDS="1 2"' in "\n".join(page)
    table = list(csv.DictReader((results / "hu-features.csv").read_text(encoding="utf-8").splitlines()))
    assert [line["system"] for line in table] == [system for _, _, system in features.ROWS]
    assert table[4]["mean"] == "84.2900" and table[4]["paper_uas_avg10"] == "87.27" and table[4]["seeds"] == "1 2"
    assert "82.40 ± 0.07" in capsys.readouterr().out
    assert run_features("--lang", "hu", "--ud", str(folder)) == 0  # now there is nothing to train
    assert len(calls(told)) == len(trained) and "0 to train, 10 finished before" in capsys.readouterr().out


def test_features_of_what_is_finished_when_a_run_fails(run_features, told, tmp_path, capsys):
    (told / "fail").write_text("greedy-mh4-1")
    assert run_features("--lang", "toy", "--seeds", "1") == 1
    assert "greedy-mh4 seed 1 failed" in capsys.readouterr().out
    page = (tmp_path / "home" / "results" / "toy-features.md").read_text(encoding="utf-8")
    assert "| local | s1 s0 b0 | greedy-mh4-three | 1 |" in page and "| greedy-mh4 |" not in page


def test_features_says_what_is_wrong(run_features, told, capsys):
    assert run_features("--lang", "xx") == 2
    assert features.USAGE in capsys.readouterr().err.splitlines()
    assert run_features("--lang", "hu", "--seeds", "0") == 2
    assert capsys.readouterr().err.startswith("features: SEEDS: 0 is not a whole number")
    assert run_features("--help") == 0 and "SEEDS" in capsys.readouterr().out
    assert not calls(told)
