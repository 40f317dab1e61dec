"""``make ablations [LANGS="hu got"] [TREEBANK=folder] [NAME=mine] [ROWS="labels"] [SYSTEMS="mh4-hybrid"] [SEEDS="1 2"]
[LENGTH=full] [UD=folder] [JOBS=2] [SLURM=options]``: what each difference between the authors' settings and ours changes by itself

``ablations.toml`` lists the rows: settings that are switched together. By default, runs are short and of equal length;
one row has the authors' settings, all other settings are ours. With LENGTH=full, the rows listed in ``full`` are tried
at full length, both with the authors' settings within ours and with ours within the authors'. They are compared with
the runs of ``make reproduce``. Recorded runs are not repeated. ROWS=mine.toml tries the rows of another file against
our settings, ROWS="mine.toml wide deep" only these rows of it. The table is not in the paper; its effects also go into
the table of ``docs/differences.md``.
"""

import math
import os
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Literal, NamedTuple, NotRequired, TypedDict, get_type_hints

from experiments import pages
from experiments.engine.command import chosen, languages, repeat, request, requested_systems, study
from experiments.engine.executor import alone
from experiments.engine.experiment import Experiment, exit_code, train_together
from experiments.engine.provenance import make_command
from experiments.engine.record_fields import matches
from experiments.engine.records import Records
from experiments.engine.treebank import AUTHORS, Treebank
from experiments.engine.workplace import EXPERIMENTS, Bench, report_written, shown
from experiments.pages import Average, average, error_between, page_name, plus_minus, with_pooled
from experiments.tables import tails
from mh4.data import treebanks
from mh4.errors import InputError
from mh4.parser.config import MOST, as_toml, tables
from mh4.util import reading
from mh4.util.files import write_text
from mh4.util.text_tables import Table

PLAN = Path(__file__).with_suffix(".toml")
DOCUMENTED = EXPERIMENTS.parent / "docs" / "differences.md"
UNCHANGED = "unchanged"  # in place of a row's name
LAST = 3  # the score of a short run is the mean of this many last evaluations, which vary less than the best one


@dataclass(frozen=True)
class Row:
    """Settings that are switched together, and the systems to try them with.

    switched: settings that get the authors' values. values: other settings, with their values. short: whether short
    runs can show the effect of the row.
    """

    name: str
    what: str = ""
    switched: Sequence[str] = ()
    systems: Sequence[str] = ("mh4-hybrid",)
    values: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    short: bool = True

    @property
    def settings(self) -> list[str]:
        """The names of all settings of the row."""
        return [*self.switched, *self.values]


class OwnRow(TypedDict):
    """A row in the user's own file."""

    name: str
    values: dict[str, bool | int | float | str]
    what: NotRequired[str]
    systems: NotRequired[list[str]]


@dataclass(frozen=True)
class Plan:
    """The rows, and the treebanks and seeds to try them on.

    updates, evaluate_updates: of short runs, in total and between evaluations. full: the rows to try at full length.
    file: the user's own file of rows, if any.
    """

    langs: Sequence[str]
    seeds: Sequence[int]
    updates: int
    evaluate_updates: int
    full: Sequence[str]
    rows: Sequence[Row]
    file: str = ""

    @property
    def own(self) -> str:
        """The name of the user's own file of rows; empty for ours."""
        return Path(self.file).stem

    @classmethod
    def read(cls, path: Path) -> "Plan":
        content = tables(path.read_text(encoding="utf-8"), str(path))
        return cls(rows=[Row(**row) for row in content.pop("row")], **content)

    def with_rows_of(self, path: str) -> "Plan":
        """Return the plan with the rows of a file instead of ours; all are also for full length. Raises InputError."""
        rows, given = [], tables(reading.text(path, MOST), path).get("row")
        for number, row in enumerate(given if isinstance(given, list) else (), start=1):
            if not matches(row, OwnRow) or not row["values"] or set(row) - get_type_hints(OwnRow).keys():
                message = '%s: row %d: expected name = "...", values = {"section.setting" = ...} and, if wanted, what and systems'
                raise InputError(message % (path, number))
            if not re.fullmatch(r"\w[\w.-]*", row["name"]) or row["name"] == UNCHANGED:
                message = "%s: row %d: expected a name of letters, digits, -, _ and ., other than %s"
                raise InputError(message % (path, number, UNCHANGED))
            rows.append(Row(**row))
        names = [row.name for row in rows]
        if not rows or len(set(names)) < len(rows):
            raise InputError("%s: expected rows, [[row]], with different names" % path)
        return replace(self, rows=rows, full=names, file=path)

    def page(self, toy: bool) -> str:
        """Return the name of the page."""
        return page_name("-".join(filter(None, ["ablations", self.own])), toy)

    def within(self, full: bool) -> list["Within"]:
        """Return the contexts in which rows are tried, for runs of full length or for short runs."""
        return [one for one in (SHORT, OURS, THEIRS) if one.full is full and not (self.own and one.settings)]


