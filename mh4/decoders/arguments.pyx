"""Validate the decoders' arguments. A ValueError states what is wrong and where.

Scores are numbers between -1e30 and 1e30, so that their sums stay finite in float32 for sentences of a million words.
Scores of -1e30 or less, such as -inf or numpy.finfo(numpy.float32).min, forbid what they score, even if this leaves no
derivation. Scores of 1e30 or more, and NaN, raise ValueError. This holds for the scores and costs of all decoders and
marginals.

A mask value above -1e30 is a score like any other. A derivation that needs it can be found, but rounding may then lose
its other scores.
"""

from collections.abc import Callable, Sequence
from typing import Any

import cython
import numpy as np
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libcpp.vector cimport vector

from mh4.decoders.derivation import NotInClass
from mh4.decoders.memory import out_of_memory, room_for

cdef extern from "score_kinds.hpp" nogil:
    const double LARGEST_SCORE "LARGEST"
    enum:
        MASKS, INVALID
    int kinds(const float* numbers, size_t count)
    int kinds(const double* numbers, size_t count)

LARGEST: float = LARGEST_SCORE
FLOAT32: np.dtype = np.dtype(np.float32)
FLOAT64: np.dtype = np.dtype(np.float64)


@cython.ccall
def tensor(name: str, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return ``array`` as a C-contiguous float32 or float64 array, copied only if necessary.

    Raises ValueError if its numbers are not floating-point, or for another shape.
    """
    array = np.asarray(array)
    if array.dtype.kind != "f":
        raise ValueError(f"{name}: expected floating-point numbers, got dtype {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {array.shape}")
    return converted(name, array, FLOAT32 if array.dtype == FLOAT32 else FLOAT64)


def check_numbers(name: str, array: np.ndarray) -> int:
    """Return MASKS if a C-contiguous array has finite numbers of -1e30 or less, otherwise 0.

    Raises ValueError for numbers of 1e30 or more, and NaN.
    """
    cdef int found
    if array.dtype == FLOAT32:
        found = kinds(<const float*> address(array), <size_t> array.size)
    else:
        found = kinds(<const double*> address(array), <size_t> array.size)
    if found & INVALID:
        where = tuple(np.argwhere(~(array < LARGEST))[0].tolist())
        raise ValueError(f"{name}: scores must be below {LARGEST:g} and not NaN, got {array[where]} at {where}")
    return found


def scores(name: str, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return ``array`` as `tensor` does, with -inf for numbers of -1e30 or less.

    Raises ValueError for numbers of 1e30 or more, and NaN.
    """
    array = tensor(name, array, shape)
    if not check_numbers(name, array):
        return array
    room_for(array.nbytes, f"a copy of {name}")
    return np.where(array > -LARGEST, array, array.dtype.type(-np.inf))


@cython.ccall
def converted(name: str, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return ``array`` as a C-contiguous array of this type, copied only if necessary.

    Raises MemoryError if a copy does not fit.
    """
    if array.dtype != dtype or not array.flags.c_contiguous:
        room_for(array.size * dtype.itemsize, f"a copy of {name}")
    return np.ascontiguousarray(array, dtype=dtype)


def transition_tensors(
    reduces: int, shift: np.ndarray, reduce_s0b0: np.ndarray, reduce_s1s0: np.ndarray | None, arcs: np.ndarray | None
) -> dict[str, np.ndarray]:
    """Return the scores of a transition system by name, each converted by `tensor`.

    reduces: the number of reduce transitions. reduce_s1s0, arcs: scores, or None.
    """
    cdef int n = words("shift", shift, 2)
    shape = (reduces, n + 2, n + 2)
    found = {"shift": tensor("shift", shift, (n + 2, n + 2)), "reduce_s0b0": tensor("reduce_s0b0", reduce_s0b0, shape)}
    if reduce_s1s0 is not None:
        found["reduce_s1s0"] = tensor("reduce_s1s0", reduce_s1s0, shape)
    if arcs is not None:
        found["arcs"] = tensor("arcs", arcs, (n + 1, n + 1))
    return found


cdef void* address(array) except? NULL:
    """Return the address of a C-contiguous array, or NULL for None. The caller must keep the array alive."""
    cdef Py_buffer buffer
    if array is None:
        return NULL
    PyObject_GetBuffer(array, &buffer, PyBUF_SIMPLE)
    PyBuffer_Release(&buffer)
    return buffer.buf


def words(name: str, array: np.ndarray, extra: int) -> int:
    """Return the number of words n for a square matrix of scores with side n + extra. Raises ValueError for other shapes."""
    shape = np.shape(array)
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < extra:
        raise ValueError(f"{name}: expected a square matrix of side n+{extra} for n words, got shape {shape}")
    return shape[0] - extra


def tree(heads: np.ndarray | Sequence[int], n: int | None = None) -> np.ndarray:
    """Return ``heads`` as an int32 array (n+1,).

    Raises ValueError unless it is a tree: heads[0] == -1, all others in 0..n, no cycle.
    """
    narrow = nodes(heads, n)
    check_tree(narrow)
    return narrow


def nodes(heads: np.ndarray | Sequence[int], n: int | None) -> np.ndarray:
    """Return ``heads`` as an int32 array (n+1,). Its numbers need not be nodes.

    n: the expected number of words, or None for any. Raises ValueError for other types or lengths, and for numbers
    beyond int32.
    """
    heads = np.asarray(heads)
    if heads.ndim != 1 or heads.dtype.kind not in "iu":
        raise ValueError(f"heads: expected a vector of integers, got dtype {heads.dtype} and shape {heads.shape}")
    if n is not None and len(heads) != n + 1:
        raise ValueError(f"heads: expected length {n + 1} for {n} words, got {len(heads)}")
    narrow = heads.astype(np.int32)
    if heads.dtype != np.int32:
        for word in 1 + np.flatnonzero(narrow[1:] != heads[1:])[:1]:
            raise not_a_head(word, heads[word], len(heads))
    return narrow


cdef const int[::1] checked_tree(heads):
    """Return ``heads`` as `tree` does. A C-contiguous int32 array is not copied, which takes a tenth of the time."""
    cdef const int[::1] given
    try:
        given = heads
    except (TypeError, ValueError):
        return tree(heads)
    check_tree(given)
    return given


cdef int check_tree(const int[::1] heads) except -1:
    """Raise ValueError if this is not a tree. O(n) time."""
    cdef int n = <int> heads.shape[0] - 1, word
    cdef vector[int] reached_from
    if n < 0 or heads[0] != -1:
        raise ValueError("heads: expected heads[0] to be -1 (node 0 is the root and has no head)")
    try:
        word = not_below_root(&heads[0], n, reached_from)
    except MemoryError:
        raise out_of_memory(n, (n + 1.0) * sizeof(int)) from None
    if word and not 0 <= heads[word] <= n:
        raise not_a_head(word, heads[word], n + 1)
    if word:
        raise ValueError(f"heads: word {word} is on a cycle or below one, so this is not a tree")
    return 0


cdef int not_below_root(const int* heads, int n, vector[int]& reached_from) except -1 nogil:
    """Return a word that is not below the root, or 0 if there is none, in O(n) time.

    It is a word whose head is not a node or, if all heads are nodes, a word on a cycle or below one.
    """
    cdef int word, node
    for word in range(1, n + 1):
        if not 0 <= heads[word] <= n:
            return word
    reached_from.clear()
    reached_from.resize(n + 1, 0)  # the word from which a node was first reached on the way to the root
    for word in range(1, n + 1):
        node = word
        while node > 0 and reached_from[node] == 0:
            reached_from[node] = word
            node = heads[node]
        if node > 0 and reached_from[node] == word:
            return word
    return 0


cdef not_a_head(word, head, length, least=0):
    return ValueError(f"heads: the head of word {word} is {head}, expected {least} to {length - 1}")


def given_heads(heads: np.ndarray | Sequence[int] | None, n: int, single_root: bool) -> Any:
    """Check the argument ``heads`` of decoders and marginals, and return it as an int32 array (n+1,), or None.

    -1 allows any head, -2 any head except the root. The result is None if all heads are -1, or if ``heads`` is None.
    Raises ValueError if no tree has these heads, and NotInClass if a single root is required and no tree with these
    heads has one.
    """
    if heads is None:
        return None
    narrow = nodes(heads, n)
    words = narrow[1:]
    for word in 1 + np.flatnonzero((words < -2) | (words > n))[:1]:
        raise not_a_head(word, narrow[word], n + 1, least=-2)
    closed = np.maximum(narrow, 0)  # open heads become 0, which neither makes nor breaks a cycle
    closed[0] = narrow[0]
    check_tree(closed)
    roots, left_open = np.count_nonzero(words == 0), np.count_nonzero(words == -1)
    if single_root and (roots > 1 or roots + left_open == 0):
        raise NotInClass(f"heads: a single root is required, but node 0 has {roots} dependents")
    return None if 0 < n == left_open else narrow


def with_heads(arcs: np.ndarray | None, heads: np.ndarray, dtype: np.dtype = FLOAT64) -> np.ndarray:
    """Return the scores of arcs, (n+1, n+1), of this type, with -inf for every arc that contradicts heads.

    arcs: the scores, or None if all are 0. heads: with -1 and -2 as in `given_heads`.
    """
    size = dtype.itemsize * len(heads) ** 2
    room_for(size, "the scores of arcs")
    try:
        # Of the same type as heads: to compare types that differ, numpy needs memory, and crashes if there is none.
        each = np.arange(len(heads), dtype=heads.dtype)[:, None]
        possible = (heads == each) | (heads == -1) | ((heads == -2) & (each > 0))
        return np.where(possible, dtype.type(0) if arcs is None else arcs, dtype.type(-np.inf))
    except MemoryError:
        raise out_of_memory(len(heads) - 1, size) from None


def seeds(rng: int | np.random.Generator | None, count: int) -> np.ndarray:
    """Return seeds for sampling, uint64 (count,).

    rng: an argument of numpy.random.default_rng. Raises ValueError for anything else.
    """
    try:
        return np.random.default_rng(rng).integers(2**64, size=count, dtype=np.uint64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"rng: expected a seed or a numpy.random.Generator, got {rng!r} ({error})") from None


def flag(given: object, name: str = "single_root") -> bool:
    """Return ``given`` as a bool. Raises ValueError unless it is True or False: a string such as "no" would be true.

    name: the name of the argument, for the message.
    """
    if given not in (False, True):
        raise ValueError(f"{name}: expected True or False, got {given!r}")
    return bool(given)


def is_count(number: object, least: int = 1) -> bool:
    """Return whether ``number`` is a whole number of at least `least`, and not a bool."""
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool) and number >= least


def no_derivation(
    heads: np.ndarray | None = None, k: int = 0, possible: Callable[[], bool] | None = None
) -> ValueError:
    """Return the error for a search or a sum without a result.

    Either the scores forbid every derivation, or no tree of the class has these heads.

    heads: as returned by `given_heads`. k: of MH_k, or 0 for other classes.
    possible: a function that returns whether the class has a tree with these heads.
    """
    from mh4.decoders.mhk import smallest_k  # imported here, as mhk needs checked_tree

    if heads is not None and not possible():
        if (heads[1:] < 0).any():
            return NotInClass("heads: no tree of the decoder's class has these heads")
        if not k:
            return NotInClass("heads: the tree is not 1-Endpoint-Crossing")
        return NotInClass(f"heads: the tree is not in MH{k}, only MH{smallest_k(heads)} and larger derive it")
    return ValueError(f"no derivation: scores of -inf, or from {-LARGEST:g} down, forbid all, or a single root is required of a "
                      "sentence without words")
