"""The workers: processes of Dask distributed, on this machine, on a Slurm cluster, or of a scheduler that is already running.

Dask starts them, replaces those that die, and transfers calls and results; which worker gets which shard is decided here. Each has one
shard at a time, as neither DyNet nor its callers run on several threads; so if a worker dies, it is known which shard has failed.
"""

import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from mh4 import version
from mh4.corpus.folder import Corpus
from mh4.corpus.parse_options import Settings
from mh4.errors import InputError, needs
from mh4.parser import checksums
from mh4.util.files import make_folder

if TYPE_CHECKING:  # it needs dask-jobqueue
    from mh4.corpus.slurm import Jobs

with needs("this", "corpus", "Dask"):
    import dask
    from distributed import CancelledError, Client, Future, LocalCluster, wait
    from distributed.security import Security
with needs("this", "corpus"):
    import cryptography  # noqa: F401  # by which Dask makes certificates

_LOOK = 1  # seconds between looks at which workers there are
_ANSWER = 30  # seconds in which a worker that has a result gives it
# Schedulers and workers have HTTP servers even without dashboards: at any free port of this machine only, and without pages.
_NO_DASHBOARD = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
_OF_ALL_PROCESSES = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,  # 70 KB a second of each worker's memory, for the dashboard
}
_STARTS = 3  # of the workers of this machine, until it is an error that they do not start


