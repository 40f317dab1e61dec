"""Turn scores and trees into the columns of parsed sentences: tags, labels and probabilities."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mh4.data.sentence import ROOT, UNPARSED, Sentence
from mh4.parser.vocabulary import Table


def best_strings(scores: np.ndarray, table: Table, roots: np.ndarray | None = None) -> list[str]:
    """Return the best-scoring string of every column of `scores`, never the unknown string (row 0).

    roots: for labels, an array (columns,): 1 for words that must be labelled `root`, 0 for words that must not, -1 for
    words with any label.
    """
    scores = scores.reshape((len(table), -1))
    if roots is not None and table[ROOT] and len(table) > 2:
        scores = scores.copy()
        scores[table[ROOT], roots == 0] = -np.inf
    strings = [table.strings[k] for k in scores[1:].argmax(axis=0) + 1]
    return strings if roots is None else [ROOT if root == 1 else string for root, string in zip(roots, strings, strict=True)]


def softmax(scores: np.ndarray, table: Table, roots: np.ndarray | None = None) -> np.ndarray:
    """Return the probabilities of the strings in each column of `scores`: float64 (strings, columns).

    The unknown string has probability 0. roots: see best_strings.
    """
    scores = scores.reshape((len(table), -1)).astype(np.float64)
    scores[0] = -np.inf
    if roots is not None and table[ROOT] and len(table) > 2:
        scores[table[ROOT], roots == 0] = -np.inf
        scores[np.ix_(np.arange(len(table)) != table[ROOT], roots == 1)] = -np.inf
    exponentials = np.exp(scores - scores.max(axis=0))
    return exponentials / exponentials.sum(axis=0)


def headed_by_root(heads: Sequence[np.ndarray]) -> np.ndarray:
    """Return which words, concatenated over all trees, are headed by the root: bool (words,)."""
    return np.concatenate([tree[1:] for tree in heads]) == 0


def annotated(sentences: Sequence[Sentence], heads: Sequence[np.ndarray], columns: Mapping[str, list[str]]) -> list[Sentence]:
    """Return new sentences with these heads, one array per sentence, and these columns by name, concatenated over all sentences."""
    results, start = [], 0
    for sentence, tree in zip(sentences, heads, strict=True):
        stop = start + len(sentence)
        strings: dict[str, Any] = {name: values[start:stop] for name, values in columns.items()}
        results.append(replace(sentence, heads=tree, **UNPARSED, **strings))
        start = stop
    return results


def arc_probabilities(marginals: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """Return the probabilities of a tree's arcs: float64 (n+1,), 1 at 0. marginals: those of all arcs, (n+1, n+1)."""
    probabilities = np.ones(len(heads))
    probabilities[1:] = marginals[heads[1:], np.arange(1, len(heads))]
    return probabilities


def with_label_probabilities(sentences: Sequence[Sentence], probabilities: np.ndarray) -> None:
    """Set the label probabilities of sentences: float64 (words,), concatenated over all sentences."""
    for sentence, own in zip(sentences, np.split(probabilities, np.cumsum([len(one) for one in sentences])[:-1]), strict=True):
        sentence.label_probabilities = np.append(1, own)
