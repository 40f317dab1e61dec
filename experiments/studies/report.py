"""``make report [LANGS="hu got"]``: Tables 1, 2, 4, 5 and 6 of every treebank, and a report of everything, from the records

Rewrites the pages made only from the records in ``experiments/results/``, without any model: these tables of each treebank, the
report on all of them, with coverage, speed, and where every run was made, and the table of all results; also what is made of them in
README and ``docs/differences.md``, and the table of all systems. The report is ``report.md`` (``toy-report.md`` for the toy treebank). A
treebank is named by its code, with the release if that is not UD 2.0 (``eu-ud1.4``).
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from pathlib import Path

from experiments import pages, published
from experiments.engine import records, shared_task
from experiments.engine.command import chosen, study
from experiments.engine.ensembles import ALL, MEMBERS
from experiments.engine.provenance import report_written, shown
from experiments.engine.record_fields import Record
from experiments.engine.run import LIKELIHOOD, duration
from experiments.engine.treebank import settings_of
from experiments.engine.workplace import Bench
from experiments.pages import Average, averages, error_between, error_of_difference, page_name, pooled
from experiments.studies import compare, coverage
from experiments.tables import against_mh3, agreement, summary, systems, table1_2, table4, table5_6, treebank
from mh4.data import treebanks
from mh4.errors import InputError
from mh4.util.cpu import described
from mh4.util.text_tables import Table

NAME = "report"
TITLE = "Global Transition-based Non-projective Dependency Parsing: the paper's tables and ours"
NONE = "–"  # a cell without a score
FINDING, ON_PAR = "mh4-hybrid", "1ec"  # the paper's parser, and that with which it finds it on par (Sections 1 and 7)


@dataclass(frozen=True)
class Section:
    """A title, and what follows it. folded: whether it is closed at first."""

    title: str
    parts: Sequence[pages.Part]
    folded: bool = False


@dataclass(frozen=True)
class Line:
    """A treebank's scores in a table: ours and the paper's, either of which may be missing, by system."""

    name: str
    ours: Mapping[str, Average]
    paper: Mapping[str, Average]


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
        written += dict.fromkeys([*summary.write_into(summary.README), *systems.write(), *against_mh3.write()])
    report_written(written)


def write_all(names: Sequence[str], results: Path) -> list[Path]:
    """Write the pages of these treebanks, and the report; that on the toy treebank only if it is one of them, with any settings."""
    written = [path for name in names for path in treebank.write(name, results)]
    for toy in sorted(set(map(records.is_toy, names))):
        written += write(results, toy)
    return written


def write(results: Path, toy: bool = False) -> list[Path]:
    """Write the report on the toy treebank, or on all others with records, and the summary of their results; return the paths."""
    parts: list[pages.Part] = []
    for section in sections(records.load_all(results, toy), results, toy):
        inside = ["<details>\n<summary>Show</summary>", *section.parts, "</details>"] if section.folded else section.parts
        parts += ["## " + section.title, *inside] if section.parts else []
    report = pages.write(results, page_name(NAME, toy), "The toy treebank" if toy else TITLE, parts)
    return [*report, *([] if toy else summary.write(results))]


def sections(runs: Mapping[str, Sequence[Record]], results: Path, toy: bool = False) -> list[Section]:
    """Return the sections of the report on the records of these treebanks."""
    langs = [] if toy else list(dict.fromkeys([*published.coverage(), *treebanks.languages()]))
    of_table_4 = [lang for lang in langs if published.in_table_4(lang, published.RELEASE)]
    hinge = {name: [run for run in mine if not run["system"].endswith(LIKELIHOOD)] for name, mine in runs.items()}
    compared = {name: mine for name, mine in hinge.items() if mine}
    dev = _dev_lines(compared, of_table_4)
    test = {number: _test_lines(number, compared, results) for number in published.TEST_TABLES}
    return [
        *(
            []
            if toy
            else [Section("Does the paper's finding hold?", _answer(dev, [line for lines in test.values() for line in lines]))]
        ),
        Section("How to read this", _introduction(runs, toy)),
        *_features(compared),
        _coverage(results),
        Section("Table 4: UAS on the development sets", [_table(dev)]),
        *(_test(number, lines) for number, lines in test.items()),
        *_other_tests(compared, results),
        *_by_length(compared, results),
        Section("Learning curves", _curves(compared)),
        Section("Speed", _speed(runs)),
        Section("What was run", _runs(runs), folded=True),
        Section("Records of the same inputs that differ", _differing(runs)),
        Section("What is missing", [*_missing(compared, langs or list(runs)), *_outdated(compared)]),
    ]


def language(name: str) -> str:
    """Return the name of a treebank's language, and its settings if not ours: "Hungarian, authors' settings" for hu-authors."""
    settings = settings_of(name)
    return summary.title(name.removesuffix("-" + settings)) + (
        ", " + summary.SETTINGS.get(settings, settings) if settings else ""
    )


