"""Decode many sentences at once, from padded arrays and on several threads.

The same code (sentences.pyx) processes sentences in a batch and single ones. This file first has the tensors that each
decoder expects and the checks of arguments, then the threads, and at the end the functions that users call.
"""

import threading
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from mh4.decoders import arguments, mh3, mh4, mh5, mst, oneec
from mh4.decoders.derivation import BatchMarginals, Derivations
from mh4.decoders.memory import out_of_memory, room_for, workspaces
from mh4.decoders.sentences import Decoding, Sampling, Summing, TransitionDecoding
from mh4.errors import unknown, warn
from mh4.util import cpu

DecoderName = Literal["mh3", "mh4", "mh5", "mst", "1ec"]


class Shape(NamedTuple):
    """The shape of a score tensor without its leading axis of sentences.

    layers: the dimensions before rows and columns, if any. rows, columns: how many there are beyond the words.
    """

    layers: tuple[int, ...]
    rows: int
    columns: int
    optional: bool = False

    def of(self, words: int) -> tuple[int, ...]:
        """Return the shape for a sentence, or for arrays with room for this many words."""
        return (*self.layers, words + self.rows, words + self.columns)

    def text(self) -> str:
        """Return the shape as text for error messages."""
        return "(B, %s)" % ", ".join([*map(str, self.layers), "N+%d" % self.rows, "N+%d" % self.columns])


class Decoder(NamedTuple):
    """The functions of a decoder for single sentences, its score tensors, and the class of its workspaces."""

    decode: Callable[..., Any]
    marginals: Callable[..., Any] | None
    sample: Callable[..., Any] | None
    tensors: dict[str, Shape]
    workspace: type


ARCS, OR_END = Shape((), 1, 1), Shape((), 2, 1)  # rows are the nodes 0 to n, in OR_END also the end of the sentence
COST = Shape((), 1, 1, optional=True)


def _transitions(reduces: int, hybrid: bool = True) -> dict[str, Shape]:
    s1s0 = {"reduce_s1s0": Shape((reduces,), 2, 2, optional=True)} if hybrid else {}
    return {"shift": Shape((), 2, 2), "reduce_s0b0": Shape((reduces,), 2, 2), **s1s0, "arcs": ARCS._replace(optional=True)}


DECODERS: dict[DecoderName, Decoder] = {
    "mh3": Decoder(mh3.decode, mh3.marginals, mh3.sample, _transitions(2, hybrid=False), mh3.MH3),
    "mh4": Decoder(mh4.decode, mh4.marginals, mh4.sample, _transitions(6), mh4.MH4),
    "mh5": Decoder(mh5.decode, None, None, _transitions(12), mh5.MH5),
    "mst": Decoder(mst.decode, mst.marginals, mst.sample, {"arcs": ARCS}, mst.MST),
    "1ec": Decoder(
        oneec.decode,
        oneec.marginals,
        None,
        {"arc": ARCS, "crossed_arc": ARCS, "grandparent": OR_END, "sibling": OR_END},
        oneec.OneEC,
    ),
}


def decoder(name: str) -> Decoder:
    """Return the decoder called `name`."""
    if not isinstance(name, str) or name not in DECODERS:
        raise ValueError(unknown("decoder", name, DECODERS))
    return DECODERS[cast(DecoderName, name)]


def checked(
    name: str, scores: Mapping[str, ArrayLike], lengths: ArrayLike, cost: ArrayLike | None = None, argument: str = "scores"
) -> tuple[dict[str, np.ndarray], np.ndarray, int]:
    """Return the tensors (and the cost, if given) as C-contiguous float32 or float64 arrays, the lengths, and N.

    N is the number of words that the arrays have room for. Raises ValueError if a tensor is missing or unknown, or for
    a wrong type or shape. The numbers themselves are not checked.
    """
    expected = decoder(name).tensors
    _check_names(name, scores, argument)
    words = np.asarray(lengths)
    if words.ndim != 1 or (words.dtype.kind not in "iu" and len(words)):
        raise ValueError("lengths: expected a vector of integers, got dtype %s and shape %s" % (words.dtype, words.shape))
    arrays: dict[str, np.ndarray] = {}
    longest = None
    given = {tensor: (array, expected[tensor]) for tensor, array in scores.items() if array is not None}
    if cost is not None:
        given["cost"] = cost, COST
    for tensor, (values, shape) in given.items():
        array = np.asarray(values)
        if longest is None and array.ndim == 3 + len(shape.layers):
            longest = array.shape[array.ndim - 1] - shape.columns
        if longest is None or longest < 0 or array.shape != (len(words), *shape.of(longest)):
            room = "" if longest is None or longest < 0 else ", B = %d and N = %d" % (len(words), longest)
            raise ValueError("%s: expected the shape %s%s, got %s" % (tensor, shape.text(), room, array.shape))
        arrays[tensor] = arguments.tensor(tensor, array, array.shape)
    assert longest is not None  # every decoder needs a tensor
    for b in np.flatnonzero((words < 0) | (words > longest))[:1]:
        raise ValueError("lengths: sentence %d has %d words, but the arrays have room for 0 to %d" % (b, words[b], longest))
    return arrays, words.astype(np.intp), longest


