"""Compute UAS, LAS and the accuracy of tags over all words, with gold segmentation (Section 5)."""

from collections.abc import Sequence

from mh4.data.sentence import Sentence, without_subtype


def attachment_scores(gold: Sequence[Sentence], system: Sequence[Sentence], tags: Sequence[str] = ()) -> dict[str, float]:
    """Return {"uas": ..., "las": ...}: words with the correct head, and with the correct head and label, in percent.

    gold and system: the same sentences of n words, with heads (int32 (n+1,)) and deprels (n strings). As in the shared
    tasks, labels are compared without their subtypes (what follows ":"). tags: columns such as "upos", whose correct
    words are also counted. Words whose gold head is open (-1) do not count. If the gold label is open (""), only the
    head counts.
    Raises ValueError if the sentences do not correspond, or there are no words to score.
    """
    right = dict.fromkeys(("uas", "las", *tags), 0)
    words = 0
    for g, s in zip(gold, system, strict=True):
        known = (g.heads[1:] >= 0).tolist()
        heads = (g.heads[1:] == s.heads[1:]).tolist()  # all heads of s are known
        words += sum(known)
        right["uas"] += sum(heads)
        right["las"] += sum(
            head and (a == "" or without_subtype(a) == without_subtype(b))
            for head, a, b in zip(heads, g.deprels, s.deprels, strict=True)
        )
        for tag in tags:
            right[tag] += sum(k and a == b for k, a, b in zip(known, getattr(g, tag), getattr(s, tag), strict=True))
    if not words:
        raise ValueError("no words to score")
    return {name: 100.0 * number / words for name, number in right.items()}
