"""A sentence: its words, their tags, and the tree that a file has or a parser predicts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mh4.data.cells import COLUMNS, DEPREL, DEPS, FEATS, HEAD, UPOS, XPOS, check_columns, check_word
from mh4.errors import InputError, counted, shown

ROOT = "root"  # in UD, the label of words headed by the root, and only of those
# Attributes of MISC, the probabilities of the arc to a word and of its label, and the fields of a Sentence that have them.
PROBABILITIES = {"ArcProb": "probabilities", "LabelProb": "label_probabilities"}


class Word(NamedTuple):
    """A word of a sentence. id: from 1; head: the id of its head, 0 for the root; probability: of the arc from its head.

    label_probability: of its label, given the arc. What the sentence does not have is None.
    """

    id: int
    form: str
    upos: str | None
    xpos: str | None
    feats: str | None
    head: int | None
    deprel: str | None
    probability: float | None
    label_probability: float | None = None


@dataclass(eq=False)
class Sentence:
    """A sentence of n words.

    words, upos, xpos, feats, deprels: lists of n strings (deprels as in the file, with subtypes; "" where a partly annotated tree has
    none).
    heads: int32 array (n+1,), heads[0] = -1, heads[m] in 0..n, -1 where a partly annotated tree has none; None
    where the file's HEAD column was not read.
    name: the sentence's location, for messages ("FILE, line 12, sentence 3 (sent_id)").
    rows: the line of each word in its block, counted from 0; None for a sentence that was not read from a file.
    probabilities: of the arcs to the words, as predicted: float64 (n+1,), probabilities[0] = 1; None if not asked for.
    label_probabilities: of the labels of these arcs, likewise.
    transitions: of the derivation of a predicted tree, as in mh4.decoders.Derivation; None if not asked for, or if there are none.
    note: how it was parsed, if not as all others (see mh4.parser.long_sentences); None if it was kept, as its tree was complete.
    alternatives: the next best trees after this one, in order; None if not asked for.
    """

    words: list[str]
    # None until read or predicted; typed as what they will then be.
    upos: list[str] = None  # type: ignore[assignment]
    xpos: list[str] = None  # type: ignore[assignment]
    feats: list[str] = None  # type: ignore[assignment]
    deprels: list[str] = None  # type: ignore[assignment]
    heads: np.ndarray = None  # type: ignore[assignment]
    name: str = ""
    rows: list[int] = None  # type: ignore[assignment]
    probabilities: np.ndarray = None  # type: ignore[assignment]
    transitions: np.ndarray = None  # type: ignore[assignment]
    note: str | None = ""
    alternatives: "list[Sentence]" = None  # type: ignore[assignment]
    label_probabilities: np.ndarray = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        """Return whether all fields are equal, arrays element by element."""
        if type(other) is not type(self):
            return NotImplemented
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return all(
            np.array_equal(*pair) if any(isinstance(one, np.ndarray) for one in pair) else pair[0] == pair[1] for pair in pairs
        )

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[Word]:
        """Iterate over the words. Raises InputError for a column without a string for each word, or heads out of range."""
        absent = [None] * len(self)
        *words_and_tags, deprels = [self._strings(field) for field in ("words", "upos", "xpos", "feats", "deprels")]
        name = self.name or "the sentence"
        heads = absent if self.heads is None else [None if head < 0 else head for head in checked_heads(self, name)[1:].tolist()]
        probabilities = [self._of_words(field) or absent for field in PROBABILITIES.values()]
        columns = zip(range(1, len(self) + 1), *words_and_tags, heads, deprels, *probabilities, strict=True)
        return (Word(*row) for row in columns)

    def columns(self, tags: bool = False, keep_deps: bool = False) -> dict[int, list[str]]:
        """Return the columns to write of a parse: HEAD, DEPREL, an empty DEPS unless it is kept, with `tags` UPOS, XPOS and FEATS."""
        columns = {HEAD: [str(head) for head in self.heads[1:]], DEPREL: self.deprels}
        if not keep_deps:
            columns[DEPS] = ["_"] * len(self)
        if tags:
            columns.update({UPOS: self.upos, XPOS: self.xpos, FEATS: self.feats})
        return columns

    def probable(self) -> dict[str, list[str]]:
        """Return the probabilities, if there are any, as attributes of MISC: for each name, n strings."""
        given = {name: self._of_words(field) for name, field in PROBABILITIES.items()}
        return {name: ["%.4f" % p for p in values] for name, values in given.items() if values is not None}

    def _of_words(self, field: str) -> list[float] | None:
        """Return the probabilities in a field without that at 0, or None. Raises InputError unless they are n+1 numbers."""
        try:
            found = np.asarray(given := getattr(self, field), dtype=float)
        except (TypeError, ValueError):
            found = np.empty(0)
        if given is not None and found.shape != (len(self) + 1,):
            raise self._wrong(field, counted(len(self) + 1, "number"))
        return None if given is None else found[1:].tolist()

    def _strings(self, field: str) -> list[str | None]:
        """Return a column, None for what is absent. Raises InputError unless it has a string for each word or, but for words, None."""
        given = getattr(self, field)
        if given is None:
            return [None] * len(self)
        found = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
        if len(found) != len(self) or not all(isinstance(one, str) or one is None and field != "words" for one in found):
            raise self._wrong(field, counted(len(self), "string"))
        return found

    def _wrong(self, field: str, expected: str) -> InputError:
        return InputError(
            "%s: its %s are %s, expected %s" % (self.name or "the sentence", field, shown(getattr(self, field)), expected)
        )

    def to_conllu(self) -> str:
        """Return the words as CoNLL-U, with a blank line at the end; probabilities are in MISC, as with `mh4 parse`.

        Raises InputError, naming the word, for what CoNLL-U cannot have: forms that are no words (`check_word`), tabs, line breaks and lone
        surrogates in any column; also for a sentence without words. mh4.conversions has the objects of other libraries.
        """
        where = self.name or "the sentence"
        if not len(self):
            raise InputError("%s: cannot be written as CoNLL-U: it has no words" % where)
        lines, probable = [], self.probable()
        for word in self:
            misc = "|".join("%s=%s" % (name, values[word.id - 1]) for name, values in probable.items())
            cells = [word.id, word.form, None, word.upos, word.xpos, word.feats, word.head, word.deprel, None, misc]
            row = ["_" if cell is None or cell == "" else str(cell) for cell in cells]
            place = "%s: word %d cannot be written as CoNLL-U" % (where, word.id)
            check_word(word.form, place)
            check_columns(dict(zip(COLUMNS, row, strict=True)), place)
            lines.append("\t".join(row) + "\n")
        return "".join(lines) + "\n"

    def _repr_html_(self) -> str | None:
        """Draw the tree, if there is one, for a notebook. Raises InputError as iteration does."""
        from mh4.drawing.svg import picture

        labels = [word.deprel or "" for word in self]
        if self.heads is None or not labels:
            return None
        try:
            drawing = picture(self.words, checked_heads(self, ""), labels, self.probabilities)
        except ValueError:  # a word without a head, or a cycle
            return None
        return '<div style="overflow-x: auto">%s</div>' % drawing  # which scrolls if the tree is wide


def checked_heads(sentence: Sentence, name: str) -> np.ndarray:
    """Return the heads of a sentence, which the user may have made: int32 (n+1,), -1 for None.

    Raises InputError, which begins with `name`, unless they are -1 and, for each word, 0 to n or, where it has none, -1 or None.
    """
    try:
        heads = np.asarray([-1 if head is None else head for head in sentence.heads])
    except (TypeError, ValueError):  # not a sequence, or of sequences
        heads = np.empty(0)
    n = len(sentence)
    if heads.shape != (n + 1,) or heads.dtype.kind not in "iu" or heads[0] != -1 or (heads < -1).any() or (heads > n).any():
        expected = "-1 and then one of 0 to %d for each word, or -1 where it has none" % n
        raise InputError("%s: its heads are %s, expected %s" % (name, shown(sentence.heads), expected))
    return heads.astype(np.int32)


def without_subtype(deprel: str) -> str:
    """Return a dependency label without its language-specific subtype: ``nmod:poss`` is ``nmod``."""
    return deprel.partition(":")[0]
