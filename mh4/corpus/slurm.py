"""Workers as jobs of a Slurm cluster, which Dask submits, and submits again if they have ended or Slurm has refused them."""

import copy
import os
import shlex
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from distributed.core import Status
from distributed.security import Security

from mh4.errors import InputError, needs

with needs("--slurm", "corpus", "dask-jobqueue"):
    from dask_jobqueue import SLURMCluster
    from dask_jobqueue.slurm import SLURMJob

AGAIN = 10  # seconds between looks at the jobs
ANSWER = 30  # seconds in which it answers
TRIES = 3  # of jobs to become workers


class _Job(SLURMJob):
    """A job, with why Slurm has refused it, if it has, and whether it has become a worker."""

    refusal, worked = "", False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        security = copy.copy(options["security"])  # its paths become arguments in a script of the shell
        for name in ("tls_ca_file", "tls_worker_cert", "tls_worker_key"):
            setattr(security, name, shlex.quote(getattr(security, name)))
        super().__init__(*arguments, **{**options, "security": security})

    async def start(self) -> None:
        try:
            await super().start()
        except (OSError, RuntimeError, ValueError) as error:  # there is no sbatch, or it fails, or prints something else
            self.refusal = "Slurm refuses a job: " + " ".join(str(error).rpartition("stderr:")[2].split())
            self.status = Status.failed
            raise


class Jobs(SLURMCluster):
    """Jobs with these options of sbatch, and logs in the folder `logs`.

    number: how many there should be. environment: variables that jobs have in addition. security: see `certificates`.
    name: of the jobs.
    """

    job_cls = _Job

    def __init__(
        self,
        options: str,
        logs: str,
        number: int,
        environment: dict[str, str],
        scheduler_options: dict[str, Any],
        security: Security,
        name: str,
    ) -> None:
        self._wanted, self._logs = number, logs
        self._again = time.monotonic() + AGAIN
        self._ended = 0  # jobs that ended without becoming a worker, since there was a worker
        # Of Dask's own directives, memory and time are left to the options, or to the defaults of the cluster.
        super().__init__(
            cores=1,
            processes=1,
            memory="1GB",
            job_directives_skip=["--mem=", "#SBATCH -t "],
            job_extra_directives=['--output="%s/%%j.log"' % logs, *_directives(options)],
            worker_extra_args=[
                "--memory-limit",
                "0",
                "--no-dashboard",
                "--dashboard-address",
                scheduler_options["dashboard_address"],
            ],
            job_name=name,
            job_script_prologue=["export %s=%s" % (name, shlex.quote(value)) for name, value in environment.items()],
            scheduler_options=scheduler_options,
            security=security,
        )

    def keep(self) -> list[str]:
        """Submits the jobs that there are too few of, to be called regularly; returns what was wrong with those submitted again.

        If squeue fails, that is returned as well: jobs that have ended without becoming a worker are then not noticed.

        Raises InputError if job after job ends without having become a worker.
        """
        self.scale(jobs=self._wanted)
        if time.monotonic() < self._again:
            return []
        self._again = time.monotonic() + AGAIN
        jobs, names = dict(self.workers), {worker["name"] for worker in list(self.scheduler_info["workers"].values())}
        for name in names & jobs.keys():
            jobs[name].worked, self._ended = True, 0
        without = {name: job for name, job in jobs.items() if not job.worked}  # of others, Dask knows when they end
        there_are, silent = _jobs_of_slurm() if without else (None, [])
        wrong: dict[Any, str] = {}
        for name, job in without.items():
            if job.status == Status.failed:
                wrong[name] = job.refusal
            elif there_are is not None and job.job_id not in there_are:
                wrong[name] = "a job has ended without becoming a worker; its log is %s/%s.log" % (self._logs, job.job_id)
                self._ended += 1
        if self._ended >= TRIES:
            raise InputError("there are no workers: " + list(wrong.values())[-1])
        for name in wrong:
            del self.workers[name]  # Dask would count it as one that has a worker
        return [*wrong.values(), *silent]

    def accepted(self) -> int:
        """How many jobs Slurm has, waiting or running."""
        return sum(job.status == Status.running for job in list(self.workers.values()))


@contextmanager
def certificates(path: str) -> Iterator[Security]:
    """Certificates of this run in a new file, which only its owner and its jobs can read, and which is deleted at the end of the block."""
    made = Security.temporary()
    with open(path, "x", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(made.tls_client_cert + made.tls_client_key)
    try:
        files = {"tls_%s_%s" % (role, kind): path for role in ("client", "scheduler", "worker") for kind in ("cert", "key")}
        yield Security(require_encryption=True, tls_ca_file=path, **files)
    finally:
        with suppress(OSError):
            os.remove(path)


def _jobs_of_slurm() -> tuple[set[str] | None, list[str]]:
    """The numbers of our jobs that wait or run, and nothing; or None, and why: squeue fails or does not answer."""
    command = ["squeue", "--me", "--noheader", "--format=%A"]
    try:
        return set(subprocess.run(command, capture_output=True, check=True, timeout=ANSWER).stdout.decode().split()), []
    except (OSError, subprocess.SubprocessError) as error:
        why = getattr(error, "stderr", None) or str(error).encode()
        return None, ["squeue does not say which jobs wait or run: " + " ".join(why.decode("utf-8", "replace").split())]


def _directives(options: str) -> list[str]:
    """Options of sbatch as they are in its script: one on each line, with its value."""
    found: list[str] = []
    for word in shlex.split(options):
        if word.startswith("-") or not found:
            found.append(word)
        else:
            found[-1] += " " + shlex.quote(word)
    return found