def _check_names(name: str, scores: Mapping[str, ArrayLike], argument: str) -> None:
    """Raise ValueError unless the scores have all tensors that the decoder needs, by name, and no others."""
    expected = decoder(name).tensors
    if not isinstance(scores, Mapping):
        raise ValueError("%s: expected the tensors by name, %s, got %s" % (argument, ", ".join(expected), type(scores).__name__))
    for tensor in scores:
        if tensor not in expected:
            raise ValueError("%s: %s has no tensor %r; it has %s" % (argument, name, tensor, ", ".join(expected)))
    for needed, shape in expected.items():
        if scores.get(needed) is None and not shape.optional:
            raise ValueError("%s: %s needs the tensor %s %s" % (argument, name, needed, shape.text()))


def checked_trees(heads: ArrayLike | None, lengths: np.ndarray, longest: int) -> np.ndarray | None:
    """Return heads as a C-contiguous int32 array (B, N+1), or None. Raises ValueError for other types or shapes.

    Numbers beyond int32 are clipped to its limits: these are not heads, either, and are rejected later.
    """
    if heads is None:
        return None
    array = np.asarray(heads)
    if array.dtype.kind not in "iu" or array.shape != (len(lengths), longest + 1):
        shape = (len(lengths), longest + 1)
        raise ValueError("heads: expected integers of shape %s, got dtype %s and shape %s" % (shape, array.dtype, array.shape))
    room_for(array.size * 4, "a copy of heads")
    narrow = np.iinfo(np.int32)
    return np.ascontiguousarray(np.clip(array, narrow.min, narrow.max), dtype=np.int32)


def single(name: str, arrays: Mapping[str, np.ndarray], b: int, words: int, heads: np.ndarray | None = None) -> dict[str, Any]:
    """Return the decoder's arguments for a single sentence of the batch."""
    expected = {**decoder(name).tensors, "cost": COST}
    found: dict[str, Any] = {}
    for tensor, array in arrays.items():
        corner = expected[tensor].of(words)
        found[tensor] = array[(b, ...) + tuple(slice(side) for side in corner[len(corner) - 2 :])]
    if heads is not None:
        found["heads"] = heads[b, : words + 1]
    return found


class Teams(dict[type, list[Any]]):
    """The workspaces of the threads of a batch, by class, kept for the next batch."""


def _process(name: str, what: str, sentences: Any, threads: int | None, **further: Any) -> Any:
    """Process all sentences, in this thread and in others, and return `sentences`.

    This thread takes part because other threads cannot respond to signals. For the first sentence that fails, raise the
    error that the decoder's function `what` raises, with the number of the sentence.
    """
    if threads is not None and not arguments.is_count(threads):
        raise ValueError(f"threads: expected a positive number, got {threads!r}")
    size = max(1, min(threads or cpu.cores(), len(sentences.lengths)))
    teams = workspaces.take(Teams)
    kind = decoder(name).workspace
    team = teams.setdefault(kind, [])
    try:
        team.extend([kind() for _ in range(size - len(team))])
    except MemoryError:
        raise out_of_memory(sentences.longest, 0) from None
    errors = []

    def work(workspace: Any) -> None:
        try:
            sentences.work(workspace)
        except BaseException as error:
            errors.append(error)

    others = [threading.Thread(target=work, args=(workspace,), daemon=True) for workspace in team[1:size]]
    try:
        for thread in others:
            thread.start()
        sentences.work(team[0])
        for thread in others:
            thread.join()
    finally:
        sentences.stopped = True
    if errors:
        raise errors[0]
    workspaces.give_back(teams)
    for b in sentences.failed()[:1]:
        alone = single(name, sentences.tensors, b, sentences.lengths[b], sentences.heads)
        try:
            getattr(decoder(name), what)(**alone, single_root=sentences.single_root, **further)
        except ValueError as error:
            raise type(error)("sentence %d: %s" % (b, error)) from None
        raise AssertionError("sentence %d failed in the batch but not by itself: this is a bug, please report it" % b)
    return sentences


