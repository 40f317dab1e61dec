"""Connect to a Dask cluster: processes on this machine, Slurm jobs, or a scheduler that is already running.

All connections within clusters that are started here are encrypted.
"""

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from mh4.errors import InputError, needs
from mh4.util.files import make_folder
from mh4.util.signals import held

if TYPE_CHECKING:  # it needs dask-jobqueue
    from mh4.corpus.slurm import Jobs

with needs("this", "corpus", "Dask"):
    import dask
    from distributed import Client, LocalCluster
    from distributed.security import Security
with needs("this", "corpus"):
    import cryptography  # noqa: F401  # Dask makes certificates with it

# Schedulers and workers have HTTP servers even without dashboards. These get a free port, for this machine only, and no
# pages.
_NO_DASHBOARD = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
_OF_ALL_PROCESSES = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,  # for the dashboard; takes 70 KB a second of each worker's memory
    "distributed.worker.use-file-locking": False,  # no other run uses the temporary folders below
}
_STARTS = 3  # attempts to start the workers of this machine


class Processes(LocalCluster):
    """Worker processes on this machine. They only accept connections from this machine with certificates of this run.

    Dask replaces processes that are killed, but gives up a process that is not back after 15 seconds.
    """

    def __init__(self, number: int) -> None:
        self._wanted = number
        super().__init__(
            n_workers=number,
            threads_per_worker=1,
            memory_limit=0,
            host="127.0.0.1",
            security=Security.temporary(),
            scheduler_kwargs=_NO_DASHBOARD,
            silence_logs=logging.CRITICAL,
        )

    def keep(self) -> list[str]:
        """Restart processes that Dask has given up. To be called regularly. Unlike Jobs.keep, returns no reasons."""
        self.scale(self._wanted)
        return []

    def accepted(self) -> int:
        """Return the number of processes that there are or will be."""
        return self._wanted


@contextmanager
def connected(
    number: int, logs: str, scheduler: str | None = None, slurm: str | None = None, name: str = "mh4-corpus", **variables: str
) -> Iterator[tuple[Client, "Jobs | Processes | None"]]:
    """Start a cluster, which ends with the block, and yield its client and the cluster.

    number: the number of processes on this machine, or of Slurm jobs. scheduler: the address of a scheduler to use
    instead of a new cluster; its workers keep running, and the cluster that is yielded is None. slurm: options for
    sbatch. logs: a folder for the output of jobs. name: the name of the jobs. variables: environment variables of jobs.
    Raises InputError if a scheduler cannot be reached, or jobs cannot be submitted.
    """
    options = {
        "distributed.admin.large-graph-warning-threshold": "1GB",  # calls contain the content of compressed files
        "distributed.comm.timeouts.connect": "10s",
        "logging.distributed": "critical",  # also of the workers; failures have logs of their own
        **_OF_ALL_PROCESSES,
    }
    with dask.config.set(options), ExitStack() as stack:
        # Workers would write to a folder of a fixed name in /tmp. Other users could create it first, with links in it.
        stack.enter_context(dask.config.set({"temporary-directory": stack.enter_context(TemporaryDirectory(prefix="mh4-dask-"))}))
        cluster: Jobs | Processes | None = None
        logging.disable(logging.CRITICAL)  # Dask's loggers have levels of their own
        stack.callback(logging.disable, logging.NOTSET)
        try:
            if scheduler is not None:
                client = stack.enter_context(Client(scheduler, timeout="10s"))
            else:
                with _undisturbed():
                    cluster = _local(number) if slurm is None else _slurm(stack, slurm, logs, number, name, variables)
                    stack.callback(_end, cluster)
                client = stack.enter_context(Client(cluster))
        except (OSError, TypeError, ValueError, RuntimeError) as error:  # TypeError: for TLS without certificates
            raise InputError("%s: no workers: %s" % (scheduler or "Dask", error)) from None
        yield client, cluster


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Delay signals that raise exceptions to the end of the block: Dask cannot be interrupted while it starts or ends.

    Processes that are started in the block, or by threads that are started in it, never receive Ctrl-C. On a terminal,
    it goes to all processes of a command, and only the driver should respond.
    """
    resource_tracker.ensure_running()  # if multiprocessing started it in the block, this would lift the mask
    with held([signal.SIGINT]):
        yield


def _end(cluster: Any) -> None:
    with _undisturbed():
        cluster.close()


def _local(number: int) -> Processes:
    """Start the processes on this machine. If one is killed while Dask first starts them, start all again."""
    for _ in range(_STARTS - 1):
        with suppress(RuntimeError):
            return Processes(number)
    return Processes(number)


def _slurm(stack: ExitStack, options: str, logs: str, number: int, name: str, variables: dict[str, str]) -> "Jobs":
    from mh4.corpus.slurm import Jobs, certificates

    make_folder(logs)
    # A folder that all nodes can read, of this run only: another run in the same folder has its own.
    private = stack.enter_context(TemporaryDirectory(prefix=".run-", dir=os.path.abspath(logs)))
    security = stack.enter_context(certificates(os.path.join(private, "certificates.pem")))
    of_jobs = {**_OF_ALL_PROCESSES, "temporary-directory": private}
    settings = {"DASK_%s" % option.replace(".", "__").replace("-", "_").upper(): str(value) for option, value in of_jobs.items()}
    # With the option --export=NONE, jobs do not inherit our environment.
    return Jobs(options, logs, number, {"PYTHONSAFEPATH": "1", **settings, **variables}, _NO_DASHBOARD, security, name)
