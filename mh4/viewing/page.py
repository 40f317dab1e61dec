"""Make the interactive page: one self-contained HTML file, with all trees as JSON and the scripts that draw them.

Properties of trees, such as levels, crossed arcs and transitions, are computed here; the scripts only draw.
"""

import json
import re
from collections.abc import Sequence
from html import escape
from importlib import resources
from typing import Any

import numpy as np

from mh4 import trees
from mh4.data.sentence import Sentence
from mh4.decoders import NotInClass, mh5
from mh4.drawing import layout
from mh4.parser import oracle
from mh4.transitions import ARC, MH5
from mh4.viewing.analyses import SentenceView

_LONGEST_FOR_MH5 = 80  # words, which take a fraction of a second; the time grows with O(n^5)

_SCRIPTS = ("draw.js", "steps.js", "size.js", "words.js", "address.js", "page.js")

# Indices in _SOURCES: where the transitions of a tree come from, or why there are none.
_OF_MODEL, _CANONICAL, _OF_MH5, _OUTSIDE, _TOO_LONG = range(5)
_SOURCES = (
    "The derivation that the model chose.",
    "The canonical derivation of this tree in the transition system of MH4: words are attached as early as possible.",
    "A derivation of this tree in the transition system of MH5; MH4's has none.",
    "No transitions: this tree is outside MH5, so no sequence of the transitions of MH4 or MH5 builds it.",
    "No transitions: MH4's do not build this tree, and in a sentence of more than %d words MH5's are not looked for."
    % _LONGEST_FOR_MH5,
)


def page(sentences: Sequence[SentenceView], names: Sequence[str]) -> str:
    """Return the page in HTML. names: of the one or two files or models that the analyses are from."""
    packer = _Packer(sentences, names)
    # "<" could begin the end tag of the script element, so it is escaped.
    data = json.dumps(packer.data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    parts = {
        "title": escape(" and ".join(names)),
        "style": _text("page.css"),
        "script": "\n".join(map(_text, _SCRIPTS)),
        "data": data.encode("utf-8", "replace").decode("utf-8"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _text("page.html"))


def transitions(analysis: Sentence) -> tuple[list[int], int]:
    """Return the codes of the transitions to show for a tree, perhaps none, and their source, an index in _SOURCES."""
    if analysis.transitions is not None:
        return analysis.transitions[:, 0].tolist(), _OF_MODEL
    canonical = oracle.canonical(analysis.heads)
    if canonical is not None:
        return canonical[:, 0].tolist(), _CANONICAL
    n = len(analysis.heads) - 1
    if n > _LONGEST_FOR_MH5:
        return [], _TOO_LONG
    shift, reduce = np.zeros((n + 2, n + 2), np.float32), np.zeros((12, n + 2, n + 2), np.float32)
    try:
        derivation = mh5.decode(shift, reduce, heads=analysis.heads)
    except NotInClass:
        return [], _OUTSIDE
    assert derivation.transitions is not None
    return derivation.transitions[:, 0].tolist(), _OF_MH5


class _Packer:
    """The page's data, with numbers for relations and tags, which are listed in tables."""

    def __init__(self, sentences: Sequence[SentenceView], names: Sequence[str]) -> None:
        self._deprels: dict[str, int] = {}
        self._tags: dict[tuple[str, str, str], int] = {}
        direction = layout.direction_of(word for shown in sentences for word in shown.words)
        packed = [self._sentence(shown, direction) for shown in sentences]
        moves = [(code, *ARC.get(code, ("", ""))) for code in MH5]
        self.data = {
            "names": names,
            "direction": direction,
            "layout": {
                "level": layout.LEVEL,
                "corner": layout.CORNER,
                "palest": layout.PALEST,
                "wordSize": layout.WORD_SIZE,
                "labelSize": layout.LABEL_SIZE,
                "tagSize": layout.TAG_SIZE,
            },
            "moves": [{"name": str(code), "head": head, "dependent": dependent} for code, head, dependent in moves],
            "sources": _SOURCES,
            "probable": any(one.probabilities is not None for shown in sentences for one in shown.analyses),
            "deprels": list(self._deprels),
            "tags": list(self._tags),
            "sentences": packed,
        }

    def _sentence(self, shown: SentenceView, direction: str) -> dict[str, Any]:
        text = "" if shown.text == " ".join(shown.words) else shown.text
        upos = [["" if tag == "_" else tag for tag in analysis.upos] for analysis in shown.analyses]
        tags = upos if any(map(any, upos)) else []
        drawn = [(analysis.heads, analysis.deprels) for analysis in shown.analyses]
        layouts = layout.place(shown.words, drawn, direction, tags)
        return {
            "number": shown.number,
            "sentId": shown.sent_id,
            "text": text,
            "words": shown.words,
            "lemmas": shown.lemmas,
            "trees": [self._tree(analysis, placed) for analysis, placed in zip(shown.analyses, layouts, strict=True)],
            "differing": [m - 1 for m in shown.differing()],
            "differingHeads": [m - 1 for m in shown.differing_heads()],
            "differingLabels": [m - 1 for m in shown.differing_labels()],
        }

    def _tree(self, analysis: Sentence, placed: layout.Layout) -> dict[str, Any]:
        codes, source = transitions(analysis)
        tags = zip(analysis.upos, analysis.xpos, analysis.feats, strict=True)
        return {
            "heads": analysis.heads[1:].tolist(),
            "deprels": [self._deprels.setdefault(deprel, len(self._deprels)) for deprel in analysis.deprels],
            "tags": [self._tags.setdefault(of_word, len(self._tags)) for of_word in tags],
            "crossed": (np.flatnonzero(trees.crossed_arcs(analysis.heads)) - 1).tolist(),
            "probabilities": _rounded(analysis.probabilities),
            "transitions": codes,
            "source": source,
            "note": analysis.note,
            "width": placed.width,
            "height": placed.height,
            "bottom": placed.bottom,
            "baseline": placed.baseline,
            "tagline": placed.tagline,
            "x": placed.words.tolist(),
            "from": placed.heads.tolist(),
            "to": placed.dependents.tolist(),
            "levels": placed.levels.tolist(),
        }


def _rounded(probabilities: np.ndarray | None) -> list[float | None] | None:
    """Return the rounded probabilities of the words, None where unknown; None if there are none."""
    if probabilities is None:
        return None
    return [None if np.isnan(p) else round(p, 4) for p in probabilities[1:].tolist()]


def _text(name: str) -> str:
    return resources.files("mh4.viewing").joinpath(name).read_text(encoding="utf-8")
