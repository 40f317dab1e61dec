"""``make report [LANGS="hu got"]``: Tables 1, 2, 4, 5 and 6 of every treebank, and a report of everything, from the records

Rewrites the pages that are made only from the records in ``experiments/results/``, without any model: these tables of
each treebank; the report on all treebanks, with coverage, speed, and where every run was made; the table of all
results. It also rewrites the tables in README and ``docs/``. The report is ``report.md`` (``toy-report.md`` for the toy
treebank). A treebank is named by its code, with the release if that is not UD 2.0 (``eu-ud1.4``).
"""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose
from pathlib import Path

from experiments import pages, published
from experiments.engine import records, shared_task
from experiments.engine.command import chosen, study
from experiments.engine.ensemble_runs import ALL, MEMBERS
from experiments.engine.record_fields import Record
from experiments.engine.run import LIKELIHOOD, duration
from experiments.engine.treebank import AUTHORS, settings_of
from experiments.engine.workplace import Bench, report_written, shown
from experiments.pages import NONE, Average, averages, error_between, page_name, paper_average, with_pooled
from experiments.studies import compare, coverage
from experiments.tables import agreement, paper_tables, summary, systems
from mh4.data import treebanks
from mh4.errors import InputError
from mh4.util.text_tables import Table

NAME = "report"
TITLE = "Global Transition-based Non-projective Dependency Parsing: the paper's tables and ours"
FINDING, ON_PAR = "mh4-hybrid", "1ec"  # the paper's parser, and the system that it finds on par (Sections 1 and 7)


Parts = Sequence[pages.Part]
Runs = Mapping[str, Sequence[Record]]  # by treebank


@dataclass(frozen=True)
class Line:
    """A treebank's scores in a table: ours and the paper's, either of which may be missing, by system.

    settings: the name of those of our runs; empty for the defaults, and without runs.
    """

    name: str
    ours: Mapping[str, Average]
    paper: Mapping[str, Average]
    settings: str = ""


@study(langs="names of treebanks, such as hu and eu-ud1.4; by default all with records")
def report(bench: Bench, langs: str) -> None:
    results = bench.recorded
    known = records.names(results)
    if not known:
        raise InputError("no records in %s: train first, with make reproduce or make paper" % shown(results))
    unknown = "no records of %s in %s, only of %s"
    asked = chosen(langs, known, known, lambda name: unknown % (name, shown(results), ", ".join(known)))
    written = write_all(asked, results)
    if results == records.RESULTS:
        written += dict.fromkeys([*summary.write_into(summary.README), *systems.write(), *summary.write_differences()])
    report_written(written)


def write_all(names: Sequence[str], results: Path) -> list[Path]:
    """Write the pages of these treebanks, and the report on the toy treebank, that on all others, or both.

    A report is written if one of its treebanks, with any settings, is among them.
    """
    written = [path for name in names for path in paper_tables.write(name, results)]
    for toy in sorted(set(map(records.is_toy, names))):
        written += write(results, toy)
    return written


def write(results: Path, toy: bool = False) -> list[Path]:
    """Write the report on the toy treebank, or on all others with records, and the summary of their results; return the paths."""
    of_page = sections(records.load_all(results, toy), results, toy).items()
    parts = [part for title, inside in of_page if inside for part in ("## " + title, *inside)]
    report = pages.write(results, page_name(NAME, toy), "The toy treebank" if toy else TITLE, parts)
    return [*report, *([] if toy else summary.write(results))]


def sections(runs: Runs, results: Path, toy: bool = False) -> dict[str, Parts]:
    """Return the sections of the report on the records of these treebanks, by title. Sections may be empty."""
    langs = [] if toy else list(dict.fromkeys([*published.coverage(), *treebanks.languages()]))
    of_table_4 = [lang for lang in langs if published.in_table_4(lang, published.RELEASE)]
    hinge = {name: [run for run in mine if not run["system"].endswith(LIKELIHOOD)] for name, mine in runs.items()}
    compared = {name: mine for name, mine in hinge.items() if mine}
    dev = _dev_lines(compared, of_table_4)
    test = {number: _test_lines(number, compared, results) for number in published.TEST_TABLES}
    none, title = ["No run has scores on these files."], "Table %d: LAS on the test sets of the %s treebanks"
    return {
        "Does the paper's finding hold?": [] if toy else _answer(dev, [line for lines in test.values() for line in lines]),
        "How to read this": _introduction(runs, toy),
        "Table 1: dev UAS by features, greedy parsers": _features("local", compared),
        "Table 2: dev UAS by features, exact decoding of MH4": _features("global", compared),
        "Table 3: coverage": _coverage(results),
        "Table 4: UAS on the development sets": [_table(dev)],
        title % (5, "non-projective"): [_table(test[5])] if any(line.ours for line in test[5]) else none,
        title % (6, "projective"): [_table(test[6])] if any(line.ours for line in test[6]) else none,
        "LAS on other test sets": _other_tests(compared, results),
        "MH4 and 1EC by the length of dependencies": _by_length(compared, results),
        "Learning curves": _curves(compared),
        "Speed": _speed(runs),
        "What was run": ["<details>\n<summary>Show</summary>", *_runs(runs), "</details>"],
        "Records of the same inputs that differ": _differing(runs),
        "What is missing": [*_missing(compared, langs or list(runs)), *_outdated(compared)],
    }


