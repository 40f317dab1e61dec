"""Ablations: a plan whose patches apply, training of unrecorded runs, and differences with their standard errors."""

import csv
import io
import os
import shutil
import subprocess
import sys
import tarfile

import ablations
import pytest
import toy
from samples import STAND_IN, calls
from tables import ablations as page
from training import changes
from training.changes import Plan

from mh4 import config
from mh4.errors import InputError
from mh4.systems import SYSTEMS

PLAN = Plan.read()
PATCHES = sorted(path.name for path in changes.FOLDER.glob("*.patch"))


def git(*arguments, cwd=toy.ROOT, **how):
    """The output of git, as bytes."""
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *who, *arguments], cwd=str(cwd), check=True, capture_output=True, **how).stdout


# ---- the plan


def test_every_change_is_a_patch_a_setting_or_another_system():
    assert len({change.name for change in PLAN.changes}) == len(PLAN.changes) > 0
    for change in PLAN.changes:
        assert change.patch.exists() or change.settings or change.against, change.name
        assert change.what and change.systems and {*change.systems, *filter(None, [change.against])} <= set(SYSTEMS), change.name
        assert change.against not in change.systems
        if change.settings:
            assert config.with_settings(config.Config(), change.settings) != config.Config(), change.name


def test_every_patch_is_of_a_change():
    assert set(PATCHES) <= {change.name + ".patch" for change in PLAN.changes}


def test_every_comparison_has_both_sides_and_enough_evaluations():
    unchanged = PLAN.unchanged()
    assert not unchanged.patch.exists() and not unchanged.settings and len(set(unchanged.systems)) == len(unchanged.systems)
    assert set(unchanged.systems) == {change.against or system for change in PLAN.changes for system in change.systems}
    assert PLAN.updates >= page.LAST * PLAN.evaluate_updates and PLAN.updates % PLAN.evaluate_updates == 0
    assert len(set(PLAN.seeds)) == len(PLAN.seeds) > 1


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The code of the plan's commit."""
    try:
        archive = git("archive", PLAN.base, "mh4")
    except OSError:
        pytest.skip("there is no git")
    except subprocess.CalledProcessError:
        pytest.skip("commit %s is not here: no clone, or a shallow one" % PLAN.base)
    folder = tmp_path_factory.mktemp("base")
    with tarfile.open(fileobj=io.BytesIO(archive)) as content:
        content.extractall(str(folder))
    return folder


@pytest.mark.parametrize("patch", PATCHES)
def test_every_patch_applies_to_the_base(base, tmp_path, patch):
    code = tmp_path / "code"
    shutil.copytree(str(base), str(code))
    environment = dict(os.environ, GIT_CEILING_DIRECTORIES=str(tmp_path))  # the folder is in no clone
    for how in ("--check", "--apply"):
        git("apply", how, str(changes.FOLDER / patch), cwd=code, env=environment)
    paths = [path.relative_to(code) for path in code.rglob("*.py")]
    changed = [path for path in paths if (code / path).read_bytes() != (base / path).read_bytes()]
    assert changed
    for path in changed:
        compile((code / path).read_bytes(), str(path), "exec")