class Within(NamedTuple):
    """The context in which rows are tried. settings: the name of all other settings (empty for ours).

    full: whether runs have full length. title: of the tables. phrase: introduces the effects in docs/differences.md.
    """

    name: str
    settings: str
    full: bool
    title: str
    phrase: str


SHORT = Within("short", "", False, "Short runs, our settings", "")
OURS = Within("full", "", True, "Full length, our settings", "at full length ")
THEIRS = Within("full-authors", AUTHORS, True, "Full length, the authors' settings", "at full length in the authors' settings ")


def variant(plan: Plan, bank: Treebank, within: Within, row: Row | None, system: str) -> Treebank:
    """Return the treebank with the settings of a run.

    row: None for a run without changes; at full length, its settings are those of ``make reproduce``.
    """
    settings = bank.with_settings(within.settings)
    if within.full and row is None:
        return settings
    other = bank.with_settings("" if within.settings else AUTHORS).config(system)
    values = {**{name: attrgetter(name)(other) for name in row.switched}, **row.values} if row else {}
    changed = ["%s=%s" % (name, as_toml(value)) for name, value in values.items()]
    if not within.full:
        lengths = ["training.max_updates=%d" % plan.updates, "training.evaluate_updates=%d" % plan.evaluate_updates]
        changed = [*lengths, *changed]
    name = "ablations/%s-%s" % (bank.name, within.name)
    return replace(settings, name=name, row=row.name if row else UNCHANGED, assignments=tuple(changed))


@study(
    langs="by default hu and got",
    rows="by default all, or for LENGTH=full those listed for it; or a TOML file of rows of your own, and some of their names",
    systems="of those that the rows name; by default all of these",
    seeds="positive whole numbers; by default three",
    length="full, for runs of full length; by default short ones",
)
def ablations(bench: Bench, langs: str, rows: str, systems: str, seeds: str, length: str, **variables: str) -> int:
    plan = Plan.read(PLAN)
    file, end, rest = rows.partition(".toml")
    if end:
        plan, rows = plan.with_rows_of(os.path.expanduser(file + end)), rest
    if length not in ("", "full"):
        raise InputError("LENGTH: %s is not full; omit it for short runs" % length)
    full = length == "full"
    known = {row.name: row for row in plan.rows if full or row.short}
    unknown, runs = "ROWS: no row %s in %s runs; there are %s", "full" if full else "short"
    named = chosen(rows, known, plan.full if full else known, lambda name: unknown % (name, runs, " ".join(known)))
    chosen_rows = [known[name] for name in named]
    tried = list(dict.fromkeys(system for row in chosen_rows for system in row.systems))
    chosen_systems = requested_systems(systems, tried, tried)
    # Short runs are compared with short runs without changes.
    pairs: list[tuple[Row | None, str]] = [] if full else [(None, system) for system in chosen_systems]
    pairs += [(row, system) for row in chosen_rows for system in row.systems if system in chosen_systems]
    wanted_langs = [""] if variables["treebank"] else languages(langs, plan.langs)
    seeds = seeds or " ".join(map(str, plan.seeds))
    asked = [request(lang, " ".join(chosen_systems), seeds, **variables) for lang in wanted_langs]
    command, experiments = repeat(LANGS=list(filter(None, wanted_langs)), SEEDS=seeds.split(), UD=asked[0].ud), []
    for one in asked:
        bank = one.treebank(test=False)
        for within, (row, system) in product(plan.within(full), pairs):
            changed = variant(plan, bank, within, row, system)
            changed.config(system)  # raises InputError for unknown settings
            experiments.append(Experiment(changed, [system], one.seeds, command, bench, trees=False))
            for run in experiments[-1].runs:
                run.prefix = "%s %s " % (changed.name[len("ablations/") :], changed.row)
    models, toys = bench.models("ablations"), sorted({lang == treebanks.TOY for lang in wanted_langs})

    def write_all() -> list[Path]:
        with alone(models / "pages.lock"):  # other processes may be writing pages
            by_toy = {toy: measured(plan, bench.results, toy) for toy in toys}
            written = [path for toy, found in by_toy.items() for path in write(plan, found, bench.results, toy)]
            if bench.recording and False in toys and not plan.own:
                write_text(str(DOCUMENTED), with_effects(DOCUMENTED.read_text(encoding="utf-8"), plan, by_toy[False]))
                written.append(DOCUMENTED)
        return written

    train_together(experiments, "ablations", models, asked[0].jobs, write_all, records_count=True)
    report_written(write_all())
    return exit_code(experiments)


