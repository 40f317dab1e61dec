"""``make ablations``: rows cover the authors' settings, runs differ in one row, and effects have standard errors."""

import dataclasses
import sys
from operator import attrgetter

import pytest
from samples import ROOT, STAND_IN, assert_nothing_of_this_machine, calls, kept, record, study

from experiments.engine.treebank import Treebank
from experiments.studies import ablations
from experiments.studies.ablations import OURS, SHORT, THEIRS, Measured, Plan, Row, Score
from mh4.errors import InputError
from mh4.parser import systems
from mh4.parser.config import Config, as_toml, with_settings
from mh4.parser.systems import SYSTEMS

PLAN = Plan.read(ablations.PLAN)
PLAIN = Treebank("hu", "hu", "UD 2.0", {}, {})
AUTHORS = PLAIN.with_settings("authors")


def differing(one, other):
    """Return the names of settings that differ."""
    one, other = dataclasses.asdict(one), dataclasses.asdict(other)
    return {"%s.%s" % (section, name) for section in one for name in one[section] if one[section][name] != other[section][name]}


# ---- the rows


def test_every_setting_of_the_authors_belongs_to_a_row():
    theirs = {name for system in SYSTEMS for name in differing(Config(), AUTHORS.config(system))}
    assert theirs == {name for row in PLAN.rows for name in row.switched}


@pytest.mark.parametrize("row", PLAN.rows, ids=lambda row: row.name)
def test_a_run_differs_in_one_row_from_what_it_is_compared_with(row):
    assert row.what and set(row.systems) <= set(SYSTEMS)
    for system in row.systems:
        ours, theirs = PLAIN.config(system), AUTHORS.config(system)
        for within, mine, other in ((SHORT, ours, theirs), (OURS, ours, theirs), (THEIRS, theirs, ours)):
            changed, unchanged = (ablations.variant(PLAN, PLAIN, within, which, system).config(system) for which in (row, None))
            assert differing(changed, unchanged) == set(row.settings), system
            assert not differing(changed, other) & set(row.switched)
            assert all(attrgetter(name)(changed) == value for name, value in row.values.items())
            assert differing(unchanged, mine) == (set() if within.full else {"training.max_updates"})


def test_the_plan():
    names = [row.name for row in PLAN.rows]
    assert len(set(names)) == len(names) and set(PLAN.full) <= set(names) and len(PLAN.seeds) > 1
    evaluations = PLAN.updates / PLAN.evaluate_updates
    assert ablations.LAST <= evaluations < Config().training.patience  # short runs end at the same time
    assert all(AUTHORS.config("mst").training.patience <= evaluations or row.short for row in PLAN.rows)


# ---- trainings

# The stand-in, whose models are better by 2 with begin and end symbols.
TRAINER = """
import json, runpy, sys
from pathlib import Path
runpy.run_path(%r)
folder = Path(sys.argv[sys.argv.index("--model") + 1])
settings = (folder / "config.toml").read_text()
if "word_boundaries = true" in settings:
    for path in (folder / "summary.json", folder / "metrics.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps({**line, "dev_uas": line["dev_uas"] + 2}) + "\\n" for line in lines))
"""
SMALL_PLAN = """
langs = ["hu"]
seeds = [1, 2]
updates = 1500
evaluate_updates = 500
full = ["boundaries"]
[[row]]
name = "boundaries"
what = "symbols"
switched = ["encoder.word_boundaries"]
[[row]]
name = "greedy"
what = "a layer"
switched = ["scorer.greedy"]
systems = ["greedy-mh4"]
[[row]]
name = "rate"
what = "slower"
switched = ["training.patience"]
short = false
"""


@pytest.fixture
def train(stand_in, hungarian, tmp_path, monkeypatch):
    """A function that calls the command with a plan of three rows on a Hungarian treebank of two sentences."""
    (tmp_path / "plan.toml").write_text(SMALL_PLAN)
    monkeypatch.setattr(ablations, "PLAN", tmp_path / "plan.toml")
    (tmp_path / "trainer.py").write_text(TRAINER % str(STAND_IN))
    trainer, home = [sys.executable, str(tmp_path / "trainer.py")], tmp_path / "home"

    def call(*arguments):
        asked = ["--ud", str(hungarian), "--jobs", "1", *arguments]
        return study("ablations", *asked, trainer=trainer, home=home)

    return call


