"""Count and format the errors of a parser by relation: wrong heads, wrong relations, and confused pairs of relations.

All counts come from pairs of words: relation in gold, relation in the parsed file, and whether the head is right.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from mh4.analysis import evaluation
from mh4.analysis.arcs import correct_arcs
from mh4.data.sentence import Sentence, without_subtype
from mh4.util.text_tables import Table

MOST = 20  # confusions in the table
PUNCTUATION = "punct"

# (relation in gold, relation in the parsed file, whether the head is right); None if a word is missing in that file
Pairs = Counter[tuple[str | None, str | None, bool]]


def count(gold: evaluation.Chunk, system: evaluation.Chunk, gold_words: np.ndarray) -> Pairs:
    """Count the pairs of words of corresponding chunks, with the subtypes of relations. gold_words: see evaluation.Evaluation."""
    right = correct_arcs(gold.arcs, system.arcs, gold_words).unlabelled
    in_gold, parsed = _relations(gold.sentences), _relations(system.sentences)
    partners = [in_gold[partner] if partner >= 0 else None for partner in gold_words.tolist()]
    alone = np.setdiff1d(np.arange(len(in_gold)), gold_words).tolist()
    return Counter(zip(partners, parsed, right.tolist(), strict=True)) + Counter((in_gold[k], None, False) for k in alone)


def _relations(sentences: Sequence[Sentence]) -> list[str]:
    return [relation for sentence in sentences for relation in sentence.deprels]


def without_subtypes(pairs: Pairs) -> Pairs:
    """Return the pairs with relations without their subtypes."""
    plain: Pairs = Counter()
    for (gold, parsed, right), number in pairs.items():
        plain[gold and without_subtype(gold), parsed and without_subtype(parsed), right] += number
    return plain


def scores(pairs: Pairs) -> dict[str, dict[str, evaluation.Counts]]:
    """Return UAS and LAS of all words, without punctuation, and with subtypes.

    A word is punctuation by its gold relation or, if it is not aligned, by the relation in its own file.
    """
    plain = without_subtypes(pairs)
    words = {pair: number for pair, number in plain.items() if PUNCTUATION != (pair[1] if pair[0] is None else pair[0])}
    return {
        "all words": _attachment(plain),
        "without punctuation": _attachment(Counter(words)),
        "with subtypes": _attachment(pairs),
    }


def _attachment(pairs: Pairs) -> dict[str, evaluation.Counts]:
    """Return UAS and LAS."""
    gold = parsed = aligned = right = labelled = 0
    for (in_gold, in_parsed, is_right), number in pairs.items():
        gold += number * (in_gold is not None)
        parsed += number * (in_parsed is not None)
        aligned += number * (in_gold is not None and in_parsed is not None)
        right += number * is_right
        labelled += number * (is_right and in_gold == in_parsed)
    return {"UAS": evaluation.Counts(gold, parsed, right, aligned), "LAS": evaluation.Counts(gold, parsed, labelled, aligned)}


def by_relation(pairs: Pairs) -> dict[str, Counter[str]]:
    """Count the words that are right or have each kind of error, by gold relation without subtype, by frequency."""
    found: dict[str, Counter[str]] = {}
    for (gold, parsed, right), number in without_subtypes(pairs).items():
        if gold is not None:
            kind = "not aligned" if parsed is None else KINDS[2 * (not right) + (gold != parsed)]
            found.setdefault(gold, Counter())[kind] += number
    return dict(sorted(found.items(), key=lambda item: (-item[1].total(), item[0])))


KINDS = ("right", "relation", "head", "both", "not aligned")


def confusions(pairs: Pairs) -> list[tuple[str, str, int, int]]:
    """Return (gold relation, parsed relation, words, words with the right head), without subtypes, by frequency."""
    plain = without_subtypes(pairs)
    found = {(gold, parsed) for gold, parsed, _ in plain if gold is not None and parsed is not None and gold != parsed}
    counts = [(*pair, plain[*pair, False] + plain[*pair, True], plain[*pair, True]) for pair in found]
    return sorted(counts, key=lambda one: (-one[2], one))


def tables(pairs: Pairs, name: str = "") -> list[Table]:
    """Format scores, errors by relation, and the most frequent confusions. name: of the system, for the first table."""
    shown = {name: ["%.2f" % one.score().f1 for one in counts.values()] for name, counts in scores(pairs).items()}
    parts = [Table.grouped(name, [("F1, %", ["UAS", "LAS"])], list(shown), list(shown.values()))]
    relations = by_relation(pairs)
    relations["total"] = sum(relations.values(), Counter())
    body = [["%d" % number for number in (kinds.total(), *(kinds[kind] for kind in KINDS))] for kinds in relations.values()]
    columns = [("", ["words", KINDS[0]]), ("wrong", list(KINDS[1:4])), ("", [KINDS[4]])]
    parts.append(Table.grouped("relation", columns, list(relations), body))
    found = confusions(pairs)
    rows = [["%d" % words, "%d" % right] for _, _, words, right in found[:MOST]]
    names = ["%s as %s" % (gold, parsed) for gold, parsed, _, _ in found[:MOST]]
    if rows:
        parts.append(Table.grouped("confused", [("words", ["all", "head right"])], names, rows))
    return parts


def record(pairs: Pairs) -> dict[str, Any]:
    """Return the scores, the errors by relation, and all confusions, for JSON."""
    return {
        "scores": {name: evaluation.records(counts) for name, counts in scores(pairs).items()},
        "relations": {name: {kind: kinds[kind] for kind in KINDS} for name, kinds in by_relation(pairs).items()},
        "confusions": [dict(zip(("gold", "parsed", "words", "head_right"), one, strict=True)) for one in confusions(pairs)],
    }
