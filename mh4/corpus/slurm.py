"""Run workers as Slurm jobs. Dask submits the jobs, and submits them again if they end or if Slurm refuses them."""

import copy
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from distributed.core import Status
from distributed.security import Security

from mh4.errors import InputError, needs

_handler = signal.getsignal(signal.SIGINT)
with needs("--slurm", "corpus", "dask-jobqueue"):
    from dask_jobqueue import SLURMCluster
    from dask_jobqueue.slurm import SLURMJob
signal.signal(signal.SIGINT, _handler)  # dask_jobqueue makes Ctrl-C exit silently, with code 0

AGAIN = 10  # seconds between looks at the jobs
ANSWER = 30  # seconds to wait for squeue
TRIES = 3  # this many jobs that end without becoming a worker are an error


class _Job(SLURMJob):
    """A job. refusal: why Slurm has refused it, or empty. worked: whether it has become a worker."""

    refusal, worked = "", False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        security = copy.copy(options["security"])  # its paths become arguments in a shell script
        for name in ("tls_ca_file", "tls_worker_cert", "tls_worker_key"):
            setattr(security, name, shlex.quote(getattr(security, name)))
        super().__init__(*arguments, **{**options, "security": security})

    async def start(self) -> None:
        try:
            await super().start()
        except (OSError, RuntimeError, ValueError) as error:  # sbatch is missing, fails, or prints no job number
            self.refusal = "Slurm refuses a job: " + " ".join(str(error).rpartition("stderr:")[2].split())
            self.status = Status.failed
            raise

    async def close(self) -> None:
        await super().close()
        self.status = Status.closed  # Dask expects it of all jobs when it closes the cluster


class Jobs(SLURMCluster):
    """A cluster of jobs with these options of sbatch, and logs in the folder `logs`.

    number: how many jobs there should be. environment: additional environment variables of the jobs. security: see
    `certificates`. name: the name of the jobs.
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
        self._ended = 0  # jobs that ended without becoming a worker, since there last was a worker
        # Skip Dask's directives for memory and time: the options or the defaults of the cluster set these.
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
        """Submit the missing jobs, and return why jobs are submitted again. To be called regularly.

        An error of squeue is also returned; jobs that end without becoming a worker are then not noticed.

        Raises InputError if TRIES jobs have ended without becoming a worker, no other job waits or runs, and there is no
        worker.
        """
        self.scale(jobs=self._wanted)
        if time.monotonic() < self._again:
            return []
        self._again = time.monotonic() + AGAIN
        jobs, names = dict(self.workers), {worker["name"] for worker in list(self.scheduler_info["workers"].values())}
        for name in names & jobs.keys():
            jobs[name].worked, self._ended = True, 0
        without = {name: job for name, job in jobs.items() if not job.worked}  # Dask notices when others end
        there_are, silent = _jobs_of_slurm() if without else (None, [])
        wrong: dict[Any, str] = {}
        for name, job in without.items():
            if job.status == Status.failed:
                wrong[name] = job.refusal
            elif there_are is not None and job.job_id not in there_are:
                wrong[name] = "a job has ended without becoming a worker; its log is %s/%s.log" % (self._logs, job.job_id)
                self._ended += 1
        if self._ended >= TRIES and len(wrong) == len(jobs):
            raise InputError("there are no workers: " + list(wrong.values())[-1])
        for name in wrong:
            self.workers.pop(name).status = Status.closed  # Dask would count it as a job with a worker
        return [*wrong.values(), *silent]

    def accepted(self) -> int:
        """Return the number of jobs that Slurm has accepted, waiting or running."""
        return sum(job.status == Status.running for job in list(self.workers.values()))


@contextmanager
def certificates(path: str) -> Iterator[Security]:
    """Yield certificates of this run, in a new file that only its owner can read, and delete it after the block."""
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
    """Return the numbers of our waiting and running jobs, and []; or None, and a message, if squeue fails."""
    command = ["squeue", "--me", "--noheader", "--format=%A"]
    try:
        return set(subprocess.run(command, capture_output=True, check=True, timeout=ANSWER).stdout.decode().split()), []
    except (OSError, subprocess.SubprocessError) as error:
        why = getattr(error, "stderr", None) or str(error).encode()
        return None, ["squeue does not say which jobs wait or run: " + " ".join(why.decode("utf-8", "replace").split())]


def _directives(options: str) -> list[str]:
    """Return options of sbatch as lines of its script: an option on each line, with its value."""
    found: list[str] = []
    for word in shlex.split(options):
        if word.startswith("-") or not found:
            name, equals, value = word.partition("=")
            found.append(name + equals + shlex.quote(value) if equals else word)
        else:
            found[-1] += " " + shlex.quote(word)
    return found
