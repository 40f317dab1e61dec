"""The effect of each change by itself: differences in UAS between short training runs, and their standard errors.

This table is not in the paper. ``results/ablations.csv`` has a row for each run; the page, ``ablations.md``, is made from it.
"""

import csv
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

from training.changes import Plan

from tables.writer import Table, comma_separated, pages, plus_minus, write_pages

FIELDS = ("base", "lang", "system", "change", "seed", "updates", "uas", "las", "seconds")
LAST = 3  # the score of a run is the mean of this many last evaluations


def read(results: Path) -> list[dict[str, str]]:
    """The rows of the csv."""
    path = pages(results, "ablations")[1]
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def key(row: dict[str, str]) -> tuple[str, ...]:
    """The key of a row, which identifies its run."""
    return tuple(row[name] for name in FIELDS[:5])


def write(plan: Plan, rows: Sequence[dict[str, str]], results: Path) -> None:
    """Writes the csv of all rows, and the page of those with the plan's base."""
    csv_text = comma_separated(FIELDS, [[row[name] for name in FIELDS] for row in sorted(rows, key=key)])
    write_pages(results, "ablations", markdown(plan, [row for row in rows if row["base"] == plan.base]), csv_text)


Scores = dict[tuple[str, str, str], list[float]]  # UAS or LAS of each seed, by change, system and language


def deviation(scores: Scores) -> Optional[float]:
    """The standard deviation between seeds, pooled over all changes (three runs each are too few); None without repetitions."""
    squares = [(value - statistics.mean(group)) ** 2 for group in scores.values() if len(group) > 1 for value in group]
    freedom = sum(len(group) - 1 for group in scores.values())
    return (sum(squares) / freedom) ** 0.5 if freedom else None


def error(std: Optional[float], *groups: Sequence[float]) -> Optional[float]:
    """The standard error of a mean, or of the difference of two means, if runs have the standard deviation `std`."""
    return None if std is None else std * sum(1 / len(group) for group in groups) ** 0.5


def differences(plan: Plan, scores: Scores, langs: Sequence[str]) -> Table:
    """The effect on UAS or LAS of each change that has been tried."""
    std, body = deviation(scores), []
    for change in plan.changes:
        for system in change.systems:
            line, pairs = [change.what, system], []
            for lang in langs:
                groups = scores.get((change.name, system, lang)), scores.get(("unchanged", change.against or system, lang))
                line.append("")
                if all(groups):
                    pairs.append(groups)
                    line[-1] = _difference([groups], std)
            if pairs:
                body.append(line + [_difference(pairs, std) if len(pairs) == len(langs) else ""])
    return Table(["change", "system", *langs, "mean"], body, right=2)


def _difference(pairs: Sequence[tuple[Sequence[float], Sequence[float]]], std: Optional[float]) -> str:
    """The mean over `pairs` (treebanks) of the difference between changed and unchanged, and its standard error."""
    mean = statistics.mean(statistics.mean(changed) - statistics.mean(unchanged) for changed, unchanged in pairs)
    spread = None if std is None else sum(error(std, *pair) ** 2 for pair in pairs) ** 0.5 / len(pairs)
    return plus_minus(mean, spread, "%+.2f")


def unchanged(plan: Plan, scores: Scores, langs: Sequence[str]) -> Table:
    """UAS or LAS without changes."""
    std, body = deviation(scores), []
    for system in plan.unchanged().systems:
        groups = [scores.get(("unchanged", system, lang)) for lang in langs]
        body.append([system] + [plus_minus(statistics.mean(group), error(std, group)) if group else "" for group in groups])
    return Table(["system", *langs], body, right=1)


def markdown(plan: Plan, rows: Sequence[dict[str, str]]) -> list[str]:
    """The lines of the page: the effects of the changes on UAS and LAS, and their standard errors."""
    by_score: dict[str, Scores] = {}
    for row in rows:
        for name in ("uas", "las"):
            scores = by_score.setdefault(name.upper(), {})
            scores.setdefault((row["change"], row["system"], row["lang"]), []).append(float(row[name]))
    langs = sorted({row["lang"] for row in rows})
    lines = [
        "# Ablations: the effect of each change",
        "",
        "Short training runs of equal length (%d updates, seeds %s), identical except for the change. UAS and LAS on the"
        % (plan.updates, " ".join(map(str, plan.seeds))),
        "development set: mean of the last %d evaluations, which are %d updates apart; the difference made by the change and, if some"
        % (LAST, plan.evaluate_updates),
        "group has several runs, its standard error.",
    ]
    for name, scores in by_score.items():
        std = deviation(scores)
        lines += ["", "## %s" % name, "", differences(plan, scores, langs).markdown(), ""]
        if std is None:
            lines += ["Without changes:"]
        else:
            lines += ["The standard deviation between seeds is %.2f, pooled over all groups. Without changes:" % std]
        lines += ["", unchanged(plan, scores, langs).markdown()]
    return lines + [
        "",
        "The changes are settings or patches to commit %s, in [ablations/](../ablations/plan.toml); every run is a row of"
        % plan.base,
        "[ablations.csv](ablations.csv). This page was made by",
        "",
        '    .venv/bin/python experiments/ablations.py --langs "%s" --ud FOLDER' % " ".join(langs),
    ]
