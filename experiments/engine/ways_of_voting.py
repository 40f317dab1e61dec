"""Ways in which the members of an ensemble can vote for arcs. `mh4 ensemble` uses the first; the others were tried as alternatives.

All of them see the same trees and scores of the members, and differ only in the votes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from experiments.engine.run import Run
from mh4 import trees
from mh4.data.conllu import Sentence
from mh4.parser import ensemble
from mh4.parser.temperature import at_temperature

if TYPE_CHECKING:
    from mh4.decoders.derivation import Derivation
    from mh4.parser.model import Scores
    from mh4.parser.parsing import Parser

_PENALTY = 0.5  # of each arc of the best tree, when the second is searched
_FORBIDDEN = -1e6  # a cost larger than any score


@dataclass(frozen=True)
class Opinion:
    """A member's votes on a sentence of n words; methods decode further.

    uas: its UAS on the development set, in percent; tensors: its scores; heads: its tree, int32 (n+1,); labels: the probability of
    the label of each arc, float32 (n,); candidates: the trees of all members.
    """

    parser: "Parser"
    uas: float
    tensors: dict
    heads: np.ndarray
    labels: np.ndarray
    candidates: Sequence[np.ndarray]

    def second(self) -> np.ndarray:
        """Return the best tree if each arc of the first one costs _PENALTY: int32 (n+1,)."""
        return self._decoded(_arcs(self.heads, -_PENALTY)).heads

    def best(self) -> np.ndarray:
        """Return float32 (n+1, n+1): the score of the best tree with each candidate arc, -inf for other arcs."""
        n = len(self.heads) - 1
        scores = np.full((n + 1, n + 1), -np.inf, dtype=np.float32)
        for m in range(1, n + 1):
            in_question = {int(tree[m]) for tree in self.candidates}
            for head in in_question if len(in_question) > 1 else ():
                cost = np.zeros((n + 1, n + 1), dtype=np.float32)
                cost[:, m] = _FORBIDDEN
                cost[head, m] = 0
                scores[head, m] = self._decoded(cost).score
        return scores

    def marginals(self) -> np.ndarray:
        """Return float32 (n+1, n+1): the probability of every arc, calibrated; without marginals, 1 for the arcs of its tree."""
        model = self.parser.model
        if not model.system.marginals:
            return _arcs(self.heads, 1)
        tempered = at_temperature(self.tensors, model.temperature or 1)
        return model.system.marginals(**tempered, single_root=model.config.scorer.single_root).arcs.astype(np.float32)

    def _decoded(self, cost: np.ndarray) -> "Derivation":
        return self.parser.decode(**self.tensors, cost=cost, single_root=self.parser.model.config.scorer.single_root)


Way = Callable[[Sequence[Opinion]], np.ndarray]  # from the opinions of the members to a tree, int32 (n+1,)


def opinions(
    parsers: Sequence["Parser"], uas: Sequence[float], sentences: Sequence[Sentence]
) -> Iterator[tuple[int, list[Opinion]]]:
    """The index of each sentence, and the opinions of the members on it; uas: of the members."""
    from mh4.parser.model import score_with

    for batch, scores in score_with([parser.model for parser in parsers], sentences):
        chosen = [sentences[k] for k in batch]
        # For each member, for each sentence:
        tensors = [member_scores.trees.arrays() for member_scores in scores]
        heads = [parser.trees(chosen, member_scores) for parser, member_scores in zip(parsers, scores, strict=True)]
        labels = [_label_probabilities(member_scores, mine) for member_scores, mine in zip(scores, heads, strict=True)]
        for k, index in enumerate(batch):
            candidates = [member_scores[k] for member_scores in heads]
            members = zip(parsers, uas, (each[k] for each in tensors), candidates, (each[k] for each in labels), strict=True)
            yield index, [Opinion(*member, candidates) for member in members]


def _label_probabilities(scores: "Scores", heads: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the probability of the best label of every word, without the unknown label, for each sentence of the minibatch."""
    values = scores.labels(heads).npvalue()
    exponentials = np.exp(values[1:] - values[1:].max(axis=0))
    ends = np.cumsum([len(tree) - 1 for tree in heads])
    return np.split(1 / exponentials.sum(axis=0).ravel(), ends[:-1])


def _arcs(heads: np.ndarray, weights: np.ndarray | float) -> np.ndarray:
    """float32 (n+1, n+1): a weight for each arc of a tree, 0 for all others."""
    arcs = np.zeros((len(heads), len(heads)), dtype=np.float32)
    arcs[heads[1:], np.arange(1, len(heads))] = weights
    return arcs


def in_order(opinions: Sequence[Opinion]) -> np.ndarray:
    """Return a vote for each arc of a member's tree; ties go to arcs of the first members."""
    return ensemble.vote([opinion.heads for opinion in opinions])


def _elected(votes: Callable[[Opinion], np.ndarray]) -> Way:
    """Return the way that finds the tree with the highest sum of the members' votes, (n+1, n+1); the decoder breaks ties."""

    def elect(opinions: Sequence[Opinion]) -> np.ndarray:
        total = np.zeros((len(opinions[0].heads),) * 2, dtype=np.float32)
        for opinion in opinions:
            total += votes(opinion)
        return trees.best(total, "any", single_root=True)

    return elect


def _shared_by_best_tree(opinion: Opinion) -> np.ndarray:
    """Share a vote among the candidate arcs by the softmax of the scores of the best trees with them (max-marginals)."""
    best, votes = opinion.best().astype(np.float64), _arcs(opinion.heads, 1).astype(np.float64)
    asked = np.isfinite(best).any(axis=0)
    shares = np.exp(best[:, asked] - best[:, asked].max(axis=0))
    votes[:, asked] = shares / shares.sum(axis=0)
    return votes


by_marginals = _elected(lambda opinion: opinion.marginals())

WAYS: dict[str, Way] = {
    "one vote for each arc, ties to the first member": in_order,
    "one vote for each arc, ties broken arbitrarily": _elected(lambda opinion: _arcs(opinion.heads, 1)),
    "votes weighted by the member's dev UAS": _elected(lambda opinion: _arcs(opinion.heads, opinion.uas / 100)),
    "votes weighted by the probability of the arc's label": _elected(lambda opinion: _arcs(opinion.heads, opinion.labels)),
    "one vote, and half a vote for the second tree": _elected(
        lambda opinion: _arcs(opinion.heads, 1) + _arcs(opinion.second(), 0.5)
    ),
    "softmax of the max-marginals of members' arcs": _elected(_shared_by_best_tree),
    "marginal probabilities of arcs": by_marginals,
}


def uas_by_way(
    by_seed: Mapping[int, Sequence[Run]], gold: Sequence[Sentence], ways: Iterable[str], message: str, console: Console
) -> dict[str, list[float]]:
    """Return the dev UAS of these ways of voting, in percent, for each seed. by_seed: the members; message: printed with each seed."""
    from mh4.parser.parsing import Parser

    words = sum(map(len, gold))
    uas: dict[str, list[float]] = {name: [] for name in ways}
    for seed, runs in by_seed.items():
        console.print("%s, seed %d" % (message, seed))
        right = dict.fromkeys(uas, 0)
        for index, members in opinions([Parser.load(str(run.folder)) for run in runs], [run.dev_uas for run in runs], gold):
            for name in right:
                right[name] += int((WAYS[name](members)[1:] == gold[index].heads[1:]).sum())
        for name, number in right.items():
            uas[name].append(100.0 * number / words)
    return uas