def decode(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    cost: np.ndarray | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    threads: int | None = None,
) -> Derivations:
    """Return the highest-scoring derivation of each of B sentences, in padded arrays with room for N words.

    name: the decoder, "mh3", "mh4", "mh5", "mst" or "1ec".
    scores: the decoder's score tensors by name, with a leading dimension B, and N in place of n; for example
        {"shift": (B, N+2, N+2), "reduce_s0b0": (B, 6, N+2, N+2)} for mh4. They may be of any floating-point type. The
        scores of a sentence of n words are in the leading corner, as in a single call: its end is node n+1. The padding
        is not read.
    lengths: n of each sentence, integers (B,).
    cost: (B, N+1, N+1), or None.
    heads: integers (B, N+1), or None; if given, only derivations of trees with these heads are considered. -1 allows
        any head, -2 any head except the root.
    single_root: exactly one dependent of node 0.
    threads: the number of threads; by default, the number of cores that this process may use. The results are the same
        as those of single calls, to the bit, for any number of threads.

    Sentences that need more memory than mh5 may use (see mh5.decode) are decoded by mh4, with a RuntimeWarning.

    Returns Derivations. The GIL is released.
    Raises what the decoder raises, with the number of the sentence, and ValueError for an unknown decoder or tensor, wrong
    dimensions or types, lengths beyond the padding, and numbers of threads below 1.
    """
    tensors, lengths, longest = checked(name, scores, lengths, cost)
    kind = TransitionDecoding if "shift" in tensors else Decoding
    most = mh5.most_words() if name == "mh5" else np.inf
    sentences = kind(tensors, checked_trees(heads, lengths, longest), single_root, tensors.get("cost"), lengths, most)
    _process(name, "decode", sentences, threads)
    for b in sorted(sentences.too_long):
        warn(f"sentence {b}: {mh5.too_long(lengths[b])}", stacklevel=2)
    return sentences.result()


def marginals(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    allow_none: bool = False,
    threads: int | None = None,
) -> BatchMarginals:
    """Return the distributions over the derivations of B sentences, in padded arrays with room for N words.

    name: the decoder, "mh3", "mh4", "mst" or "1ec"; mh5 has no marginals.
    scores, lengths, single_root, threads: as for `decode`; float64 scores are not rounded to float32.
    heads: integers (B, N+1), or None; if given, only derivations of trees with these heads count, as for `decode`.
    allow_none: if True, a sentence without derivations has log_partition -inf, and 0 everywhere else. If False, it is
        an error.

    Returns BatchMarginals. The GIL is released.
    Raises what the decoder's `marginals` raises, with the number of the sentence, and ValueError for an unknown decoder or
    tensor, wrong dimensions, and lengths beyond the padding.
    """
    _require(name, "marginals", "marginals")
    return _sum(name, scores, lengths, heads, single_root, threads, allow_none).result()


def log_partition(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    allow_none: bool = False,
    threads: int | None = None,
) -> np.ndarray:
    """Return the logarithm of the sum of exp(score) over the derivations of each of B sentences, float64 (B,).

    This is the log_partition of `marginals` without the marginals: the inside pass without the outside pass, or the
    determinant without its derivatives. The arguments and the exceptions are as for `marginals`.
    """
    _require(name, "marginals", "marginals")
    return _sum(name, scores, lengths, heads, single_root, threads, allow_none, counted=False).log_partition


