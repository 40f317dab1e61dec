"""Write the page of a treebank from its records: Tables 4 (development set), 1 and 2 (features), 5 or 6 (test set)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args

from experiments import pages, published
from experiments.engine import records, shared_task
from experiments.engine.record_fields import Output, Record, Score
from experiments.engine.run import duration
from experiments.engine.treebank import OWN_FILES
from experiments.pages import Average, averages, paper_average
from mh4.data import conll17, treebanks
from mh4.util.cpu import described
from mh4.util.text_tables import Table

# Decoding and features as in the csv of the paper's numbers, and the system.
FEATURES = (
    ("local", "s0 b0", "greedy-mh4-two"),
    ("local", "s1 s0 b0", "greedy-mh4-three"),
    ("local", "s2 s1 s0 b0", "greedy-mh4"),
    ("global", "s0 b0", "mh4-two"),
    ("global", "hybrid", "mh4-hybrid"),
)


def write(name: str, results: Path) -> list[Path]:
    """Write the page of treebank `name` from all its records in the folder `results`; return its path."""
    runs = records.load(name, results)
    files, others, parts = dict[str, Any](records.files(runs[0])), "", list[pages.Part]()
    for one in sections(runs, results):
        parts += ["## " + one.title, one.table(), one.note(), one.about]
        if isinstance(one, Test):
            files |= one.files()
            others = " and `%s`" % shared_task.FILE if one.outputs else ""
    parts += ["## Runs", every_run({name: runs}, get_args(Score)), *_of_test_scores(runs), OF_TREES % name]
    parts += pages.data(("%s: %s" % (what, file["path"]), file["git_blob"]) for what, file in files.items())
    parts += pages.command(records.commands(runs), "This page is made from `%s.jsonl`%s." % (name, others))
    return pages.write(results, name, pages.of_treebank(runs[0]), parts)


def sections(runs: Sequence[Record], results: Path) -> "list[Dev | Features | Test]":
    """Return the sections on a treebank's runs: scores on dev and, if there are any, by features and on test."""
    features, test = Features(runs), tested(runs, results)
    return [Dev(runs), *([features] if features.rows() else []), *([test] if test else [])]


OF_TREES = """\
`trees/%s/` has the predicted trees of each run for dev and test, without words:
`.venv/bin/python -m experiments predictions` merges them into the treebank's files."""


def every_run(by_treebank: Mapping[str, Sequence[Record]], scores: Sequence[Score] = ("dev_uas", "test_las")) -> Table:
    """Return a row for each run of each treebank: these scores, its times and its origin."""
    body = []
    for name, run in ((name, run) for name, runs in by_treebank.items() for run in runs):
        found = ["%.2f" % run[score] if score in run else pages.NONE for score in scores]
        times = [duration(run[key]) if key in run else pages.NONE for key in ("seconds", "cpu_seconds")]
        machines = [(described(one["processor"], one.get("flags", "")), one["python"]) for one in run.get("machines", [])]
        where = ", ".join("%s, Python %s" % machine for machine in machines) or "not recorded"
        body.append([name, run["system"], str(run["seed"]), *found, *times, run.get("commit", ""), run.get("date", ""), where])
    header = ["treebank", "system", "seed", *map(pages.titled, scores), "wall time", "CPU time", "commit", "date", "processor"]
    return Table(header, body, right=2, left_from=5 + len(scores))


def caption(runs: Sequence[Record]) -> str:
    """Return the caption of the table `pages.all_scores`: what the scores are, and the seeds of each system."""
    means = averages(runs, "dev_uas")
    lines = [CAPTION % pages.of_treebank(runs[0])]
    if any(score.startswith("test") for score in pages.scores_of_all(runs)):
        lines += _of_test_scores(runs)
    elif any("test" in run for run in runs):
        lines.append("Test scores are left out: not all runs have them on the same files.")
    of_one = "%s: one ensemble, of seeds %s"
    lines += [(of_one if one.single else "%s: seeds %s") % (system, one.seeds_listed) for system, one in means.items()]
    if len({one.seeds for one in means.values()}) > 1:
        lines.append("Not all systems have the same seeds.")
    if any(len(one.seeds) < pages.FEWEST_SEEDS for one in means.values() if not one.single):
        lines.append("Fewer than %d seeds are few for a mean and a standard deviation." % pages.FEWEST_SEEDS)
    return "\n".join(lines)


CAPTION = "UAS and LAS on %s in percent, of all words, with punctuation: mean and sample standard deviation (n - 1) over seeds."


