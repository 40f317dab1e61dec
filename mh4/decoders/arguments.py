"""Validation of the decoders' arguments: a ValueError states what is wrong and where."""

from collections.abc import Sequence
from typing import Optional, Union

import numpy as np

from mh4.decoders.degree import smallest_k
from mh4.decoders.derivation import NotInClass

LARGEST = 1e30  # sums of scores below this stay finite in float32


def scores(name: str, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """``array`` as a float array of this shape, without NaN or values of 1e30 or more; -inf forbids what it scores."""
    array = np.asarray(array)
    if array.dtype.kind != "f":
        raise ValueError(f"{name}: expected floating-point numbers, got dtype {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {array.shape}")
    if array.size and not array.max() < LARGEST:  # the maximum of an array with NaN is NaN
        where = tuple(int(i) for i in np.argwhere(~(array < LARGEST))[0])
        raise ValueError(f"{name}: scores must be below {LARGEST:g} and not NaN, got {array[where]} at {where}")
    return array


def float32_scores(name: str, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Scores in the form that the kernels take."""
    return float32(scores(name, array, shape))


def float64_scores(name: str, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Scores as a C-contiguous float64 array, not copied if they are one."""
    return np.ascontiguousarray(scores(name, array, shape), dtype=np.float64)


def words(name: str, array: np.ndarray, extra: int) -> int:
    """Number of words n of a square matrix of scores with side n + extra."""
    shape = np.shape(array)
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < extra:
        raise ValueError(f"{name}: expected a square matrix of side n+{extra} for n words, got shape {shape}")
    return shape[0] - extra


def arc_factored(arcs: np.ndarray, cost: Optional[np.ndarray]) -> tuple[int, np.ndarray, Optional[np.ndarray], np.ndarray]:
    """n, arcs and cost as float arrays (cost may be None), and their sum as float64 (n+1, n+1), C-contiguous."""
    n = words("arcs", arcs, 1)
    arcs = scores("arcs", arcs, (n + 1, n + 1))
    total = arcs.astype(np.float64, order="C")
    if cost is not None:
        cost = scores("cost", cost, (n + 1, n + 1))
        total += cost
    return n, arcs, cost, total


def float32(array: np.ndarray) -> np.ndarray:
    """C-contiguous float32 array for the kernels, not copied if it already is one."""
    if array.dtype == np.float32 and array.flags.c_contiguous:
        return array
    with np.errstate(over="ignore"):  # large negative numbers become -inf, which also forbids
        return np.ascontiguousarray(array, dtype=np.float32)


def float32_sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The sum of two arrays from `float32_scores`, again in the form that the kernels take."""
    with np.errstate(over="ignore"):  # as in float32
        return a + b


def tree(heads: Union[np.ndarray, Sequence[int]], n: Optional[int] = None) -> np.ndarray:
    """``heads`` as an int32 array (n+1,) if it is a tree: heads[0] == -1, all others in 0..n, no cycle."""
    heads = np.asarray(heads)
    if heads.ndim != 1 or heads.dtype.kind not in "iu":
        raise ValueError(f"heads: expected a vector of integers, got dtype {heads.dtype} and shape {heads.shape}")
    if len(heads) == 0 or heads[0] != -1:
        raise ValueError("heads: expected heads[0] to be -1 (node 0 is the root and has no head)")
    if n is not None and len(heads) != n + 1:
        raise ValueError(f"heads: expected length {n + 1} for {n} words, got {len(heads)}")
    if len(heads) > 1 and not (heads[1:].min() >= 0 and heads[1:].max() < len(heads)):
        word = 1 + int(np.argmax((heads[1:] < 0) | (heads[1:] >= len(heads))))
        raise ValueError(f"heads: the head of word {word} is {heads[word]}, expected 0 to {len(heads) - 1}")
    heads = heads.astype(np.int32)
    above = heads.copy()  # double the steps taken towards the root until every word has reached it
    above[0] = 0
    for _ in range(len(heads).bit_length()):
        above = above[above]
    if above.any():
        raise ValueError(f"heads: word {int(np.argmax(above != 0))} is on a cycle or below one, so this is not a tree")
    return heads


def roots(heads: np.ndarray, single_root: bool) -> None:
    """Raise NotInClass if a single root is required and the tree has not exactly one."""
    found = int((heads[1:] == 0).sum())
    if single_root and found != 1:
        raise NotInClass(f"heads: a single root is required, but node 0 has {found} dependents")


def no_derivation(heads: Optional[np.ndarray] = None, k: int = 0) -> ValueError:
    """The error for a search without a result: the scores forbid every derivation or, with a tree, that is not in MH_k."""
    if heads is not None and smallest_k(heads) > k:
        return NotInClass(f"heads: the tree is not in MH{k}, only MH{smallest_k(heads)} and larger derive it")
    return ValueError("no derivation: scores of -inf forbid all, or a single root is required of a sentence without words")