def recorded(tmp_path):
    """Return by settings, row and system: the seeds of the runs, the mean UAS, and the effects on UAS and LAS."""
    plan, found = Plan.read(tmp_path / "plan.toml"), {}
    rows = {row.name: row for row in plan.rows}
    for one in ablations.measured(plan, tmp_path / "home" / "results", toy=False):
        for (name, system, lang), runs in sorted(one.scores.items()):
            effects = [one.effect(rows[name], system, [lang], score) if name else None for score in ("uas", "las")]
            rounded = [each and round(each[0], 4) for each in effects]
            uas = round(one.averages("uas")[name, system, lang].mean, 4)
            found[one.within.name, name, system] = [[run.seed for run in runs], uas, *rounded]
    return found


@pytest.mark.slow
def test_short_runs(train, stand_in, tmp_path, capsys):
    assert train() == 0
    trained = [(call["run"], "word_boundaries=true" in str(call["argv"])) for call in calls(stand_in)]
    ours, greedy = "mh4-hybrid", "greedy-mh4"
    once = [(ours, False), (greedy, False), (ours, True), (greedy, False)]
    assert trained == [("%s-%d" % (system, seed), changed) for seed in (1, 2) for system, changed in once]  # seed by seed
    (joint,) = [call["argv"] for call in calls(stand_in) if "scorer.greedy='joint'" in call["argv"] and call["run"].endswith("1")]
    assert [joint[k + 1] for k, word in enumerate(joint) if word == "--set"] == [
        "training.max_updates=1500", "training.evaluate_updates=500", "scorer.greedy='joint'",
    ]  # fmt: skip
    # The last three evaluations of seed 1 are 82.6, 83.6 and 84.6, of seed 2 better by .1.
    lines, seeds = recorded(tmp_path), [1, 2]
    assert list(lines) == [("short", "", greedy), ("short", "", ours), ("short", "boundaries", ours), ("short", "greedy", greedy)]
    assert lines["short", "", ours] == [seeds, 83.65, None, None]
    assert lines["short", "boundaries", ours] == [seeds, 85.65, 2, 0] and lines["short", "greedy", greedy][2:] == [0, 0]
    found = kept(tmp_path, "ablations/hu-short/mh4-hybrid-seed2", "boundaries")
    assert found["settings"]["encoder"]["word_boundaries"] is True and found["dev_uas"] == pytest.approx(86.7)
    assert found["reproduce"] == 'make ablations LANGS="hu" SEEDS="1 2" UD=ud' and "8 to train" in capsys.readouterr().out
    assert_nothing_of_this_machine(tmp_path / "home" / "results", tmp_path)
    assert not list((tmp_path / "home").rglob("*.trees.gz"))


@pytest.mark.slow
def test_full_length_within_both_settings(train, stand_in, tmp_path):
    """Runs of full length, within both settings, are compared with those of make reproduce."""
    assert train("--length", "full") == 0
    assert [call["run"] for call in calls(stand_in)] == ["mh4-hybrid-1", "mh4-hybrid-1", "mh4-hybrid-2", "mh4-hybrid-2"]
    first, second = (call["argv"] for call in calls(stand_in)[:2])
    assert "--config" not in first and "encoder.word_boundaries=true" in first
    assert "authors.toml" in second[second.index("--config") + 1] and "encoder.word_boundaries=false" in second
    assert not any("updates" in word for word in first + second)
    assert {effect for _, _, effect, _ in recorded(tmp_path).values()} == {None}
    text = (tmp_path / "home" / "results" / "ablations.md").read_text(encoding="utf-8")
    assert "| boundaries | mh4-hybrid | 2 / 0 |  |  |" in text and "Without changes" not in text
    for name, uas, settings in (("hu", 84.0, {}), ("hu-authors", 85.0, {"settings_of": "authors"})):
        for seed in (1, 2, 3):
            record(tmp_path / "home" / "results", name, "mh4-hybrid", seed, uas + seed, **settings)
        record(tmp_path / "home" / "results", name, "mst", 1, 1.0, **settings)
    assert train("--length", "full") == 0 and len(calls(stand_in)) == 4
    # The best of the stand-in are 84.6 and 84.7, and with symbols 86.6 and 86.7.
    lines = {(within, row): (uas, effect) for (within, row, _), (_, uas, effect, _) in recorded(tmp_path).items()}
    assert lines == {
        ("full", ""): (86, None), ("full", "boundaries"): (86.65, 0.65),
        ("full-authors", ""): (87, None), ("full-authors", "boundaries"): (84.65, 2.35),
    }  # fmt: skip


