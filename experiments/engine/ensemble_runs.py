"""Combine finished models in ensembles: find the members, parse, score, and record the scores.

An ensemble of one seed needs the models, whose label probabilities it averages. The ensemble of all seeds only needs
recorded trees, whose labels vote. Voting on labels costs 0.1 to 0.2 of test LAS on Hungarian and Gothic.
"""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from experiments import published
from experiments.engine import predictions
from experiments.engine.executor import alone
from experiments.engine.models import requested_models
from experiments.engine.provenance import commit, without_machine
from experiments.engine.records import Records, common_seeds, load_any
from experiments.engine.run import Run
from experiments.engine.treebank import Treebank
from experiments.engine.workplace import Bench, shown
from mh4.analysis.evaluation import official
from mh4.cli.group import say
from mh4.data import conllu
from mh4.errors import InputError
from mh4.parser.ensemble import Ensemble, with_votes
from mh4.util.files import relative_if_inside

NAME = "ensemble"  # the system in records, as in the paper's tables
ALL = "ensemble-all"  # the members of all seeds; its record has seed 0
MEMBERS = ("mh4-hybrid", "1ec", "mst")  # the paper's


# Percentages by the official scorer, by their names in records. Files that were not parsed have none.
Scores = dict[str, float]


def name_of(systems: Sequence[str]) -> str:
    """Return the name of an ensemble of these systems: "ensemble" for the paper's, "ensemble-mh3-mst" for another."""
    return NAME if set(systems) == set(MEMBERS) else "-".join([NAME, *sorted(systems, key=published.place)])


def members(bench: Bench, bank: Treebank, systems: Sequence[str], seeds: Sequence[int]) -> dict[int, list[Run]]:
    """Return the finished models of a treebank by seed; within a seed, the highest dev UAS comes first.

    seeds: of the models; by default, those that every system has. Raises InputError if a system has no finished model,
    or if the systems have no seed in common.
    """
    runs = requested_models(bench, bank, " ".join(systems), " ".join(map(str, seeds)), systems, systems)
    by_seed = {seed: [run for run in runs if run.seed == seed] for seed in seeds or sorted({run.seed for run in runs})}
    common = {seed: mine for seed, mine in by_seed.items() if len(mine) == len(set(systems))}
    if not common:
        where = ", ".join(systems), shown(bench.models(bank.name))
        raise InputError("no seed for which every one of %s has a trained model in %s" % where)
    return {seed: sorted(mine, key=lambda run: run.dev_uas, reverse=True) for seed, mine in common.items()}


def _command(runs: Sequence[Run]) -> list[str]:
    return ["ensemble", *(word for run in runs for word in ("--model", relative_if_inside(run.folder, Path.cwd())))]


def combine(
    bench: Bench, bank: Treebank, name: str, runs: Sequence[Run], votes: Sequence[Path] = (), trees: Path | None = None
) -> Scores:
    """Parse with an ensemble of models; return its scores on dev and, if available, test.

    votes: files with other parsers' trees of test, which vote too; then only test is parsed. trees: where to write the
    ensemble's trees. Only one process at a time combines models under one `name`.
    """
    folder = bench.models(bank.name) / NAME / name
    command = [*bench.trainer, *_command(runs), *(word for path in votes for word in ("--vote", str(path)))]
    files = {"test": bank.to_parse["test"]} if votes else bank.to_parse
    with alone(folder / "combined.lock"):
        parsed = predictions.parse(command, folder, files, bank.lang)
        scores = _scores(bank, parsed)
        if trees:
            predictions.keep(trees, files, parsed)
    return scores


def record(bench: Bench, records: Records, seed: int, runs: Sequence[Run], reproduce: str) -> Scores:
    """Combine the models of one seed, and write the record and the trees."""
    name = name_of([run.system for run in runs])
    scores = combine(bench, records.bank, "seed%d" % seed, runs, trees=records.trees(name, seed))
    command = without_machine(["mh4", *_command(runs)])
    made_of = [{"system": one.system, "seed": one.seed, "dev_uas": one.dev_uas, "commit": one.commits} for one in runs]
    records.write(name, seed, {**_record(scores, records.bank, made_of, reproduce), "command": command}, records.results)
    return scores


