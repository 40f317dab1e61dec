"""Store the arcs of a CoNLL-U file, or of a chunk of it, in arrays over words, and find a system's correct arcs.

Words are numbered consecutively through the chunk, from 0. Files with different segmentation can therefore be compared
through an alignment of their words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mh4 import trees
from mh4.data.sentence import Sentence, without_subtype

ROOT = -1


@dataclass(frozen=True)
class Arcs:
    """The incoming arcs of w words: arrays (w,).

    heads: int64, the number of the head, ROOT for the root. labels: of strings, without subtypes, as in the shared tasks.
    sentences: int64, the number of the word's sentence, from 0. lengths: int64, |dependent - head|, 0 for arcs from the root.
    depths: int64, the number of arcs from the root to the word, 1 for the root's dependents. crossed: bool, whether the arc is
    crossed by another, as in mh4.trees.crossed_arcs. sentence_lengths: int64, the number of words in the word's sentence.
    """

    heads: np.ndarray
    labels: np.ndarray
    sentences: np.ndarray
    trees: Sequence[np.ndarray]  # the heads in each sentence, as in mh4.trees

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> "Arcs":
        """Return the arcs of a file's sentences, which must all have trees."""
        sizes = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        numbers = np.repeat(np.arange(len(sizes)), sizes)
        first = (np.cumsum(sizes) - sizes)[numbers]  # number of the first word in the word's sentence
        in_sentence = np.concatenate([sentence.heads[1:] for sentence in sentences]).astype(np.int64)
        return cls(
            heads=np.where(in_sentence > 0, in_sentence - 1 + first, ROOT),
            labels=np.array([without_subtype(label) for sentence in sentences for label in sentence.deprels], dtype=object),
            sentences=numbers,
            trees=[sentence.heads for sentence in sentences],
        )

    def __len__(self) -> int:
        return len(self.heads)

    @property
    def lengths(self) -> np.ndarray:
        return np.where(self.heads == ROOT, 0, np.abs(self.heads - np.arange(len(self))))

    @cached_property
    def crossed(self) -> np.ndarray:
        return np.concatenate([trees.crossed_arcs(heads)[1:] for heads in self.trees])

    @cached_property
    def depths(self) -> np.ndarray:
        return np.concatenate([trees.depths(heads)[1:] for heads in self.trees])

    @property
    def sentence_lengths(self) -> np.ndarray:
        return np.bincount(self.sentences)[self.sentences]


class Correct(NamedTuple):
    """Bool arrays (words,) of the arcs that are correct: by head only, and by head and label."""

    unlabelled: np.ndarray
    labelled: np.ndarray


def correct_arcs(gold: Arcs, system: Arcs, gold_words: np.ndarray) -> Correct:
    """Find the arcs of the system that are correct, by the official scorer's definition.

    gold_words: int64 (system words,), the gold word that each system word is aligned with, or -1; the alignment is one-to-one.
    An arc is correct if its dependent is aligned, and either its head is aligned with the gold head or both heads are the root.
    """
    places = np.append(np.where(gold_words < 0, ROOT - 1, gold_words), ROOT)  # places[ROOT] is the last: the root maps to itself
    unlabelled = (gold_words >= 0) & (places[system.heads] == gold.heads[gold_words])
    return Correct(unlabelled, unlabelled & (system.labels == gold.labels[gold_words]))


def recovered_arcs(gold: Arcs, correct: Correct, gold_words: np.ndarray) -> Correct:
    """Find the gold arcs that the system recovers. There are as many as correct arcs of the system."""
    return Correct(*(np.bincount(gold_words[one], minlength=len(gold)) > 0 for one in correct))
