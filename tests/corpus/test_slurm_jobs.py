"""Workers as jobs of Slurm, whose commands are replaced by scripts; tests/slurm has a real one."""

import os
import re
import signal

import corpora
import pytest
from running import wait_for
from test_corpus import OPTIONS

from mh4.corpus import driver
from mh4.corpus.folder import Corpus
from mh4.corpus.parse_options import Settings

workers = pytest.importorskip("mh4.corpus.workers", reason="Dask is not installed", exc_type=ImportError)
slurm = pytest.importorskip("mh4.corpus.slurm", reason="dask-jobqueue is not installed", exc_type=ImportError)

COMMANDS = {
    "sbatch": 'if [ -e closed ]; then echo "sbatch: error: Invalid partition" >&2; exit 1; fi\n'
    'cp "$1" job.$$; setsid env -i PATH="$PATH" sh job.$$ >>log 2>&1 & echo "Submitted batch job $!"; echo $! >>jobs',
    "squeue": "for job in $(cat jobs); do if kill -0 $job; then echo $job; fi; done",
    # Only jobs that `sbatch` has started: any other number may be a foreign process, and -1 all processes.
    "scancel": 'if grep -qsx "$1" jobs; then kill -- "-$1"; echo "$1" >>cancelled; fi',
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder of these commands, in which `sbatch` fails as long as there is a file `closed`."""
    for name, does in COMMANDS.items():
        (tmp_path / name).write_text("#!/bin/sh\ncd '%s'\n%s\n" % (tmp_path, does))
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", "%s:%s" % (tmp_path, os.environ["PATH"]))
    monkeypatch.setattr(slurm, "AGAIN", 0.2)
    return tmp_path


def corpus_in(folder):
    return Corpus(str(folder / "a corpus"), Settings.of(corpora.train(folder), None, **OPTIONS), (), 1)


@pytest.mark.slow
def test_jobs_that_are_refused_are_submitted_again(here):
    """Rejected jobs are submitted again, the reason is reported once, and workers can end without any job."""
    corpus = corpus_in(here)
    (here / "tornado.py").write_text("open('imported', 'w')")  # as another user might plant it there
    (here / "closed").touch()
    with workers.start(corpus, 2, slurm="-p short") as pool:
        said = wait_for(lambda: pool.count() == 0 and pool.refused())
        assert said == ["Slurm refuses a job: sbatch: error: Invalid partition"] and not pool.expected()
        (here / "closed").unlink()
        wait_for(lambda: pool.count() == 2)
        (secret,) = (here / "a corpus" / "jobs").glob(".run-*/certificates.pem")
        assert secret.stat().st_mode & 0o777 == 0o600 and secret.parent.stat().st_mode & 0o777 == 0o700
        assert all(name.startswith("tls://") for name in pool._able())
        assert pool.refused() == [] and not pool.expected()
        wait_for(lambda: pool.count() == 2 and all(job.worked for job in pool._cluster.workers.values()))
    jobs = (here / "jobs").read_text().split()
    assert not (here / "imported").exists()
    assert not secret.parent.exists() and len(jobs) == 2 and sorted((here / "cancelled").read_text().split()) == sorted(jobs)
    (here / "closed").touch()
    with workers.start(corpus, 2, slurm="") as pool:
        wait_for(lambda: pool.count() == 0 and pool.refused())


def parse(here, *options):
    """Parse a file by jobs, which fails, and return the messages."""
    options = ["-o", str(here / "out"), "--model", corpora.train(here), *options]
    return corpora.mh4("corpus", "parse", str(here / "toy-ud-dev.conllu"), *options, code=2)


def test_jobs_that_end_without_becoming_workers(here):
    """If jobs end at once, as on nodes where a package is missing, the error names the log."""
    (here / "sbatch").write_text("#!/bin/sh\ncd '%s'\ntrue & wait $!; echo $! >>jobs; echo Submitted batch job $!\n" % here)
    message = "mh4: there are no workers: a job has ended without becoming a worker; its log is .*/out/jobs/[0-9]+.log"
    assert re.fullmatch(message, parse(here, "--slurm", "", "--workers", "2").splitlines()[-1])
    assert len((here / "jobs").read_text().split()) == 4


def test_jobs_that_end_while_others_wait(here):
    """Three jobs that end are no error as long as another job waits."""
    (here / "jobs").touch()
    number = "n=7000000; until mkdir $n 2>/dev/null; do n=$((n + 1)); done"  # several jobs are submitted at once
    (here / "sbatch").write_text("#!/bin/sh\ncd '%s'\n%s; echo $n >>jobs; echo Submitted batch job $n\n" % (here, number))
    (here / "squeue").write_text("#!/bin/sh\necho 7000000\n")
    with workers.start(corpus_in(here), 4, slurm="") as pool:
        wait_for(lambda: pool.count() == 0 and len((here / "jobs").read_text().split()) > 7)
        assert any("a job has ended" in said for said in pool.refused()) and pool.expected()


def test_the_lines_of_options():
    options = "-p long --comment='a b' --mem 2G --time=1:00:00 --constraint='x#y'"
    assert slurm._directives(options) == ["-p long", "--comment='a b'", "--mem 2G", "--time=1:00:00", "--constraint='x#y'"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler  # dask_jobqueue has another


def test_a_squeue_that_fails(here):
    """A failing squeue is reported but is no error, because jobs may still be waiting."""
    (here / "sbatch").write_text("#!/bin/sh\necho Submitted batch job 7000001\n")
    (here / "squeue").write_text("#!/bin/sh\necho 'squeue: error: no controller' >&2\nexit 1\n")
    with workers.start(corpus_in(here), 1, slurm="") as pool:
        said = wait_for(lambda: pool.count() == 0 and pool.refused())
        assert said == ["squeue does not say which jobs wait or run: squeue: error: no controller"] and pool.expected()


def test_options_that_sbatch_refuses(here, monkeypatch):
    """After further attempts, the command ends with the message of sbatch."""
    monkeypatch.setattr(driver, "PATIENCE", 1)
    (here / "closed").touch()
    refused = "Slurm refuses a job: sbatch: error: Invalid partition"
    assert parse(here, "--slurm", "-p x") == "mh4: %s\nmh4: there are no workers: %s\n" % (refused, refused)