def margin(ours: Average, theirs: Average, std: float | None) -> float | None:
    """Two standard errors of the difference of two means; `std` stands for our deviation if we have one run. None if one is unknown."""
    spread = std if ours.std is None else ours.std
    if theirs.std is None or spread is None:
        return None
    return 2 * error_of_difference(spread, max(1, len(ours.seeds)), theirs.std, published.SEEDS)


def _deviation(lines: Sequence[Line]) -> float | None:
    """Return the standard deviation between our seeds, pooled over all averages of several."""
    return pooled([ours for line in lines for ours in line.ours.values()])


def _answer(dev: Sequence[Line], test: Sequence[Line]) -> list[pages.Part]:
    """Return the paper's finding in our scores: MH4, with hybrid features, against every other system that it compares, by treebank."""
    message = [
        "The paper finds that exact decoding of MH4, with hybrid features (%s), is better than projective and fully non-projective "
        "parsers, fewer features and greedy decoding, and on par with %s." % (FINDING, ON_PAR)
    ]
    for settings, whose in (("authors", "the authors' settings"), ("", "our settings")):
        for score, lines in (("dev UAS", dev), ("test LAS", test)):
            mine = [line for line in lines if FINDING in line.ours and settings_of(line.name) == settings]
            found = {system: leads for system in published.systems("") if system != FINDING and (leads := _leads(mine, system))}
            others = [lead for system, leads in found.items() if system != ON_PAR for lead in leads]
            if others:
                message.append(
                    "In %s with %s, %s leads in %d of %d comparisons with the other systems (treebanks: %d), in %d by more than "
                    "two standard errors: %s."
                    % (
                        *(score, whose, FINDING, sum(difference > 0 for difference, _ in others), len(others)),
                        max(map(len, found.values())),
                        sum(clear and difference > 0 for difference, clear in others),
                        ", ".join(
                            f"{statistics.mean(one for one, _ in leads):+z.2f} over {system}" for system, leads in found.items()
                        ),
                    )
                )
    if len(message) == 1:
        return ["There are no runs yet of %s and another system of Table 4 on a treebank." % FINDING]
    parts: list[pages.Part] = [" ".join(message)]
    by_score = {
        score: agreement.cells(
            [(line.ours[system], line.paper[system]) for line in lines if settings_of(line.name) for system in _common(line)]
        )
        for score, lines in (("dev UAS", dev), ("test LAS", test))
    }
    if any(by_score.values()):
        parts += [agreement.table(by_score), agreement.NOTE]
    return parts


def _common(line: Line) -> list[str]:
    """Return the systems of the paper that both have a score of; ensembles apart, which have no deviation there."""
    return [system for system in published.systems("") if system in line.ours and system in line.paper]