def _scores(bank: Treebank, parsed: dict[str, Path]) -> Scores:
    """Return the scores of the parsed files, by split."""
    found = {}
    for split, path in parsed.items():
        scores = official(str(bank.gold[split]), str(path))
        found.update({split + "_uas": scores["UAS"].f1, split + "_las": scores["LAS"].f1})
    return found


def _record(scores: Scores, bank: Treebank, made_of: list[dict], reproduce: str) -> dict:
    """Return the record of an ensemble."""
    origin = {"members": made_of, "commit": commit(), "date": time.strftime("%Y-%m-%d"), "reproduce": reproduce}
    return {**scores, **bank.test_files, **origin}


def record_all_seeds(records: Records, reproduce: str, asked: Sequence[int] = ()) -> Scores | None:
    """Combine the recorded trees of the paper's members, of all seeds that every member has, and record the ensemble.

    The record has the system `ALL` and seed 0.
    asked: the requested seeds; empty for all. The run with the highest dev UAS votes first. Return None if there are
    fewer than two seeds, if `asked` leaves one out, if a run has no trees, or if only some runs have been tested.
    """
    bank, results = records.bank, records.results
    recorded = [run for run in load_any(bank.name, results) if run["system"] in MEMBERS]
    seeds = set(common_seeds(recorded, MEMBERS))
    if len(seeds) < 2:
        return None
    others = sorted(seeds.difference(asked or seeds))
    voters = sorted((run for run in recorded if run["seed"] in seeds), key=lambda run: run["dev_uas"], reverse=True)
    without = ["%(system)s seed %(seed)d" % run for run in voters if not records.trees(run["system"], run["seed"]).exists()]
    untested = ["%(system)s seed %(seed)d" % run for run in voters if "test_las" not in run]
    why = ""
    if others:
        why = "SEEDS leaves out %s" % ", ".join(map(str, others))
    elif without:
        why = "these have no trees: %s: make them again, with make reproduce" % ", ".join(without)
    elif 0 < len(untested) < len(voters):
        why = "these have no test scores: %s: test them, with make reproduce and CONLL17" % ", ".join(untested)
    if why:
        say("%s: no ensemble of all seeds, as %s" % (bank.name, why), err=True)
        return None
    if untested:
        bank = replace(bank, test=None)
    trees = [predictions.of_record(results, bank.name, voter) for voter in voters]
    with tempfile.TemporaryDirectory() as place:
        parsed = {}
        for split, file in bank.to_parse.items():
            parsed[split] = Path(place) / (split + ".conllu")
            parsed[split].write_text(_voted(file, trees, Path(place)), encoding="utf-8")
        scores = _scores(bank, parsed)
        predictions.keep(records.trees(ALL, 0), bank.to_parse, parsed)
    made_of = [{name: voter.get(name, "") for name in ("system", "seed", "dev_uas", "commit")} for voter in voters]
    records.write(ALL, 0, _record(scores, bank, made_of, reproduce), results)
    return scores


def _voted(file: Path, trees: Sequence[Path], place: Path) -> str:
    """Return the CoNLL-U `file` as text, with the result of a vote of recorded trees. place: a folder to work in."""
    votes = []
    for number, path in enumerate(trees):
        votes.append(place / ("%d.conllu" % number))
        votes[-1].write_text(predictions.restored(path, file), encoding="utf-8")
    blocks = list(with_votes(conllu.blocks(str(file), trees=False), list(map(str, votes))))
    parsed = Ensemble([]).parse([block.sentence for block in blocks])
    return "".join(block.text(sentence.columns()) for block, sentence in zip(blocks, parsed, strict=True))
