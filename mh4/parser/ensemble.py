"""Ensembles: several parsers vote for one tree. The tree with the most votes is found exactly; labels are averaged.

Each member, a model of any system or a file of another parser's trees, votes for the arcs of its tree. The result is a tree with
the most votes in its class; ties are broken in favour of arcs from members that are listed early. The label of an arc
is the one with the highest probability, averaged over the labellers of all models, at temperature 1; a file's label has
probability 1 if the file has the arc, and then the models' probabilities are at their temperatures. Tags, too, are those
with the highest average probability.

The paper does not describe how its ensemble (Section 5) is built.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, cast, overload

import numpy as np

from mh4 import trees
from mh4.data import conllu
from mh4.data.block import Block
from mh4.data.sentence import ROOT, Sentence, without_subtype
from mh4.decoders import arguments
from mh4.errors import InputError, shown, unknown
from mh4.parser.base import BaseParser
from mh4.parser.choices import ONLY_TREES, TREES, Decoding, TreeClass, Wanted
from mh4.parser.columns import annotated, arc_probabilities, best_strings, headed_by_root, with_label_probabilities
from mh4.parser.given import items_of
from mh4.parser.long_sentences import Progress
from mh4.parser.parsing import Parser, check_tags, in_order, naming
from mh4.parser.vocabulary import TAGS, Table
from mh4.util import memory
from mh4.util.reading import Path, Paths, path_of

if TYPE_CHECKING:
    from mh4.parser.model import Scores
    from mh4.parser.network.graph import dy

# The weight of a file's label for a different arc to the word: it only counts where there is no other label.
_OF_ANOTHER_ARC = 1e-3
_NO_LABEL = ("", "_")
_UNSPECIFIED = "dep"  # the label where no member has one

# A table of strings, and the probability of each (except the unknown one) for every word: (len(table) - 1, words).
Opinion = tuple[Table, np.ndarray]
Member = tuple[Parser, "Scores"]


@dataclass(eq=False)
class SentenceWithVotes(Sentence):
    """A sentence with votes: the trees of other parsers, as Sentences of the same words with heads and deprels."""

    votes: Sequence[Sentence] = ()


class Ensemble(BaseParser):
    """Several parsers that vote for one tree, which has a single root. Threads, pickling and forks are as for a Parser.

    The trees of a SentenceWithVotes vote last, and it cannot have probabilities. Those of other sentences are averages
    over the parsers. The options keep_heads, transitions and best raise InputError.

    >>> ensemble = mh4.load(["models/hu-mh4", "models/hu-1ec", "models/hu-mst"])
    >>> ensemble.parse([["Ez", "egy", "mondat", "."]])[0].heads
    """

    def __init__(self, parsers: Sequence[Parser], tree: TreeClass = "mst") -> None:
        """parsers: the members, in the order in which they win ties; empty if all votes come from SentenceWithVotes sentences.

        tree: the class of trees to choose from, one of TREES. Raises InputError for any other.
        """
        if not isinstance(tree, str) or tree not in TREES:
            raise InputError(unknown("class of trees", tree, TREES))
        members = items_of(parsers)
        if members is None or not all(isinstance(parser, Parser) for parser in members):
            raise InputError("no ensemble can be made of %s, expected a list of parsers" % shown(parsers))
        self.parsers: list[Parser] = members
        self.tree = tree

    @property
    def members(self) -> list[Parser]:
        """The parsers of the ensemble. (A Parser has itself as its only member.)"""
        return self.parsers

    @property
    def vote_class(self) -> str:
        """The class of the ensemble's trees, by its name in mh4.trees."""
        return TREES[self.tree]

    def __repr__(self) -> str:
        return "<mh4.Ensemble of %d, tree %s: %s>" % (len(self.parsers), self.tree, ", ".join(map(repr, self.parsers)))

    @classmethod
    def load(cls, folders: Iterable[Path], tree: TreeClass = "mst") -> "Ensemble":
        """Return the ensemble of the parsers in these folders.

        Raises InputError if a folder has no parser, or if the first parser has no label except root in common with
        another.
        """
        given = items_of(folders)
        if given is None:
            raise InputError("%s: expected a list of the folders of several models" % folders)
        paths = list(map(path_of, given))
        parsers = [Parser.load(path) for path in paths]
        labels = [{without_subtype(label) for label in parser.model.vocabulary.labels.strings} - {"", ROOT} for parser in parsers]
        for path, others in zip(paths[1:], labels[1:], strict=True):
            if labels[0] and others and not labels[0] & others:
                raise InputError(
                    "%s and %s have no label in common except %s: the models of an ensemble need the same set of labels"
                    % (paths[0], path, ROOT)
                )
        return cls(parsers, tree)

    def parse_as_usual(
        self, sentences: Sequence[Sentence], progress: Progress = lambda words: None, wanted: Wanted = ONLY_TREES
    ) -> list[Sentence]:
        """Parse sentences of any length in the same way; see Parser.parse_as_usual. Raises InputError for options of a single parser."""
        several = type(wanted.best) is not int or wanted.best != 1
        options = {"keep_heads": wanted.keep_heads, "transitions": wanted.transitions, "best": several}
        if others := [name for name, is_wanted in options.items() if is_wanted]:
            raise InputError("%s: only a single parser has this option, not an ensemble" % ", ".join(others))
        for number, sentence in enumerate(sentences, start=1):
            _check_votes(sentence, self.parsers, wanted.confidence, sentence.name or "sentence %d" % number)
        if wanted.tags:
            check_tags(self.parsers)
        for parser in self.parsers:
            parser.check_vectors()
            if wanted.confidence:
                parser.check_probabilities()
        parse = partial(self._parse, wanted=wanted)
        with self.parsers[0].model.lock if self.parsers else nullcontext():
            return in_order(sentences, self._minibatches, parse, progress, wanted.confidence)

    def _minibatches(self, sentences: Sequence[Sentence]) -> Iterator[tuple[list[int], list["Scores"]]]:
        """Return an iterator over minibatches: the indices of their sentences, and each model's scores for them."""
        if not self.parsers:
            return iter([(list(range(len(sentences))), [])] if sentences else [])
        from mh4.parser.model import score_with

        return score_with([parser.model for parser in self.parsers], sentences)

    def _parse(self, sentences: Sequence[Sentence], scores: Sequence["Scores"], wanted: Wanted) -> list[Sentence]:
        members = list(zip(self.parsers, scores, strict=True))
        by_member = [parser.derivations(sentences, mine) for parser, mine in members]
        heads = []
        for k, sentence in enumerate(sentences):
            votes = [found[k].heads for found in by_member] + [other.heads for other in _votes(sentence)]
            with naming(sentence, "parse"):
                heads.append(vote(votes, self.tree))
        labellers = [(parser, mine.labels(heads)) for parser, mine in _alike(members, "deprels")]
        # Files are certain of their labels. Beside them, models are as certain as they are reliable.
        voted = any(map(_votes, sentences))
        labels = [
            _opinion(parser, "labels", scores, parser.model.label_temperature if voted else 1.0) for parser, scores in labellers
        ]
        columns = {"deprels": _most_probable([*labels, _labels_of_files(sentences, heads)], self._roots(sentences, heads))}
        for column in TAGS if wanted.tags else ():
            able = [each for each in members if column in each[0].model.predicted_tags]
            if able:
                alike = _alike(able, column)
                predicted = _most_probable([_opinion(parser, column, mine.tags[column]) for parser, mine in alike])
                columns[column] = alike[0][0].model.written(column, predicted)
        parsed = annotated(sentences, heads, columns)
        if wanted.confidence:
            for sentence, *found in zip(parsed, *[parser.marginals(sentences, mine) for parser, mine in members], strict=True):
                each = [arc_probabilities(marginals.arcs, sentence.heads) for marginals in found]
                sentence.probabilities = np.mean(each, axis=0)
            words, of_labels = np.arange(sum(map(len, sentences))), []
            for parser, of_parser in labellers:
                rows = parser.model.vocabulary.known_labels(columns["deprels"])
                of_labels.append(parser.label_probabilities(of_parser.npvalue(), heads)[rows, words])
            with_label_probabilities(parsed, np.mean(of_labels, axis=0))
        return parsed

    def _roots(self, sentences: Sequence[Sentence], heads: Sequence[np.ndarray]) -> np.ndarray | None:
        """Return which words are labelled `root`; see columns.best_strings."""
        if not all(parser.model.config.scorer.root_label for parser in self.parsers):
            return None
        known = any(parser.model.vocabulary.labels[ROOT] for parser in self.parsers)
        tied = np.repeat([known or _have_root(sentence) for sentence in sentences], list(map(len, sentences)))
        return np.where(tied, headed_by_root(heads), -1)