def _leads(lines: Sequence[Line], system: str) -> list[tuple[float, bool]]:
    """Return the lead of the paper's parser over `system` on each treebank, and whether it exceeds two standard errors."""
    found = []
    for line in lines:
        if system in line.ours:
            one, other = line.ours[FINDING], line.ours[system]
            difference, error = one.mean - other.mean, error_between(one, other)
            found.append((difference, error is not None and abs(difference) > 2 * error))
    return found


def _introduction(runs: Mapping[str, Sequence[Record]], toy: bool) -> list[str]:
    dates = sorted(run["date"] for mine in runs.values() for run in mine if run.get("date"))
    counted = sum(len(mine) for mine in runs.values())
    parts = ["%d records, made from %s to %s." % (counted, dates[0], dates[-1])] if dates else []
    if toy:
        return [*parts, "The paper has no numbers for the toy treebank: the tables show that all of the workflow has run."]
    return [
        *parts,
        "Scores are in percent: the mean and the sample standard deviation over seeds, and in parentheses the number of seeds, of "
        "which the paper has five. Below ours are the paper's, then the difference, with * where it is beyond two standard errors. "
        "The standard error of the difference of means is that of independent samples; of one seed of ours, it is that of the deviation "
        "pooled over the other averages of the table. The paper's ensemble has none, and so no mark. The last columns of Tables 5 and "
        "6 are the outputs of the shared task's systems, scored here (✓: the same to both digits). %s: no score. Only UD 2.0 is "
        "compared with the paper. Averages are over the treebanks for which both have scores, with our settings. "
        "Systems trained on likelihood, not with the paper's hinge, have tables of their own, LANG-likelihood.md." % NONE,
    ]


def _features(runs: Mapping[str, Sequence[Record]]) -> list[Section]:
    """Tables 1 and 2."""
    found = []
    for number, decoding, what in ((1, "local", "greedy parsers"), (2, "global", "exact decoding of MH4")):
        rows = [row for row in table1_2.ROWS if row[0] == decoding]
        mine = {name: averages(records_of_name, "dev_uas") for name, records_of_name in runs.items()}
        names = [name for name in mine if any(system in mine[name] for _, _, system in rows)]
        # The paper averages over its ten treebanks; Table 4 has the numbers of some of these systems by treebank.
        whole = [name for name in names if name in published.coverage() and all(system in mine[name] for _, _, system in rows)]
        body = []
        for _, features, system in rows:
            paper = [pair[0] for pair in (published.dev_uas(name, published.RELEASE, system) for name in whole) if pair]
            line = [features, system, "%.2f" % published.features()[decoding, features]]
            line += ["%.2f" % statistics.mean(paper) if paper else NONE]
            line += ["%.2f" % statistics.mean(mine[name][system].mean for name in whole) if whole else NONE]
            body.append(line + [_ours(mine[name].get(system)) for name in names])
        average = "average of %s" % (", ".join(map(language, whole)) or NONE)
        header = ["features", "system", "paper, average of 10 treebanks", "paper, " + average, "ours, " + average]
        none = [] if names else ["No run of these systems is recorded."]
        title = "Table %d: dev UAS by features, %s" % (number, what)
        found.append(Section(title, [Table([*header, *map(language, names)], body, right=2), *none]))
    return found


def _coverage(results: Path) -> Section:
    """Table 3, from the csv that `make coverage` writes."""
    columns = [column for column in coverage.COLUMNS[2:] if column in next(iter(published.coverage().values()))]
    recorded, body, same = coverage.recorded(results), [], []
    for lang, row in published.coverage().items():
        if lang in recorded:
            ours, theirs = ["%.2f" % float(recorded[lang][column]) for column in columns], [row[column] for column in columns]
            body += [[language(lang), "ours", *ours], ["", "paper", *theirs]]
            same += [language(lang)] if ours == theirs else []
    none = ["No training set of this table was available."]
    message = "Identical in all columns: %s." % (", ".join(same) or "none")
    return Section("Table 3: coverage", [Table(["training set", "", *columns], body, right=2), message] if body else none)


