"""Partly annotated trees: the heads that are given, whether a tree can have them all, and the columns around them."""

from dataclasses import replace

import numpy as np

from mh4 import trees
from mh4.data.conllu import Sentence
from mh4.decoders import arguments
from mh4.errors import InputError, shown

_OPEN = "", "_"  # labels that are not given, besides None


def given(sentence: Sentence) -> np.ndarray:
    """The heads that are given: int32 (n+1,), -1 where a word has none."""
    return np.full(len(sentence) + 1, -1, dtype=np.int32) if sentence.heads is None else sentence.heads


def whole(heads: np.ndarray) -> bool:
    """Whether every word has a head."""
    return bool((heads[1:] >= 0).all())


def labelled(sentence: Sentence, predicted: list[str]) -> list[str]:
    """The labels of the sentence, and the predicted ones where it has none."""
    own = sentence.deprels or [""] * len(sentence)
    return [label if given in (None, *_OPEN) else given for given, label in zip(own, predicted, strict=True)]


def complete(sentence: Sentence) -> bool:
    """Whether nothing is left to fill in: every word has a head and a label."""
    return whole(given(sentence)) and all(label and label not in _OPEN for label in sentence.deprels or [""])


def obstacle(heads: np.ndarray, tree_class: str, single_root: bool) -> str:
    """Why no tree of a class has these heads, with the word that is in the way; empty if one has.

    heads: int32 (n+1,), -1 where a head is open. A whole tree may be of any class, and have any number of roots.
    """
    try:
        arguments.given_heads(heads, len(heads) - 1, False)
    except ValueError as error:
        return str(error).removeprefix("heads: ")
    if whole(heads):
        return ""
    roots = np.flatnonzero(heads == 0)
    if single_root and len(roots) > 1:
        return "words %d and %d both have head 0" % tuple(roots[:2])
    low, high = 0, len(heads) - 1  # with the given heads of the first `low` words there is a tree
    if _possible(heads, high, tree_class, single_root):
        return ""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _possible(heads, middle, tree_class, single_root) else (low, middle)
    return "no %s tree has the heads given up to that of word %d" % (NAMES.get(tree_class, tree_class), high)


def learnable(heads: np.ndarray, tree_class: str, single_root: bool) -> np.ndarray:
    """The heads to learn of a partly annotated tree: as many of them as one tree of the class can have; -1 for the others."""
    kept = (heads == np.arange(len(heads))[:, None]).astype(np.float32)
    return np.where(heads == trees.best(kept, tree_class, single_root=single_root), heads, -1).astype(np.int32)


def annotated_labels(sentence: Sentence) -> np.ndarray:
    """Which words have a label to learn: those with a head and a label. bool (n,)."""
    labelled = np.array([label != "" for label in sentence.deprels], dtype=bool)
    return labelled if sentence.heads is None else labelled & (sentence.heads[1:] >= 0)


NAMES = {"mh4": "MH4", "mh5": "MH5", "1ec": "1-Endpoint-Crossing"}  # of classes, for people


def _possible(heads: np.ndarray, words: int, tree_class: str, single_root: bool) -> bool:
    """Whether a tree has the heads given for the first words."""
    first = np.where(np.arange(len(heads)) <= words, heads, -1)
    try:
        trees.best(arguments.with_heads(None, first, np.dtype(np.float32)), tree_class, single_root=single_root)
    except ValueError:
        return False
    return True


def checked(sentence: Sentence, name: str) -> Sentence:
    """The sentence, whose heads are an array now. Raises InputError if there is not one for each word, or -1 where it has none."""
    if sentence.heads is None:
        return sentence
    heads = np.asarray(sentence.heads)
    if (
        heads.shape != (len(sentence) + 1,)
        or heads.dtype.kind not in "iu"
        or ((heads[1:] < -1) | (heads[1:] > len(sentence))).any()
    ):
        expected = "-1 and then one of 0 to %d for each word, or -1 where it has none" % len(sentence)
        raise InputError("%s: its heads are %s, expected %s" % (name, shown(sentence.heads), expected))
    return replace(sentence, heads=heads.astype(np.int32))
