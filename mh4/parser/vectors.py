"""Read pretrained word vectors (word2vec, fastText, GloVe), which are further input of the network.

The file is read once, when a model is made; the vectors are stored with the model.
"""

import codecs
import hashlib
import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, BinaryIO

import numpy as np

from mh4.errors import InputError, counted, on_line
from mh4.parser.model_files import Folder, write_arrays
from mh4.parser.vocabulary import normalised
from mh4.util import compression, memory, reading

FILE = "vectors.npz"
MOST_DIMENSIONS, MOST_WORDS = 10_000, 10_000_000
_LONGEST, _LONGEST_LINE = 200_000, 1 << 20  # bytes of a word or of the first line, and of any other line
_FASTTEXT_MODEL = (793712314).to_bytes(4, "little")


class Vectors:
    """Words and their vectors. matrix: float32 (words + 1, dimensions); row 0, for words without a vector, is zeros.

    learned: the number of words of the training treebank, which come first.
    """

    def __init__(self, words: Sequence[str], matrix: np.ndarray, learned: int) -> None:
        self.words, self.matrix, self.learned = words, matrix, learned
        self._rows = {word: row for row, word in enumerate(words, start=1)}

    @property
    def dimensions(self) -> int:
        return self.matrix.shape[1]

    def row(self, word: str) -> int:
        """Return the row of a word as written, else lower-cased, else lower-cased with digits as zeros; 0 if there is none."""
        return next((self._rows[form] for form in _forms(word) if form in self._rows), 0)

    @classmethod
    def read(cls, path: str, train: Iterable[str], dev: Iterable[str], most: int) -> "Vectors":
        """Read the vectors of the words of `train` and `dev`, and of the first `most` words of the file.

        These are usually the most frequent words. The file has word2vec's text or binary format, or GloVe's, which
        lacks the first line of sizes. It may be compressed. If a word occurs twice, its first vector counts. Raises
        InputError for an unknown format, and if no word of `train` has a vector.
        """
        train_forms = {form for word in set(train) for form in _forms(word)}
        wanted = train_forms.union(form for word in set(dev) for form in _forms(word))
        found: dict[str, np.ndarray] = {}
        for count, (word, vector) in enumerate(_rows_of(path)):
            if (count < most or word in wanted) and word not in found:
                found[word] = vector()
        words = sorted(found, key=lambda word: word not in train_forms)  # otherwise in the order of the file
        learned = sum(word in train_forms for word in words)
        if not learned:
            raise InputError("%s: has no vector of any word of the training treebank" % path)
        dimensions = len(found[words[0]])
        memory.require(4 * (len(words) + 1) * dimensions, "the vectors of %s" % counted(len(words), "word"))
        matrix = np.zeros((len(words) + 1, dimensions), dtype=np.float32)
        for row, word in enumerate(words, start=1):
            matrix[row] = found[word]
        return cls(words, matrix, learned)

    @cached_property
    def checksum(self) -> str:
        """The SHA-256 of the words and their vectors."""
        sha256 = hashlib.sha256(("%d %d %d\n" % (*self.matrix.shape, self.learned)).encode("ascii"))
        sha256.update("\n".join(self.words).encode("utf-8", "surrogateescape"))
        sha256.update(np.ascontiguousarray(self.matrix).tobytes())
        return sha256.hexdigest()

    def save(self, folder: str) -> None:
        words = np.frombuffer("\n".join(self.words).encode("utf-8"), dtype=np.uint8)
        arrays = {"words": words, "matrix": self.matrix, "learned": np.array(self.learned), "checksum": np.array(self.checksum)}
        write_arrays(Folder(folder).place(FILE), arrays)

    @classmethod
    def load(cls, files: Folder) -> "Vectors":
        """Return the vectors of a model; InputError if it has none, or if they are damaged."""
        path = files.place(FILE)
        if not files.has(FILE):
            raise InputError("%s: no vectors of words there, with which the model was trained" % path)
        with files.arrays(FILE, 8 * MOST_WORDS * MOST_DIMENSIONS, reading.WRONG_CHECKSUM) as file:
            matrix, learned = file["matrix"], int(file["learned"])
            found = cls(file["words"].tobytes().decode("utf-8").split("\n"), matrix, learned)
            if (
                matrix.dtype != np.float32
                or matrix.shape[0] != len(found.words) + 1
                or not 0 < learned <= len(found.words)
                or str(file["checksum"]) != found.checksum
            ):
                raise ValueError("not as saved")
        return found