# The table

DEV: tuple[Literal["dev_uas", "dev_las"], ...] = ("dev_uas", "dev_las")
SCORES: tuple[Literal["uas", "las"], ...] = ("uas", "las")

Key = tuple[str, str, str]  # a row, or "" for unchanged; system; treebank


class Score(NamedTuple):
    """The scores on dev of one run, in percent, and the commits of its code."""

    seed: int
    uas: float
    las: float
    commit: str


@dataclass(frozen=True)
class Measured:
    """The scores of all runs in one context, by row, system and treebank."""

    within: Within
    scores: dict[Key, list[Score]]

    @property
    def langs(self) -> list[str]:
        """The names of treebanks."""
        return sorted({lang for _, _, lang in self.scores})

    def seeds(self, *rows: str) -> list[str]:
        """Return the seeds of the runs of these rows; "" stands for those without changes."""
        found = {run.seed for (row, _, _), group in self.scores.items() if row in rows for run in group}
        return list(map(str, sorted(found)))

    def runs(self, row: str, system: str) -> int:
        """Return the number of runs of a row, or without changes (""), on all treebanks."""
        return sum(len(group) for (name, other, _), group in self.scores.items() if (name, other) == (row, system))

    def averages(self, score: str) -> dict[Key, Average]:
        """Return the averages over seeds, with standard deviations that are pooled over all runs, as three each are too few."""
        groups = self.scores.values()
        single = [average([getattr(run, score) for run in group], [run.seed for run in group]) for group in groups]
        return dict(zip(self.scores, with_pooled(single), strict=True))

    def effect(self, row: Row, system: str, langs: Sequence[str], score: str = "uas") -> tuple[float, float | None] | None:
        """Return the score with the authors' settings of a row minus the score with ours, and its standard error.

        The effect is a mean over treebanks; None if runs are missing.
        """
        found, differences, errors = self.averages(score), [], []
        for lang in langs:
            changed, unchanged = found.get((row.name, system, lang)), found.get(("", system, lang))
            if changed is None or unchanged is None:
                return None
            differences.append(changed.mean - unchanged.mean)
            errors.append(error_between(changed, unchanged))
        known = [error for error in errors if error is not None]
        sign = -1 if self.within is THEIRS and row.switched else 1
        return sign * statistics.mean(differences), math.hypot(*known) / len(langs) if known else None


def measured(plan: Plan, results: Path, toy: bool) -> list[Measured]:
    """Return the recorded scores in each context, on the toy treebank or on all others."""
    found = []
    for within in [*plan.within(full=False), *plan.within(full=True)]:
        scores, end = dict[Key, list[Score]](), "-%s.jsonl" % within.name
        langs = sorted(path.name.removesuffix(end) for path in (results / "ablations").glob("*" + end))
        for lang, row in product([lang for lang in langs if (lang == treebanks.TOY) is toy], plan.rows):
            for system in row.systems:
                changed = _scores(plan, results, within, lang, row, system)
                if changed:
                    scores[row.name, system, lang] = changed
                    if unchanged := scores.get(("", system, lang)) or _scores(plan, results, within, lang, None, system):
                        scores["", system, lang] = unchanged
        found.append(Measured(within, scores))
    return found


