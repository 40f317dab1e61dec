"""A sentence: its words, their tags, and a tree from a file or a parser."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mh4.data.cells import COLUMNS, DEPREL, DEPS, FEATS, HEAD, UPOS, XPOS, check_columns, check_word
from mh4.errors import InputError, counted, shown

ROOT = "root"  # in UD, the label of words headed by the root, and only of those
# The attributes of MISC for the probabilities of a word's arc and label, and the fields of Sentence that contain these.
PROBABILITIES = {"ArcProb": "probabilities", "LabelProb": "label_probabilities"}
# The fields that only a parse sets, and their values before it.
UNPARSED: dict[str, Any] = {**dict.fromkeys(PROBABILITIES.values()), "transitions": None, "note": "", "alternatives": None}


class Word(NamedTuple):
    """A word of a sentence. Fields that the sentence does not have are None.

    id: from 1. head: the id of the word's head, 0 for the root. probability: of the arc from the head.
    label_probability: of the label, given the arc.
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

    words, upos, xpos, feats, deprels: lists of n strings. Labels (deprels) are as in the file, with subtypes; "" if a
    word of a partly annotated tree has no label.
    heads: int32 array (n+1,), heads[0] = -1, heads[m] in 0..n, or -1 if a word of a partly annotated tree has no head;
    None if the file's HEAD column was not read.
    name: the sentence's location, for messages ("FILE, line 12, sentence 3 (sent_id)").
    rows: the line of each word in its block, counted from 0; None for a sentence that was not read from a file.
    probabilities: float64 (n+1,), the predicted probabilities of the arcs to the words, probabilities[0] = 1; None if
    not requested.
    label_probabilities: of the labels of these arcs, likewise.
    transitions: of the derivation of a predicted tree, as in mh4.decoders.Derivation; None if not requested, or if the
    tree has no derivation.
    note: how the sentence was parsed, if not in the usual way (see mh4.parser.long_sentences); None if its tree was
    already complete and was kept.
    alternatives: the next best trees after this one, in order; None if not requested.
    """

    words: list[str]
    # These are None until they are read or predicted; the types are those of the values that they then have.
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
        """Iterate over the words. Raises InputError for columns of wrong length or type, and for heads out of range."""
        absent = [None] * len(self)
        *words_and_tags, deprels = [self._strings(field) for field in ("words", "upos", "xpos", "feats", "deprels")]
        name = self.name or "the sentence"
        heads = absent if self.heads is None else [None if head < 0 else head for head in checked_heads(self, name)[1:].tolist()]
        probabilities = [self._of_words(field) or absent for field in PROBABILITIES.values()]
        columns = zip(range(1, len(self) + 1), *words_and_tags, heads, deprels, *probabilities, strict=True)
        return (Word(*row) for row in columns)

    def columns(self, tags: bool = False, keep_deps: bool = False) -> dict[int, list[str]]:
        """Return the columns that a parse replaces: HEAD, DEPREL, and, with `tags`, UPOS, XPOS and FEATS.

        Unless `keep_deps`, DEPS is replaced by "_".
        """
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
        """Return the n probabilities of the words in a field; None if the field is None.

        Raises InputError for anything except n+1 numbers, of which the first, at 0, is left out.
        """
        given = getattr(self, field)
        if given is None:
            return None
        try:
            found = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            found = np.empty(0)
        if found.shape != (len(self) + 1,):
            raise self._wrong(field, counted(len(self) + 1, "number"))
        return found[1:].tolist()

    def _strings(self, field: str) -> list[str | None]:
        """Return a column of n strings, or of n times None if the field is None.

        Raises InputError unless the field has a string for each word or, except in `words`, None.
        """
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

        Raises InputError for a sentence without words. Raises InputError, naming the word, for invalid word forms (see
        `check_word`), and for tabs, line breaks and lone surrogates in any column. mh4.conversions converts sentences
        to objects of other libraries.
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
        """Return a picture of the tree, if there is one, for a notebook. Raises InputError as iteration does."""
        from mh4.drawing.svg import picture

        labels = [word.deprel or "" for word in self]
        if self.heads is None or not labels:
            return None
        try:
            drawing = picture(self.words, checked_heads(self, ""), labels, self.probabilities)
        except ValueError:  # a word without a head, or a cycle
            return None
        return '<div style="overflow-x: auto">%s</div>' % drawing  # scrolls if the tree is wide


def checked_heads(sentence: Sentence, name: str) -> np.ndarray:
    """Return the heads of a sentence, which may be the user's, as int32 (n+1,), with -1 for None.

    Raises InputError, which begins with `name`, for a wrong length or type, for heads outside -1 to n, and for a first
    head that is not -1.
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
