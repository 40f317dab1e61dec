"""UAS and LAS: over all words of gold segmentation, or by the official scorer of the CoNLL 2018 shared task.

Development scores take gold segmentation and count every word, punctuation too (section 5 of the paper). Scores on predicted
segmentation need an alignment of words: that is the official scorer's business, as `udtools` ships it.
"""

from importlib import metadata
from typing import Any, Dict, NamedTuple, Optional, Sequence

from mh4 import conllu
from mh4.errors import InputError
from mh4.vocabulary import without_subtype

# What the shared task reports, in its order; the scorer's metrics of enhanced graphs do not concern a tree parser.
METRICS = "Tokens Sentences Words UPOS XPOS UFeats AllTags Lemmas UAS LAS CLAS MLAS BLEX".split()


class Score(NamedTuple):
    """In percent; aligned_accuracy is over the words that could be aligned, None where nothing is aligned."""

    precision: float
    recall: float
    f1: float
    aligned_accuracy: Optional[float]


def attachment_scores(gold: Sequence[conllu.Sentence], system: Sequence[conllu.Sentence]) -> Dict[str, float]:
    """{"uas": ..., "las": ...}: right heads, and right heads with right labels, in percent of all words.

    gold and system: the same sentences of n words, with heads (int32 (n+1,)) and deprels (n strings). As in the shared tasks,
    labels are compared without their subtypes (what follows ":"). Raises ValueError if the sentences do not correspond.
    """
    words = heads = labelled = 0
    if len(gold) != len(system):
        raise ValueError("%d gold sentences but %d of the system" % (len(gold), len(system)))
    for g, s in zip(gold, system):
        if len(g) != len(s):
            raise ValueError("%s: %d gold words but %d of the system" % (g.name or "a sentence", len(g), len(s)))
        right = g.heads[1:] == s.heads[1:]
        words += len(g)
        heads += int(right.sum())
        labelled += sum(
            head and without_subtype(a) == without_subtype(b) for head, a, b in zip(right.tolist(), g.deprels, s.deprels)
        )
    if not words:
        raise ValueError("no words to score")
    return {"uas": 100.0 * heads / words, "las": 100.0 * labelled / words}


def official(gold: str, system: str) -> Dict[str, Score]:
    """The official scorer's metrics (see METRICS) of CoNLL-U file `system` against CoNLL-U file `gold`.

    The words may differ, the text may not. Raises InputError for files the scorer refuses: no CoNLL-U, no tree, several roots,
    another text.
    """
    scorer = _scorer()
    loaded_gold, loaded_system = _load(scorer, gold), _load(scorer, system)
    try:
        scores = scorer.evaluate(loaded_gold, loaded_system)
    except scorer.UDError:
        raise InputError(_difference(gold, loaded_gold, system, loaded_system)) from None
    return {metric: _percent(scores[metric]) for metric in METRICS}


def scorer_name() -> str:
    """Which official scorer there is, with its version, for the record. Raises InputError if there is none."""
    _scorer()
    return "udtools " + metadata.version("udtools")


def _percent(score: Any) -> Score:
    aligned = None if score.aligned_accuracy is None else 100.0 * score.aligned_accuracy
    return Score(100.0 * score.precision, 100.0 * score.recall, 100.0 * score.f1, aligned)


def format_table(scores: Dict[str, Score]) -> str:
    """The scores as the official scorer prints them."""
    lines = ["Metric     | Precision |    Recall |  F1 Score | AligndAcc"]
    lines.append("-----------+-----------+-----------+-----------+-----------")
    for metric, score in scores.items():
        columns = ["" if value is None else "%10.2f" % value for value in score]
        lines.append("%-11s|" % metric + " |".join(columns))
    return "\n".join(lines)


def _scorer():
    try:
        from udtools import udeval
    except (ImportError, OSError):  # OSError: udtools 0.1, without its data files
        raise InputError(
            "the official scorer needs udtools 0.2.9 or later: pip install --ignore-requires-python --no-deps 'udtools>=0.2.9'"
        ) from None
    return udeval


def _load(scorer, path: str) -> Any:
    conllu.read(path)  # names the line and the sentence of what is wrong, where the scorer does not
    try:
        with open(path, encoding="utf-8") as file:
            return scorer.load_conllu(file, path, {})
    except scorer.UDError as error:
        raise InputError("%s: the official scorer refuses it: %s" % (path, str(error).rstrip("."))) from None
    except (ValueError, IndexError):  # it does not check what it reads of column DEPS and of multiword tokens
        raise InputError("%s: the official scorer cannot read its column DEPS or its multiword tokens" % path) from None
    except RecursionError:
        raise InputError("%s: a tree is too deep for the official scorer" % path) from None


def _difference(gold: str, loaded_gold: Any, system: str, loaded_system: Any) -> str:
    """Where the two texts part."""
    pairs = zip(loaded_gold.characters, loaded_system.characters)
    shorter = min(len(loaded_gold.characters), len(loaded_system.characters))
    start = next((i for i, (a, b) in enumerate(pairs) if a != b), shorter)

    def place(path, loaded):
        line = next((token.line for token in loaded.tokens if token.end > start), None)
        text = "".join(loaded.characters[start : start + 20])
        return "%s, line %d: %r" % (path, line, text) if text else "%s: the end" % path

    return "%s, but %s: the scorer needs the same text in both" % (place(system, loaded_system), place(gold, loaded_gold))