@pytest.mark.parametrize("evaluations", [[], [{"updates": 4000, "dev_uas": 80.0}]])
def test_a_run_without_its_last_scores_is_named(tmp_path, evaluations):
    row = PLAN.rows[0]
    bank = ablations.variant(PLAN, PLAIN, SHORT, row, "mh4-hybrid")
    settings = dataclasses.asdict(bank.config("mh4-hybrid"))
    record(tmp_path, bank.name, "mh4-hybrid", 1, 80.0, settings=settings, row=row.name, curve=evaluations)
    with pytest.raises(InputError, match="%s.jsonl: the record of mh4-hybrid seed 1 has no evaluations, or no dev" % bank.name):
        ablations.measured(PLAN, tmp_path, toy=False)


@pytest.mark.slow
def test_on_the_toy_treebank(tmp_path, monkeypatch):
    """A row is trained on the toy treebank with the authors' value, and has a page of its own."""
    plan = SMALL_PLAN.replace("updates = 1500", "updates = 4").replace("evaluate_updates = 500", "evaluate_updates = 2")
    (tmp_path / "plan.toml").write_text(plan)
    monkeypatch.setattr(ablations, "PLAN", tmp_path / "plan.toml")
    asked = ["--langs", "toy", "--rows", "greedy", "--seeds", "1", "--jobs", "1"]
    assert study("ablations", *asked, home=tmp_path / "home") == 0
    folder = tmp_path / "home" / "results"
    for row, scores in (("unchanged", "biaffine"), ("greedy", "joint")):
        found = kept(tmp_path, "ablations/toy-short/greedy-mh4-seed1", row)
        assert found["updates"] == 4 and found["settings"]["scorer"]["greedy"] == scores
    page = (folder / "toy-ablations.md").read_text(encoding="utf-8")
    assert page.count("| greedy | greedy-mh4 | 1 / 1 | ") == 2 and not (folder / "ablations.md").exists()


# ---- rows of one's own

MINE = """
[[row]]
name = "symbols"
values = {"encoder.word_boundaries" = true, "training.clip" = 1.0}
systems = ["mst", "mh3"]
"""


def test_rows_of_ones_own_are_tried_against_the_defaults(train, stand_in, tmp_path, hungarian):
    (tmp_path / "mine.toml").write_text(MINE + MINE.replace("symbols", "other").replace("1.0", "2.0"))
    treebank = ("--ud", "", "--treebank", str(hungarian), "--name", "mine")
    asked = (*treebank, "--rows", str(tmp_path / "mine.toml") + " symbols", "--systems", "mst")
    assert train(*asked) == 0
    changed = [call["argv"] for call in calls(stand_in) if "training.clip=1.0" in call["argv"]]
    assert len(changed) == 2 and len(calls(stand_in)) == 4 and all("encoder.word_boundaries=true" in argv for argv in changed)
    page = (tmp_path / "home" / "results" / "ablations-mine.md").read_text(encoding="utf-8")
    assert "| symbols | `encoder.word_boundaries = true`, `training.clip = 1.0` |" in page and "the authors" not in page
    assert "| symbols | mst | 2 / 2 | +2.00 ± " in page and "ROWS=mine.toml" in page
    changed = kept(tmp_path, "ablations/mine-short/mst-seed1", "symbols")
    assert " ROWS='mine.toml symbols' " in changed["reproduce"] and str(tmp_path) not in changed["reproduce"]
    assert train(*asked, "--length", "full") == 0
    assert "Full length, our settings" in (tmp_path / "home" / "results" / "ablations-mine.md").read_text(encoding="utf-8")


def test_the_larger_network_is_the_row_that_was_chosen():
    """experiments/settings/large.toml is the row whose effects are recorded."""
    plan = Plan.read(ablations.PLAN).with_rows_of(str(ROOT / "experiments" / "studies" / "large.toml"))
    (row,) = [row for row in plan.rows if row.name == "wide-deep-words"]
    large = systems.settings([str(ROOT / "experiments" / "settings" / "large.toml")], "mh5-arcs")
    assert large == with_settings(Config(), ["%s=%s" % (name, as_toml(value)) for name, value in row.values.items()]) != Config()


@pytest.mark.parametrize(
    "text, said",
    [
        ("", ": expected rows, [[row]], with different names"),
        (MINE + MINE, ": expected rows, [[row]], with different names"),
        (
            '[[row]]\nname = "a"\n',
            ': row 1: expected name = "...", values = {"section.setting" = ...} and, if wanted, what and systems',
        ),
        ('[[row]]\nname = "unchanged"\nvalues = {"training.clip" = 1.0}\n', ": row 1: expected a name of letters, digits, "),
        ('[[row]]\nname = ".."\nvalues = {"training.clip" = 1.0}\n', ": row 1: expected a name of letters, digits, "),
        (MINE.replace('["mst", "mh3"]', '"mst"'), ": row 1: expected name = "),
        (MINE + "what = 5", ": row 1: expected name = "),
        ("row = 5", ": expected rows, [[row]], with different names"),
        (MINE.replace("training.clip", "training.clop"), "training.clop=1.0: no setting 'training.clop'"),
        (MINE.replace("mh3", "mh33"), "SYSTEMS: no system 'mh33'; did you mean mh3? there are mh3, mst, "),
        ("[[row", ": not TOML: "),
    ],
)
def test_wrong_rows_are_named(train, tmp_path, capsys, text, said):
    (tmp_path / "mine.toml").write_text(text)
    assert train("--rows", str(tmp_path / "mine.toml")) == 2
    assert said in capsys.readouterr().err


