"""UAS, LAS and the accuracy of tags over all words, where gold and system have the same ones (gold segmentation, Section 5)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mh4.data.conllu import Sentence, without_subtype


def attachment_scores(gold: Sequence[Sentence], system: Sequence[Sentence], tags: Sequence[str] = ()) -> dict[str, float]:
    """{"uas": ..., "las": ...}: words with the correct head, and with the correct head and label, in percent of all words.

    gold and system: the same sentences of n words, with heads (int32 (n+1,)) and deprels (n strings). As in the shared tasks,
    labels are compared without their subtypes (what follows ":"). tags: columns such as "upos", whose correct words are also counted.
    Words whose gold head is open, -1, do not count, and of those whose label is "_" in such sentences, only the head.
    Raises ValueError if the sentences do not correspond, or there are no words to score.
    """
    right = dict.fromkeys(("uas", "las", *tags), 0)
    words = sum(map(len, gold))
    for g, s in zip(gold, system, strict=True):
        if (g.heads[1:] < 0).any():
            known = [m for m, head in enumerate(g.heads[1:].tolist()) if head >= 0]
            words -= len(g) - len(known)
            g, s = (_of_words(each, known) for each in (g, s))
            g = replace(g, deprels=[b if a == "_" else a for a, b in zip(g.deprels, s.deprels, strict=True)])
        heads = (g.heads[1:] == s.heads[1:]).tolist()
        right["uas"] += sum(heads)
        right["las"] += sum(
            head and without_subtype(a) == without_subtype(b) for head, a, b in zip(heads, g.deprels, s.deprels, strict=True)
        )
        for tag in tags:
            right[tag] += sum(a == b for a, b in zip(getattr(g, tag), getattr(s, tag), strict=True))
    if not words:
        raise ValueError("no words to score")
    return {name: 100.0 * number / words for name, number in right.items()}


def _of_words(sentence: Sentence, places: list[int]) -> Sentence:
    """The columns of some words, by their places from 0."""
    columns: dict[str, Any] = {
        name: [column[m] for m in places]
        for name in ("words", "upos", "xpos", "feats", "deprels")
        if (column := getattr(sentence, name))
    }
    return replace(sentence, heads=sentence.heads[[0, *(m + 1 for m in places)]], **columns)