def _dev_lines(runs: Mapping[str, Sequence[Record]], langs: Sequence[str]) -> list[Line]:
    lines = []
    for name in dict.fromkeys([*langs, *runs]):
        lang, release = (runs[name][0]["lang"], runs[name][0]["release"]) if name in runs else (name, published.RELEASE)
        theirs = {
            system: Average(*pair) for system in published.systems("") if (pair := published.dev_uas(lang, release, system))
        }
        ours = {row.system: row.ours for row in table4.rows(runs[name])} if name in runs else {}
        lines.append(Line(name, ours, theirs))
    return lines


def _test_lines(number: int, runs: Mapping[str, Sequence[Record]], results: Path) -> list[Line]:
    """Test LAS in Table 5 or 6, with the shared task's systems."""
    lines = []
    langs, systems = published.test_languages(number), [*published.systems(""), "ensemble", *published.COLUMNS]
    others = [name for name, mine in runs.items() if settings_of(name) and mine[0]["lang"] in langs]
    for name in [*langs, *others]:
        lang = runs[name][0]["lang"] if name in runs else name
        tested = table5_6.tested(name, runs[name], results) if name in runs else None
        ours = {row.system: row.ours for row in table5_6.rows(tested)} if tested and tested.compares else {}
        reference = shared_task.load(lang, results)
        outputs = reference["systems"] if reference else {}
        ours.update({name: Average(one["las"], None) for name, one in outputs.items() if "las" in one})
        theirs = {system: Average(*pair) for system in systems if (pair := published.test_las(lang, published.RELEASE, system))}
        lines.append(Line(name, ours, theirs))
    return lines


def _test(number: int, lines: Sequence[Line]) -> Section:
    """Table 5 or 6."""
    kind = {5: "non-projective", 6: "projective"}[number]
    parts = [_table(lines)] if any(line.ours for line in lines) else ["No run has scores on these files."]
    return Section("Table %d: LAS on the test sets of the %s treebanks" % (number, kind), parts)


def _other_tests(runs: Mapping[str, Sequence[Record]], results: Path) -> list[Section]:
    """Return the test scores that are in neither Table 5 nor Table 6."""
    lines = []
    for name, mine in runs.items():
        tested = table5_6.tested(name, mine, results)
        if tested and tested.table_number is None:
            lines.append(Line(name, {row.system: row.ours for row in table5_6.rows(tested)}, {}))
    return [Section("LAS on other test sets", [_table(lines)])] if lines else []


def _table(lines: Sequence[Line]) -> Table:
    """Three lines for each treebank: ours, the paper's, and the difference."""
    there = {system for line in lines for system in (*line.ours, *line.paper)}
    systems = sorted(there - set(published.COLUMNS), key=published.place) + [
        system for system in published.COLUMNS if system in there
    ]
    body, std = [], _deviation(lines)
    for line in filter(lambda line: line.ours, lines):
        body.append([language(line.name), "ours", *(_ours(line.ours.get(system)) for system in systems)])
        if line.paper:
            body.append(["", "paper", *(str(line.paper.get(system) or NONE) for system in systems)])
            body.append(
                ["", "difference", *(_difference(line.ours.get(system), line.paper.get(system), std) for system in systems)]
            )
    body += _average(lines, systems)
    return Table(["treebank", "", *(published.COLUMNS.get(system, system) for system in systems)], body, right=2)


def _average(lines: Sequence[Line], systems: Sequence[str]) -> list[list[str]]:
    """Three lines for the averages of each system over the treebanks for which ours and the paper's scores are there."""
    both: dict[str, list[tuple[float, float]]] = {system: [] for system in systems}
    for line in lines:
        for system in set(line.ours) & set(line.paper) if not settings_of(line.name) else ():
            both[system].append((line.ours[system].mean, line.paper[system].mean))
    if max(map(len, both.values()), default=0) < 2:
        return []
    columns = [("average", "", ""), ("ours", "paper", "difference")]
    for pairs in both.values():
        if pairs:
            ours, theirs = map(statistics.mean, zip(*pairs, strict=True))
            columns.append(("%.2f (of %d)" % (ours, len(pairs)), "%.2f" % theirs, f"{ours - theirs:+z.2f}"))
        else:
            columns.append((NONE, NONE, NONE))
    return [list(line) for line in zip(*columns, strict=True)]


