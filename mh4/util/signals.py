"""The signals that end a command, which then ends the processes that it has started."""

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

# How Python responds to each of them.
ENDING: dict[int, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}


@contextmanager
def held(masked: Iterable[int] = ENDING) -> Iterator[None]:
    """Hold these signals until the end of the block. Processes that are started in it never receive those in `masked`.

    A mask alone would hold nothing if other threads run: the system would give them the signal, and Python would call
    its handler in the main thread.
    """
    arrived: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    handlers = {number: handler for number in ENDING if main and callable(handler := signal.getsignal(number))}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        for number in handlers:
            signal.signal(number, lambda number, frame: arrived.append(number))
        signal.pthread_sigmask(signal.SIG_BLOCK, masked)
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if arrived:
            signal.raise_signal(arrived[0])