def _of_test_scores(runs: Sequence[Record]) -> list[str]:
    """Return a sentence on the test scores of these runs, if there are any."""
    tested = [run for run in runs if "test" in run]
    gold = any(run["segmentation"] == run["test"] for run in tested)
    segmentation = "gold segmentation" if gold else "the segmentation of the shared task's baseline"
    return ["Test scores are F1 by the official scorer, with %s." % segmentation] if tested else []


@dataclass(frozen=True)
class Scores:
    """A section of the page: the scores of runs on a treebank as a table, and a note on how to read it."""

    runs: Sequence[Record]

    @property
    def lang(self) -> str:
        return self.runs[0]["lang"]

    @property
    def release(self) -> str:
        return self.runs[0]["release"]


class SystemRow(NamedTuple):
    """One system: its score over seeds, and the paper's if it is comparable (otherwise None)."""

    system: str
    ours: Average
    paper: Average | None

    @property
    def name(self) -> str:
        """The name of the system in tables."""
        return published.COLUMNS.get(self.system, self.system)

    @property
    def difference(self) -> float | None:
        return None if self.paper is None else self.ours.mean - self.paper.mean

    @property
    def agrees(self) -> bool:
        """Return whether a shared task's system has the paper's score to two decimals; False for all other systems."""
        paper = self.paper if self.system in published.COLUMNS else None
        return paper is not None and published.same_digits(self.ours.mean, paper.mean)


def _table(score: str, rows: Sequence[SystemRow]) -> Table:
    """Return a table of systems' scores on a treebank. The paper's columns are omitted if no number is comparable."""
    header, body = ["system", "seeds", score], [[row.name, row.ours.seeds_listed, str(row.ours)] for row in rows]
    if any(row.paper for row in rows):
        header += ["paper", "difference"]
        for row, cells in zip(rows, body, strict=True):
            difference = "" if row.difference is None else "✓" if row.agrees else f"{row.difference:+z.2f}"
            cells += [str(row.paper or ""), difference]
    return Table(header, body, right=2)


class Dev(Scores):
    """Table 4: UAS on the development set by system, mean and standard deviation over seeds, compared with the paper's."""

    title = "UAS on the development set"
    about = """\
UAS in percent over all words, including punctuation, with gold segmentation: mean and standard deviation over seeds. The
score of a run is its best evaluation on the development set, which also selects its model. The standard
deviation is the sample standard deviation (n - 1)."""

    def rows(self) -> list[SystemRow]:
        """Return a row of dev UAS for each system with records; the paper's numbers only for runs on the paper's data."""
        found = []
        for system, ours in averages(self.runs, "dev_uas").items():
            found.append(SystemRow(system, ours, paper_average(published.dev_uas(self.lang, self.release, system))))
        return found

    def table(self) -> Table:
        return _table("dev UAS", self.rows())

    def note(self) -> str:
        if self.release == OWN_FILES:
            return "In percent: mean and standard deviation over seeds."
        if self.release != published.RELEASE:
            message = "%s: not the paper's data (%s), so the paper's numbers are not comparable and not shown."
            return message % (self.release[0].upper() + self.release[1:], published.RELEASE)
        if not any(row.paper for row in self.rows()):
            known = published.in_table_4(self.lang, self.release)
            what = "these systems" if known else "this treebank (%s)" % self.lang
            return "The paper gives no development-set UAS for %s." % what
        return "The paper's numbers are from Table 4, with 5 seeds, on the same files."


class Features(Scores):
    """Tables 1 and 2: UAS of greedy and exact parsers on the development set, by the positions used as features."""

    title = "UAS on the development set, by features"
    about = """\
Local parsers are greedy and score every transition on all features; global ones find the best derivation, and hybrid ones
score shifts on s0 b0 and reduces on s1 s0 b0."""

    def rows(self) -> dict[tuple[str, str, str], Average]:
        """Return dev UAS over seeds, for each row of FEATURES with records; empty without a greedy parser."""
        ours = averages(self.runs, "dev_uas")
        found = {row: ours[row[2]] for row in FEATURES if row[2] in ours}
        return found if any(decoding == "local" for decoding, _, _ in found) else {}

    def table(self) -> Table:
        header, body = ["decoding", "features", "system", "seeds", "dev UAS"], []
        paper = {} if self.lang == treebanks.TOY else published.features()
        for row, ours in self.rows().items():
            body.append([*row, ours.seeds_listed, str(ours), *(["%.2f" % paper[row[:2]]] if paper else [])])
        return Table([*header, "paper's average"] if paper else header, body, right=4)

    def note(self) -> str:
        if self.lang == treebanks.TOY:
            return "The paper has no numbers for the toy treebank: the table shows that all of the workflow has run."
        return OF_LANGUAGE % (self.lang, self.release)


