"""``make mh5``: does a parser benefit from MH5? Systems over MH5 trees compared with the same over MH4 trees, from recorded trees.

An experiment that is not in the paper. The runs are those of ``make reproduce``. The coverage that MH5 adds is small: the few sentences
outside MH4, and in these the arcs missing from the nearest MH4 tree. Both are counted on the development set, and each system is
scored on them. Parsing is timed with the models that are there.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

import options
from provenance import EXPERIMENTS, make_command, report_written
from rich.console import Console
from tables import mh5 as table
from tables.writer import page_name, write_pages
from training import predictions
from training.records import TREES, load, record_path
from training.run import finished_runs
from training.treebank import Treebank, located

from mh4.data import conllu
from mh4.errors import InputError

USAGE = 'usage: make mh5 [LANGS="hu got"] [SEEDS="1 2"] [UD=folder]'
ROUNDS = 3  # of parsing; the fastest counts


def main(arguments: Sequence[str], home: Path = EXPERIMENTS) -> int:
    """The command; exit codes and `home` as in reproduce.main."""
    typed = options.options(arguments, USAGE, ("langs", "seeds", "ud"))
    return options.answered("mh5", lambda: USAGE, typed.help, lambda: _mh5(typed, home))


def _mh5(typed, home: Path) -> int:
    langs = options.languages(typed.langs, ("hu", "got"))
    asked = [options.request(lang, "", typed.seeds or "1 2", typed.ud, "") for lang in langs]
    console, results, found = Console(highlight=False), home / "results", []
    for each in asked:
        bank = located(each.lang, each.ud)
        records = [record for record in load(bank.name, results) if record["seed"] in each.seeds]
        gold = conllu.read(str(bank.paths["dev"]))
        reach = table.Reach.of([sentence.heads for sentence in gold])
        rows = []
        for system in table.SYSTEMS:
            mine = [record for record in records if record["system"] == system]
            if not mine:
                console.print("%s: no finished run of %s, which is omitted" % (bank.name, system), soft_wrap=True)
                continue
            paths = [record_path(results / bank.name, system, record["seed"], TREES) for record in mine]
            lacking = [record for record in mine if not {"dev_las", "tokens_per_second"} <= record.keys()]
            if lacking:
                raise InputError(
                    "%s: the record of %s seed %d has no dev_las or no tokens_per_second"
                    % (bank.name, system, lacking[0]["seed"])
                )
            trees = [predictions.heads(path, bank.paths["dev"], gold) for path in paths]
            console.print("%s: timing %s" % (bank.name, system))
            rows.append(table.Row.of(system, mine, reach, trees, _speed(bank, system, gold, home)))
        if not rows:
            raise InputError(
                "%s: none of these systems has a finished run with seed %s" % (bank.name, " or ".join(map(str, each.seeds)))
            )
        found.append(table.OfTreebank(bank, reach, rows))
    repeat = make_command("mh5", LANGS=typed.langs.split(), SEEDS=typed.seeds.split(), UD=asked[0].ud)
    written = write_pages(results, page_name("mh5", langs), table.markdown(found, repeat), table.as_csv(found))
    for treebank in found:
        table.table(treebank).print(console)
    report_written(written)
    return 0


def _speed(bank: Treebank, system: str, gold: Sequence[conllu.Sentence], home: Path) -> Optional[float]:
    """The words per second of parsing the development set on one core, with the model of the first seed; None if there is none."""
    runs = finished_runs(home / "runs" / bank.name, system)
    if not runs:
        return None
    from mh4.parser.parsing import Parser

    parser, seconds = Parser.load(str(runs[0].folder)), []
    for _ in range(ROUNDS):
        start = time.process_time()
        parser.parse(gold)
        seconds.append(time.process_time() - start)
    return sum(map(len, gold)) / min(seconds)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