def _scores(plan: Plan, results: Path, within: Within, lang: str, row: Row | None, system: str) -> list[Score]:
    """Return the scores of the runs on a treebank, without records of other settings.

    Scores of short runs are means of the last evaluations. Raises InputError if a record lacks scores.
    """
    kept, found = Records(results, variant(plan, Treebank(lang, lang, "", {}, {}), within, row, system)), []
    for record in kept.current(system):
        last = [record] if within.full else record.get("curve", [])[-LAST:]
        if not last or any(score not in line for line in last for score in DEV):
            without = "%s: the record of %s seed %d has no evaluations, or no dev_las: restore or delete it"
            raise InputError(without % (shown(kept.path), system, record["seed"]))
        uas, las = (statistics.mean(line[score] for line in last) for score in DEV)
        found.append(Score(record["seed"], uas, las, record.get("commit", "unknown")))
    return found


def effects(plan: Plan, found: Measured, score: str) -> Table:
    """Return a table of the effects on a score of each row that has runs."""
    body, means = list[list[str]](), []
    listed = [(row, system) for row in plan.rows for system in row.systems if found.runs(row.name, system)]
    for row, system in listed:
        by_lang = [found.effect(row, system, [lang], score) for lang in found.langs]
        tried = [lang for lang, effect in zip(found.langs, by_lang, strict=True) if effect]
        means.append(found.effect(row, system, tried, score) if len(tried) > 1 else None)
        number = "%d / %d" % (found.runs(row.name, system), found.runs("", system))
        cells = [plus_minus(*each, "+z.2f") if each else "" for each in (*by_lang, means[-1])]
        body.append([row.name, system, number, *cells])
    for place in surviving(means, sum(len(group) - 1 for group in found.scores.values())):
        body[place][-1] += " *"
    return Table(["row", "system", "runs", *found.langs, "mean"], body, right=2)


def surviving(found: Sequence[tuple[float, float | None] | None], freedom: int) -> list[int]:
    """Return the indices of effects that differ from 0 at the level of 5 %, by t-tests with Holm's correction.

    found: effects with their standard errors, if known. freedom: the degrees of freedom of these errors.
    """
    known = [(number, *one) for number, one in enumerate(found) if one]
    tests = sorted((tails.student(abs(effect) / error, freedom), number) for number, effect, error in known if error)
    passed: list[int] = []
    for p, number in tests:
        if p * (len(tests) - len(passed)) > 0.05:
            break
        passed.append(number)
    return passed


def unchanged(found: Measured, score: str) -> Table:
    """Return a table of a score of each system without changes."""
    body, averages = [], found.averages(score)
    for system in dict.fromkeys(system for name, system, _ in found.scores if not name):
        means = [averages.get(("", system, lang)) for lang in found.langs]
        body.append([system, *(plus_minus(mean.mean, mean.error) if mean else "" for mean in means)])
    return Table(["system", *found.langs], body, right=1)


def page(plan: Plan, everything: Sequence[Measured]) -> list[pages.Part]:
    rows = []
    for row in plan.rows:
        settings = [name + " = " + as_toml(row.values[name]) if plan.own else name for name in row.settings]
        rows.append([row.name, ", ".join("`%s`" % setting for setting in settings), row.what])
    table = Table(["row", "settings", "" if plan.own else "the authors' values"], rows, right=3)
    parts: list[pages.Part] = ["\n".join([SAID_OF_OWN if plan.own else NOTE, SAID_OF_TABLES]), table]
    for found in (one for one in everything if one.scores):
        parts += ["## " + found.within.title, *_how(plan, found)]
        for score in SCORES:
            parts += ["### " + score.upper(), effects(plan, found, score)]
            parts += ["Without changes:", unchanged(found, score)] if any(not row for row, _, _ in found.scores) else []
            std = next(iter(found.averages(score).values())).std
            parts += [] if std is None else ["The standard deviation between seeds is %.2f, pooled over all runs." % std]
        commits = Counter(run.commit for group in found.scores.values() for run in group)
        parts.append("Trained at commit %s." % ", ".join("%s (runs: %d)" % pair for pair in commits.most_common()))
    return parts


