"""Find finished models with the current settings, for studies that do not train."""

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from experiments.engine.command import requested_systems
from experiments.engine.records import finished_with
from experiments.engine.run import Run
from experiments.engine.treebank import Treebank
from experiments.engine.workplace import Bench, shown
from mh4.errors import InputError


def finished_runs(bench: Bench, bank: Treebank, system: str) -> list[Run]:
    """Return the finished runs of a system with the treebank's settings and files, by seed. Unknown files match."""
    folder = bench.models(bank.name)
    found = (re.fullmatch("seed([0-9]{1,9})", path.name) for path in (folder / system).glob("seed*"))
    seeds = sorted(int(name.group(1)) for name in found if name)
    runs = [Run.at(folder, system, seed) for seed in seeds]
    return [run for run in runs if finished_with(run, bank) and _has_files(run, bank)]


def _has_files(run: Run, bank: Treebank) -> bool:
    """Return whether a finished run was trained on the files of `bank` (the toy treebank's may have changed since)."""
    sources = run.summary().get("sources", {})
    return all(sources.get(split, {}).get("git_blob", blob) in ("", blob) for split, blob in bank.blobs.items())


def meanings(known: Sequence[str], default: Sequence[str]) -> dict[str, str]:
    """Return the help texts of the variables that choose models of these systems."""
    systems = "from %s; by default %s, if trained" % (" ".join(known), " and ".join(default))
    return {"systems": systems, "seeds": "of the trained models; by default all"}


def requested_models(
    bench: Bench, bank: Treebank, systems: str, seeds: str, known: Sequence[str], default: Sequence[str]
) -> list[Run]:
    """Return the finished runs for SYSTEMS (as in `requested_systems`) and SEEDS (by default all).

    Raises InputError if a requested system has no finished run, or lacks a requested seed.
    """
    wanted, asked, models = requested_systems(systems, known, default), list(map(int, seeds.split())), []
    folder = bench.models(bank.name)
    for system in wanted:
        mine = {run.seed: run for run in finished_runs(bench, bank, system)}
        missing = lacking(system, asked, mine)
        if missing and (mine or systems):
            raise untrained(missing, folder)
        models += [run for run in mine.values() if not asked or run.seed in asked]
    if not models:
        raise untrained(" or ".join(wanted), folder)
    return models


def lacking(system: str, seeds: Iterable[int], there: Collection[int]) -> str:
    """Return which requested runs of a system are missing, such as "mst with seed 2, 3"; empty if none is missing.

    seeds: the requested ones; empty if any will do. there: the existing seeds; if both are empty, the result is "mst".
    """
    missing = [str(seed) for seed in seeds if seed not in there]
    return "%s with seed %s" % (system, ", ".join(missing)) if missing else "" if there else system


def untrained(what: str, folder: Path) -> InputError:
    """Return the error for a model that is not in `folder`."""
    message = "no trained model of %s in %s on today's files and with today's settings: train one first, with make reproduce"
    return InputError(message % (what, shown(folder)))