def _ours(ours: Average | None) -> str:
    if ours is None:
        return NONE
    return "%s (%d)" % (ours, len(ours.seeds)) if ours.seeds else str(ours)


def _difference(ours: Average | None, theirs: Average | None, std: float | None) -> str:
    if ours is None or theirs is None:
        return ""
    most, difference = margin(ours, theirs, std), ours.mean - theirs.mean
    if not ours.seeds and published.same_digits(ours.mean, theirs.mean):
        return "✓"
    return f"{difference:+z.2f}" + (" *" if most is not None and abs(difference) > most else "")


def _by_length(runs: Mapping[str, Sequence[Record]], results: Path) -> list[Section]:
    """Where MH4 is better than 1EC, by the length of the dependency: from the csv files that `make compare` has written."""
    columns, shown, again, pair = ["length"], [], [], compare.DEFAULT_SYSTEMS
    for name, mine in runs.items():
        if settings_of(name):  # make compare takes our settings
            continue
        page, seeds = results / ("%s-mh4-hybrid-1ec.csv" % name), records.common_seeds(mine, pair)
        found, other = list[int](), ""
        if page.exists():
            found, uas, scores = compare.f1_by_group(page, "length")
            now = averages([run for run in mine if run["seed"] in seeds], "dev_uas")
            if found != seeds:
                other = ", seeds %s" % " ".join(map(str, found))
            elif not all(isclose(now[system].mean, then) for system, then in zip(pair, uas, strict=True) if system in now):
                other = ", of other runs"  # since trained again
            columns.append(language(name) + other)
            shown.append(scores)
        if other or found != seeds:
            again.append("%s (seeds %s)" % (language(name), " ".join(map(str, seeds))))
    groups = list(dict.fromkeys(group for scores in shown for group in scores))
    body = [[group, *(_two(scores.get(group)) for scores in shown)] for group in groups]
    message = (
        'The paper says that "MH4 recovers more short dependencies than 1EC, while 1EC is better at longer-distance ones" (Section 5). '
        "The difference in F1 of unlabelled arcs on the development set, in percent, and in parentheses the F1 of mh4-hybrid and 1ec, "
        "over all seeds that both have. Recall and precision, and whether differences may be due to chance, are in "
        "LANG-mh4-hybrid-1ec.md."
    )
    missing = ["To be compared, with make compare: %s." % ", ".join(again)] if again else []
    table = Table(columns, body, right=1)
    return [Section("MH4 and 1EC by the length of dependencies", [table, message, *missing])] if shown else []


def _two(scores: tuple[float, float] | None) -> str:
    return f"{scores[0] - scores[1]:+z.1f} ({scores[0]:.1f}, {scores[1]:.1f})" if scores else NONE


def _curves(runs: Mapping[str, Sequence[Record]]) -> list[str]:
    without = [
        "%s %s seed %d" % (name, run["system"], run["seed"])
        for name, mine in runs.items()
        for run in mine
        if not run.get("curve") and "members" not in run  # an ensemble is not trained
    ]
    message = (
        "Without recorded evaluations: %s." % ", ".join(without) if without else "Every training has its evaluations recorded."
    )
    return [message + " Losses and speeds of each evaluation are in the records, LANG.jsonl."]


