"""``make ensemble LANG=hu``: ensembles of models trained by ``make reproduce``, such as that of the paper's Tables 5 and 6.

The models of each seed are combined by `mh4 ensemble`, which gives a record that the tables show next to those of single systems.
Beyond the paper, the models of all seeds are combined, also each seed's with the outputs of the shared task's systems, and ways of
voting are compared on the development set.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import options
from provenance import EXPERIMENTS, make_command, report_written
from rich.console import Console
from tables import ensemble as page
from tables import treebank_pages, writer
from tables.ensemble import Members, Row
from tables.shared_task import COLUMNS
from training import records, voting
from training.ensembles import MEMBERS, NAME, Combiner, Scores, dev_uas, members, name_of, record_all_seeds
from training.run import TRAINER, requested_systems
from training.treebank import Treebank, located, with_test

from mh4.data import conllu
from mh4.data.conll17 import SEGMENTATION
from mh4.errors import InputError
from mh4.parser.systems import SYSTEMS, GlobalSystem

USAGE = 'usage: make ensemble LANG=hu [SYSTEMS="mh4-hybrid 1ec mst"] [SEEDS="1 2"] [UD=folder] [CONLL17=folder]'


def usage() -> str:
    """The usage line and the meaning of its variables."""
    return options.usage(
        USAGE,
        SYSTEMS="from %s; by default %s" % (" ".join(_global_systems()), " ".join(MEMBERS)),
        SEEDS="of the trained models; by default all that every system has",
        UD=options.UD,
        CONLL17="as for make reproduce",
    )


def main(arguments: Sequence[str], trainer: Sequence[str] = TRAINER, home: Path = EXPERIMENTS) -> int:
    """The command; exit codes, `trainer` (which also parses) and `home` as in reproduce.main."""
    typed = options.options(arguments, USAGE, ("lang", "systems", "seeds", "ud", "conll17"))
    return options.answered("ensemble", usage, typed.help, lambda: _ensemble(typed, trainer, home))


def _ensemble(typed, trainer: Sequence[str], home: Path) -> int:
    asked = options.request(typed.lang, typed.systems, typed.seeds, typed.ud, "", typed.conll17)
    systems = requested_systems(typed.systems, _global_systems(), MEMBERS)
    bank = with_test(located(asked.lang, asked.ud), asked.ud, asked.conll17)
    models = home / "runs" / bank.name
    by_seed = members(models, systems, asked.seeds if typed.seeds else ())
    repeat = make_command(
        "ensemble", LANG=asked.lang, SYSTEMS=typed.systems.split(), SEEDS=typed.seeds.split(), UD=asked.ud, CONLL17=asked.conll17
    )
    console, results, combiner = Console(highlight=False), home / "results", Combiner(bank, trainer, models / NAME)
    kept = records.Records(results, bank)
    rows = [_member(bank.name, system, list(by_seed), results) for system in (run.system for run in next(iter(by_seed.values())))]
    of_one_seed = []
    for seed, runs in by_seed.items():
        console.print("combining the models of seed %d" % seed)
        of_one_seed.append(combiner.record(kept, seed, runs, repeat))
    rows.append(Row("ensemble", len(systems), of_one_seed))
    if len(by_seed) > 1:
        console.print("combining all models")
        everything = sorted((run for runs in by_seed.values() for run in runs), key=dev_uas, reverse=True)
        rows.append(Row("ensemble of all seeds", len(everything), [combiner.combine("all", everything)[0]]))
    rows += _with_outputs(bank, combiner, by_seed, console)
    ways = voting.uas_by_way(by_seed, conllu.read(str(bank.paths["dev"])), voting.WAYS, "ways of voting", console)
    written = writer.write_pages(
        results,
        "%s-%s" % (bank.name, name_of(systems)),
        page.markdown(bank, by_seed, rows, ways, repeat),
        page.as_csv(bank, by_seed, rows, ways),
    )
    page.table(rows).print(console)
    page.voting(ways).print(console)
    if set(systems) == set(MEMBERS):
        record_all_seeds(bank, kept, systems, repeat)
    written += treebank_pages.write(bank.name, results)
    report_written(written)
    return 0


def _global_systems() -> list[str]:
    return [name for name, system in SYSTEMS.items() if isinstance(system, GlobalSystem)]


def _member(name: str, system: str, seeds: Sequence[int], results: Path) -> Row:
    """The scores of a single system, from its records."""
    found = [r for r in records.load(name, results) if r["system"] == system and r["seed"] in seeds]
    return Row(system, 1, [Scores(*(r.get(score) for score in ("dev_uas", "dev_las", "test_uas", "test_las"))) for r in found])


def _with_outputs(bank: Treebank, combiner: Combiner, by_seed: Members, console: Console) -> list[Row]:
    """The models of each seed with the outputs of the shared task's systems, if available, on the test set."""
    others = {system: path for system, path in bank.outputs.items() if system != SEGMENTATION}
    if not others or not bank.test:
        return []
    name = "ensemble, with %s" % " and ".join(COLUMNS[system].partition(" (")[0] for system in others)
    console.print("combining with %s" % " and ".join(path.name for path in others.values()))
    scores = []
    for seed, runs in by_seed.items():
        try:
            scores.append(Scores(None, None, *combiner.with_votes("with-outputs-%d" % seed, runs, list(others.values()))))
        except InputError as error:  # their words may differ
            print("no %s: %s" % (name, error), file=sys.stderr)
            return []
    return [Row(name, len(next(iter(by_seed.values()))), scores)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
