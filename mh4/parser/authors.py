"""All code that only the settings of the authors' runs need (docs/differences.md, experiments/settings/authors.toml).

`parts` chooses the system, encoder and scorer of a new model: the usual classes, or the subclasses in this file, which
implement these settings. `learned` returns the tags and labels that the authors' parsers learned.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from mh4 import trees
from mh4.data.sentence import Sentence, without_subtype
from mh4.decoders import arguments
from mh4.decoders.derivation import Derivation
from mh4.decoders.mh4 import first_found
from mh4.parser.config import AUTHORS, Config, differences
from mh4.parser.network.encoder import Encoder, columns_of
from mh4.parser.network.graph import dy, forward, product
from mh4.parser.network.layers import Biaffine, Columns, Linear, Pair, glorot
from mh4.parser.network.scorer import TensorScorer, hinge
from mh4.parser.objectives import Parts
from mh4.parser.systems import GlobalSystem, GreedySystem, System, Tensor
from mh4.parser.vectors import Vectors
from mh4.parser.vocabulary import Table, Vocabulary
from mh4.transitions import LA, MH4, RA, SH, Configuration, legal

POSITIONS = ("s2", "s1", "s0", "b0")  # as in the rows of mh4.parser.oracle


class Chosen(NamedTuple):
    """The parts of a model: its system, and the classes of its encoder and scorer."""

    system: System
    encoder: Callable[..., Encoder]
    scorer: Callable[..., Any]  # TensorScorer, or a class with the same interface


def parts(system: System, config: Config) -> Chosen:
    """Return the parts of a model with these settings."""
    if not differences(config, Config()).keys() & AUTHORS:
        return Chosen(system, Encoder, TensorScorer)
    if not isinstance(system, GreedySystem):
        return Chosen(AuthorsGlobal(**vars(system), config=config), AuthorsEncoder, AuthorsScorer)
    if config.scorer.greedy == "joint" and system.transitions == MH4:
        with_layer = {**vars(system), "decoders": {"greedy": joint_search}}
        return Chosen(JointSystem(**with_layer, config=config), AuthorsEncoder, JointScorer)
    return Chosen(AuthorsGreedy(**vars(system), config=config), AuthorsEncoder, AuthorsScorer)


# Tags and labels


def learned(sentences: Sequence[Sentence], config: Config) -> Sequence[Sentence]:
    """Return the sentences with the strings to learn.

    Depending on the settings, XPOS is the pair of UPOS and XPOS, and labels have no subtypes.
    """
    scorer = config.scorer
    if scorer.xpos_with_upos:
        sentences = [replace(s, xpos=["%s|%s" % pair for pair in zip(s.upos, s.xpos, strict=True)]) for s in sentences]
    if not scorer.label_subtypes:
        sentences = [replace(s, deprels=list(map(without_subtype, s.deprels))) for s in sentences]
    return sentences


def kind(column: str, config: Config) -> object:
    """Return the kind of strings that a model predicts in a column; strings of different kinds are not comparable."""
    return {"xpos": config.scorer.xpos_with_upos, "deprels": config.scorer.label_subtypes}.get(column)


def written(column: str, predicted: list[str], config: Config) -> list[str]:
    """Return the values to write to a column, given the strings that a model predicts."""
    return [pair.partition("|")[2] for pair in predicted] if column == "xpos" and config.scorer.xpos_with_upos else predicted


# The network


class AuthorsEncoder(Encoder):
    """An encoder that implements the settings of the authors' runs.

    These are spellings between two symbols, embeddings in place of spellings, scaled inputs, and sentences without a
    node for their end.
    """

    def __init__(self, config: Config, vocabulary: Vocabulary, vectors: Vectors | None, parameters: Any) -> None:
        sizes, self.ends = config.encoder, ["begin", "end"] if config.encoder.word_boundaries else []
        if sizes.embeddings == "row":
            self.initial = dy.GlorotInitializer(True)
        if self.ends:  # they come last among the characters, and with these counts, they are never dropped
            always = dict.fromkeys(self.ends, 10**300)
            tables = {name: getattr(vocabulary, name) for name in Vocabulary.TABLES}
            vocabulary = Vocabulary(**{**tables, "chars": Table({**vocabulary.chars.to_json(), **always})})
        super().__init__(config, vocabulary, vectors, parameters)
        self.from_last = config.scorer.tags_from == "last"
        if config.scorer.end == "learned":
            self.after = []

    def __call__(self, sentences: Sequence[Sentence], rng: "np.random.Generator | None" = None) -> Any:
        for_tags, for_trees = super().__call__(sentences, rng)
        if not self.after:  # zeros replace the end node
            lengths = np.array([len(sentence) + 1 for sentence in sentences])
            numbers = np.insert(np.arange(1, lengths.sum() + 1), np.cumsum(lengths), 0)
            for_tags, for_trees = (columns_of(layer, numbers) for layer in (for_tags, for_trees))
        return for_trees if self.from_last else for_tags, for_trees

    def _words(self, sentences: Sequence[Sentence], rng: "np.random.Generator | None") -> "dy.Expression":
        vectors = super()._words(sentences, rng)
        return vectors * (1 / (1 - self.dropout.word)) if rng is not None and self.dropout.word_scaled else vectors

    def _spelled(self, dropped: np.ndarray, embedded: np.ndarray) -> np.ndarray:
        return ~(dropped | embedded) if self.sizes.word_input == "embedding" else ~dropped

    def _characters(self, word: str) -> Sequence[str]:
        return [*self.ends[:1], *super()._characters(word), *self.ends[1:]]


class AuthorsBiaffine(Biaffine):
    """Biaffine scores whose U_t may be initialised as random orthogonal matrices.

    bilinear: x has no 1, so there is no term of y alone.
    """

    def __init__(self, matrices: int | None, units: int, parameters: Any, bilinear: bool, orthogonal: bool) -> None:
        super().__init__(matrices, units, parameters, units if bilinear else None)
        if orthogonal and self.weights is not None:  # it is None where parameters are only counted
            blocks = self.weights.as_array().reshape(self.matrices, self.rows, self.side)
            for block in blocks:
                q, r = np.linalg.qr(block[:, : self.rows])  # if bilinear, without the column for the 1 of y
                block[:, : self.rows] = q * np.sign(np.diag(r))
            self.weights.set_value(blocks.reshape(-1, self.side))

    def __call__(self, pair: Pair, xs: Sequence[Columns], ys: Sequence[Columns]) -> list["dy.Expression"]:
        return super().__call__(self._used(pair), xs, ys)

    def picked(self, pair: Pair, rows: np.ndarray, coefficients: np.ndarray) -> "dy.Expression":
        return super().picked(self._used(pair), rows, coefficients)

    def _used(self, pair: Pair) -> Pair:
        x, y = pair
        return x if self.rows == self.side else dy.pick_range(x, 0, self.rows, 0), y


class EndVectors:
    """Learned vectors, one for each position, for the end of the sentence or a missing node.

    With scorer.end = "learned", they replace the last column of each sentence at these positions. Other columns stay as
    they are.
    """

    def __init__(self, positions: Sequence[str], units: int, config: Config, parameters: "dy.ParameterCollection") -> None:
        names = positions if config.scorer.end == "learned" else ()
        self.vectors = {position: parameters.add_parameters((units, 1), init=glorot(units, units)) for position in names}

    def __call__(self, position: str, vectors: "dy.Expression", columns: Sequence[Columns]) -> "dy.Expression":
        if position not in self.vectors:
            return vectors
        count = vectors.dim()[0][1]
        order = np.arange(count)
        order[[stop - 1 for _, stop in columns]] = count
        return dy.select_cols(dy.concatenate_cols([vectors, self.vectors[position]]), order.tolist())


class AuthorsScorer(TensorScorer):
    """A scorer that implements the settings of the authors' runs.

    These are bilinear scores of arcs, orthogonal matrices, and learned vectors of the end. The vectors are inserted
    after the MLPs or, in projective systems, before them.
    """

    def __init__(self, system: System, config: Config, parameters: "dy.ParameterCollection") -> None:
        super().__init__(system, config, parameters)
        tensors = [pair for tensor in system.tensors for pair in zip(tensor.positions, tensor.sentinel, strict=True)]
        can_end = [position for position in system.positions if (position, True) in tensors]
        before, after = (can_end, []) if system.tree_class == "projective" else ([], can_end)
        self.before = EndVectors(before, config.encoder.units, config, parameters)
        self.after = EndVectors(after, config.scorer.mlp_units, config, parameters)

    def biaffine(self, tensor: Tensor, config: Config, parameters: "dy.ParameterCollection") -> Biaffine:
        settings = config.scorer
        bilinear = tensor.name == "arcs" and settings.arcs == "bilinear"
        return AuthorsBiaffine(tensor.matrices, settings.mlp_units, parameters, bilinear, settings.orthogonal)

    def hidden(self, position: str, vectors: "dy.Expression", columns: Sequence[Columns], training: bool) -> "dy.Expression":
        hidden = super().hidden(position, self.before(position, vectors, columns), columns, training)
        return self.after(position, hidden, columns)


class JointScorer:
    """Scores of transitions by one tanh layer over the vectors at all positions of a configuration, for greedy MH4.

    This class is for training; in parsing, joint_search computes the scores. A configuration is a row of positions. The
    vector of an empty position, or of the end of the sentence, is learned, or it is the encoder's vector of the end.
    """

    def __init__(self, system: "JointSystem", config: Config, parameters: "dy.ParameterCollection") -> None:
        units, mlp_units = config.encoder.units, config.scorer.mlp_units
        self.positions = [position for position in POSITIONS if position in system.positions]
        initial = glorot(mlp_units, len(self.positions) * units)  # one matrix for all positions, in blocks
        self.weights = {position: parameters.add_parameters((mlp_units, units), init=initial) for position in self.positions}
        self.bias = parameters.add_parameters(mlp_units, init=0)
        self.output = Linear(mlp_units, len(system.transitions), parameters)
        self.dropout = config.dropout.mlp
        self.end = EndVectors(self.positions, units, config, parameters)

    def __call__(self, vectors: "dy.Expression", columns: Sequence[Columns], training: bool) -> "JointScores":
        """Return the parts of the layer that belong to each position; `columns` as for TensorScorer."""
        return JointScores(self, vectors, columns, training)


class JointScores:
    """The vectors and weights to score any configuration of the sentences of a minibatch."""

    def __init__(self, scorer: JointScorer, vectors: "dy.Expression", columns: Sequence[Columns], training: bool) -> None:
        self.scorer, self.columns, self.training = scorer, columns, training
        self.projected = {
            position: product(weights, scorer.end(position, vectors, columns)) for position, weights in scorer.weights.items()
        }

    def arrays(self) -> list[dict[str, np.ndarray]]:
        """Return, for each sentence, the arguments of joint_search, by name; the graph must have been evaluated."""
        layer = {"output": self.scorer.output.weights.as_array(), "bias": self.scorer.output.bias.as_array()}
        projected = {position: expression.npvalue().T for position, expression in self.projected.items()}
        first = next(iter(projected))
        projected[first] = projected[first] + self.scorer.bias.as_array()
        return [
            {**{position: array[start:stop] for position, array in projected.items()}, **layer} for start, stop in self.columns
        ]

    def loss(self, violations: Mapping[int, tuple[np.ndarray, np.ndarray]]) -> "dy.Expression | None":
        """Return the sum of the hinge over all configurations; None if it is 0.

        violations: the results of GreedySystem.steps, by sentence number.
        """
        if not violations:
            return None
        sequences, rivals = zip(*violations.values(), strict=True)
        configurations = self.scores_of(dict(zip(violations, sequences, strict=True)))
        forward(configurations)
        return hinge(configurations, np.concatenate([rows[1:, 0] for rows in sequences]), np.concatenate(rivals, axis=1))

    def scores_of(self, sequences: Mapping[int, np.ndarray]) -> "dy.Expression":
        """Return the scores (transitions, N) in the N configurations of all sequences, without the first of each.

        sequences: by sentence number, int (2n+1, 5) as from mh4.parser.oracle.
        """
        nodes = []
        for k, rows in sequences.items():
            start, stop = self.columns[k]
            nodes.append(np.where(rows[1:, 1:] < 0, stop - 1, rows[1:, 1:] + start))
        by_position = dict(zip(POSITIONS, np.concatenate(nodes).T.tolist(), strict=True))
        hidden = dy.esum([dy.select_cols(vectors, by_position[position]) for position, vectors in self.projected.items()])
        hidden = dy.tanh(dy.colwise_add(hidden, self.scorer.bias))
        return self.scorer.output(dy.dropout(hidden, self.scorer.dropout) if self.training else hidden)


def joint_search(*, output: np.ndarray, bias: np.ndarray, single_root: bool = False, **vectors: np.ndarray) -> Derivation:
    """Search greedily in MH4, by the scores of JointScorer: output tanh(s2 + s1 + s0 + b0) + bias.

    output: (7, units), one row for each transition, by code; bias: (7,).
    vectors: by position (some of s2, s1, s0 and b0), an array (n+2, units) with a row for each node; row n+1 is for the
    end of the sentence and for an empty stack position.
    single_root: exactly one dependent of node 0.

    Returns a Derivation without parts. The first transition, the shift of the root, is not scored. Raises ValueError if
    a score is NaN, or if a single root is required of a sentence without words.
    """
    n = len(next(iter(vectors.values()))) - 2
    if single_root and n == 0:
        raise ValueError("a sentence without words cannot have a single root")
    looked_at = [(k, vectors[name]) for k, name in enumerate(POSITIONS) if name in vectors]
    configuration, score, found = Configuration(n), 0.0, [(int(SH), -1, -1, 0)]
    configuration.apply(SH)
    for _ in range(2 * n):
        positions = configuration.positions
        hidden = np.tanh(sum(array[positions[k]] if positions[k] >= 0 else array[n + 1] for k, array in looked_at))
        scores = output @ hidden + bias
        if np.isnan(scores).any():
            raise ValueError("scores must be numbers, got nan")
        allowed = np.flatnonzero(legal(np.array([positions]), n, single_root))
        code = MH4[allowed[scores[allowed].argmax()]]
        score += float(scores[code])
        found.append((int(code), *positions[1:]))
        configuration.apply(code)
    return Derivation(score, configuration.heads, {}, np.array(found, dtype=np.intp))


# The trees and sequences to learn


@dataclass(frozen=True)
class _First(System):
    """A system that, with training.nearest = "first", learns the nearest tree that is found first."""

    config: Config = Config()

    def training_tree(self, heads: np.ndarray, single_root: bool) -> np.ndarray:
        if self.config.training.nearest == "first":
            return nearest(heads, self.tree_class, single_root=single_root)
        return super().training_tree(heads, single_root)


@dataclass(frozen=True)
class AuthorsGlobal(GlobalSystem, _First):
    """A global system. With late sequences, mh3 learns the one that shifts as long as possible, not the best one."""

    def target(self, tensors: Any, heads: np.ndarray, single_root: bool) -> Parts:
        sequence = late(heads) if self.name == "mh3" and self.config.training.sequences == "late" else None
        return super().target(tensors, heads, single_root) if sequence is None else parts_of(sequence)


@dataclass(frozen=True)
class AuthorsGreedy(GreedySystem, _First):
    """A greedy system that can learn late sequences and, with MH4, to score illegal transitions below gold ones."""

    def sequence(self, heads: np.ndarray) -> np.ndarray | None:
        if self.config.training.sequences == "late":
            return first_of_chart(heads) if self.transitions == MH4 else late(heads)
        return super().sequence(heads)

    def rivals(self, rows: np.ndarray, single_root: bool) -> np.ndarray:
        rivals = super().rivals(rows, single_root)
        return np.ones_like(rivals) if self.config.training.illegal_rivals and self.transitions == MH4 else rivals


@dataclass(frozen=True)
class JointSystem(AuthorsGreedy):
    """Greedy MH4 with JointScorer. Its violations are configurations, which JointScores.loss scores."""

    def violation(self, tensors: Any, heads: np.ndarray, single_root: bool) -> Any:
        return self.steps(heads, single_root)


def parts_of(sequence: np.ndarray) -> Parts:
    """Return the index rows of the scores that a sequence of MH3 uses: shift, reduce_s0b0, arcs."""
    code, _, s1, s0, b0 = sequence[1:].T
    shifts, reduces = code == SH, code != SH
    return {
        "shift": np.stack([s0, b0], axis=1)[shifts],
        "reduce_s0b0": np.stack([code - 1, s0, b0], axis=1)[reduces],
        "arcs": np.stack([np.where(code == LA, b0, s1), s0], axis=1)[reduces],
    }


def late(heads: trees.Heads) -> np.ndarray | None:
    """Return the MH3 sequence that shifts as long as possible, in the form of oracle.canonical.

    None if the tree is not projective.
    """
    if not trees.is_projective(heads):
        return None
    heads = np.asarray(heads).tolist()
    n = len(heads) - 1
    configuration, found = Configuration(n), []
    has_dependents_left = [0] * (n + 2)  # for each node, the number of its left dependents on the stack
    for _ in range(2 * n + 1):
        *_, s0, b0 = configuration.positions
        if b0 <= n and not has_dependents_left[b0] and (b0 == 0 or heads[b0] == s0 or heads[b0] > b0):
            code = SH
            if heads[b0] > b0:
                has_dependents_left[heads[b0]] += 1
        else:
            code = LA if heads[s0] == b0 else RA
            if code == LA:
                has_dependents_left[b0] -= 1
        found.append((int(code), *configuration.positions))
        configuration.apply(code)
    return np.array(found, dtype=np.intp)


def first_of_chart(heads: trees.Heads) -> np.ndarray | None:
    """Return the MH4 sequence of a tree that mh4.decoders.mh4.first_found finds, in the form of oracle.canonical.

    None if the chart does not derive the tree.
    """
    heads = arguments.tree(heads)
    arcs = np.full((len(heads), len(heads)), -np.inf, dtype=np.float32)
    arcs[heads[1:], np.arange(1, len(heads))] = 0
    try:
        return rows(first_found(arcs)[1])
    except ValueError:
        return None


def rows(sequence: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return the MH4 sequence with these codes in the form of oracle.canonical: with the positions before each code."""
    configuration, found = Configuration(len(sequence) // 2), []
    for code in sequence:
        found.append((int(code), *configuration.positions))
        configuration.apply(code)
    return np.array(found, dtype=np.intp)


def nearest(heads: trees.Heads, name: str, *, single_root: bool = False) -> np.ndarray:
    """Return a tree of the class that keeps as many arcs as possible, as `trees.nearest`; of several, the first found.

    For "projective", `eisner` finds the tree, always with a single root. For "mh4", mh4.decoders.mh4.first_found finds
    it. For other classes, it is the result of `trees.nearest`.
    """
    heads = np.asarray(heads)
    if name not in ("projective", "mh4") or trees.in_class(heads, name) and not (single_root and (heads[1:] == 0).sum() != 1):
        return trees.nearest(heads, name, single_root=single_root)
    kept = np.zeros((len(heads), len(heads)), dtype=np.float32)
    kept[heads[1:], np.arange(1, len(heads))] = 1
    return eisner(kept) if name == "projective" else first_found(kept, single_root)[0]


def eisner(arcs: np.ndarray) -> np.ndarray:
    """Return the best projective tree with a single root (Eisner 1996); of several, that with smallest split points.

    arcs: (n+1, n+1), the score of head h and dependent m at [h, m]. Returns heads, int32 (n+1,). O(n^3) time.
    """
    n = len(arcs) - 1
    # Spans [i,j] of words are headed by i (right) or by j (left). In open spans, i and j are joined by an arc.
    right, left, open_right, open_left = np.zeros((4, n + 2, n + 2))
    split_right, split_left, split_open = np.zeros((3, n + 2, n + 2), dtype=int)
    for width in range(1, n):
        for i in range(1, n + 1 - width):
            j = i + width
            inside = right[i, i:j] + left[i + 1 : j + 1, j]
            split_open[i, j] = k = i + int(inside.argmax())
            open_right[i, j], open_left[i, j] = inside[k - i] + arcs[i, j], inside[k - i] + arcs[j, i]
            towards = open_right[i, i + 1 : j + 1] + right[i + 1 : j + 1, j]
            split_right[i, j] = k = i + 1 + int(towards.argmax())
            right[i, j] = towards[k - i - 1]
            towards = left[i, i:j] + open_left[i:j, j]
            split_left[i, j] = k = i + int(towards.argmax())
            left[i, j] = towards[k - i]
    heads = np.full(n + 1, -1, dtype=np.int32)
    if n == 0:
        return heads
    words = np.arange(1, n + 1)
    root = 1 + int((left[1, words] + right[words, n] + arcs[0, words]).argmax())
    heads[root] = 0
    agenda = [(1, root, False), (root, n, True)]  # spans, and whether their first word is the head
    while agenda:
        i, j, to_the_right = agenda.pop()
        if i == j:
            continue
        if to_the_right:
            k = split_right[i, j]
            heads[k] = i
            agenda += [(i, split_open[i, k], True), (split_open[i, k] + 1, k, False), (k, j, True)]
        else:
            k = split_left[i, j]
            heads[k] = j
            agenda += [(i, k, False), (k, split_open[k, j], True), (split_open[k, j] + 1, j, False)]
    return heads
