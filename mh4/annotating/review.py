"""Find the heads and labels of a treebank that a parser considers improbable. Some of these are annotation errors.

The probability of a head is the probability of its arc over all trees, at the model's temperature. The probability of a
label is the labeller's, for the given head. The parser must not be trained on the sentences, or it would find their
errors probable: mh4.cli.review trains it on others.
"""

import csv
import io
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace

import numpy as np

from mh4.data.block import Block
from mh4.data.cells import MISC
from mh4.data.sentence import Sentence
from mh4.errors import InputError, counted, on_line
from mh4.parser import long_sentences
from mh4.parser.columns import arc_probabilities
from mh4.parser.parsing import Parser
from mh4.util import reading

_KEY = ("file", "sentence", "word", "form", "column", "given")  # the fields in Doubt.key
MARKS = ("HeadProb", "BestHead", "DeprelProb", "BestDeprel")  # attributes of MISC


@dataclass(frozen=True)
class Doubt:
    """A head or label of a treebank that is not the most probable one. The most probable one is proposed instead.

    probability, of_proposed: the probabilities of the given and of the proposed value. column: "HEAD" or "DEPREL".
    sentence: its sent_id or, if it has none, its number in the file, such as "sentence 2". word: its number, from 1.
    to: the form of the proposed head or, for labels, of the given head.
    """

    probability: float
    of_proposed: float
    column: str
    given: str
    proposed: str
    file: str
    sentence: str
    word: int
    form: str
    to: str

    @property
    def key(self) -> tuple[str, ...]:
        """Return an identifier of the doubt that changes only if the annotation does."""
        return tuple(str(getattr(self, name)) for name in _KEY)


@dataclass(eq=False)
class Reviewed:
    """A sentence of a treebank, its number in the file, and what a parser predicts for it.

    heads, deprels: float64 (n+1,), the probabilities of the given heads and labels; nan for labels that the parser does
    not know. best_heads, best_deprels: the most probable heads, and the most probable labels for the given heads.
    of_best_heads, of_best_deprels: their probabilities. proposal: the parser's tree, with probabilities of its arcs.
    """

    file: str
    number: int
    block: Block
    heads: np.ndarray
    best_heads: np.ndarray
    of_best_heads: np.ndarray
    deprels: np.ndarray
    best_deprels: list[str]
    of_best_deprels: np.ndarray
    proposal: Sentence

    @property
    def name(self) -> str:
        """Return the sent_id, which has no spaces, or otherwise the number of the sentence, such as "sentence 2"."""
        return self.block.sent_id or "sentence %d" % self.number

    def doubts(self) -> Iterator[Doubt]:
        """Yield a Doubt for each head and label that is not the most probable one."""
        gold = self.block.sentence
        forms = ["root", *gold.words]
        where = self.file, self.name
        for m, (head, deprel) in enumerate(zip(gold.heads[1:].tolist(), gold.deprels, strict=True), start=1):
            best, label = int(self.best_heads[m]), self.best_deprels[m - 1]
            if best != head:
                probable = round(float(self.heads[m]), 4), round(float(self.of_best_heads[m]), 4)
                yield Doubt(*probable, "HEAD", str(head), str(best), *where, m, forms[m], forms[best])
            if self.of_best_deprels[m] > self.deprels[m]:
                probable = round(float(self.deprels[m]), 4), round(float(self.of_best_deprels[m]), 4)
                yield Doubt(*probable, "DEPREL", deprel, label, *where, m, forms[m], forms[head])


def annotated(block: Block, found: Reviewed | None, doubts: Collection[Doubt]) -> str:
    """Return the text of a sentence with the probabilities of heads and labels, and the proposals of doubts, in MISC.

    found: None for a sentence that was too long for probabilities. doubts: the doubts to write; they may include doubts
    of other sentences.
    """
    misc = [[] if cell == "_" else [a for a in cell.split("|") if a.split("=")[0] not in MARKS] for cell in block.column(MISC)]
    if found:
        for doubt in filter(doubts.__contains__, found.doubts()):
            misc[doubt.word - 1].append("Best%s=%s" % (doubt.column.capitalize(), doubt.proposed))
        for m, cell in enumerate(misc, start=1):
            probabilities = found.heads[m], found.deprels[m]
            cell += ["%s=%.4f" % pair for pair in zip(MARKS[::2], probabilities, strict=True) if pair[1] >= 0]
    return block.alone({MISC: ["|".join(sorted(cell, key=_place)) for cell in misc]})