def _have_root(sentence: Sentence) -> bool:
    """Return whether the voting trees label a dependent of the root `root`, or none of these dependents has a label."""
    labels = {label for o in _votes(sentence) for label, head in zip(o.deprels, o.heads[1:], strict=True) if head == 0}
    return ROOT in labels or bool(labels) and labels <= set(_NO_LABEL)


def vote(votes: Sequence[np.ndarray], tree: TreeClass = "mst") -> np.ndarray:
    """Return the single-root tree of a class (one of TREES) whose arcs have the most votes: heads, int32 (n+1,).

    votes: m trees over the same n words, heads (n+1,). Ties are broken in favour of early voters: among trees with the most
    votes, the result minimises the sum, over its arcs, of the number of the earliest voter for the arc. This is exact
    for n * m < 4096; beyond that, the float32 of the decoders of "mh4" and "1ec" may not hold both sums. Raises
    ValueError if there are no votes, or if one is not a tree over as many words as the others.
    """
    if not len(votes):
        raise ValueError("no votes")
    votes = [arguments.tree(heads, len(votes[0]) - 1) for heads in votes]
    m, n = len(votes), len(votes[0]) - 1
    words = np.arange(1, n + 1)
    memory.require(16 * (n + 1) ** 2, "the vote")
    number, earliest = np.zeros((2, n + 1, n + 1), dtype=np.float32)
    for k, heads in reversed(list(enumerate(votes))):
        number[heads[1:], words] += 1
        earliest[heads[1:], words] = m - 1 - k
    # One vote outweighs everything that n arcs can gain from early voters.
    return trees.best((n * (m - 1) + 1) * number + earliest, TREES[tree], single_root=True)