def _forms(word: str) -> tuple[str, str, str]:
    return word, word.lower(), normalised(word)


def _rows_of(path: str) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    """Yield the words of a file, each with a function that reads its vector. Raises InputError for an unknown format."""
    with compression.opened(path) as file, io.BufferedReader(file, 1 << 20) as buffered:  # type: ignore[type-var]
        first = buffered.readline(_LONGEST).removeprefix(codecs.BOM_UTF8)
        if first.startswith(_FASTTEXT_MODEL):
            raise InputError("%s: a model of fastText, not vectors; its vectors are in the file that ends in .vec" % path)
        sizes = first.split()
        if len(sizes) != 2 or not all(size.isdigit() and len(size) < 9 for size in sizes):  # GloVe
            rest = reading.lines(buffered, path, _LONGEST_LINE, before=1)
            yield from _text(itertools.chain([first], rest), path, 1, first.rstrip().count(b" "))
            return
        count, dimensions = map(int, sizes)
        is_text = _is_text(buffered.peek(), dimensions)
        rest = reading.lines(buffered, path, _LONGEST_LINE, before=1)
        read = 0
        for row in _text(rest, path, 2, dimensions) if is_text else _binary(buffered, path, dimensions):
            read += 1
            yield row
        if read != count:
            raise InputError("%s: has %s, but %d according to line 1" % (path, counted(read, "vector"), count))


def _is_text(sample: bytes, dimensions: int) -> bool:
    """Return whether vectors are written as text: the last two fields of the first line are then numbers."""
    try:
        return len([float(number) for number in sample.split(b"\n", 1)[0].split()[1:][-2:]]) >= min(dimensions, 2)
    except ValueError:
        return False


def _text(lines: Iterable[bytes], path: str, first: int, dimensions: int) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    if not 0 < dimensions <= MOST_DIMENSIONS:
        expected = "not a word and its vector, expected the format of word2vec, fastText or GloVe"
        raise InputError("%s: %s" % (on_line(path, 1), expected))
    for number, line in enumerate(lines, start=first):
        fields = line.rstrip().rsplit(b" ", dimensions)  # some files have words with spaces in them
        place = on_line(path, number)
        if len(fields) != dimensions + 1:
            raise InputError("%s: expected a word and %d numbers, but there are %d" % (place, dimensions, len(fields) - 1))
        yield _word(fields[0], place), partial(_numbers, fields[1:], place)


def _binary(file: BinaryIO, path: str, dimensions: int) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    if not 0 < dimensions <= MOST_DIMENSIONS:
        raise InputError("%s: vectors in %d dimensions, which cannot be" % (on_line(path, 1), dimensions))
    for number in itertools.count(1):
        letters = itertools.takewhile(lambda byte: byte not in (b" ", b""), iter(partial(file.read, 1), None))
        word = b"".join(itertools.islice(letters, _LONGEST + 1)).lstrip(b"\n")
        content, place = file.read(4 * dimensions), "%s, word %d" % (path, number)
        if not word and not content:
            return
        if len(content) != 4 * dimensions or len(word) > _LONGEST:
            raise InputError("%s: cut off, or not vectors in %s" % (place, counted(dimensions, "dimension")))
        yield _word(word, place), partial(_numbers, np.frombuffer(content, dtype="<f4"), place)


def _word(word: bytes, place: str) -> str:
    if not word:
        raise InputError("%s: a vector without a word" % place)
    if b"\n" in word:  # only in binary files
        raise InputError("%s: a line break in a word" % place)
    return word.decode("utf-8", "replace")  # some files have words that were cut within a character


def _numbers(numbers: Any, place: str) -> np.ndarray:
    try:
        with np.errstate(over="ignore"):
            vector = np.array(numbers).astype(np.float32)
    except ValueError:
        raise InputError("%s: not a vector of numbers" % place) from None
    if not np.isfinite(vector).all():
        raise InputError("%s: a vector with numbers that are infinite or NaN" % place)
    return vector
