"""Manage the memory of the decoders: each thread keeps workspaces for reuse, and too large sentences raise MemoryError."""

import threading
from typing import Any, TypeVar

from mh4.util.memory import available

Kept = TypeVar("Kept")

_LARGE = 1 << 26  # bytes, as LARGE_MEMORY in chart_memory.hpp


class Workspaces(threading.local):
    """The objects in which a thread works, such as charts, one of each class for each thread.

    So memory is reused, and threads decode in parallel.

    A caller takes an object and gives it back when its work is done. If the work ends with an exception, the object is
    not given back, and its memory is freed. A signal handler that decodes while its thread is decoding gets a new
    object.
    """

    def __init__(self) -> None:  # threading.local calls this in every thread
        self._kept: dict[type, Any] = {}

    def take(self, kind: "type[Kept]") -> Kept:
        """Return the kept object of this class, which is then no longer kept, or a new one."""
        return self._kept.pop(kind, None) or kind()

    def give_back(self, workspace: Any) -> None:
        """Keep this workspace until it is taken again."""
        self._kept[type(workspace)] = workspace

    def clear(self) -> None:
        """Free all memory that this thread keeps."""
        self._kept.clear()


workspaces = Workspaces()
taking = threading.RLock()  # held by C++ from a call of `require` until the memory is in use


def require(size: int) -> None:
    """Raise MemoryError if this process may not use `size` more bytes, even after freeing what this thread keeps."""
    needed = size + size // 64  # with the page tables of the system
    free = available()
    if free is not None and free < needed:
        workspaces.clear()
        free = available()
        if free is not None and free < needed:
            raise MemoryError


def room_for(size: int, what: str) -> None:
    """Raise MemoryError if a numpy array of `size` bytes does not fit: numpy does not check, and the process would die.

    what: describes the array in the message.
    """
    if size >= _LARGE:
        try:
            require(size)
        except MemoryError:
            raise MemoryError("no room for %s: %d MB is more memory than there is" % (what, size >> 20)) from None


def out_of_memory(n: int, size: float) -> MemoryError:
    """Return the error for a sentence of n words, whose tables take up `size` bytes."""
    free = available()
    there_is = " (%d MB)" % (free // 2**20) if free is not None and free < size else ""
    return MemoryError(
        f"a sentence of {n} words needs {max(size / 2**20, 1):.0f} MB, which is more memory than there is{there_is}"
    )