def _speed(runs: Mapping[str, Sequence[Record]]) -> list:
    trained = [run for mine in runs.values() for run in mine if {"tokens_per_second", "updates", "seconds"} <= run.keys()]
    body = []
    for system in sorted({run["system"] for run in trained}, key=published.place):
        mine = [run for run in trained if run["system"] == system]
        speeds, cpu = [run["tokens_per_second"] for run in mine], [run["cpu_seconds"] for run in mine if "cpu_seconds" in run]
        numbers = ["%d" % len(mine), "%d" % statistics.median(speeds), "%d to %d" % (min(speeds), max(speeds))]
        numbers += ["%d" % statistics.median(run["updates"] for run in mine)]
        numbers += [duration(statistics.median(run["seconds"] for run in mine))]
        numbers += [duration(statistics.median(cpu)) if cpu else NONE]
        body.append([system, *numbers])
    header = ["system", "runs", "tokens/s, median", "range", "updates, median", "wall time, median", "CPU time, median"]
    return [
        Table(header, body, right=1),
        "Of training on one core, of machines that did other work too: wall time says more about their load than about the system. "
        "Where CPU time is missing, it was not recorded. Speed without load is measured in benchmarks/.",
    ]


def _runs(runs: Mapping[str, Sequence[Record]]) -> list:
    body = []
    for name, mine in runs.items():
        for run in mine:
            scores = ["%.2f" % run["dev_uas"], "%.2f" % run["test_las"] if "test_las" in run else NONE]
            times = [duration(run[key]) if key in run else NONE for key in ("seconds", "cpu_seconds")]
            machines = run.get("machines", [])
            where = ["%s, Python %s" % (described(one["processor"], one.get("flags", "")), one["python"]) for one in machines]
            made = [run.get("commit", ""), run.get("date", ""), ", ".join(where) or "not recorded"]
            body.append([name, run["system"], str(run["seed"]), *scores, *times, *made])
    header = ["treebank", "system", "seed", "dev UAS", "test LAS", "wall time", "CPU time", "commit", "date", "processor"]
    return [
        Table(header, body, right=2, left_from=7),
        "Processor flags, versions of packages, settings, data and commands are in the records, LANG.jsonl.",
    ]


def _differing(runs: Mapping[str, Sequence[Record]]) -> list[str]:
    found = [
        "%s %s seed %d: dev UAS %.2f after %s updates; %s."
        % (name, run["system"], run["seed"], run["dev_uas"], run.get("updates", "unknown"), records.in_words(run["differs_from"]))
        for name, mine in runs.items()
        for run in mine
        if "differs_from" in run
    ]
    return found or ["None."]


def _outdated(runs: Mapping[str, Sequence[Record]]) -> list[str]:
    """Ensembles of models that have been trained again since, and those of all seeds from before there were more."""
    found, lacking = list[str](), []
    for name, mine in runs.items():
        found += records.outdated(name, mine)
        for run in mine:
            seeds = {one["seed"] for one in run.get("members", [])}
            later = [seed for seed in records.common_seeds(mine, MEMBERS) if seed not in seeds] if run["system"] == ALL else []
            if later:
                lacking.append("%s lacks seed %s." % (name, ", ".join(map(str, later))))
    return [
        *(["Combined before their members were trained again: " + " ".join(found)] if found else []),
        *(["%s, combined before all seeds were recorded: " % ALL + " ".join(lacking)] if lacking else []),
    ]


def _missing(runs: Mapping[str, Sequence[Record]], langs: Sequence[str]) -> list:
    """How many seeds of each system are recorded."""
    names = list(dict.fromkeys([*langs, *runs]))
    systems = sorted(
        {run["system"] for mine in runs.values() for run in mine} | set(published.systems(names[0])), key=published.place
    )
    body, absent = [], []
    for name in names:
        if name not in runs:
            absent.append(language(name))
            continue
        counts = [sum(run["system"] == system for run in runs[name]) for system in systems]
        body.append([language(name), *("%d" % count if count else NONE for count in counts)])
    message = ["No record of any run: %s." % ", ".join(absent)] if absent else []
    return ["The number of recorded seeds, of five in the paper.", Table(["treebank", *systems], body, right=1), *message]