NOTE = """\
Each row is some settings of [the authors' runs](../settings/authors.toml) that differ from ours, and is tried by itself. An effect is
UAS or LAS on the development set with the authors' values, minus the score with ours; all other settings are ours or, at the end, the
authors'."""

SAID_OF_OWN = """\
Each row is some settings that differ from the defaults, and is tried by itself. An effect is UAS or LAS on the development set with
them, minus the score without."""

SAID_OF_TABLES = """\
It is the mean over seeds and, if there are several, has its standard error. Runs: with the row changed, and without, of all treebanks
together. Mean: over the treebanks that the row was tried on. *: the mean differs from 0 at the level of 5 %, by a t-test with Holm's
correction for all rows of the table; without it, the effect may be chance."""


def _how(plan: Plan, found: Measured) -> list[pages.Part]:
    """Describe how these runs are made and scored."""
    langs = found.langs
    if not found.within.full:
        how = "Runs of %d updates; a score is the mean of the last %d evaluations, which are %d updates apart."
        every = found.seeds(*(row.name for row in plan.rows))
        command = make_command("ablations", LANGS=langs, ROWS=plan.file, SEEDS=every, UD="FOLDER")
        return [how % (plan.updates, LAST, plan.evaluate_updates), pages.code([command])]
    systems = list(dict.fromkeys(system for row, system, _ in found.scores if not row))
    variables = {"SYSTEMS": systems, "SETTINGS": found.within.settings, "SEEDS": found.seeds(""), "UD": "FOLDER"}
    commands = [make_command("reproduce", LANG=lang, **variables) for lang in langs]
    by_seeds: dict[tuple[str, ...], list[str]] = {}
    for row in plan.rows:
        by_seeds.setdefault(tuple(found.seeds(row.name)), []).append(row.name)
    for seeds, rows in by_seeds.items():
        if seeds:
            some = " ".join(filter(None, [plan.file, *(rows if len(rows) < len(plan.rows) else [])]))
            commands.append(make_command("ablations", LANGS=langs, ROWS=some, SEEDS=seeds, LENGTH="full", UD="FOLDER"))
    how = "Runs of full length; a score is the best model's. The runs without changes come from `make reproduce`."
    return [how, pages.code(commands)]


def write(plan: Plan, everything: Sequence[Measured], results: Path, toy: bool) -> list[Path]:
    """Write the pages into the folder `results`; return their paths."""
    title = "Ablations: what each %s changes by itself" % ("row" if plan.own else "difference between the authors' runs and ours")
    return pages.write(results, plan.page(toy), title, page(plan, everything))


# The effects in the table of docs/differences.md: the last cell of each line of settings


def with_effects(text: str, plan: Plan, everything: Sequence[Measured]) -> str:
    """Return the page, each line of settings with the effects of the rows that change one of its settings.

    Rows that also change settings of other lines are named. A line that names systems only has their effects.
    """
    return "\n".join(_with_effect(line, plan, everything) for line in text.split("\n"))


def _with_effect(line: str, plan: Plan, everything: Sequence[Measured]) -> str:
    cells = line.split("|")
    names = set(re.findall(r"`(\w+\.\w+)`", cells[-3])) if len(cells) == 7 else set()
    if not names:
        return line
    pairs = [(row, system) for row in plan.rows if names & set(row.settings) for system in row.systems]
    listed = {system for _, system in pairs if "`%s`" % system in cells[1]} or {system for _, system in pairs}
    effects = [_effect(row, system, names, plan, everything) for row, system in pairs if system in listed]
    cells[-2] = " %s " % ("; ".join(filter(None, effects)) or "not measured")
    return "|".join(cells)


def _effect(row: Row, system: str, names: set[str], plan: Plan, everything: Sequence[Measured]) -> str:
    """Return the effects of a row on UAS, the mean over the plan's treebanks; empty if there are none."""
    means = [(found.within.phrase, found.effect(row, system, plan.langs)) for found in everything]
    effects = [message + plus_minus(*mean, "+z.2f") for message, mean in means if mean]
    unusual = system not in Row.systems  # the default of a row that names none
    whose = [name for name, other in ((row.name, not names >= set(row.settings)), (system, unusual)) if other]
    return " ".join([*whose, ", ".join(effects)]) if effects else ""
