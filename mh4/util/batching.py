"""Batches of about the same number of words: minibatches of sentences, and chunks of a file."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def batches(items: Iterable[Item], length: Callable[[Item], int], words: int) -> Iterator[list[Item]]:
    """Cut `items` into runs of at least `words` words (the last may have fewer); `length` is the number of words of an item."""
    batch: list[Item] = []
    size = 0
    for item in items:
        batch.append(item)
        size += length(item)
        if size >= words:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
