"""The signals that end a command, which then ends the processes that it has started."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# How Python responds to each of them.
ENDING: dict[int, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}


@contextmanager
def held() -> Iterator[None]:
    """Hold these signals until the end of the block. Processes that are started in it never receive them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