# ---- the code of a change


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A folder that contains the folders of runs, results, and the plan's patches."""
    for name in ("runs", "results", "folder"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(changes, "FOLDER", tmp_path / "folder")
    return tmp_path


BUILD = 'open("mh4/decoders/chart.so", "w").write("built"); open("log", "a").write("built\\n")\n'
SHOUT = "--- a/mh4/code.py\n+++ b/mh4/code.py\n@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3\n"


@pytest.fixture
def repository(places, monkeypatch):
    """A clone of a program that compiles quickly; returns its only commit."""
    if not shutil.which("git") or not shutil.which("patch"):
        pytest.skip("there is no git, or no patch")
    folder = places / "repository"
    for name, text in {
        "setup.py": BUILD,
        "mh4/code.py": "a = 1\nb = 2\n",
        "mh4/decoders/__init__.py": "",
        "experiments/a": "",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git("init", "-q", cwd=folder)
    git("add", "-A", cwd=folder)
    git("commit", "-q", "-m", "a", cwd=folder)
    (folder / "mh4" / "code.py").write_text("not committed")
    monkeypatch.setattr(changes, "CLONE", folder)
    return git("rev-parse", "HEAD", cwd=folder).decode().strip()[:12]


def change(name, *systems, **more):
    return changes.Change(name, "what %s is" % name, systems, **more)


def test_the_code_of_a_change_is_that_of_the_base_with_its_patch(repository, places):
    (changes.FOLDER / "shout.patch").write_text(SHOUT)
    interrupted = places / "runs" / repository / "code" / "shout.making"
    interrupted.mkdir(parents=True)
    (interrupted / "half.py").write_text("")
    shout, plain = (changes.code(places / "runs", repository, change(name)) for name in ("shout", "only-settings"))
    assert (plain / "mh4" / "code.py").read_text() == "a = 1\nb = 2\n" and (plain / "log").read_text() == "built\n"
    assert (shout / "mh4" / "code.py").read_text() == "a = 1\nb = 3\n" and not (shout / "half.py").exists()
    assert (
        not (shout / "log").exists() and (shout / "mh4" / "decoders" / "chart.so").read_text() == "built"
    )  # it is compiled once
    assert sorted(path.name for path in shout.parent.iterdir()) == ["shout", "unchanged"]
    shutil.rmtree(str(places / "repository"))  # what is there needs no git
    again = [changes.code(places / "runs", repository, change(name)) for name in ("shout", "unchanged")]
    assert again == [shout, plain]


def test_code_that_cannot_be_made_is_one_sentence(repository, places):
    with pytest.raises(InputError, match="^git .* archive 0123abcd .: exit code 128$"):
        changes.code(places / "runs", "0123abcd", change("unchanged"))
    (changes.FOLDER / "shout.patch").write_text(SHOUT.replace("b = 2", "b = 4"))
    with pytest.raises(InputError, match="^patch .*: exit code 1$"):
        changes.code(places / "runs", repository, change("shout"))
    (changes.FOLDER / "shout.patch").write_text(SHOUT)
    assert (changes.code(places / "runs", repository, change("shout")) / "mh4" / "code.py").read_text() == "a = 1\nb = 3\n"


# ---- trainings


@pytest.fixture
def train(told, places, monkeypatch):
    """Calls the command on the toy treebank; the code of each change is the stand-in as package mh4, which identifies itself."""

    def code(runs, base, change):
        package = places / "code" / change.name / "mh4"
        if not package.exists():
            package.mkdir(parents=True)
            (package / "__init__.py").write_text("")
            whose = "import os\nos.environ['CODE'] = %r\n" % change.name
            (package / "__main__.py").write_text(whose + STAND_IN.read_text())
        return package.parent

    monkeypatch.setattr(changes, "code", code)
    return lambda changes, *more: ablations.main(["--langs", "toy", "--changes", changes, *more], home=places)


def table(places):
    """The rows of the csv."""
    with open(places / "results" / "ablations.csv", encoding="utf-8", newline="") as lines:
        return {(row["base"], row["system"], row["change"], row["seed"]): row for row in csv.DictReader(lines)}


def kept(places, *rows):
    """Makes the csv from rows of base, system, change, seed and UAS."""
    lines = ["%s,toy,%s,%s,%s,3000,%s,70.0000,100\n" % row for row in rows]
    (places / "results" / "ablations.csv").write_text(",".join(page.FIELDS) + "\n" + "".join(lines))


def test_what_is_recorded_is_not_trained_again(train, told, places, capsys):
    kept(
        places,
        (PLAN.base, "mh4-arcs", "arcs", 1, "12.3456"), (PLAN.base, "mh4-arcs", "arcs", 2, "12.5000"),
        (PLAN.base, "mh4-hybrid", "unchanged", 1, "12.0000"), ("other", "mh4-hybrid", "unchanged", 2, "99.0000"),
        ("other", "mh3-arcs", "projective-arcs", 1, "99.0000"),
    )  # fmt: skip
    assert train("arcs projective-arcs", "--jobs", "1") == 0
    assert [call["run"] for call in calls(told)] == ["mh3-arcs-1", "mh3-arcs-2", "mh4-arcs-3", "mh3-arcs-3"]  # seed by seed
    rows = table(places)
    assert list(rows) == sorted(rows) and len(rows) == 9
    assert (
        rows[PLAN.base, "mh4-arcs", "arcs", "1"]["uas"] == "12.3456"
        and rows["other", "mh3-arcs", "projective-arcs", "1"]["uas"] == "99.0000"
    )
    # Evaluations of seed 2 find 83.2, 84.2 and 85.2 after 500, 1000 and 1500 updates; LAS is 5 below.
    assert rows[PLAN.base, "mh3-arcs", "projective-arcs", "2"] == {
        "base": PLAN.base, "lang": "toy", "system": "mh3-arcs", "change": "projective-arcs", "seed": "2",
        "updates": "1500", "uas": "84.2000", "las": "79.2000", "seconds": "300",
    }  # fmt: skip
    text = (places / "results" / "ablations.md").read_text(encoding="utf-8")
    assert (
        "| arc scores in addition to transition scores: mh4-arcs against mh4-hybrid | mh4-arcs | +24.72 ± " in text
    )  # (12.3456 + 12.5 + 85.3) / 3 - 12
    assert str(places) not in text and "4 to train" in capsys.readouterr().out

    assert train("arcs projective-arcs") == 0
    assert len(calls(told)) == 4 and table(places) == rows and "0 to train" in capsys.readouterr().out


def test_a_change_trains_with_its_code_and_settings(train, told, places):
    others = [(system, seed) for system in ("mh4-hybrid", "1ec") for seed in PLAN.seeds if (system, seed) != ("mh4-hybrid", 2)]
    kept(places, *((PLAN.base, system, "last-weights", seed, "80.0000") for system, seed in others))
    assert train("last-weights") == 0
    (call,) = calls(told)
    argv = call["argv"]
    assert call["env"]["CODE"] == "last-weights" and call["env"]["OMP_NUM_THREADS"] == "1"
    assert argv[:5] == ["train", "--system", "mh4-hybrid", "--seed", "2"]
    settings = {value for option, value in zip(argv, argv[1:]) if option == "--set"}
    lengths = {"training.max_updates=%d" % PLAN.updates, "training.evaluate_updates=%d" % PLAN.evaluate_updates}
    assert settings == lengths | {"training.averaged_updates=1"}
    assert all(os.path.isabs(argv[argv.index(option) + 1]) for option in ("--train", "--dev"))  # it is started elsewhere
    assert argv[argv.index("--model") + 1] == str(
        places / "runs" / "ablations" / PLAN.base / "toy" / "last-weights" / "mh4-hybrid" / "seed2"
    )


def test_a_training_that_fails_is_named_and_trained_the_next_time(train, told, places, capsys):
    (told / "fail").write_text("mh4-arcs-2")
    assert train("arcs") == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mh4-arcs seed 2 failed: ended with exit code 2 (")
    assert [key[3] for key in table(places)] == ["1", "3"]
    (told / "fail").unlink()
    assert train("arcs") == 0
    assert [call["run"] for call in calls(told)][3:] == ["mh4-arcs-2"] and [key[3] for key in table(places)] == ["1", "2", "3"]


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--changes", "nonsense"], "ablations: no change 'nonsense' in the plan; there are unchanged "),
        (["--changes", "arcs nonsense"], "ablations: no change 'nonsense' in the plan; "),
        (["--jobs", "0"], "ablations: JOBS: 0 is not a whole number from 1 to 9999"),
        (["--jobs", "many"], "ablations: JOBS: many is not a whole number from 1 to 9999"),
        (["--langs", "xx"], "ablations: no treebank for language 'xx'"),
        (["--ud", "no/such/folder"], "ablations: no/such/folder is not a folder"),
    ],
)
def test_what_is_wrong_is_one_sentence(train, told, places, capsys, arguments, sentence):
    assert ablations.main(arguments, home=places) == 2
    error = capsys.readouterr().err
    assert error.startswith(sentence) and len(error.splitlines()) == 1
    assert not calls(told) and not list((places / "results").iterdir())


def test_help():
    script = [sys.executable, str(toy.ROOT / "experiments" / "ablations.py"), "--help"]
    done = subprocess.run(script, capture_output=True, check=True)
    assert done.stdout.decode() == ablations.USAGE + "\n" and done.stderr == b""


# ---- the table


def rows(lang, system, change, *scores):
    """LAS is half of UAS."""
    return [
        {
            "base": "abc",
            "lang": lang,
            "system": system,
            "change": change,
            "seed": str(k),
            "uas": "%.4f" % uas,
            "las": "%.4f" % (uas / 2),
        }
        for k, uas in enumerate(scores, start=1)
    ]


def cells(lines):
    """The rows of its tables, without the lines below their headers."""
    lines = [line.strip("|").split("|") for line in "\n".join(lines).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line] for line in lines if "---" not in line[0]]