# ---- the table


def scores(*uas):
    """Return runs of seeds 1, 2, ...; LAS is half of UAS."""
    return [Score(seed, value, value / 2, "abc") for seed, value in enumerate(uas, start=1)]


def made_up(within):
    """Return artificial scores.

    The sums of squared deviations of the groups are .02, .08, .08 and 0, and their degrees of freedom 1, 2, 1 and 0.
    So the standard deviation is s = √(.18 / 4) = .2121, and the standard error of a difference s √(1/n + 1/m).
    """
    found = {
        ("", "X", "hu"): scores(80.0, 80.2),
        ("a", "X", "hu"): scores(80.5, 80.7, 80.9),
        ("", "X", "got"): scores(70.0, 70.4),
        ("a", "X", "got"): scores(70.1),
    }
    return Measured(within, found)


ROWS = (
    Row("a", "what a is", ("encoder.one",), ("X",)),
    Row("b", "what b is", ("encoder.one", "training.two"), ("X", "mh4-hybrid")),
    Row("c", "what c is", ("training.three",), short=False),
)
SMALL = Plan(("hu", "got"), (1, 2, 3), 3000, 250, ("c",), ROWS)


def cells(table):
    """Return the cells of a table's rows."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.markdown().splitlines()[2:]]


def test_effects_and_their_standard_errors():
    """Rows with runs have effects with standard errors."""
    found = made_up(SHORT)
    assert cells(ablations.effects(SMALL, found, "uas")) == [
        # s √(1/1 + 1/2) = .2598; s √(1/3 + 1/2) = .1936; of their mean √(.2598² + .1936²) / 2 = .1620
        ["a", "X", "4 / 4", "-0.10 ± 0.26", "+0.60 ± 0.19", "+0.25 ± 0.16"]
    ]
    assert cells(ablations.effects(SMALL, found, "las"))[0][3:] == ["-0.05 ± 0.13", "+0.30 ± 0.10", "+0.12 ± 0.08"]
    assert cells(ablations.unchanged(found, "uas")) == [["X", "70.20 ± 0.15", "80.10 ± 0.15"]]  # s / √2
    theirs = cells(ablations.effects(SMALL, made_up(THEIRS), "uas"))  # from the authors' setting to ours
    assert theirs[0][3:] == ["+0.10 ± 0.26", "-0.60 ± 0.19", "-0.25 ± 0.16"]
    assert [row[0] for row in theirs] == ["a"]  # c is planned but has no runs
    more = Measured(SHORT, {**found.scores, ("b", "X", "el"): scores(60.0)})  # a treebank of another row only
    assert cells(ablations.effects(SMALL, more, "uas"))[0][3:] == ["", "-0.10 ± 0.26", "+0.60 ± 0.19", "+0.25 ± 0.16"]


# ---- the documentation


@pytest.mark.slow
def test_the_documentation_has_the_effects_that_are_recorded(tmp_path):
    text = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
    everything = ablations.measured(PLAN, ROOT / "experiments" / "results", toy=False)
    assert text == ablations.with_effects(text, PLAN, everything)
    for name in (name for row in PLAN.rows for name in row.settings):
        assert "`%s`" % name in text
    for path in ablations.write(PLAN, everything, tmp_path, toy=False):
        assert path.read_bytes() == (ROOT / "experiments" / "results" / path.name).read_bytes()


def test_holms_correction():
    """Of four effects of p .001, .02, .03 and .9, the first is below .05 / 4 and the second not below .05 / 3.

    With two degrees of freedom, the first has p .08.
    """
    errors = {1: 3.2905, 2: 2.3263, 3: 2.1701, 4: 0.1257}
    found = [(z, 1.0) if number != 1 else (-z, 1.0) for number, z in errors.items()]
    assert ablations.surviving([None, (5.0, None), *found], 10_000) == [2] and ablations.surviving(found, 2) == []
    assert ablations.surviving(found[:2], 10_000) == [0, 1] and ablations.surviving([], 0) == []
