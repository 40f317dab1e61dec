"""UAS, LAS and the accuracy of tags over all words, where gold and system have the same ones (gold segmentation, Section 5)."""

from collections.abc import Sequence

from mh4.data.conllu import Sentence, without_subtype


def attachment_scores(gold: Sequence[Sentence], system: Sequence[Sentence], tags: Sequence[str] = ()) -> dict[str, float]:
    """{"uas": ..., "las": ...}: words with the correct head, and with the correct head and label, in percent of all words.

    gold and system: the same sentences of n words, with heads (int32 (n+1,)) and deprels (n strings). As in the shared tasks,
    labels are compared without their subtypes (what follows ":"). tags: columns such as "upos", whose correct words are also counted.
    Raises ValueError if the sentences do not correspond, or there are none.
    """
    right = dict.fromkeys(("uas", "las", *tags), 0)
    for g, s in zip(gold, system, strict=True):
        heads = (g.heads[1:] == s.heads[1:]).tolist()
        right["uas"] += sum(heads)
        right["las"] += sum(
            head and without_subtype(a) == without_subtype(b) for head, a, b in zip(heads, g.deprels, s.deprels, strict=True)
        )
        for tag in tags:
            right[tag] += sum(a == b for a, b in zip(getattr(g, tag), getattr(s, tag), strict=True))
    words = sum(map(len, gold))
    if not words:
        raise ValueError("no words to score")
    return {name: 100.0 * number / words for name, number in right.items()}
