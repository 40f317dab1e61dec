"""What each difference between the authors' runs and ours changes by itself, with standard errors, from the records of ablations.

This table is not in the paper. It is written to ``results/ablations.md`` and ``.csv``.
"""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Optional

from provenance import make_command
from training import records
from training.ablations import OURS, SHORT, THEIRS, WITHIN, Plan, Row, Within, variant
from training.treebank import Treebank

from mh4.data import treebanks
from tables.writer import Table, comma_separated, page_name, plus_minus, write_pages

LAST = 3  # the score of a short run is the mean of this many last evaluations, which vary less than the best one
TITLES = {
    SHORT: "Short runs, our settings",
    OURS: "Full length, our settings",
    THEIRS: "Full length, the authors' settings",
}
HEADER = "within row system lang seeds uas uas_effect uas_error las las_effect las_error commits".split()

Key = tuple[str, str, str]  # a row, or "" for unchanged; system; treebank


class Score(NamedTuple):
    """The scores on dev of one run, in percent, and the commits of its code."""

    seed: int
    uas: float
    las: float
    commit: str


@dataclass(frozen=True)
class Measured:
    """The scores of all runs within some settings, each on its own; `langs` are the names of treebanks."""

    within: Within
    langs: tuple[str, ...]
    scores: dict[Key, list[Score]]

    def runs(self, row: str, system: str) -> int:
        """The number of runs of a row, or without any (""), of all treebanks."""
        return sum(len(group) for (name, other, _), group in self.scores.items() if (name, other) == (row, system))

    def deviation(self, score: str) -> Optional[float]:
        """The standard deviation between seeds, pooled over all runs (three each are too few); None without repetitions."""
        groups = [[getattr(run, score) for run in group] for group in self.scores.values()]
        squares = [(value - statistics.mean(group)) ** 2 for group in groups for value in group]
        freedom = sum(len(group) - 1 for group in groups)
        return (sum(squares) / freedom) ** 0.5 if freedom else None

    def mean(self, key: Key, score: str) -> Optional[tuple[float, Optional[float]]]:
        """The mean over seeds, and its standard error; None without runs."""
        group, std = self.scores.get(key), self.deviation(score)
        if not group:
            return None
        return statistics.mean(getattr(run, score) for run in group), None if std is None else std / len(group) ** 0.5

    def effect(self, row: str, system: str, langs: Sequence[str], score: str = "uas") -> Optional[tuple[float, Optional[float]]]:
        """The score with the authors' settings of the row less that with ours, a mean over treebanks, and its standard error.

        None if runs are missing.
        """
        differences, squares = [], []
        for lang in langs:
            changed, unchanged = self.mean((row, system, lang), score), self.mean(("", system, lang), score)
            if changed is None or unchanged is None:
                return None
            sign = -1 if self.within is THEIRS else 1
            differences.append(sign * (changed[0] - unchanged[0]))
            squares += [] if changed[1] is None or unchanged[1] is None else [changed[1] ** 2 + unchanged[1] ** 2]
        return statistics.mean(differences), sum(squares) ** 0.5 / len(squares) if squares else None


def measured(plan: Plan, results: Path, toy: bool) -> list[Measured]:
    """What is recorded in the folder `results` within each settings, on the toy treebank or on all others."""
    langs = [path.name for path in sorted((results / "ablations").glob("*")) if (path.name == treebanks.TOY) is toy]
    return [_measured(plan, results, within, langs) for within in WITHIN]


def _measured(plan: Plan, results: Path, within: Within, langs: Sequence[str]) -> Measured:
    scores: dict[Key, list[Score]] = {}
    for lang in langs:
        for row in plan.rows:
            for system in row.systems:
                changed = _scores(plan, results, within, lang, row, system)
                if changed:
                    scores[row.name, system, lang] = changed
                    unchanged = scores.get(("", system, lang)) or _scores(plan, results, within, lang, None, system)
                    if unchanged:
                        scores["", system, lang] = unchanged
    return Measured(within, tuple(lang for lang in langs if any(key[2] == lang for key in scores)), scores)


def _scores(plan: Plan, results: Path, within: Within, lang: str, row: Optional[Row], system: str) -> list[Score]:
    """The scores of the runs on a treebank, those of short runs means of the last evaluations; without records of other settings."""
    bank = variant(plan, Treebank(lang, lang, "", {}, {}), within, row, system)
    folder, found = results / bank.name, []
    for record in records.load(bank.name, results) if any(folder.glob("*-seed*" + records.RECORD)) else ():
        if record["system"] == system and records.made_with(record, bank):
            last = [record] if within.full else records.evaluations(folder, system, record["seed"])[-LAST:]
            uas, las = (statistics.mean(line["dev_" + score] for line in last) for score in ("uas", "las"))
            found.append(Score(record["seed"], uas, las, record.get("commit", "unknown")))
    return found


