"""The memory of the decoders: what each thread keeps of it, and the error when there is not enough."""

import threading
from typing import Any, TypeVar

Kept = TypeVar("Kept")


class Workspaces(threading.local):
    """Charts and the like, one of each class for each thread: their memory is reused, and threads can decode in parallel."""

    def __init__(self) -> None:  # called in every thread
        self._kept: dict[type, Any] = {}

    def get(self, kind: "type[Kept]") -> Kept:
        """The one of this class."""
        if kind not in self._kept:
            self._kept[kind] = kind()
        return self._kept[kind]

    def drop(self, kind: type) -> None:
        """Begin with a new one, after a MemoryError in the old one, whose tables may have different sizes now."""
        del self._kept[kind]


workspaces = Workspaces()


def out_of_memory(n: int, size: float) -> MemoryError:
    """The error for a sentence of n words, whose tables take up `size` bytes."""
    return MemoryError(f"a sentence of {n} words needs {max(size / 2**20, 1):.0f} MB, which is more memory than there is")
