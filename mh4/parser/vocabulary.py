"""The vocabulary of a model: the words, characters, tags and labels of its training treebanks, with their counts."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Any

import numpy as np

from mh4.data.sentence import Sentence, without_subtype
from mh4.parser import kept_heads
from mh4.parser.config import Config

UNKNOWN = 0  # the row of every table for anything not seen in training

# The tags that the network predicts in addition to the tree: part-of-speech and morphological tags. They are auxiliary
# tasks, trained by stack propagation (Section 5): predicted from the first layer of the sentence bi-LSTM, but no input
# of the parser.
TAGS = ("upos", "xpos", "feats")

_DIGIT = re.compile(r"\d")
_NOT_IN_A_WORD = re.compile("[\t\n\ud800-\udfff]")  # surrogates are not in UTF-8
_NOT_A_TAG = re.compile("^$|[\\s\0\ufeff\ud800-\udfff]")


def normalised(word: str) -> str:
    """Return the form in which a word is counted: lower-cased, digits as 0."""
    return _DIGIT.sub("0", word.lower())


class Table:
    """Strings numbered from 1 (0 is unknown); `counts[i]` is how often string i was seen."""

    def __init__(self, counts: dict[str, int]) -> None:
        self.strings = [""] + list(counts)
        self.counts = [0] + list(counts.values())
        self._numbers = {string: k for k, string in enumerate(self.strings) if k}

    @classmethod
    def count(cls, strings: Iterable[str], at_least: int = 1) -> "Table":
        """Count the strings, and return those seen `at_least` times, the most frequent first."""
        counts = Counter(strings)
        # Ties in alphabetical order, so that the vocabulary does not depend on the order of the sentences.
        return cls({s: c for s, c in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if c >= at_least})

    def __len__(self) -> int:
        return len(self.strings)

    def __getitem__(self, string: str) -> int:
        return self._numbers.get(string, UNKNOWN)

    def numbers(self, strings: Iterable[str]) -> np.ndarray:
        """Return the number of each string."""
        return np.array([self[string] for string in strings], dtype=int)

    def extended(self, more: "Table") -> "Table":
        """Return this table followed by the strings that only `more` has, with the counts of both."""
        return Table(Counter(self.to_json()) + Counter(more.to_json()))

    def to_json(self) -> dict[str, int]:
        return dict(zip(self.strings[1:], self.counts[1:], strict=True))


class Vocabulary:
    """The tables of one training treebank, or of several.

    words: normalised words seen at least `word_min_count` times; chars: characters of the words as written;
    upos, xpos, feats: tags (features as one string); labels: dependency labels.
    """

    TABLES = ("words", "chars", "upos", "xpos", "feats", "labels")

    def __init__(self, **tables: Table) -> None:
        self.words, self.chars, self.upos, self.xpos, self.feats, self.labels = (tables[name] for name in self.TABLES)

    @classmethod
    def of(cls, sentences: Sequence[Sentence], config: Config) -> "Vocabulary":
        def table(column: str) -> Table:
            return Table.count(value for sentence in sentences for value in getattr(sentence, column))

        words = [word for sentence in sentences for word in sentence.words]
        return cls(
            words=Table.count(map(normalised, words), at_least=config.encoder.word_min_count),
            chars=Table.count(char for word in words for char in word),
            labels=Table.count(label for s in sentences for label in compress(s.deprels, kept_heads.annotated_labels(s))),
            **{tag: table(tag) for tag in TAGS},
        )

    def known_labels(self, deprels: Iterable[str]) -> np.ndarray:
        """Return the number of each label, or of the label without its subtype if only that is known."""
        return np.array([self.labels[deprel] or self.labels[without_subtype(deprel)] for deprel in deprels], dtype=int)

    def extended(self, more: "Vocabulary") -> "Vocabulary":
        """Return this vocabulary extended by the strings that only `more` has, with the counts of both. Strings keep their numbers."""
        return Vocabulary(**{name: getattr(self, name).extended(getattr(more, name)) for name in self.TABLES})

    def to_json(self) -> str:
        tables = {name: getattr(self, name).to_json() for name in self.TABLES}
        return json.dumps(tables, ensure_ascii=False, indent=0) + "\n"

    @classmethod
    def from_tables(cls, tables: dict[str, Any]) -> "Vocabulary":
        """Return the vocabulary that to_json wrote. Raises ValueError for anything else."""
        for name in cls.TABLES:
            wrong = _NOT_IN_A_WORD if name in ("words", "chars") else _NOT_A_TAG
            if not (_is_table(tables.get(name), wrong) and (tables[name] or name == "words")):
                raise ValueError("not a vocabulary")  # only the table of frequent words may be empty
        return cls(**{name: Table(tables[name]) for name in cls.TABLES})

    def checksum(self) -> str:
        """Return the SHA-256 of all strings, in their order, and their counts."""
        return hashlib.sha256(self.to_json().encode("utf-8")).hexdigest()


def _is_table(counts: object, wrong: re.Pattern[str]) -> bool:
    """Return whether these are counts of strings without a match of `wrong`, which no column of CoNLL-U can contain."""
    return isinstance(counts, dict) and all(
        type(count) is int and 0 < count < 2**63 and not wrong.search(string) for string, count in counts.items()
    )