def test_differences_and_their_standard_errors():
    """By hand: the squared deviations of the groups are .02, .08, .08 and 0, their degrees of freedom 1, 2, 1 and 0.

    So the standard deviation is s = √(.18 / 4) = .2121, and the standard error of a difference s √(1/n + 1/m).
    """
    tried = change("a", "X"), change("b", "Y", against="X"), change("c", "Z", settings=("scorer.single_root=false",))
    plan = Plan(base="abc", seeds=(1, 2, 3), updates=3000, evaluate_updates=250, changes=tried)
    made_up = (
        rows("hu", "X", "unchanged", 80.0, 80.2) + rows("hu", "X", "a", 80.5, 80.7, 80.9) + rows("hu", "Y", "b", 79.0)
        + rows("got", "X", "unchanged", 70.0, 70.4) + rows("got", "X", "a", 70.1)
    )  # fmt: skip
    lines = page.markdown(plan, made_up)
    assert cells(lines) == [
        ["change", "system", "got", "hu", "mean"],
        # s √(1/1 + 1/2) = .2598; s √(1/3 + 1/2) = .1936; of their mean √(.2598² + .1936²) / 2 = .1620
        ["what a is", "X", "-0.10 ± 0.26", "+0.60 ± 0.19", "+0.25 ± 0.16"],
        ["what b is", "Y", "", "-1.10 ± 0.26", ""],  # against X; c has not been tried
        ["system", "got", "hu"],
        ["X", "70.20 ± 0.15", "80.10 ± 0.15"],  # s / √2
        ["Z", "", ""],
        ["change", "system", "got", "hu", "mean"],
        ["what a is", "X", "-0.05 ± 0.13", "+0.30 ± 0.10", "+0.12 ± 0.08"],
        ["what b is", "Y", "", "-0.55 ± 0.13", ""],
        ["system", "got", "hu"],
        ["X", "35.10 ± 0.08", "40.05 ± 0.08"],
        ["Z", "", ""],
    ]
    assert "standard deviation between seeds is 0.21, pooled" in "\n".join(lines) and "(3000 updates, seeds 1 2 3)" in "\n".join(
        lines
    )
    assert '    .venv/bin/python experiments/ablations.py --langs "got hu" --ud FOLDER' in lines


def test_without_two_seeds_of_anything_there_are_no_errors():
    """Not even "nan": one seed says nothing about the variation between seeds."""
    plan = Plan(base="abc", seeds=(1, 2), updates=3000, evaluate_updates=250, changes=(change("a", "X"),))
    lines = page.markdown(plan, rows("hu", "X", "unchanged", 80.0) + rows("hu", "X", "a", 80.5))
    assert cells(lines) == [
        ["change", "system", "hu", "mean"],
        ["what a is", "X", "+0.50", "+0.50"],
        ["system", "hu"],
        ["X", "80.00"],
        ["change", "system", "hu", "mean"],
        ["what a is", "X", "+0.25", "+0.25"],
        ["system", "hu"],
        ["X", "40.00"],
    ]
    assert not any("±" in line or "nan" in line or "deviation" in line for line in lines)