def hessian_product(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    direction: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    *,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    threads: int | None = None,
) -> dict[str, np.ndarray]:
    """Return the exact derivative of the expected counts in a direction of the scores, for each of B sentences.

    This is the product of the Hessian matrix of log_partition and the direction. It is also a covariance: of the number
    of times that a derivation uses a score, and the score of the derivation if `direction` were the scores.

    name: the decoder, "mh3", "mh4", "mst" or "1ec". scores, lengths, heads, single_root, threads: as for `marginals`.
    direction: arrays like the scores, for each of their tensors and with the same B and N. It may also have "arcs" (the
        arcs made by any transition) and "reduce_s1s0" where the scores do not.

    Returns, for each tensor of the direction, a float64 array of its shape: 0 beyond the sentence and for sentences
    without derivations, NaN for sentences whose direction is not finite. The GIL is released.
    Raises what `marginals` raises.
    """
    _require(name, "marginals", "marginals that can be differentiated")
    scores, lengths, longest = checked(name, scores, lengths)
    direction, _, own_longest = checked(name, direction, lengths, argument="direction")
    if own_longest != longest:
        raise ValueError(f"direction: has room for {own_longest} words, but the scores for {longest}")
    tensors = {part: scores[part] if part in scores else np.zeros(array.shape) for part, array in direction.items()}
    for part in scores:
        if part not in direction:
            raise ValueError(f"direction: has no tensor {part!r}, but the scores have")
    unit = {part: np.zeros(array.shape) for part, array in direction.items()}
    sizes = np.zeros(len(lengths))
    for b, n in enumerate(lengths):
        of, to = single(name, direction, b, n), single(name, unit, b, n)
        sizes[b] = np.max([np.abs(array).max(initial=0) for array in of.values()])
        if 0 < sizes[b] < np.inf:
            for part, array in of.items():
                np.divide(array, sizes[b], out=to[part])
    result = _sum(name, tensors, lengths, heads, single_root, threads, allow_none=True, direction=unit).result().parts
    for b, n in enumerate(lengths):
        for array in single(name, result, b, n).values():
            array *= sizes[b] if sizes[b] < np.inf else np.nan
    return result


def _require(name: str, function: str, what: str) -> None:
    """Raise ValueError unless the decoder has this function."""
    if getattr(decoder(name), function) is None:
        others = ", ".join([name for name, decoder in DECODERS.items() if getattr(decoder, function)])
        raise ValueError(f"{name} has no {what}; {others} have")


def _sum(
    name: str, scores: Any, lengths: Any, heads: Any, single_root: bool, threads: int | None, allow_none: bool, **what: Any
) -> Any:
    """Sum over the derivations of each sentence, and return the `Summing` object with the results."""
    tensors, lengths, longest = checked(name, scores, lengths)
    none = arguments.flag(allow_none, "allow_none")
    sentences = Summing(tensors, checked_trees(heads, lengths, longest), single_root, lengths, none, **what)
    return _process(name, "marginals", sentences, threads)


def sample(
    name: DecoderName,
    scores: Mapping[str, np.ndarray],
    lengths: np.ndarray,
    samples: int,
    *,
    rng: int | np.random.Generator | None = None,
    heads: np.ndarray | None = None,
    single_root: bool = False,
    threads: int | None = None,
) -> np.ndarray:
    """Sample derivations of each of B sentences, in padded arrays with room for N words, and return their trees.

    Derivations are drawn independently, each with its probability. The probability of a tree is the sum over its
    derivations.

    name: the decoder, "mh3", "mh4" or "mst".
    scores, lengths, heads, single_root, threads: as for `marginals`.
    samples: the number of samples for each sentence.
    rng: a seed, or a numpy.random.Generator; by default, an unpredictable seed. For any number of threads, the results
        are those of calling the decoder's `sample` for one sentence after the other, with the same generator.

    Returns the heads of the trees, int32 (B, samples, N+1), -1 at 0 and beyond the sentence. The GIL is released.
    Raises what the decoder's `sample` raises, with the number of the sentence, and ValueError for an unknown decoder or
    tensor, wrong dimensions, and lengths beyond the padding.
    """
    _require(name, "sample", "sampling")
    tensors, lengths, longest = checked(name, scores, lengths)
    sentences = Sampling(tensors, checked_trees(heads, lengths, longest), single_root, samples, rng, lengths)
    return _process(name, "sample", sentences, threads, samples=0).result()