def effects(plan: Plan, found: Measured, score: str) -> Table:
    """The effect of each row on a score; rows without runs are listed too."""
    body = []
    for row in plan.rows:
        for system in row.systems if _belongs(plan, found, row) else ():
            by_lang = [found.effect(row.name, system, [lang], score) for lang in found.langs]
            mean = found.effect(row.name, system, found.langs, score) if len(found.langs) > 1 else None
            runs, compared = (found.runs(name, system) for name in (row.name, ""))
            number = "%d / %d" % (runs, compared) if runs else "no runs yet"
            body.append([row.name, system, number, *(plus_minus(*each, "%+.2f") if each else "" for each in (*by_lang, mean))])
    return Table(["row", "system", "runs", *found.langs, "mean"], body, right=2)


def _belongs(plan: Plan, found: Measured, row: Row) -> bool:
    """Whether a row is listed: if it is in the plan within these settings, or has been tried."""
    planned = row.name in plan.full if found.within.full else row.short
    return planned or any(name == row.name for name, _, _ in found.scores)


def unchanged(found: Measured, score: str) -> Table:
    """A score of the systems without any row."""
    body = []
    for system in dict.fromkeys(system for name, system, _ in found.scores if not name):
        means = [found.mean(("", system, lang), score) for lang in found.langs]
        body.append([system, *(plus_minus(*mean) if mean else "" for mean in means)])
    return Table(["system", *found.langs], body, right=1)


def markdown(plan: Plan, everything: Sequence[Measured]) -> list[str]:
    """The lines of the page."""
    rows = [[row.name, ", ".join("`%s`" % name for name in row.settings), row.what] for row in plan.rows]
    lines = [
        "# Ablations: what each difference between the authors' runs and ours changes by itself",
        "",
        "Each row is some settings of [the authors' runs](../settings/authors.toml) that differ from ours, and is tried by itself. An",
        "effect is that of the authors' values: UAS or LAS on the development set with them less that with ours, while all other",
        "settings are ours or, at the end, the authors'; mean over seeds and, if there are several, its standard error. Runs: those with",
        "the row changed, and those without, of all treebanks together.",
        "",
        Table(["row", "settings", "the authors' values"], rows, right=3).markdown(),
    ]
    for found in everything:
        lines += ["", "## " + TITLES[found.within], "", *_how(plan, found.within)]
        if not found.scores:
            lines += ["", "No runs yet: %s." % ", ".join(row.name for row in plan.rows if _belongs(plan, found, row))]
            continue
        for score in ("uas", "las"):
            lines += ["", "### " + score.upper(), "", effects(plan, found, score).markdown()]
            if any(not row for row, _, _ in found.scores):
                lines += ["", "Without changes:", "", unchanged(found, score).markdown()]
            std = found.deviation(score)
            if std is not None:
                lines += ["", "The standard deviation between seeds is %.2f, pooled over all runs." % std]
        commits = Counter(run.commit for group in found.scores.values() for run in group)
        lines += ["", "Trained at commit %s." % ", ".join("%s (runs: %d)" % pair for pair in commits.most_common())]
    return lines


def _how(plan: Plan, within: Within) -> list[str]:
    """How runs are made and scored."""
    seeds, langs = list(map(str, plan.seeds)), list(plan.langs)
    if not within.full:
        how = "Runs of %d updates; a score is the mean of the last %d evaluations, which are %d updates apart."
        command = make_command("ablations", LANGS=langs, SEEDS=seeds, UD="FOLDER")
        return [how % (plan.updates, LAST, plan.evaluate_updates), "", "    " + command]
    systems = list(dict.fromkeys(system for row in plan.rows if row.name in plan.full for system in row.systems))
    variables = {"SYSTEMS": systems, "SETTINGS": within.settings, "SEEDS": seeds, "UD": "FOLDER"}
    commands = [make_command("reproduce", LANG=lang, **variables) for lang in langs]
    commands.append(make_command("ablations", LANGS=langs, SEEDS=seeds, LENGTH="full", UD="FOLDER"))
    how = "Runs of full length; a score is that of the best model. The runs without changes are those of `make reproduce`."
    return [how, "", *("    " + command for command in commands)]


def as_csv(everything: Sequence[Measured]) -> str:
    """A line for each row, system and treebank that has runs."""
    body: list[list[str | float | None]] = []
    for found in everything:
        for (name, system, lang), group in sorted(found.scores.items()):
            line: list[str | float | None] = [found.within.name, name or "unchanged", system, lang]
            line.append(" ".join(str(run.seed) for run in group))
            for score in ("uas", "las"):
                mean = found.mean((name, system, lang), score)
                effect = found.effect(name, system, [lang], score) if name else None
                line += [mean[0] if mean else None, *(effect or (None, None))]
            body.append([*line, " ".join(sorted({run.commit for run in group}))])
    return comma_separated(HEADER, body)


def write(plan: Plan, everything: Sequence[Measured], results: Path, toy: bool) -> list[Path]:
    """Writes the pages into the folder `results`; returns their paths."""
    name = page_name("ablations", [treebanks.TOY] if toy else [])
    return write_pages(results, name, markdown(plan, everything), as_csv(everything))