def with_votes(blocks: Iterable[Block], files: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks with each sentence as a SentenceWithVotes, whose votes are the trees of these CoNLL-U files.

    Raises InputError where a file has no tree, or where its sentences or words differ from those of the blocks.
    """
    for block, others in conllu.in_parallel(blocks, files):
        yield replace(block, sentence=SentenceWithVotes(**vars(block.sentence), votes=[other.sentence for other in others]))


def _votes(sentence: Sentence) -> Sequence[Sentence]:
    return sentence.votes if isinstance(sentence, SentenceWithVotes) else ()


def _check_votes(sentence: Sentence, parsers: Sequence[Parser], confidence: bool, where: str) -> None:
    votes = _votes(sentence)
    if not isinstance(votes, Sequence) or not all(isinstance(other, Sentence) for other in votes):
        raise InputError("%s: its votes cannot be %s, expected a list of Sentence" % (where, shown(votes)))
    if not parsers and not votes:
        raise InputError("%s: no votes for it, and the ensemble has no parsers" % where)
    for number, other in enumerate(votes, start=1):
        try:
            arguments.tree(other.heads, len(sentence))
        except ValueError as error:
            raise InputError("%s: vote %d is not a tree over its words: %s" % (where, number, error)) from None
        if other.deprels is None or len(other.deprels) != len(sentence) or not all(isinstance(d, str) for d in other.deprels):
            raise InputError("%s: vote %d does not have a relation for each of its words" % (where, number))
    if votes and confidence:
        raise InputError("%s: the trees that vote have no probabilities of arcs" % where)


def _alike(members: Sequence[Member], column: str) -> Sequence[Member]:
    """Return the members that vote on a column: those that predict the same kind of strings as the first."""
    kinds = [parser.model.kind(column) for parser, _ in members]
    return [member for member, kind in zip(members, kinds, strict=True) if kind == kinds[0]]


def _opinion(parser: Parser, column: str, scores: "dy.Expression", temperature: float = 1.0) -> Opinion:
    """Return the softmax of scores (strings, words) of a column of the parser's vocabulary, without the unknown string.

    temperature: the scores are divided by it.

    Unlike `columns.softmax`, this computes in float32, as in the recorded votes of ensembles, and lets any word have
    the label `root`.
    """
    table = getattr(parser.model.vocabulary, column)
    values = scores.npvalue().reshape((len(table), -1))[1:]
    exponentials = np.exp((values - values.max(axis=0)) / np.float32(temperature))
    return table, exponentials / exponentials.sum(axis=0)


def _labels_of_files(sentences: Sequence[Sentence], heads: Sequence[np.ndarray]) -> Opinion:
    """Return the votes of SentenceWithVotes sentences on the labels of these trees."""
    labels = [label for s in sentences for other in _votes(s) for label in other.deprels if label not in _NO_LABEL]
    table = Table(dict.fromkeys([_UNSPECIFIED, *labels], 0))
    scores = np.zeros((len(table), sum(map(len, sentences))), dtype=np.float32)
    start = 0
    for sentence, tree in zip(sentences, heads, strict=True):
        words = np.arange(start, start + len(sentence))
        for other in _votes(sentence):
            scores[[table[label] for label in other.deprels], words] += np.where(other.heads == tree, 1, _OF_ANOTHER_ARC)[1:]
        start += len(sentence)
    return table, scores[1:]


def _most_probable(opinions: Sequence[Opinion], roots: np.ndarray | None = None) -> list[str]:
    """Return the string with the highest average probability over opinions, whose tables may differ; see columns.best_strings."""
    union = Table(dict.fromkeys(chain.from_iterable(table.strings[1:] for table, _ in opinions), 0))
    total = np.zeros((len(union), opinions[0][1].shape[1]), dtype=np.float32)
    for table, probabilities in opinions:
        same = table.strings == union.strings  # as for models of one treebank
        total[slice(1, None) if same else [union[string] for string in table.strings[1:]]] += probabilities
    return best_strings(total, union, roots)


@overload
def load(  # type: ignore[overload-overlap]
    folder: Path, decode: Decoding | None = None, beam: int | None = None, *, contextual: Paths = ()
) -> Parser: ...
@overload
def load(folder: Iterable[Path], *, tree: TreeClass | None = None) -> Ensemble: ...
def load(
    folder: Paths,
    decode: Decoding | None = None,
    beam: int | None = None,
    *,
    tree: TreeClass | None = None,
    contextual: Paths = (),
) -> Parser | Ensemble:
    """Load the parser that ``mh4 train --model folder`` made, or the file that ``mh4 pack`` made of it.

    Raises mh4.errors.InputError if there is none, and NotInstalled without DyNet.

    decode: "exact", "greedy", "beam" (of width `beam`, 8 by default) or "mbr"; if None, exact for global models and greedy
    for greedy ones.
    contextual: a file, or several, with vectors of the sentences, if the model was trained with contextual vectors (see
    mh4.parser.contextual_vectors).
    For a list of folders, load the ensemble of their parsers, which decode by their defaults. tree: the class of its
    trees, "mst" (any tree, the default), "mh4" or "1ec".
    """
    folders = None if isinstance(folder, os.PathLike) else items_of(folder)
    if folders is None:
        if tree is not None:
            raise InputError("tree is for an ensemble: a single parser has its system's trees")
        return Parser.load(cast(Path, folder), decode, beam, contextual)
    if contextual:
        raise InputError("the parsers of an ensemble cannot have contextual vectors")
    if decode is not None or beam is not None:
        raise InputError("the parsers of an ensemble decode by their defaults: decode and beam are for a single one")
    if not folders:
        raise InputError("no model to load: expected the path of its folder, or several for an ensemble")
    return Ensemble.load(folders, "mst" if tree is None else tree)