OF_LANGUAGE = (
    "The scores are for %s (%s), while the paper's Tables 1 and 2 only give averages over 10 languages of UD 2.0: individual "
    "numbers are not comparable, but the differences between feature sets are."
)


@dataclass(frozen=True)
class Test(Scores):
    """Table 5 or 6: LAS on the test set by system, mean and standard deviation over seeds, compared with the paper's.

    runs: all on the same test set and segmentation. others: the number of runs tested on other files, or not at all.
    outputs: the recorded outputs of the shared task's systems for this test set, by system.
    """

    others: int
    outputs: Mapping[str, Output]

    @property
    def title(self) -> str:
        return "LAS on the test set" + (" (Table %d)" % self.table_number if self.table_number else "")

    @property
    def compares(self) -> bool:
        """True if training and test files are the paper's."""
        test, segmentation = _files(self.runs[0])
        ours = shared_task.is_output(self.lang, conll17.SEGMENTATION, segmentation)
        return self.release == published.RELEASE and shared_task.is_test_set(self.lang, test) and ours

    @property
    def table_number(self) -> int | None:
        """The number of the paper's comparable table, if any."""
        return published.test_table(self.lang) if self.compares else None

    def rows(self) -> list[SystemRow]:
        """Return a row for each system with records, then the shared task's systems."""
        scores = averages(self.runs, "test_las")
        tested = [system for system in published.COLUMNS if "las" in self.outputs.get(system, {})]
        scores.update((system, Average(self.outputs[system]["las"], None)) for system in tested)
        found = []
        for system, ours in scores.items():
            paper = published.test_las(self.lang, self.release, system) if self.compares else None
            found.append(SystemRow(system, ours, paper_average(paper)))
        return found

    def table(self) -> Table:
        return _table("test LAS", self.rows())

    def note(self) -> str:
        if self.release == OWN_FILES:
            return "In percent, by the official scorer, with the segmentation of the test set: mean and standard deviation over seeds."
        if not self.compares:
            message = "Not the files of the paper's Tables 5 and 6 (%s), so its numbers are not comparable and not shown."
            return message % published.RELEASE
        message = "The paper's numbers are from Table %s, with 5 seeds, on the same files." % self.table_number
        same = any(row.agrees for row in self.rows())
        return message + (" ✓: the shared task's output, scored here, gets the identical score." if same else "")

    @property
    def about(self) -> str:
        """Notes on the scores, and on systems and runs without scores."""
        message, counts = "The official scorer rejects the output of %s: %s.", (self.others, self.others + len(self.runs))
        rejected = {published.COLUMNS[name]: one["rejected"] for name, one in self.outputs.items() if "rejected" in one}
        omitted = ["Omitted, without scores on these files: %d of %d runs." % counts] if self.others else []
        return "\n\n".join([OF_TEST, *(message % pair for pair in rejected.items()), *omitted])

    def files(self) -> dict[str, Any]:
        """Return the test files, and the outputs of the shared task's systems that have scores, by their titles."""
        run, systems = self.runs[0], [row for row in self.rows() if row.system in published.COLUMNS]
        return {
            "test": run["test"],
            "segmentation": run["segmentation"],
            **{one.name: self.outputs[one.system] for one in systems},
        }


OF_TEST = """\
LAS in percent, by the official scorer, with the segmentation below: mean and standard deviation (n - 1) over seeds.
Models were selected on the development set."""


def tested(runs: Sequence[Record], results: Path) -> Test | None:
    """Return the test scores of a treebank's runs, on the files that most of them were tested on; None if there are none."""
    scored = [run for run in runs if {"test_las", "test", "segmentation"} <= set(run)]
    if not scored:
        return None
    chosen = Counter(map(_files, scored)).most_common(1)[0][0]
    same = [run for run in scored if _files(run) == chosen]
    reference = shared_task.load(same[0]["lang"], results)
    outputs = reference["systems"] if reference and reference["test"]["git_blob"] == chosen[0] else {}
    return Test(same, len(runs) - len(same), outputs)


def _files(run: Record) -> tuple[str, str]:
    return run["test"]["git_blob"], run["segmentation"]["git_blob"]
