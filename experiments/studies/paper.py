"""``make paper [LANGS="hu got"] [SYSTEMS="mh3 mst"] [SEEDS="1 2"] [SETTINGS=authors] [UD=folder] [CONLL17=folder] [JOBS=2]
[SLURM=options]``: everything in the paper, or only what concerns some treebanks: trainings, ensembles, tables and report

First, the data of every treebank is found or downloaded. Then the missing records are made, here or on a cluster. At
the end, the pages and the report are written from all records. The same command resumes where an earlier one stopped.
"""

from collections.abc import Sequence
from pathlib import Path

from experiments import published
from experiments.engine import ensemble_runs, records, shared_task
from experiments.engine.command import PAPER_SEEDS, TOY_SEEDS, Request, repeat, requests, study
from experiments.engine.executor import Jobs, workers
from experiments.engine.experiment import Experiment, exit_code, train_together
from experiments.engine.models import finished_runs
from experiments.engine.provenance import make_command
from experiments.engine.run import FAILED
from experiments.engine.treebank import Treebank, located, with_test
from experiments.engine.workplace import Bench, report_written
from experiments.studies import coverage, report
from mh4.cli.group import say
from mh4.data import treebanks
from mh4.errors import InputError
from mh4.util.files import check_writable, make_folder


@study(
    langs="from %s toy;\nby default all but toy" % " ".join(treebanks.languages()),
    systems="by default %s,\nand for the languages of Table 3, the systems of Tables 1 and 2" % " ".join(published.systems()),
    seeds="by default %s (%s if only toy is asked for)" % (PAPER_SEEDS, TOY_SEEDS),
    ud="a folder with treebanks; otherwise they are downloaded. Those that cannot be obtained are left out",
)
def paper(bench: Bench, **variables: str) -> int:
    """Make all records, and write the pages. Return 1 if a treebank could not be obtained, or a record not be made."""
    asked, command = requests(**variables), repeat()
    records.load_all(bench.results)  # reports damage now, as the report needs all records at the end
    experiments, left_out = found(asked, command, bench)
    for lang, why in left_out.items():
        say("left out: %s: %s" % (lang, why), err=True)
    if not experiments:
        raise InputError("none of these treebanks can be obtained")
    jobs = asked[0].jobs
    make_folder(bench.results)
    check_writable(str(bench.results / shared_task.FILE))
    for one in experiments:
        one.records.check_settings(one.systems)
    try:
        train_together(experiments, "paper", bench.home / "models", jobs, lambda: None, records_count=True)
        for one in experiments:
            for run in one.unparsed:  # without a record, the next attempt parses again
                one.records.forget(run.system, run.seed)
        failed = _combine(experiments, jobs)
        if any(run.state != FAILED for one in experiments for run in one.runs):
            _pages(experiments, bench.results)
    finally:
        code = exit_code(experiments)
    return int(bool(code or failed or left_out))


def found(asked: Sequence[Request], command: str, bench: Bench) -> tuple[list[Experiment], dict[str, str]]:
    """Return the runs on each treebank that can be obtained, and, by language, why others cannot."""
    experiments, left_out = [], {}
    for one in asked:
        try:
            bank = located(one.lang, one.ud, one.settings)
        except InputError as error:
            left_out[one.lang] = str(error)
            continue
        try:
            bank = with_test(bank, one.ud, one.conll17)
        except InputError as error:  # there will be no test scores
            say("%s: %s" % (one.lang, error), err=True)
        experiments.append(Experiment(bank, one.systems, one.seeds, command, bench))
    return experiments, left_out


def _combine(experiments: Sequence[Experiment], jobs: Jobs) -> bool:
    """Record the missing ensembles of seeds whose models are all here; return whether one has failed."""
    missing = [(one, seed) for one in experiments for seed in _to_combine(one)]
    if not missing:
        return False
    bench, failed = experiments[0].bench, False
    with workers(bench.home, jobs, len(missing)) as them:
        wrong: tuple[type[BaseException], ...] = (InputError, *them.killed)
        calls = {them.executor.submit(_record_ensemble, *each): each for each in missing}
        while calls:
            for call in them.ended(calls):
                one, seed = calls.pop(call)
                name = "%s %s seed %d" % (one.bank.name, ensemble_runs.NAME, seed)
                try:
                    bench.console.print("%s: dev UAS %.2f" % (name, call.result()["dev_uas"]), soft_wrap=True)
                except wrong as error:
                    say("%s: %s" % (name, error), err=True)
                    failed = True
    return failed


def _to_combine(one: Experiment) -> list[int]:
    """Return the seeds whose ensemble is not recorded and whose models are all here; report seeds that lack models."""
    if not set(ensemble_runs.MEMBERS) <= set(one.systems):
        return []
    seeds = dict.fromkeys(run.seed for run in one.runs)
    recorded, tested = {seed: one.records.of(ensemble_runs.NAME, seed) for seed in seeds}, one.bank.test_files.items()
    without = [seed for seed, record in recorded.items() if not (record and tested <= record.items())]
    here = [{run.seed for run in finished_runs(one.bench, one.bank, system)} for system in ensemble_runs.MEMBERS]
    lacking = [seed for seed in without if not all(seed in mine for mine in here)]
    if unrecorded := [str(seed) for seed in lacking if not recorded[seed]]:
        say("no ensemble of %s with seed %s: not all models are here" % (one.bank.name, ", ".join(unrecorded)), err=True)
    return [seed for seed in without if seed not in lacking]


def _record_ensemble(one: Experiment, seed: int) -> ensemble_runs.Scores:
    """Combine the models of one seed, in a worker, and record it."""
    members = ensemble_runs.members(one.bench, one.bank, ensemble_runs.MEMBERS, [seed])[seed]
    return ensemble_runs.record(one.bench, one.records, seed, members, one.command)


def _pages(experiments: Sequence[Experiment], results: Path) -> None:
    """Record the ensembles of all seeds, and write all pages from the existing records."""
    for one in experiments:  # the shared task's columns of Tables 5 and 6
        shared_task.score_available(one.bank, results)
        if set(ensemble_runs.MEMBERS) <= set(one.systems):
            ensemble_runs.record_all_seeds(one.records, one.command, one.seeds)
        one.records.name_outdated()
    try:
        _coverage([one.bank for one in experiments], results)
    except InputError as error:  # it may be in a treebank that was not requested
        say("Table 3 is not measured: %s" % error, err=True)
    recorded = records.names(results)
    report_written(report.write_all([one.bank.name for one in experiments if one.bank.name in recorded], results))


def _coverage(banks: Sequence[Treebank], results: Path) -> None:
    """Write Table 3 again if all training sets that it has are here, and at least one more of the paper's."""
    from_paper = [bank for bank in banks if bank.release == published.RELEASE and bank.lang in published.coverage()]
    folders = {bank.paths["train"].parent for bank in from_paper}
    kept = set(coverage.recorded(results))
    for folder in folders:
        here = {lang for lang in published.coverage() if (folder / ("%s-ud-train.conllu" % lang)).is_file()}
        if here > kept:
            coverage.write(coverage.measure(folder), results, make_command("coverage", UD=str(folder)))
