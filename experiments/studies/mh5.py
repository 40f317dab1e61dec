"""``make mh5 [LANGS="hu got"] [SEEDS="1 2"] [UD=folder]``: what systems over MH5 trees gain over those over MH4 trees

From recorded trees, of runs of ``make reproduce``. The coverage that MH5 adds is small: the few sentences outside MH4, and in these
the arcs missing from the nearest MH4 tree. Both are counted on the development set, and each system is scored on them. Parsing is
timed with the models that are there. This is not in the paper.
"""

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from experiments import pages
from experiments.engine import predictions
from experiments.engine.command import languages, repeat, request, study
from experiments.engine.models import finished_runs, lacking
from experiments.engine.record_fields import Record
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

Trees = Sequence[np.ndarray]  # the heads of each sentence


class Row(NamedTuple):
    """One system, over its seeds.

    outside: UAS in percent on sentences outside MH4, None if there are none; recalled: of the arcs beyond MH4, how many were found, on
    average; predicted: the number of its trees that are outside MH4, on average; training: tokens per second, median over runs, as
    recorded; parsing: words per second. Both None if not measured.
    """

    system: str
    uas: Average
    las: Average
    outside: Average | None
    recalled: float
    predicted: float
    training: float | None
    parsing: float | None


@dataclass(frozen=True)
class OfTreebank:
    """One treebank: the gold trees of its development set, and its rows.

    beyond: the arcs missing from the MH4 trees that share the most arcs with gold, as (index of the sentence, dependent). outside: the
    indices of the sentences outside MH4.
    """

    bank: Treebank
    gold: Trees
    beyond: Sequence[tuple[int, int]]
    outside: Sequence[int]
    rows: list[Row] = field(default_factory=list)


@study(langs="by default hu and got", seeds="of the runs; by default 1 and 2")
def mh5(bench: Bench, langs: str, seeds: str, ud: str) -> None:
    wanted = languages(langs, ("hu", "got"))
    asked = [request(lang, seeds=seeds or "1 2", ud=ud) for lang in wanted]
    found = [_of_treebank(each.treebank(test=False), each.seeds, bool(seeds), bench) for each in asked]
    parts: list[pages.Part] = []
    for one in found:
        gold, outside = one.gold, one.outside
        counts = len(outside), len(gold), sum(len(gold[k]) - 1 for k in outside), sum(len(heads) - 1 for heads in gold)
        said = "%d of %d sentences are outside MH4, with %d of %d words." % counts
        parts += ["## " + one.bank.title, table(one), said, pages.items(differences(one))]
    name, title = pages.page_name("mh5", toy=wanted == [TOY]), "MH5 compared with MH4, on development sets"
    written = pages.write(bench.results, name, title, [*parts, NOTE, *pages.made_now(repeat())])
    for treebank in found:
        print_table(table(treebank), bench.console)
    report_written(written)


def _of_treebank(bank: Treebank, seeds: Sequence[int], every: bool, bench: Bench) -> OfTreebank:
    """Return a row for each system with records; every: of all these seeds.

    Raises InputError if there are none, or one lacks a seed.
    """
    results = bench.holding(bank.name)
    records = [record for record in load(bank.name, results) if record["seed"] in seeds]
    dev = bank.paths["dev"]
    gold = conllu.read(str(dev))
    heads = [sentence.heads for sentence in gold]
    beyond = [(k, int(m)) for k, tree in enumerate(heads) for m in np.flatnonzero(tree != trees.nearest(tree, "mh4"))]
    found = OfTreebank(bank, heads, beyond, list(dict.fromkeys(k for k, _ in beyond)))
    for system in SYSTEMS:
        mine = [record for record in records if record["system"] == system]
        if not mine:
            bench.console.print("%s: no finished run of %s, which is omitted" % (bank.name, system), soft_wrap=True)
            continue
        missing = lacking(system, seeds, {record["seed"] for record in mine})
        if missing and every:
            raise InputError("%s: no finished run of %s: train it, or choose other SEEDS" % (bank.name, missing))
        parsed = [predictions.heads(predictions.of_record(results, bank.name, record, dev), dev, gold) for record in mine]
        found.rows.append(_row(found, mine, parsed, _speed(bank, system, seeds, gold, bench)))
    if not found.rows:
        none = "%s: none of these systems has a finished run with seed %s"
        raise InputError(none % (bank.name, " or ".join(map(str, seeds))))
    return found


def _row(found: OfTreebank, records: Sequence[Record], predicted: Sequence[Trees], parsing: float | None) -> Row:
    """records: of the runs of a system; predicted: their trees for the development set."""
    gold, system = found.gold, records[0]["system"]
    speeds = [record["tokens_per_second"] for record in records if "tokens_per_second" in record]
    words = sum(len(gold[k]) - 1 for k in found.outside)
    right = [sum(int((mine[k][1:] == gold[k][1:]).sum()) for k in found.outside) for mine in predicted]
    return Row(
        system,
        averages(records, "dev_uas")[system],
        averages(records, "dev_las")[system],
        average([100.0 * number / words for number in right], [record["seed"] for record in records]) if words else None,
        statistics.mean(sum(int(mine[k][m] == gold[k][m]) for k, m in found.beyond) for mine in predicted),
        statistics.mean(sum(not trees.in_class(heads, "mh4") for heads in mine) for mine in predicted),
        float(statistics.median(speeds)) if speeds else None,
        parsing,
    )


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


def table(found: OfTreebank) -> Table:
    header = ["system", "seeds", "dev UAS", "dev LAS", "UAS outside MH4", "arcs beyond MH4 found", "trees outside MH4"]
    header += ["training, tokens/s", "parsing, words/s"]
    body = []
    for system, uas, las, outside, recalled, predicted, *speeds in found.rows:
        cells = [system, uas.seeds_listed, *(str(score or "") for score in (uas, las, outside))]
        cells += ["%.1f of %d" % (recalled, len(found.beyond)), "%.1f" % predicted]
        body.append(cells + ["" if speed is None else "%.0f" % speed for speed in speeds])
    return Table(header, body, right=2)


def differences(found: OfTreebank) -> list[str]:
    """Return a line for each pair of systems with rows: by how much MH5 is better."""
    rows, lines = {row.system: row for row in found.rows}, []
    for four, five in PAIRS:
        if four in rows and five in rows:
            old, new = rows[four], rows[five]
            gains = [difference(new.uas, old.uas) + " dev UAS"]
            if found.outside:
                gains.append(difference(new.outside, old.outside) + " on sentences outside MH4")
                gains.append(f"{new.recalled - old.recalled:+z.1f} arcs beyond MH4")
            lines.append("%s instead of %s: %s" % (five, four, ", ".join(gains)))
    return lines


NOTE = """\
Mean and standard deviation (n - 1) over seeds, in percent; differences of means with their standard errors. Arcs beyond MH4
are those missing from the MH4 tree that shares the most arcs with gold; of several such trees the decoder's. Training speed
is that of the records, on machines that may have been busy; parsing is timed by this command, one model after the other on
one core, the best of three rounds."""
