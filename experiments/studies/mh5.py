"""``make mh5 [LANGS="hu got"] [SEEDS="1 2"] [UD=folder]``: what systems over MH5 trees gain over those over MH4 trees

From recorded trees, of runs of ``make reproduce``. The coverage that MH5 adds is small: the few sentences outside MH4, and in these
the arcs missing from the nearest MH4 tree. Both are counted on the development set, and each system is scored on them. Parsing is
timed with the models that are there. This is not in the paper.
"""

import statistics
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from experiments import pages
from experiments.engine import predictions
from experiments.engine.command import languages, repeat, request, study
from experiments.engine.models import finished_runs, lacking
from experiments.engine.records import load
from experiments.engine.treebank import Treebank
from experiments.engine.workplace import Bench, report_written
from experiments.pages import Average, average, averages, difference, print_table
from mh4 import trees
from mh4.data import conllu
from mh4.data.treebanks import TOY
from mh4.errors import InputError
from mh4.util.text_tables import Table

SYSTEMS = ("mh4-hybrid", "mh5-hybrid", "mh4-arcs", "mh5-arcs")
PAIRS = (("mh4-hybrid", "mh5-hybrid"), ("mh4-arcs", "mh5-arcs"))
ROUNDS = 3  # of parsing; the fastest counts


class Row(NamedTuple):
    """One system, over its seeds.

    outside: UAS in percent on sentences outside MH4, None if there are none; recalled: of the arcs beyond MH4, how many were found, on
    average; predicted: the number of its trees that are outside MH4, on average; training: tokens per second, median over runs, as
    recorded; parsing: words per second. Both None if not measured.
    """

    uas: Average
    las: Average
    outside: Average | None
    recalled: float
    predicted: float
    training: float | None
    parsing: float | None


@study(langs="by default hu and got", seeds="of the runs; by default 1 and 2")
def mh5(bench: Bench, langs: str, seeds: str, ud: str) -> None:
    wanted = languages(langs, ("hu", "got"))
    asked = [request(lang, seeds=seeds or "1 2", ud=ud) for lang in wanted]
    parts = [part for one in asked for part in _of_treebank(one.treebank(test=False), one.seeds, bool(seeds), bench)]
    name, title = pages.page_name("mh5", toy=wanted == [TOY]), "MH5 compared with MH4, on development sets"
    written = pages.write(bench.results, name, title, [*parts, NOTE, *pages.made_now(repeat())])
    for part in parts:
        if isinstance(part, Table):
            print_table(part, bench.console)
    report_written(written)


def _of_treebank(bank: Treebank, seeds: Sequence[int], every: bool, bench: Bench) -> list[pages.Part]:
    """Return the section on a treebank, with a row for each system with records; every: of all these seeds.

    Raises InputError if there are none, or one lacks a seed.
    """
    results, dev = bench.holding(bank.name), bank.paths["dev"]
    records = [record for record in load(bank.name, results) if record["seed"] in seeds]
    gold = conllu.read(str(dev))
    heads = [sentence.heads for sentence in gold]
    # The arcs missing from the MH4 trees that share the most arcs with gold, and the sentences that have some.
    beyond = [(k, int(m)) for k, tree in enumerate(heads) for m in np.flatnonzero(tree != trees.nearest(tree, "mh4"))]
    outside, rows = list(dict.fromkeys(k for k, _ in beyond)), dict[str, Row]()
    words = sum(len(gold[k]) for k in outside)
    for system in SYSTEMS:
        mine = [record for record in records if record["system"] == system]
        if not mine:
            bench.console.print("%s: no finished run of %s, which is omitted" % (bank.name, system), soft_wrap=True)
            continue
        missing = lacking(system, seeds, {record["seed"] for record in mine})
        if missing and every:
            raise InputError("%s: no finished run of %s: train it, or choose other SEEDS" % (bank.name, missing))
        parsed = [predictions.heads(predictions.of_record(results, bank.name, record, dev), dev, gold) for record in mine]
        right = [sum(int((tree[k][1:] == heads[k][1:]).sum()) for k in outside) for tree in parsed]
        speeds = [record["tokens_per_second"] for record in mine if "tokens_per_second" in record]
        rows[system] = Row(
            averages(mine, "dev_uas")[system],
            averages(mine, "dev_las")[system],
            average([100.0 * number / words for number in right], [record["seed"] for record in mine]) if words else None,
            statistics.mean(sum(int(tree[k][m] == heads[k][m]) for k, m in beyond) for tree in parsed),
            statistics.mean(sum(not trees.in_class(tree, "mh4") for tree in of_run) for of_run in parsed),
            float(statistics.median(speeds)) if speeds else None,
            _speed(bank, system, seeds, gold, bench),
        )
    if not rows:
        none = "%s: none of these systems has a finished run with seed %s"
        raise InputError(none % (bank.name, " or ".join(map(str, seeds))))
    counts = len(outside), len(gold), words, sum(map(len, gold))
    said = "%d of %d sentences are outside MH4, with %d of %d words." % counts
    return ["## " + bank.title, table(rows, len(beyond)), said, pages.items(differences(rows))]


def _speed(bank: Treebank, system: str, seeds: Sequence[int], gold: Sequence[conllu.Sentence], bench: Bench) -> float | None:
    """The words per second of parsing the development set on one core, with the model of the first of these seeds; None without one."""
    runs = [run for run in finished_runs(bench, bank, system) if run.seed in seeds]
    if not runs:
        return None
    from mh4.parser.parsing import Parser

    bench.console.print("%s: timing %s" % (bank.name, system))
    parser, seconds = Parser.load(str(runs[0].folder)), []
    for _ in range(ROUNDS):
        start = time.process_time()
        parser.parse(gold)
        seconds.append(time.process_time() - start)
    return sum(map(len, gold)) / min(seconds)


def table(rows: Mapping[str, Row], beyond: int) -> Table:
    """Return a row for each system; beyond: the number of arcs beyond MH4."""
    header = ["system", "seeds", "dev UAS", "dev LAS", "UAS outside MH4", "arcs beyond MH4 found", "trees outside MH4"]
    body = []
    for system, (uas, las, outside, recalled, predicted, *speeds) in rows.items():
        cells = [system, uas.seeds_listed, *(str(score or "") for score in (uas, las, outside))]
        cells += ["%.1f of %d" % (recalled, beyond), "%.1f" % predicted]
        body.append(cells + ["" if speed is None else "%.0f" % speed for speed in speeds])
    return Table([*header, "training, tokens/s", "parsing, words/s"], body, right=2)


def differences(rows: Mapping[str, Row]) -> list[str]:
    """Return a line for each pair of systems with rows: by how much MH5 is better."""
    lines = []
    for four, five in (pair for pair in PAIRS if set(pair) <= set(rows)):
        old, new = rows[four], rows[five]
        gains = [difference(new.uas, old.uas) + " dev UAS"]
        if new.outside:
            gains.append(difference(new.outside, old.outside) + " on sentences outside MH4")
            gains.append(f"{new.recalled - old.recalled:+z.1f} arcs beyond MH4")
        lines.append("%s instead of %s: %s" % (five, four, ", ".join(gains)))
    return lines


NOTE = """\
Mean and standard deviation (n - 1) over seeds, in percent; differences of means with their standard errors. Arcs beyond MH4
are those missing from the MH4 tree that shares the most arcs with gold; of several such trees the decoder's. Training speed
is that of the records, on machines that may have been busy; parsing is timed by this command, one model after the other on
one core, the best of three rounds."""
