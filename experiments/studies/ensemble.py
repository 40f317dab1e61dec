"""``make ensemble LANG=hu [SYSTEMS="mh4-hybrid 1ec mst"] [SEEDS="1 2"] [UD=folder] [CONLL17=folder]``: ensembles

Combines models trained by ``make reproduce``, as for the ensemble of the paper's Tables 5 and 6. `mh4 ensemble`
combines the models of each seed; the scores are recorded, and tables show them next to single systems. Beyond the
paper, the models of all seeds are combined, and those of each seed with the outputs of the shared task's systems.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from experiments import pages, published
from experiments.engine import records
from experiments.engine.command import repeat, request, requested_systems, study
from experiments.engine.ensemble_runs import MEMBERS, combine, members, name_of, record, record_all_seeds
from experiments.engine.models import lacking
from experiments.engine.run import Run
from experiments.engine.treebank import Treebank
from experiments.engine.workplace import Bench, report_written
from experiments.pages import average, print_table
from experiments.tables import paper_tables
from mh4.cli.group import say
from mh4.data.conll17 import SEGMENTATION
from mh4.errors import InputError
from mh4.parser.systems import SYSTEMS, GlobalSystem
from mh4.util.text_tables import Table

GLOBAL_SYSTEMS = [name for name, system in SYSTEMS.items() if isinstance(system, GlobalSystem)]
SCORES = {"dev_uas": "dev UAS", "dev_las": "dev LAS", "test_las": "test LAS"}

Members = dict[int, list[Run]]  # by seed


@study(
    systems="from %s; by default %s" % (" ".join(GLOBAL_SYSTEMS), " ".join(MEMBERS)),
    seeds="of the trained models; by default all that every system has",
)
def ensemble(bench: Bench, lang: str, systems: str, seeds: str, ud: str, conll17: str) -> None:
    asked = request(lang, systems, seeds, ud, conll17=conll17)
    wanted = requested_systems(systems, GLOBAL_SYSTEMS, MEMBERS)
    bank = asked.treebank()
    wanted_seeds = asked.seeds if seeds else ()
    by_seed = members(bench, bank, wanted, wanted_seeds)
    command, kept = repeat(), records.Records(bench.results, bank)
    rows = [_member(bank.name, run.system, list(by_seed), bench) for run in next(iter(by_seed.values()))]
    by_seed_records = []
    for seed, runs in by_seed.items():
        bench.console.print("combining the models of seed %d" % seed)
        by_seed_records.append(record(bench, kept, seed, runs, command))
    rows.append(_row("ensemble", len(wanted), by_seed_records))
    if len(by_seed) > 1:
        bench.console.print("combining all models")
        everything = sorted((run for runs in by_seed.values() for run in runs), key=lambda run: run.dev_uas, reverse=True)
        rows.append(_row("ensemble of all seeds", len(everything), [combine(bench, bank, "all", everything)]))
    rows += _with_outputs(bench, bank, by_seed)
    name = "%s-%s" % (bank.name, name_of(wanted))
    title = "%s: ensembles of %s" % (bank.title, ", ".join(run.system for run in next(iter(by_seed.values()))))
    table = Table(["", "models", *SCORES.values()], rows, right=1)
    parts = page(bank, by_seed, table, command)
    written = pages.write(bench.results, name, title, parts)
    print_table(table, bench.console)
    if set(wanted) == set(MEMBERS):
        record_all_seeds(kept, command, wanted_seeds)
    kept.name_outdated()  # ensembles of other seeds or systems
    report_written(written + paper_tables.write(bank.name, bench.results))


def _row(name: str, models: int, by_seed: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the row of a parser or an ensemble: name, number of models, and the average of each score.

    Scores that some seeds lack are empty. by_seed: the scores of each seed, by their names in records.
    """
    known = {score: [scores[score] for scores in by_seed if score in scores] for score in SCORES}
    whole = (str(average(scores)) if len(scores) == len(by_seed) else "" for scores in known.values())
    return [name, "%d" % models, *whole]


def _member(name: str, system: str, seeds: Sequence[int], bench: Bench) -> list[str]:
    """Return the row of a single system, from its records. Raises InputError if the record of a seed is missing."""
    by_seed = {record["seed"]: record for record in records.load(name, bench.results) if record["system"] == system}
    missing = lacking(system, seeds, by_seed)
    if missing:
        raise InputError("no record of %s: make it with make reproduce" % missing)
    return _row(system, 1, [by_seed[seed] for seed in seeds])


def _with_outputs(bench: Bench, bank: Treebank, by_seed: Members) -> list[list[str]]:
    """Combine the models of each seed with available outputs of the shared task's systems on test; return the rows."""
    others = {system: path for system, path in bank.outputs.items() if system != SEGMENTATION}
    if not others or not bank.test:
        return []
    name = "ensemble, with %s" % " and ".join(published.COLUMNS[system].partition(" (")[0] for system in others)
    bench.console.print("combining with %s" % " and ".join(path.name for path in others.values()))
    votes = list(others.values())
    try:
        scores = [combine(bench, bank, "with-outputs-%d" % seed, runs, votes) for seed, runs in by_seed.items()]
    except InputError as error:  # the words of the outputs may differ
        say("no %s: %s" % (name, error), err=True)
        return []
    return [_row(name, len(next(iter(by_seed.values()))), scores)]


def page(bank: Treebank, members: Members, table: Table, repeat: str) -> list[pages.Part]:
    paper = published.test_las(bank.lang, bank.release, "ensemble")
    message = NOTE % ("s" if len(members) > 1 else "", " ".join(map(str, members)))
    origins: dict[tuple[str, str], list[str]] = {}
    for run in (run for runs in members.values() for run in runs):
        trained = run.system, run.commits or "unknown"
        origins.setdefault(trained, []).append("seed %d (dev UAS %.2f)" % (run.seed, run.dev_uas))
    models = ["%s: %s, trained at commit %s" % (name, ", ".join(seeds), commits) for (name, commits), seeds in origins.items()]
    message += OF_THE_PAPER % paper[0] if paper else ""
    return [table, message, *pages.models(models, bank, repeat)]


NOTE = """\
In percent, with gold segmentation on dev and the shared task's baseline segmentation on test; mean and standard deviation (n - 1)
over seed%s %s. Members vote in the order of their dev UAS."""
OF_THE_PAPER = """
The paper's ensemble of MST, MH4-hybrid and 1EC has test LAS %.2f. How it votes, and with how many models, is unknown."""
