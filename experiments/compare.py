"""``make compare LANG=hu``: where one system is better than another on the development set, over all seeds of both.

The paper (Section 5) says in words that MH4 recovers more short dependencies than 1EC, and 1EC more long ones. This is made from the
runs' recorded trees, without any model; `mh4 compare` does the same for two files.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

import options
from provenance import EXPERIMENTS, make_command, report_written
from rich.console import Console
from tables import compare as page
from tables.writer import write_pages
from training.predictions import restored
from training.records import TREES, load, record_path
from training.treebank import Treebank, located

from mh4.analysis import comparison
from mh4.errors import InputError
from mh4.util.files import write_text

DEFAULT_SYSTEMS = ("mh4-hybrid", "1ec")

USAGE = 'usage: make compare LANG=hu [SYSTEMS="mh4-hybrid 1ec"] [SEEDS="1 2"] [UD=folder]'


def usage() -> str:
    """The usage line and the meaning of its variables."""
    return options.usage(
        USAGE,
        SYSTEMS="two, with trees in experiments/results; by default %s" % " and ".join(DEFAULT_SYSTEMS),
        SEEDS="of the runs; by default all that both systems have",
        UD=options.UD,
    )


def main(arguments: Sequence[str], home: Path = EXPERIMENTS) -> int:
    """The command; exit codes and `home` as in reproduce.main."""
    typed = options.options(arguments, USAGE, ("lang", "systems", "seeds", "ud"))
    return options.answered("compare", usage, typed.help, lambda: _compare(typed, home))


def _compare(typed, home: Path) -> int:
    asked = options.request(typed.lang, "", typed.seeds, typed.ud, "")
    systems = tuple(typed.systems.split()) or DEFAULT_SYSTEMS
    if len(systems) != 2 or systems[0] == systems[1]:
        raise InputError('SYSTEMS: expected two different systems, as in SYSTEMS="%s"' % " ".join(DEFAULT_SYSTEMS))
    bank, results = located(asked.lang, asked.ud), home / "results"
    runs = _common_runs(load(bank.name, results), systems, asked.seeds if typed.seeds else None)
    found = comparison.pooled([_compared(bank, systems, seed, results / bank.name) for seed in runs])
    name = "%s-%s-%s" % (bank.name, *systems)
    drawing = results / (name + ".png")
    comparison.plot(str(drawing), found)
    repeat = make_command("compare", LANG=asked.lang, SYSTEMS=typed.systems.split(), SEEDS=typed.seeds.split(), UD=asked.ud)
    written = write_pages(results, name, page.markdown(bank, runs, found, drawing.name, repeat), page.as_csv(bank, runs, found))
    console = Console(highlight=False)
    console.print(comparison.table(found), markup=False, soft_wrap=True)
    report_written([*written, drawing])
    return 0


def _common_runs(records: Sequence[dict], systems: Sequence[str], seeds: Optional[Sequence[int]]) -> dict[int, tuple[dict, dict]]:
    """The records of both systems by seed, for the seeds asked for or else all that both have."""
    by_system = [{record["seed"]: record for record in records if record["system"] == system} for system in systems]
    for system, mine in zip(systems, by_system):
        missing = [str(seed) for seed in seeds or () if seed not in mine]
        if not mine or missing:
            which = " with seed " + ", ".join(missing) if missing else ""
            raise InputError("no finished run of %s%s in the results: train it first, with make reproduce" % (system, which))
    common = seeds or [seed for seed in by_system[0] if seed in by_system[1]]
    if not common:
        raise InputError("no seed that both %s and %s have a finished run of" % tuple(systems))
    return {seed: (by_system[0][seed], by_system[1][seed]) for seed in common}


def _compared(bank: Treebank, systems: Sequence[str], seed: int, folder: Path) -> comparison.Comparison:
    """The runs of one seed compared on the development set, from their trees."""
    dev = bank.paths["dev"]
    with tempfile.TemporaryDirectory() as scratch:
        parsed = [Path(scratch) / system for system in systems]
        for system, path in zip(systems, parsed):
            write_text(str(path), restored(record_path(folder, system, seed, TREES), dev))
        return comparison.compare(str(dev), *map(str, parsed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
