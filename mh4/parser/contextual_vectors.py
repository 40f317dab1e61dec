"""Read contextual vectors of words, from a transformer for example, which are further input of the network.

A safetensors file has a matrix for each sentence, named by the `key` of its words. Files for training, dev and parsing
may be given in any order, and a missing sentence is an error. ``examples/contextual_vectors.py`` makes such files.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from mh4.data.sentence import Sentence
from mh4.errors import InputError, counted, needs, shown, unreadable
from mh4.util import reading
from mh4.util.reading import Paths

MOST_DIMENSIONS = 10_000


def key(words: Sequence[str]) -> str:
    """Return the name of a sentence's matrix: the first 32 hex digits of the SHA-256 of its words, joined by line feeds.

    Words are in UTF-8; bytes of a file that are not UTF-8 stay as they are.
    """
    return hashlib.sha256("\n".join(words).encode("utf-8", "surrogateescape")).hexdigest()[:32]


@dataclass(eq=False)
class Window(Sentence):
    """Consecutive words of the sentence `whole`, whose matrix has their vectors. start: the number of words before."""

    whole: Sentence = None  # type: ignore[assignment]
    start: int = 0


class Contextual:
    """The matrices in files: (n, dimensions) for a sentence of n words, in 16, 32 or 64-bit numbers.

    A matrix is read when it is needed. paths: one file, or several, which must agree on sentences that they share.
    Raises InputError if a file cannot be read or is empty, or if the files differ in their dimensions, and NotInstalled
    without the package safetensors.
    """

    def __init__(self, paths: Paths) -> None:
        self.paths = reading.paths_of(paths, "contextual")
        with needs("a file of contextual vectors", "contextual"):
            from safetensors import SafetensorError, safe_open
        self._error = SafetensorError
        self._files: dict[str, list[tuple[str, Any]]] = {}  # all files with a sentence; one of them once they are compared
        self.dimensions = 0
        for path in self.paths:
            with reading.open_regular(path):  # the errors of safe_open give no reason
                pass
            try:
                file = safe_open(path, framework="numpy")
                for name in file.keys():  # noqa: SIM118
                    self._files.setdefault(name, []).append((path, file))
                shapes = [file.get_slice(name).get_shape() for name in list(file.keys())[:1]]
            except OSError as error:
                raise unreadable(path, error) from None
            except SafetensorError as error:
                raise InputError("%s: damaged, or not in the format safetensors (%s)" % (path, error)) from None
            if not shapes or len(shapes[0]) != 2 or not 0 < shapes[0][1] <= MOST_DIMENSIONS:
                raise InputError("%s: has no matrices, expected one for each sentence" % path)
            if self.dimensions and shapes[0][1] != self.dimensions:
                has = counted(shapes[0][1], "dimension")
                raise InputError("%s: vectors of %s, but %s has %d" % (path, has, self.paths[0], self.dimensions))
            self.dimensions = shapes[0][1]

    def __reduce__(self) -> tuple[Any, ...]:
        return Contextual, (self.paths,)

    def of(self, sentence: Sentence) -> np.ndarray:
        """Return the matrix of a sentence, float32 (n, dimensions).

        Raises InputError, naming the sentence, if its matrix is missing or invalid, or if files have different ones.
        """
        whole, rows = sentence, slice(None)
        if isinstance(sentence, Window):
            whole, rows = sentence.whole, slice(sentence.start, sentence.start + len(sentence))
        with self._found(whole) as (message, stored), np.errstate(over="ignore"):  # a large float64 becomes infinite
            matrix = stored[rows].astype(np.float32)
        if not np.isfinite(matrix).all():
            raise InputError("%s: some numbers are infinite or NaN" % message)
        return matrix

    def check(self, sentence: Sentence) -> None:
        """Raise InputError as `of` does, except for infinite numbers and NaN.

        The numbers are read only if several files have the sentence.
        """
        with self._found(sentence):
            pass

    @contextmanager
    def _found(self, whole: Sentence) -> Iterator[tuple[str, Any]]:
        """Yield what messages call the matrix of a sentence, and the matrix, which can be read within the block."""
        where, name = whole.name or shown(whole.words), key(whole.words)
        if name not in self._files:
            raise InputError("%s: no vectors of this sentence, with these words, in %s" % (where, ", ".join(self.paths)))
        *others, last = self._files[name]
        with self._stored(name, len(whole), where, *last) as stored:
            for other in others:
                with self._stored(name, len(whole), where, *other) as theirs:
                    if not np.array_equal(theirs[:], stored[:], equal_nan=True):
                        raise InputError("%s: vectors of %s: others than in %s" % (last[0], where, other[0]))
            self._files[name] = [last]
            yield "%s: vectors of %s" % (last[0], where), stored

    @contextmanager
    def _stored(self, name: str, words: int, where: str, path: str, file: Any) -> Iterator[Any]:
        """Yield the matrix called `name`, for a sentence of `words` words, which can be read within the block."""
        expected = [words, self.dimensions]
        try:
            stored = file.get_slice(name)
            if stored.get_shape() != expected or stored.get_dtype() not in ("F16", "F32", "F64"):
                raise InputError(
                    "%s: vectors of %s: %s of the shape %s, expected F16, F32 or F64 of the shape %s"
                    % (path, where, stored.get_dtype(), stored.get_shape(), expected)
                )
            yield stored
        except (self._error, TypeError, AttributeError, ValueError) as error:
            raise InputError("%s: the vectors of %s cannot be read (%s)" % (path, where, error)) from None
