"""Partly annotated trees: their given heads and labels, and whether any tree has all the given heads."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mh4 import trees
from mh4.data.sentence import ROOT, Sentence, checked_heads, without_subtype
from mh4.decoders import arguments
from mh4.errors import InputError, shown

_OPEN = None, "", "_"  # labels that are not given
_NOT_ROOT = -2  # the head of a word that has a label other than root, but no given head


def given(sentence: Sentence) -> np.ndarray:
    """Return the given heads: int32 (n+1,), -1 where a word has none."""
    return np.full(len(sentence) + 1, -1, dtype=np.int32) if sentence.heads is None else sentence.heads


def rooted(sentence: Sentence) -> Sentence:
    """Return the sentence with a head for each word that has only a label: 0 for root, otherwise -2.

    Returns the same object if there is no such word.
    """
    labels = [without_subtype(label) if label else label for label in _labels(sentence)]
    of_labels = [-1 if label in _OPEN else 0 if label == ROOT else _NOT_ROOT for label in labels]
    heads = given(sentence)
    new = np.where(heads < 0, np.array([-1, *of_labels], dtype=np.int32), heads)
    return sentence if (new == heads).all() else replace(sentence, heads=new)


def whole(heads: np.ndarray) -> bool:
    """Return whether every word has a head."""
    return bool((heads[1:] >= 0).all())


def has_heads(sentence: Sentence) -> bool:
    """Return whether any word has a head."""
    return sentence.heads is not None and bool((sentence.heads[1:] >= 0).any())


def labelled(sentence: Sentence, predicted: list[str]) -> list[str]:
    """Return the labels of the sentence, with predicted ones where it has none."""
    return [label if given in _OPEN else given for given, label in zip(_labels(sentence), predicted, strict=True)]


def has_label(sentence: Sentence) -> np.ndarray:
    """Return which words have a label: bool (n,)."""
    return np.array([label not in _OPEN for label in _labels(sentence)], dtype=bool)


def _labels(sentence: Sentence) -> list[str]:
    return sentence.deprels or [""] * len(sentence)


def complete(sentence: Sentence) -> bool:
    """Return whether nothing is left to fill in: every word has a head and a label."""
    return whole(given(sentence)) and bool(has_label(sentence).all())


def obstacle(heads: np.ndarray, single_root: bool) -> str:
    """Return why no tree has these heads, with the word that is in the way; an empty string if some tree has them.

    The reasons are a cycle, too many roots, or no word that can be the root.
    heads: int32 (n+1,), -1 where a head is open, and -2 where it is any but the root.
    """
    try:
        arguments.given_heads(heads, len(heads) - 1, False)
    except ValueError as error:
        return str(error).removeprefix("heads: ")
    roots = np.flatnonzero(heads == 0)
    if single_root and len(roots) > 1:
        return "words %d and %d are both given as roots" % tuple(roots[:2])
    if len(heads) > 1 and not len(roots) and _NOT_ROOT in heads and -1 not in heads[1:]:
        return "no word can be the root, as each has a head or another label"
    return ""


def outside(heads: np.ndarray, tree_class: str, single_root: bool) -> str:
    """Return why no tree of a class has these heads; an empty string if a tree has them, or if every word has a head.

    The heads must have no `obstacle`. The reason names the first word such that no tree has the given heads of the
    words up to it. In sentences of more than 150 words, where decodes take long, it may name a later word.
    """
    if tree_class == "any" or whole(heads) or _possible(heads, tree_class, single_root):
        return ""
    low, high = 0, len(heads) - 1  # there is a tree with the given heads of the first `low` words
    work = 2 * max(high, 150) ** 4  # as much as two decodes of this sentence, or of one of 150 words
    while high - low > 1 and work > 0:
        middle = min((low + high) // 2, 2 * low + 16)
        first = _without_last(np.where(np.arange(len(heads)) <= middle, heads, -1))
        low, high = (middle, high) if _possible(first, tree_class, single_root) else (low, middle)
        work -= len(first) ** 4
    return "no %s tree has the heads given up to word %d" % (NAMES.get(tree_class, tree_class), high)


def joined(heads: np.ndarray, given: np.ndarray, single_root: bool) -> np.ndarray:
    """Return a tree, int32 (n+1,), with the `given` heads and, where these are open (-1 or -2), the heads in `heads`.

    given: heads without `obstacle`. In each cycle that results, a word with an open head becomes a root. One root, a
    given one if possible, becomes the head of the others if `single_root`, otherwise only of those that may not be
    roots.
    """
    tree, seen = np.where(given >= 0, given, heads), [0] * len(heads)
    for m in range(1, len(heads)):
        node = m
        while node > 0 and not seen[node]:
            seen[node], node = m, int(tree[node])
        if node > 0 and seen[node] == m:
            while given[node] >= 0:
                node = int(tree[node])
            tree[node] = 0
    root = max(range(1, len(tree)), key=lambda m: (given[m] == 0, given[m] == -1 and tree[m] == 0, given[m] == -1))
    tree[(tree == 0) & (single_root | (given == _NOT_ROOT))] = root
    tree[root] = 0
    return tree


def learnable(heads: np.ndarray, tree_class: str, single_root: bool) -> np.ndarray:
    """Return the heads to learn from a partly annotated tree: as many as a tree of the class can have, -1 elsewhere."""
    kept = (heads == np.arange(len(heads))[:, None]).astype(np.float32)
    return np.where(heads == trees.best(kept, tree_class, single_root=single_root), heads, -1).astype(np.int32)


def annotated_labels(sentence: Sentence) -> np.ndarray:
    """Return which words have a label to learn, that is, both a head and a label: bool (n,)."""
    labelled = np.array([label != "" for label in sentence.deprels], dtype=bool)
    return labelled if sentence.heads is None else labelled & (sentence.heads[1:] >= 0)


NAMES = {"mh4": "MH4", "mh5": "MH5", "1ec": "1-Endpoint-Crossing"}  # of classes, in messages


def _possible(heads: np.ndarray, tree_class: str, single_root: bool) -> bool:
    """Return whether a tree of the class has these heads."""
    try:
        trees.best(arguments.with_heads(None, heads, np.dtype(np.float32)), tree_class, single_root=single_root)
    except ValueError:
        return False
    return True


def _without_last(heads: np.ndarray) -> np.ndarray:
    """Return the heads of the words up to the last that has a dependent or may not have any head, and of one more word.

    The words after these exclude no tree.
    """
    involved = np.flatnonzero(heads[1:] != -1)
    return heads[: max(int(involved[-1]) + 1 if len(involved) else 0, int(heads.max())) + 2]


def checked(sentence: Sentence, name: str) -> Sentence:
    """Return the sentence with its heads as an array.

    Raises InputError unless heads and labels, if the sentence has any, are one per word (-1 for an open head).
    """
    labels = sentence.deprels
    if labels is not None and (
        not isinstance(labels, Sequence)
        or len(labels) != len(sentence)
        or not all(label is None or isinstance(label, str) for label in labels)
    ):
        raise InputError("%s: its deprels are %s, expected a list of one string per word" % (name, shown(labels)))
    return sentence if sentence.heads is None else replace(sentence, heads=checked_heads(sentence, name))
