"""Make batches of about the same number of words: minibatches of sentences, and chunks of a file."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

Item = TypeVar("Item")


def batches(items: Iterable[Item], length: Callable[[Item], int], words: int) -> Iterator[list[Item]]:
    """Cut `items` into batches of at least `words` words; only the last may have fewer.

    length: returns the number of words of an item.
    """
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


def shuffled_minibatches(lengths: Sequence[int], tokens: int, rng: np.random.Generator, similar: bool = True) -> list[list[int]]:
    """Return the minibatches of an epoch, shuffled by `rng`.

    If `similar`, sentences of a minibatch have similar lengths, as an LSTM runs as many steps as the longest has words.
    """
    order = np.argsort(lengths * rng.uniform(0.75, 1.25, len(lengths))) if similar else rng.permutation(len(lengths))
    minibatches = list(batches(order.tolist(), lengths.__getitem__, tokens))
    return [minibatches[k] for k in rng.permutation(len(minibatches))]