def _place(attribute: str) -> int:
    """Return the rank of an attribute of MISC: those in MARKS come last, in that order."""
    name = attribute.split("=")[0]
    return 1 + MARKS.index(name) if name in MARKS else 0


def review(parser: Parser, blocks: Sequence[tuple[str, int, Block]]) -> Iterator[Reviewed]:
    """Review sentences with trees, each given with its file and number, except sentences too long for probabilities.

    Raises InputError if the system has no probabilities of arcs, or the model lacks contextual vectors.
    """
    parser.check_probabilities()
    parser.check_vectors()
    most = long_sentences.default(parser, confidence=True)
    short = [one for one in blocks if len(one[2].sentence) <= most]
    sentences = [block.sentence for _, _, block in short]
    vocabulary = parser.model.vocabulary
    found: dict[int, Reviewed] = {}
    with parser.model.lock:
        for batch, scores in parser.model.score(sentences):
            gold = [sentences[k] for k in batch]
            proposals = parser.parse_scored(gold, scores)
            heads = [sentence.heads for sentence in gold]
            labels = parser.label_probabilities(scores.labels(heads).npvalue(), heads)
            labels_of = np.split(labels, np.cumsum([len(sentence) for sentence in gold])[:-1], axis=1)
            marginals = parser.marginals(gold, scores)
            for k, sentence, proposal, of_words, distribution in zip(batch, gold, proposals, labels_of, marginals, strict=True):
                arcs, words = distribution.arcs, np.arange(1, len(sentence) + 1)
                best = of_words.argmax(axis=0)
                rows = vocabulary.known_labels(sentence.deprels)
                strings = [vocabulary.labels.strings[row] for row in best]
                found[k] = Reviewed(
                    *short[k],
                    np.append(1, arcs[sentence.heads[1:], words]),
                    arcs.argmax(axis=0),
                    np.append(1, arcs[:, 1:].max(axis=0)),
                    np.append(1, np.where(rows, of_words[rows, np.arange(len(sentence))], np.nan)),
                    strings,
                    np.append(1, of_words.max(axis=0)),
                    replace(proposal, probabilities=arc_probabilities(arcs, proposal.heads)),
                )
    return (found[k] for k in range(len(short)))


def worst_first(reviewed: Iterable[Reviewed], known: set[tuple[str, ...]]) -> list[Doubt]:
    """Return all doubts, except those whose keys are in `known`, the least probable first."""
    doubts = (doubt for one in reviewed for doubt in one.doubts() if doubt.key not in known)
    return sorted(doubts, key=lambda doubt: (doubt.probability, -doubt.of_proposed))


NAMES = tuple(field.name for field in fields(Doubt))


def as_tsv(doubts: Iterable[Doubt]) -> str:
    """Return the doubts as a table with a header line, and quotation marks as in CSV."""
    rows = (["%.4f" % cell if isinstance(cell, float) else str(cell) for cell in astuple(doubt)] for doubt in doubts)
    table = io.StringIO()
    csv.writer(table, "excel-tab", lineterminator="\n").writerows([NAMES, *rows])
    return table.getvalue()


def as_json(doubts: Iterable[Doubt]) -> str:
    """Return the doubts as a JSON list of objects, each on a line."""
    lines = [json.dumps(asdict(doubt), ensure_ascii=False) for doubt in doubts]
    return "[\n%s\n]\n" % ",\n".join(lines) if lines else "[]\n"


def known(path: str) -> set[tuple[str, ...]]:
    """Return the keys of the doubts in a table that `as_tsv` has written, perhaps saved by a spreadsheet.

    Raises InputError for other tables.
    """
    first, *lines = reading.decompressed_text(path).removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n").split("\n")
    csv.field_size_limit(reading.MOST)  # a word in the table may be as long as the table
    if _cells(first, on_line(path, 1)) != list(NAMES):
        raise InputError("%s: expected the names of the columns of a table that `mh4 review` has written" % on_line(path, 1))
    found = set()
    for number, line in enumerate(lines, start=2):
        row = _cells(line, on_line(path, number))
        if len(row) != len(NAMES):
            raise InputError("%s: %s, expected %d" % (on_line(path, number), counted(len(row), "column"), len(NAMES)))
        cells = dict(zip(NAMES, row, strict=True))
        found.add(tuple(cells[name] for name in _KEY))
    return found


def _cells(line: str, place: str) -> list[str]:
    try:
        return next(csv.reader([line], "excel-tab", strict=True))
    except csv.Error:
        raise InputError("%s: expected cells separated by tabs, with quotation marks as in CSV" % place) from None
