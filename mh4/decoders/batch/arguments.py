"""The arguments of a batch: what each decoder expects, and errors that name the sentence."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from mh4.decoders import mh3, mh4, mh5, mst, oneec
from mh4.decoders.shared.arguments import converted
from mh4.decoders.shared.memory import room_for
from mh4.errors import unknown

DecoderName = Literal["mh3", "mh4", "mh5", "mst", "1ec"]


class Shape(NamedTuple):
    """The shape of a score tensor after its leading axis of sentences: layers, if any, and how many more nodes than words."""

    layers: tuple[int, ...]
    rows: int
    columns: int
    optional: bool = False

    def of(self, words: int) -> tuple[int, ...]:
        """That of a sentence, or of the arrays if they have room for so many words."""
        return (*self.layers, words + self.rows, words + self.columns)

    def text(self) -> str:
        """For a message."""
        return "(B, %s)" % ", ".join([*map(str, self.layers), "N+%d" % self.rows, "N+%d" % self.columns])


class Decoder(NamedTuple):
    """A decoder of single sentences, and its score tensors."""

    decode: Callable[..., Any]
    marginals: Callable[..., Any] | None
    sample: Callable[..., Any] | None
    tensors: dict[str, Shape]


ARCS, OR_END = Shape((), 1, 1), Shape((), 2, 1)  # the first node is a head, or in the latter perhaps the end of the sentence
COST = Shape((), 1, 1, optional=True)


def _transitions(reduces: int, hybrid: bool = True) -> dict[str, Shape]:
    s1s0 = {"reduce_s1s0": Shape((reduces,), 2, 2, optional=True)} if hybrid else {}
    return {"shift": Shape((), 2, 2), "reduce_s0b0": Shape((reduces,), 2, 2), **s1s0, "arcs": ARCS._replace(optional=True)}


DECODERS: dict[DecoderName, Decoder] = {
    "mh3": Decoder(mh3.decode, mh3.marginals, mh3.sample, _transitions(2, hybrid=False)),
    "mh4": Decoder(mh4.decode, mh4.marginals, mh4.sample, _transitions(6)),
    "mh5": Decoder(mh5.decode, None, None, _transitions(12)),
    "mst": Decoder(mst.decode, mst.marginals, mst.sample, {"arcs": ARCS}),
    "1ec": Decoder(
        oneec.decode, oneec.marginals, None, {"arc": ARCS, "crossed_arc": ARCS, "grandparent": OR_END, "sibling": OR_END}
    ),
}


def decoder(name: str) -> Decoder:
    """That of a name."""
    if not isinstance(name, str) or name not in DECODERS:
        raise ValueError(unknown("decoder", name, DECODERS))
    return DECODERS[cast(DecoderName, name)]


def checked(
    name: str, scores: Mapping[str, ArrayLike], lengths: ArrayLike, cost: ArrayLike | None = None, argument: str = "scores"
) -> tuple[dict[str, np.ndarray], np.ndarray, int]:
    """The tensors and, if given, the cost, as C-contiguous arrays of float32 or float64; lengths; and the N of their shapes.

    Raises ValueError if a tensor is missing or unknown, or for a wrong type or shape. What the numbers are is not looked at.
    """
    expected = decoder(name).tensors
    if not isinstance(scores, Mapping):
        raise ValueError("%s: expected the tensors by name, %s, got %s" % (argument, ", ".join(expected), type(scores).__name__))
    for known in scores:
        if known not in expected:
            raise ValueError("%s: %s has no tensor %r; it has %s" % (argument, name, known, ", ".join(expected)))
    for needed, shape in expected.items():
        if scores.get(needed) is None and not shape.optional:
            raise ValueError("%s: %s needs the tensor %s %s" % (argument, name, needed, shape.text()))
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
        if array.dtype.kind != "f":
            raise ValueError("%s: expected floating-point numbers, got dtype %s" % (tensor, array.dtype))
        if longest is None and array.ndim == 3 + len(shape.layers):
            longest = array.shape[-1] - shape.columns
        if longest is None or longest < 0 or array.shape != (len(words), *shape.of(longest)):
            room = "" if longest is None or longest < 0 else ", B = %d and N = %d" % (len(words), longest)
            raise ValueError("%s: expected the shape %s%s, got %s" % (tensor, shape.text(), room, array.shape))
        arrays[tensor] = converted(tensor, array, np.dtype(np.float32 if array.dtype == np.float32 else np.float64))
    assert longest is not None  # every decoder needs a tensor
    for b in np.flatnonzero((words < 0) | (words > longest))[:1]:
        raise ValueError("lengths: sentence %d has %d words, but the arrays have room for 0 to %d" % (b, words[b], longest))
    return arrays, words.astype(np.intp), longest


def checked_trees(heads: ArrayLike, lengths: np.ndarray, longest: int) -> np.ndarray:
    """Heads as a C-contiguous int32 array (B, N+1); what is no head of an int32 stays none."""
    array = np.asarray(heads)
    if array.dtype.kind not in "iu" or array.shape != (len(lengths), longest + 1):
        shape = (len(lengths), longest + 1)
        raise ValueError("heads: expected integers of shape %s, got dtype %s and shape %s" % (shape, array.dtype, array.shape))
    room_for(array.size * 4, "a copy of heads")
    narrow = np.iinfo(np.int32)
    return np.ascontiguousarray(np.clip(array, narrow.min, narrow.max), dtype=np.int32)


def single(name: str, arrays: Mapping[str, np.ndarray], b: int, words: int, heads: np.ndarray | None = None) -> dict[str, Any]:
    """The arguments for a sentence by itself."""
    expected = {**decoder(name).tensors, "cost": COST}
    found: dict[str, Any] = {}
    for tensor, array in arrays.items():
        corner = expected[tensor].of(words)
        found[tensor] = array[(b, ...) + tuple(slice(side) for side in corner[-2:])]
    if heads is not None:
        found["heads"] = heads[b, : words + 1]
    return found


def explain(name: str, what: str, failed: np.ndarray, sentences: Any, heads: np.ndarray | None = None, **further: Any) -> None:
    """Raise the error that this function of the decoder raises for the first sentence that failed, if any, with its number."""
    for b in np.flatnonzero(failed)[:1]:
        alone = single(name, sentences.tensors, b, sentences.lengths[b], heads)
        try:
            getattr(decoder(name), what)(**alone, single_root=sentences.single_root, **further)
        except ValueError as error:
            raise type(error)("sentence %d: %s" % (b, error)) from None
        raise AssertionError("sentence %d failed in the batch but not by itself: this is a mistake, please report it" % b)
