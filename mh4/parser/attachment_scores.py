"""UAS and LAS over all words of sentences whose words are the gold ones; those of files are scored by mh4.analysis.evaluation."""

from collections.abc import Sequence

from mh4.data.conllu import Sentence
from mh4.parser.vocabulary import without_subtype


def attachment_scores(gold: Sequence[Sentence], system: Sequence[Sentence]) -> dict[str, float]:
    """{"uas": ..., "las": ...}: words with the correct head, and with the correct head and label, in percent of all words.

    gold and system: the same sentences of n words, with heads (int32 (n+1,)) and deprels (n strings). As in the shared tasks,
    labels are compared without their subtypes (what follows ":"). Raises ValueError if the sentences do not correspond, or there are none.
    """
    words = heads = labelled = 0
    for g, s in zip(gold, system, strict=True):
        right = g.heads[1:] == s.heads[1:]
        words += len(g)
        heads += int(right.sum())
        labelled += sum(
            head and without_subtype(a) == without_subtype(b)
            for head, a, b in zip(right.tolist(), g.deprels, s.deprels, strict=True)
        )
    if not words:
        raise ValueError("no words to score")
    return {"uas": 100.0 * heads / words, "las": 100.0 * labelled / words}
