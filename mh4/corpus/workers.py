"""Run calls on workers of Dask distributed: on this machine, on a Slurm cluster, or of a scheduler that already runs.

Dask starts the workers, replaces those that die, and transfers calls and results. This module decides which worker gets
which shard. A worker has one shard at a time, since neither DyNet nor its callers run on several threads. If a worker
dies, it is therefore known which shard has failed.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from mh4 import version
from mh4.corpus.clusters import Processes, connected
from mh4.corpus.folder import Corpus
from mh4.corpus.parse_options import Settings
from mh4.errors import InputError, needs
from mh4.parser import checksums
from mh4.util import reading

if TYPE_CHECKING:  # it needs dask-jobqueue
    from mh4.corpus.slurm import Jobs

with needs("this", "corpus", "Dask"):
    from distributed import CancelledError, Client, Future, wait

_LOOK = 1  # seconds between updates of the connected workers
_ANSWER = 30  # seconds to wait for a result that a worker has


class Workers:
    """The connected workers. Workers with another mh4, model or segmenter than this process are refused.

    cluster: the cluster of the workers; None if they belong to a scheduler that this process did not start.
    """

    def __init__(self, client: Client, settings: Settings, cluster: "Jobs | Processes | None") -> None:
        self._client, self._settings, self._cluster = client, settings, cluster
        self._problems: dict[str, str] = {}  # of each connected worker, by address; empty if the worker can work
        self._refusals: list[str] = []  # of jobs, since `refused` was last called
        self._reported: set[str] = set()
        self._running: dict[Future, str] = {}  # the worker of each call
        self._looked = -float(_LOOK)

    def count(self) -> int:
        """Return the number of workers that can work."""
        if time.monotonic() - self._looked >= _LOOK:
            self._look()
            self._looked = time.monotonic()
        return len(self._able())

    def refused(self) -> list[str]:
        """Return messages about workers and jobs refused since the last call. A message is returned only once."""
        refused = ["worker %s is refused: %s" % pair for pair in self._problems.items() if pair[1]]
        new = [said for said in dict.fromkeys(refused + self._refusals) if said not in self._reported]
        self._refusals.clear()
        self._reported.update(new)
        return new

    def expected(self) -> bool:
        """Return whether some jobs or processes are not workers yet: they wait for a node, or have just started."""
        return self._cluster is not None and self._cluster.accepted() > len(self._problems)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future:
        """Have an idle worker call a function. There must be an idle worker."""
        worker = min(self._able() - set(self._running.values()))
        with self._connected():
            future = self._client.submit(function, *arguments, pure=False, workers=[worker])
        self._running[future] = worker
        return future

    def finished(self, seconds: float) -> list[tuple[Future, Any, BaseException | None]]:
        """Return the calls that have ended, after waiting for the first at most this many seconds.

        Each comes with its result and None, or with None and its exception: an InputError if its worker is gone.
        """
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
        return None, InputError("its worker has left or was killed, perhaps because memory ran out")

    def _able(self) -> set[str]:
        return {worker for worker, problem in self._problems.items() if not problem}

    def _look(self) -> None:
        """Update the connected workers, and find out whether new ones can work."""
        if self._cluster:
            self._refusals += self._cluster.keep()
        with self._connected():
            # Not Client.scheduler_info: it may return the answer to a periodic request of the client, without workers.
            there_are = set(self._client.sync(self._client.scheduler.identity, n_workers=-1)["workers"])
            new = sorted(there_are - set(self._problems))
            answers = self._client.run(problem, self._settings, workers=new, on_error="return") if new else {}
        self._problems = {worker: self._problems[worker] for worker in self._problems if worker in there_are}
        for worker, answer in answers.items():
            if not isinstance(answer, OSError):  # the worker is gone
                self._problems[worker] = answer if isinstance(answer, str) else "it cannot load mh4: %s" % answer

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """Replace errors in the block about the connection to the scheduler by the error that the scheduler is gone.

        A client that could not reconnect closes itself, perhaps at this moment, and then raises errors of any kind.
        """
        try:
            yield
        except Exception as error:
            if self._client.status == "running" and not isinstance(error, (OSError, TimeoutError, CancelledError)):
                raise
            raise gone() from None


def problem(settings: Settings) -> str:
    """Return why this process cannot work on a corpus with these settings, or an empty string."""
    if version.__version__ != settings.mh4:
        return "it has mh4 %s, expected %s" % (version.__version__, settings.mh4)
    try:
        if checksums.of_program() != settings.program_checksum:
            return "its mh4 %s has other source files" % version.__version__
        if checksums.of_model(settings.model) != settings.model_checksum:
            return "its %s is another model" % settings.model
        if settings.segmenter is not None and reading.sha256(settings.segmenter) != settings.segmenter_checksum:
            return "its %s is another segmenter" % settings.segmenter
    except InputError as error:
        return str(error)
    return ""


def gone() -> InputError:
    """Return the error for a scheduler that is gone."""
    return InputError("the scheduler of the workers is gone; what is done is kept, and the same command does the rest")


@contextmanager
def start(corpus: Corpus, number: int, scheduler: str | None = None, slurm: str | None = None) -> Iterator[Workers]:
    """Start workers, which end with the block: `number` processes on this machine, or as many Slurm jobs.

    Arguments and errors are those of `connected`. The output of jobs goes to the folder `jobs` of the corpus.
    """
    with connected(number, os.path.join(corpus.folder, "jobs"), scheduler, slurm) as (client, cluster):
        yield Workers(client, corpus.settings, cluster)