def _pooled(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with standard deviations that are pooled over all of them, ours and the paper's."""
    ours = iter(with_pooled([one for line in lines for one in line.ours.values()]))
    paper = iter(with_pooled([one for line in lines for one in line.paper.values()]))
    return [
        replace(line, ours=dict(zip(line.ours, ours, strict=False)), paper=dict(zip(line.paper, paper, strict=False)))
        for line in lines
    ]


def _settings(runs: Sequence[Record] | None) -> str:
    """Return the name of the settings of a treebank's runs; empty for the defaults, and without runs."""
    return runs[0].get("settings_of", "") if runs else ""


def language(name: str) -> str:
    """Return the name of a treebank's language, and its settings if not ours: "Hungarian, authors' settings" for hu-authors."""
    settings = settings_of(name)
    title = summary.title(name.removesuffix("-" + settings))
    return "%s, %s" % (title, summary.SETTINGS.get(settings, settings)) if settings else title


def _answer(dev: Sequence[Line], test: Sequence[Line]) -> Parts:
    """Check the paper's finding in our scores: MH4, with hybrid features, against every other system of the paper."""
    message, scores = [FINDS % (FINDING, ON_PAR)], (("dev UAS", dev), ("test LAS", test))
    names = [name for name in published.systems() if name != FINDING]
    for settings, whose in ((AUTHORS, "the authors' settings"), ("", "our settings")):
        for score, lines in scores:
            mine = [line for line in _pooled(lines) if FINDING in line.ours and line.settings == settings]
            leads = {name: [_lead(line.ours[FINDING], line.ours[name]) for line in mine if name in line.ours] for name in names}
            found = {name: each for name, each in leads.items() if each}
            others = [lead for system, leads in found.items() if system != ON_PAR for lead in leads]
            if others:
                ahead, clear = sum(lead > 0 for lead, _ in others), sum(clear and lead > 0 for lead, clear in others)
                over = [f"{statistics.mean(one for one, _ in leads):+z.2f} over {system}" for system, leads in found.items()]
                banks = max(map(len, found.values()))
                message.append(LEADS % (score, whose, FINDING, ahead, len(others), banks, clear, ", ".join(over)))
    if len(message) == 1:
        return ["There are no runs yet of %s and another system of Table 4 on a treebank." % FINDING]
    by_score = {}
    for score, lines in scores:  # of systems that both have; the paper gives no deviations for ensembles
        both = [(line, system) for line in lines if line.settings == AUTHORS for system in published.systems()]
        pairs = [(line.ours[system], line.paper[system]) for line, system in both if system in line.ours and system in line.paper]
        by_score[score] = agreement.cells(pairs)
    tested: Parts = [agreement.table(by_score), agreement.NOTE] if any(by_score.values()) else []
    return [" ".join(message), *tested]


FINDS = (
    "The paper finds that exact decoding of MH4, with hybrid features (%s), is better than projective and fully non-projective "
    "parsers, fewer features and greedy decoding, and on par with %s."
)
LEADS = (
    "In %s with %s, %s leads in %d of %d comparisons with the other systems (treebanks: %d), in %d by more than "
    "two standard errors: %s."
)


def _lead(one: Average, other: Average) -> tuple[float, bool]:
    """Return the lead of one average over another, and whether it exceeds two standard errors."""
    lead, error = one.mean - other.mean, error_between(one, other)
    return lead, error is not None and abs(lead) > 2 * error


def _introduction(runs: Runs, toy: bool) -> Parts:
    dates = sorted(run["date"] for mine in runs.values() for run in mine if run.get("date"))
    counted = sum(map(len, runs.values()))
    made = ["%d records, made from %s to %s." % (counted, dates[0], dates[-1])] if dates else []
    return [
        *made,
        "The paper has no numbers for the toy treebank: the tables show that all of the workflow has run." if toy else READING,
    ]


READING = (
    "Scores are in percent: the mean and the sample standard deviation over seeds, and in parentheses the number of seeds, of "
    "which the paper has five. Below ours are the paper's, then the difference, with * where it is beyond two standard errors. "
    "The standard error is for means of independent samples. It comes from standard deviations that are pooled over the table, "
    "ours and the paper's; the paper's ensemble has none, and so no mark. The last columns of Tables 5 and "
    "6 are the outputs of the shared task's systems, scored here (✓: the same to both digits). %s: no score. Only UD 2.0 is "
    "compared with the paper. Averages are over the treebanks for which both have scores, with our settings. "
    "Systems trained on likelihood, not with the paper's hinge, are in LANG.md." % NONE
)


def _features(decoding: str, runs: Runs) -> Parts:
    """Return Table 1 (local) or 2 (global)."""
    rows = [(features, system) for kind, features, system in paper_tables.FEATURES if kind == decoding]
    ours = {name: averages(mine, "dev_uas") for name, mine in runs.items()}
    names = [name for name in ours if any(system in ours[name] for _, system in rows)]
    # The paper averages over its ten treebanks; Table 4 has the numbers of some of these systems by treebank.
    whole = [name for name in names if name in published.coverage() and all(system in ours[name] for _, system in rows)]
    body = []
    for features, system in rows:
        paper = [pair[0] for name in whole if (pair := published.dev_uas(name, published.RELEASE, system))]
        means = [_mean(paper), _mean([ours[name][system].mean for name in whole])]
        line = [features, system, "%.2f" % published.features()[decoding, features], *means]
        body.append(line + [_ours(ours[name].get(system)) for name in names])
    average = "average of %s" % (", ".join(map(language, whole)) or NONE)
    header = ["features", "system", "paper, average of 10 treebanks", "paper, " + average, "ours, " + average]
    none = [] if names else ["No run of these systems is recorded."]
    return [Table([*header, *map(language, names)], body, right=2), *none]


def _mean(scores: Sequence[float]) -> str:
    return "%.2f" % statistics.mean(scores) if scores else NONE


def _coverage(results: Path) -> Parts:
    """Return Table 3, from the csv file that `make coverage` writes."""
    columns = [column for column in coverage.COLUMNS[2:] if column in next(iter(published.coverage().values()))]
    recorded, body, same = coverage.recorded(results), [], []
    for lang, row in published.coverage().items():
        if lang in recorded:
            ours, theirs = ["%.2f" % float(recorded[lang][column]) for column in columns], [row[column] for column in columns]
            body += [[language(lang), "ours", *ours], ["", "paper", *theirs]]
            same += [language(lang)] if ours == theirs else []
    message = "Identical in all columns: %s." % (", ".join(same) or "none")
    table = Table(["training set", "", *columns], body, right=2)
    return [table, message] if body else ["No training set of this table was available."]


def _paper(score: Callable[[str, str, str], tuple[float, float | None] | None], lang: str, release: str) -> dict[str, Average]:
    """Return the paper's averages by system. score: dev_uas or test_las of `published`."""
    systems = [*published.systems(), "ensemble", *published.COLUMNS]
    found = {system: paper_average(score(lang, release, system)) for system in systems}
    return {system: average for system, average in found.items() if average}


def _dev_lines(runs: Runs, langs: Sequence[str]) -> list[Line]:
    lines = []
    for name in dict.fromkeys([*langs, *runs]):
        lang, release = (runs[name][0]["lang"], runs[name][0]["release"]) if name in runs else (name, published.RELEASE)
        ours = {row.system: row.ours for row in paper_tables.Dev(runs[name]).rows()} if name in runs else {}
        lines.append(Line(name, ours, _paper(published.dev_uas, lang, release), _settings(runs.get(name))))
    return lines


def _test_lines(number: int, runs: Runs, results: Path) -> list[Line]:
    """Return test LAS in Table 5 or 6, with the shared task's systems."""
    lines, langs = [], published.test_languages(number)
    for name in [*langs, *(name for name, mine in runs.items() if _settings(mine) and mine[0]["lang"] in langs)]:
        lang = runs[name][0]["lang"] if name in runs else name
        tested = paper_tables.tested(runs[name], results) if name in runs else None
        ours = {row.system: row.ours for row in tested.rows()} if tested and tested.compares else {}
        reference = shared_task.load(lang, results)
        outputs = reference["systems"] if reference else {}
        ours.update({name: Average(one["las"], None) for name, one in outputs.items() if "las" in one})
        lines.append(Line(name, ours, _paper(published.test_las, lang, published.RELEASE), _settings(runs.get(name))))
    return lines


def _other_tests(runs: Runs, results: Path) -> Parts:
    """Return the test scores that are in neither Table 5 nor Table 6."""
    found = {name: paper_tables.tested(mine, results) for name, mine in runs.items()}
    others = {name: tested for name, tested in found.items() if tested and tested.table_number is None}
    lines = [Line(name, {row.system: row.ours for row in tested.rows()}, {}) for name, tested in others.items()]
    return [_table(lines)] if lines else []


def _table(lines: Sequence[Line]) -> Table:
    """Return a table with three lines for each treebank: ours, the paper's, and the difference."""
    there = {system for line in lines for system in (*line.ours, *line.paper)}
    systems = sorted(there - {*published.COLUMNS}, key=published.place) + [name for name in published.COLUMNS if name in there]
    body = []
    for line, same in zip(lines, _pooled(lines), strict=True):
        if not line.ours:
            continue
        body.append([language(line.name), "ours", *(_ours(line.ours.get(system)) for system in systems)])
        if line.paper:
            body.append(["", "paper", *(str(line.paper.get(system, NONE)) for system in systems)])
            body.append(["", "difference", *(_difference(same.ours.get(system), same.paper.get(system)) for system in systems)])
    body += _average(lines, systems)
    return Table(["treebank", "", *(published.COLUMNS.get(system, system) for system in systems)], body, right=2)


def _average(lines: Sequence[Line], systems: Sequence[str]) -> list[list[str]]:
    """Return three lines: averages of each system over the treebanks that have our score and the paper's.

    Only scores with our settings count. With fewer than two such treebanks, there are no lines.
    """
    both: dict[str, list[tuple[float, float]]] = {system: [] for system in systems}
    for line in lines:
        for system in set(line.ours) & set(line.paper) if not line.settings else ():
            both[system].append((line.ours[system].mean, line.paper[system].mean))
    if max(map(len, both.values()), default=0) < 2:
        return []
    columns = [("average", "", ""), ("ours", "paper", "difference")]
    for pairs in both.values():
        ours, theirs = map(statistics.mean, zip(*pairs, strict=True)) if pairs else (0, 0)
        shown = "%.2f (of %d)" % (ours, len(pairs)), "%.2f" % theirs, f"{ours - theirs:+z.2f}"
        columns.append(shown if pairs else (NONE, NONE, NONE))
    return [list(line) for line in zip(*columns, strict=True)]


def _ours(ours: Average | None) -> str:
    return NONE if ours is None else "%s (%d)" % (ours, len(ours.seeds)) if ours.seeds else str(ours)


def _difference(ours: Average | None, theirs: Average | None) -> str:
    """Format the difference of two means, with * beyond two standard errors."""
    if ours is None or theirs is None:
        return ""
    if not ours.seeds and published.same_digits(ours.mean, theirs.mean):
        return "✓"
    lead, clear = _lead(ours, theirs)
    return f"{lead:+z.2f}" + (" *" if clear else "")


def _by_length(runs: Runs, results: Path) -> Parts:
    """Return F1 of MH4 minus F1 of 1EC by the length of the dependency, from the csv files of `make compare`."""
    columns, shown, again, pair = ["length"], [], [], compare.DEFAULT_SYSTEMS
    for name, mine in runs.items():
        if _settings(mine):  # only runs with our settings are compared here
            continue
        page, seeds = results / ("%s-mh4-hybrid-1ec.csv" % name), records.common_seeds(mine, pair)
        found, other = list[int](), ""
        if page.exists():
            found, uas, scores = compare.f1_by_group(page, "length")
            now = averages([run for run in mine if run["seed"] in seeds], "dev_uas")
            if found != seeds:
                other = ", seeds %s" % " ".join(map(str, found))
            elif not all(isclose(now[system].mean, then) for system, then in zip(pair, uas, strict=True) if system in now):
                other = ", of other runs"  # the runs have been trained again
            columns.append(language(name) + other)
            shown.append(scores)
        if other or found != seeds:
            again.append("%s (seeds %s)" % (language(name), " ".join(map(str, seeds))))
    groups = dict.fromkeys(group for scores in shown for group in scores)
    body = [[group, *(_two(*scores[group]) if group in scores else NONE for scores in shown)] for group in groups]
    missing = ["To be compared, with make compare: %s." % ", ".join(again)] if again else []
    return [Table(columns, body, right=1), OF_LENGTHS, *missing] if shown else []


def _two(mh4: float, one_ec: float) -> str:
    return f"{mh4 - one_ec:+z.1f} ({mh4:.1f}, {one_ec:.1f})"


OF_LENGTHS = (
    'The paper says that "MH4 recovers more short dependencies than 1EC, while 1EC is better at longer-distance ones" (Section 5). '
    "The difference in F1 of unlabelled arcs on the development set, in percent, and in parentheses the F1 of mh4-hybrid and 1ec, "
    "over all seeds that both have. Recall and precision, and whether differences may be due to chance, are in "
    "LANG-mh4-hybrid-1ec.md."
)


def _named(runs: Runs) -> list[tuple[str, Record]]:
    """Return all runs, with their names."""
    return [("%s %s seed %d" % (name, run["system"], run["seed"]), run) for name, mine in runs.items() for run in mine]


def _curves(runs: Runs) -> Parts:
    without = [name for name, run in _named(runs) if not run.get("curve") and "members" not in run]  # ensembles are not trained
    message = "Without recorded evaluations: %s." % ", ".join(without)
    whole = message if without else "Every training has its evaluations recorded."
    return [whole + " Losses and speeds of each evaluation are in the records, LANG.jsonl."]


def _speed(runs: Runs) -> Parts:
    trained = [run for mine in runs.values() for run in mine if {"tokens_per_second", "updates", "seconds"} <= run.keys()]
    body = []
    for system in sorted({run["system"] for run in trained}, key=published.place):
        mine = [run for run in trained if run["system"] == system]
        speeds, cpu = [run["tokens_per_second"] for run in mine], [run["cpu_seconds"] for run in mine if "cpu_seconds" in run]
        numbers = ["%d" % len(mine), "%d" % statistics.median(speeds), "%d to %d" % (min(speeds), max(speeds))]
        numbers += ["%d" % statistics.median(run["updates"] for run in mine)]
        numbers += [duration(statistics.median(run["seconds"] for run in mine))]
        body.append([system, *numbers, duration(statistics.median(cpu)) if cpu else NONE])
    header = ["system", "runs", "tokens/s, median", "range", "updates, median", "wall time, median", "CPU time, median"]
    return [
        Table(header, body, right=1),
        "Of training on one core, of machines that did other work too: wall time says more about their load than about the system. "
        "Where CPU time is missing, it was not recorded. Speed without load is measured in benchmarks/.",
    ]


def _runs(runs: Runs) -> Parts:
    message = "Processor flags, versions of packages, settings, data and commands are in the records, LANG.jsonl."
    return [paper_tables.every_run(runs), message]


def _differing(runs: Runs) -> Parts:
    found, message = [], "%s: dev UAS %.2f after %s updates; %s."
    for name, run in _named(runs):
        if "differs_from" in run:
            other = records.in_words(run["differs_from"])
            found.append(message % (name, run["dev_uas"], run.get("updates", "unknown"), other))
    return found or ["None."]


def _outdated(runs: Runs) -> Parts:
    """Return lines on ensembles whose models have been trained again, and on those that lack seeds recorded later."""
    found, lacking = list[str](), []
    for name, mine in runs.items():
        found += records.outdated(name, mine)
        for run in (run for run in mine if run["system"] == ALL):
            seeds = {one["seed"] for one in run.get("members", [])}
            later = [str(seed) for seed in records.common_seeds(mine, MEMBERS) if seed not in seeds]
            lacking += ["%s lacks seed %s." % (name, ", ".join(later))] if later else []
    message = "Combined before their members were trained again: ", "%s, combined before all seeds were recorded: " % ALL
    return [begin + " ".join(named) for begin, named in zip(message, (found, lacking), strict=True) if named]


def _missing(runs: Runs, langs: Sequence[str]) -> Parts:
    """Return a table of the number of recorded seeds of each system, and a line on treebanks without records."""
    names = list(dict.fromkeys([*langs, *runs]))
    there = {run["system"] for mine in runs.values() for run in mine}
    systems = sorted(there | set(published.systems(names[0])), key=published.place)
    body = []
    for name in (name for name in names if name in runs):
        counts = [sum(run["system"] == system for run in runs[name]) for system in systems]
        body.append([language(name), *("%d" % count if count else NONE for count in counts)])
    absent = [language(name) for name in names if name not in runs]
    table = Table(["treebank", *systems], body, right=1)
    message = ["No record of any run: %s." % ", ".join(absent)] if absent else []
    return ["The number of recorded seeds, of five in the paper.", table, *message]