class Processes(LocalCluster):
    """Worker processes on this machine, which listen to nobody on another one and to nobody without certificates of this run.

    Dask replaces those that are killed, but gives up those that are not back after 15 seconds.
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
        """Starts those again that Dask has given up, to be called regularly. Unlike Jobs.keep, it cannot say what was wrong with them."""
        self.scale(self._wanted)
        return []

    def accepted(self) -> int:
        """How many there are, or will be."""
        return self._wanted


class Workers:
    """The workers connected at the moment. Those that do not have the mh4, model and segmenter of this process are refused.

    cluster: of which they are; those of another scheduler are not ours.
    """

    def __init__(self, client: Client, settings: Settings, cluster: "Jobs | Processes | None") -> None:
        self._client, self._settings, self._cluster = client, settings, cluster
        self._problems: dict[str, str] = {}  # of all workers that there are, by address; empty strings of those that can work
        self._refusals: list[str] = []  # of jobs, since `refused` was last called
        self._reported: set[str] = set()
        self._running: dict[Future, str] = {}  # the workers of all calls
        self._looked = -float(_LOOK)

    def count(self) -> int:
        """How many workers can work."""
        if time.monotonic() - self._looked >= _LOOK:
            self._look()
            self._looked = time.monotonic()
        return len(self._able())

    def refused(self) -> list[str]:
        """The workers that were refused since the last call, and why; and, once for each reason, the jobs that Slurm has refused."""
        refused = ["worker %s is refused: %s" % pair for pair in self._problems.items() if pair[1]]
        new = [said for said in dict.fromkeys(refused + self._refusals) if said not in self._reported]
        self._refusals.clear()
        self._reported.update(new)
        return new

    def expected(self) -> bool:
        """Whether there are jobs or processes that are not workers yet, because they wait for a node or have just started."""
        return self._cluster is not None and self._cluster.accepted() > len(self._problems)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future:
        """Have an idle worker call a function; there must be one."""
        worker = min(self._able() - set(self._running.values()))
        with self._connected():
            future = self._client.submit(function, *arguments, pure=False, workers=[worker])
        self._running[future] = worker
        return future

    def finished(self, seconds: float) -> list[tuple[Future, Any, BaseException | None]]:
        """The calls that have ended, after waiting at most so many seconds for the first: each with what it has returned, and None; or
        with None, and the exception that it has raised, or an InputError if its worker is gone."""
        if not self._running:
            time.sleep(seconds)
            return []
        with self._connected():
            with suppress(TimeoutError, CancelledError):
                wait(list(self._running), timeout=seconds, return_when="FIRST_COMPLETED")
            if self._client.status != "running":
                raise gone()
            ended = [call for call, worker in self._running.items() if call.done() or worker not in self._problems]
            return [(call, *self._outcome(call)) for call in ended]

    def cancel(self) -> None:
        """Cancel the calls that have not ended."""
        with suppress(Exception):  # the scheduler may be gone
            self._client.cancel(list(self._running))

    def _outcome(self, call: Future) -> tuple[Any, BaseException | None]:
        del self._running[call]
        if call.done() and not call.cancelled():
            try:
                return call.result(timeout=_ANSWER), None
            except (TimeoutError, CancelledError):
                pass
            except Exception as error:
                return None, error
        call.cancel()
        return None, InputError("its worker was killed, perhaps because memory ran out, or has left")

    def _able(self) -> set[str]:
        return {worker for worker, problem in self._problems.items() if not problem}

    def _look(self) -> None:
        """Find out which workers there are, and whether new ones can work."""
        if self._cluster:
            self._refusals += self._cluster.keep()
        with self._connected():
            # Client.scheduler_info may return the answer to another question, which the client asks every few seconds: one without workers.
            there_are = set(self._client.sync(self._client.scheduler.identity, n_workers=-1)["workers"])
            new = sorted(there_are - set(self._problems))
            answers = self._client.run(problem, self._settings, workers=new, on_error="return") if new else {}
        self._problems = {worker: self._problems[worker] for worker in self._problems if worker in there_are}
        for worker, answer in answers.items():
            if not isinstance(answer, OSError):  # of one that is gone
                self._problems[worker] = answer if isinstance(answer, str) else "it cannot load mh4: %s" % answer

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """Have errors in the block be that of a scheduler that has ended, if they are about the connection to it.

        A client that could not connect again closes itself, perhaps at this moment, and then raises errors of any kind.
        """
        try:
            yield
        except Exception as error:
            if self._client.status == "running" and not isinstance(error, (OSError, TimeoutError, CancelledError)):
                raise
            raise gone() from None


def problem(settings: Settings) -> str:
    """Why this process cannot do the work of a corpus with these settings, or an empty string."""
    if version.__version__ != settings.mh4:
        return "it has mh4 %s, expected %s" % (version.__version__, settings.mh4)
    try:
        if checksums.of_program() != settings.program_checksum:
            return "its mh4 %s has other source files" % version.__version__
        if checksums.of_model(settings.model) != settings.model_checksum:
            return "its %s is another model" % settings.model
        if settings.segmenter is not None and checksums.of_file(settings.segmenter) != settings.segmenter_checksum:
            return "its %s is another segmenter" % settings.segmenter
    except InputError as error:
        return str(error)
    return ""


def gone() -> InputError:
    """The error for a scheduler that has ended."""
    return InputError("the scheduler of the workers is gone; what is done is kept, and the same command does the rest")


@contextmanager
def start(corpus: Corpus, number: int, scheduler: str | None = None, slurm: str | None = None) -> Iterator[Workers]:
    """Start workers, which end with the block: `number` processes on this machine, or as many Slurm jobs.

    scheduler: the address of one that already has workers, which keep running. slurm: options for sbatch of jobs; what these print goes to
    the folder `jobs` of the corpus.
    Raises InputError if a scheduler cannot be reached, or jobs cannot be submitted.
    """
    options = {
        "distributed.admin.large-graph-warning-threshold": "1GB",  # what is read from compressed files goes with the calls
        "distributed.comm.timeouts.connect": "10s",
        "logging.distributed": "critical",  # also of the workers; failures have logs of their own
        **_OF_ALL_PROCESSES,
    }
    with dask.config.set(options), ExitStack() as stack:
        cluster: Jobs | Processes | None = None
        logging.disable(logging.CRITICAL)  # Dask's loggers have levels of their own
        stack.callback(logging.disable, logging.NOTSET)
        try:
            if scheduler is not None:
                client = stack.enter_context(Client(scheduler, timeout="10s"))
            else:
                with _undisturbed():
                    cluster = (
                        _local(number) if slurm is None else _slurm(stack, slurm, os.path.join(corpus.folder, "jobs"), number)
                    )
                    stack.callback(_end, cluster)
                client = stack.enter_context(Client(cluster))
        except (OSError, TypeError, ValueError, RuntimeError) as error:  # TypeError: for TLS without certificates
            raise InputError("%s: no workers: %s" % (scheduler or "Dask", error)) from None
        yield Workers(client, corpus.settings, cluster)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C take effect at the end of the block, as Dask cannot be interrupted while it starts or ends.

    Processes that are started in the block, or by threads that are, never hear of it: on a terminal, Ctrl-C goes to all processes of a
    command, and only the driver should respond.
    """
    interrupted = False

    def interrupt(number: int, frame: Any) -> None:
        nonlocal interrupted
        interrupted = True

    handler = signal.signal(signal.SIGINT, interrupt)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        if interrupted:
            raise KeyboardInterrupt


def _end(cluster: Any) -> None:
    with _undisturbed():
        cluster.close()


def _local(number: int) -> Processes:
    """The processes. If one is killed when Dask starts them at first, all are started again."""
    for _ in range(_STARTS - 1):
        with suppress(RuntimeError):
            return Processes(number)
    return Processes(number)


def _slurm(stack: ExitStack, options: str, logs: str, number: int) -> "Jobs":
    from mh4.corpus.slurm import Jobs, certificates

    make_folder(logs)
    security = stack.enter_context(certificates(os.path.join(logs, ".certificates.pem")))
    variables = {"DASK_%s" % name.replace(".", "__").upper(): str(value) for name, value in _OF_ALL_PROCESSES.items()}
    return Jobs(options, logs, number, variables, _NO_DASHBOARD, security)
