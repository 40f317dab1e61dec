"""A common interface to the decoders, and checks of the derivations that they return."""

import zlib
from functools import cache

import brute
import numpy as np
import pytest
from hypothesis import strategies as st

from mh4.decoders import NotInClass, batch, beam, mh3, mh4, mh5, mhk, mst
from mh4.decoders.reference import transition_scores
from mh4.transitions import EMPTY, SH

KINDS = ("normal", "ties", "zeros", "large")

# The lengths for which all trees are enumerated. Five words have more than a thousand.
small = pytest.mark.parametrize("n", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
every_root = pytest.mark.parametrize("single_root", [False, True], ids=["any roots", "single root"])
seeds = st.integers(0, 2**32 - 1)


def decoders(*chosen):
    """Parametrize a test by decoders."""
    return pytest.mark.parametrize("decoder", chosen, ids=lambda decoder: decoder.name)


def kinds(*names):
    """Parametrize a test by kinds of scores. Zeros and large scores find few additional errors: they are slow tests."""
    slow = {name: pytest.param(name, marks=pytest.mark.slow) for name in ("zeros", "large")}
    return pytest.mark.parametrize("kind", [slow.get(name, name) for name in names])


every_kind = kinds(*KINDS)


def sample(shape, rng, kind):
    """Return random float32 scores: normal, small integers (many ties), all zero, or of magnitude a million.

    The additional kind "whole" has integers that are rarely tied; their float32 sums are exact up to 30 words.
    """
    if kind in ("ties", "whole"):
        largest = {"ties": 1, "whole": 100_000}[kind]
        return rng.integers(-largest, largest + 1, shape).astype(np.float32)
    scale = {"normal": 1, "zeros": 0, "large": 1e6}[kind]
    return (scale * rng.normal(size=shape)).astype(np.float32)


def sample_tensors(tensors, n, rng, kind="normal"):
    """Return random scores of a sentence of n words: a dict from tensor name to array.

    tensors: by name, the dimensions before the two of nodes. Only in "arcs" are these without the end of the sentence.
    """
    sides = {name: n + 1 if name == "arcs" else n + 2 for name in tensors}
    return {name: sample(first + (sides[name],) * 2, rng, kind) for name, first in tensors.items()}


def padded(name, lengths, longest, rng, dtype=np.float64, left_out=(), masked=0.0):
    """Return random scores of a batch for the decoder called `name`, without the tensors in `left_out`."""
    shapes = batch.DECODERS[name].tensors
    return {
        tensor: padded_array(shape, lengths, longest, rng, dtype, masked)
        for tensor, shape in shapes.items()
        if tensor not in left_out
    }


def padded_array(shape, lengths, longest, rng, dtype=np.float64, masked=0.0):
    """Return random scores of a batch with NaN in the padding; masked: the share of forbidden scores."""
    array = rng.normal(size=(len(lengths), *shape.of(longest))).astype(dtype)
    if masked:
        array[rng.random(array.shape) < masked] = -np.inf if rng.random() < 0.5 else -1e31
    for b, n in enumerate(lengths):
        array[b, ..., n + shape.rows :, :] = array[b, ..., n + shape.columns :] = np.nan
    return array


def fill_unused(scores, value):
    """Write `value` into the cells of arcs and transitions that do not exist."""
    for name, tensor in scores.items():
        if name in ("shift", "reduce_s0b0", "reduce_s1s0"):
            tensor[..., np.tri(tensor.shape[-1], dtype=bool)] = value  # s0 >= b0, s1 >= s0
        else:
            tensor[:, 0] = value  # the root as a dependent
            np.fill_diagonal(tensor, value)
    if "shift" in scores:
        # The sentinel is neither shifted nor a head.
        by_end = [code for code in (0, 4, 11) if code < len(scores["reduce_s0b0"])]  # LA, LA2, LA3
        scores["shift"][:, -1] = scores["reduce_s0b0"][by_end, :, -1] = value


def scores_of(decoder, n, rng, kind):
    """Return random scores of a kind in KINDS, or "planted": those that favour a random derivation.

    With other scores, few best sequences need the steps that distinguish MH5 from MH4.
    """
    if kind != "planted":
        return decoder.sample(n, rng, kind)
    planted, _, _ = decoder.planted(n, rng)
    return {name: tensor * np.float32(2) + sample(tensor.shape, rng, "normal") for name, tensor in planted.items()}


def rng_for(*what):
    """Return a generator seeded by its purpose, so that tests do not depend on their order."""
    return np.random.default_rng(zlib.crc32(repr(what).encode()))


class Decoder:
    """The interface of all decoders. `candidates` are all derivations or trees over n words."""

    tensors = {"arcs": ()}

    def sample(self, n, rng, kind="normal"):
        return sample_tensors(self.tensors, n, rng, kind)

    def decode(self, scores, **options):
        return self.decode_scores(**scores, **options)

    def trees(self, n):
        return self.candidates(n).trees

    def candidate_scores(self, n, scores, cost=None):
        return self.candidates(n).scores(scores, cost)

    def check_small(self, derivation, n):
        """Check what is known of derivations of short sentences, in addition to `check_parts`."""


class TransitionDecoder(Decoder):
    """A decoder of transition scores (mh3, mh4 or mh5), optionally with additional arc scores."""

    def __init__(self, name, decode, k, hybrid, arcs=False):
        self.name, self.decode_scores, self.k = name, decode, k
        self.class_name = f"mh{k}"
        reduces = brute.NUMBER_OF_REDUCES[k]
        self.tensors = {"shift": (), "reduce_s0b0": (reduces,)}
        if hybrid:
            self.tensors["reduce_s1s0"] = (reduces,)
        if arcs:
            self.tensors["arcs"] = ()

    def candidates(self, n):
        return brute.derivations(n, self.k)

    def best_score(self, n, scores, cost=None, heads=None, root=None):
        """Return the best score over all derivations by the chart of Figure 2, for any length."""
        shift, link = transition_scores(**scores, cost=cost)
        return brute.best_score(n, self.k, link, shift, heads, root)

    def planted(self, n, rng):
        """Return scores of 1 for the parts of a random derivation and 0 elsewhere; its tree; its score, the highest."""
        rows = brute.random_sequence(n, self.k, rng, links=rng.choice([0.5, 1.0]))
        return self.plant(n, rows), brute.heads_of(n, rows), n * len(self.tensors)

    def plant(self, n, rows):
        """Return scores of 1 for the parts of a derivation, 0 elsewhere."""
        scores = sample_tensors(self.tensors, n, np.random.default_rng(0), "zeros")
        for code, s1, s0, b0 in rows:
            if code > 0:
                scores["reduce_s0b0"][code - 1, s0, b0] = 1
                if "reduce_s1s0" in scores:
                    scores["reduce_s1s0"][code - 1, s1, s0] = 1
            elif b0 > 0:
                scores["shift"][s0, b0] = 1
        if "arcs" in scores:
            scores["arcs"][list(brute.heads_of(n, rows)[1:]), np.arange(1, n + 1)] = 1
        return scores

    def check_parts(self, derivation, n, scores):
        """Check that the transitions make the heads, and that the parts are those of the transitions and the arcs."""
        rows = derivation.transitions
        assert rows.shape == (2 * n + 1, 4)
        assert brute.heads_of(n, rows.tolist()) == tuple(derivation.heads.tolist())
        code, s1, s0, b0 = rows.T
        shifts, reduces = (code == 0) & (b0 != 0), code > 0
        assert shifts.sum() == reduces.sum() == n
        expected = {
            "shift": np.stack([s0, b0], axis=1)[shifts],
            "reduce_s0b0": np.stack([code - 1, s0, b0], axis=1)[reduces],
            "reduce_s1s0": np.stack([code - 1, s1, s0], axis=1)[reduces],
            "arcs": np.stack([derivation.heads, np.arange(n + 1)], axis=1)[1:],
        }
        for name in scores:
            assert len(derivation.parts[name]) == n
            assert sorted(derivation.parts[name].tolist()) == sorted(expected[name].tolist()), name

    def check_small(self, derivation, n):
        """Check that the deduction system derives the transition sequence."""
        rows = [tuple(row) for row in derivation.transitions.tolist()]
        rows = tuple((code, s1 if code else None, s0, b0) for code, s1, s0, b0 in rows)
        assert rows in brute.derivations(n, self.k).known


class ArcDecoder(Decoder):
    """A decoder of arc scores (mhk or mst)."""

    def __init__(self, name, decode, class_name, k=None):
        self.name, self.decode_scores, self.class_name, self.k = name, decode, class_name, k

    def candidates(self, n):
        return brute.trees_of_class(n, self.class_name)

    def best_score(self, n, scores, cost=None, heads=None, root=None):
        total = scores["arcs"].astype(float) + (0 if cost is None else cost)
        # With room for all nodes in an item, MH_k derives every tree.
        return brute.best_score(n, self.k or n + 2, lambda _, h, m: total[h, m], heads=heads, root=root)

    def planted(self, n, rng):
        if self.k is None:
            tree = brute.random_tree(n, rng)
        else:
            tree = brute.heads_of(n, brute.random_sequence(n, min(self.k, 4), rng))
        scores = self.sample(n, rng, "zeros")
        scores["arcs"][list(tree[1:]), np.arange(1, n + 1)] = 1
        return scores, tree, n

    def check_parts(self, derivation, n, scores):
        """Check that the parts are the arcs of the tree."""
        expected = [[derivation.heads[m], m] for m in range(1, n + 1)]
        assert sorted(derivation.parts["arcs"].tolist()) == sorted(expected)


def mhk_with(k):
    return lambda arcs, **options: mhk.decode(arcs, k, **options)


MH3 = TransitionDecoder("mh3", mh3.decode, 3, hybrid=False)
MH4_TWO = TransitionDecoder("mh4-two", mh4.decode, 4, hybrid=False)
MH4_HYBRID = TransitionDecoder("mh4-hybrid", mh4.decode, 4, hybrid=True)
MH3_ARCS = TransitionDecoder("mh3-arcs", mh3.decode, 3, hybrid=False, arcs=True)
MH4_TWO_ARCS = TransitionDecoder("mh4-two-arcs", mh4.decode, 4, hybrid=False, arcs=True)
MH4_HYBRID_ARCS = TransitionDecoder("mh4-hybrid-arcs", mh4.decode, 4, hybrid=True, arcs=True)
MH5 = [
    TransitionDecoder(f"mh5-{'hybrid' if hybrid else 'two'}{'-arcs' if arcs else ''}", mh5.decode, 5, hybrid, arcs)
    for arcs in (False, True)
    for hybrid in (False, True)
]
_, MH5_HYBRID, _, MH5_HYBRID_ARCS = MH5
MHK = [ArcDecoder(f"mhk-{k}", mhk_with(k), f"mh{k}", k) for k in (3, 4, 5, 6)]
MST = ArcDecoder("mst", mst.decode, "all")
WITH_ARCS = [MH3_ARCS, MH4_TWO_ARCS, MH4_HYBRID_ARCS]  # arcs in addition to transitions
DECODERS = [MH3, MH4_TWO, MH4_HYBRID, *WITH_ARCS, *MHK, MST]


class Search(Decoder):
    """A model for greedy and beam search, which scores transitions by the tensors named in `tensors`."""

    def __init__(self, name, tensors, decode, exact=None):
        self.name, self.tensors, self.decode_scores, self.exact = name, tensors, decode, exact
        self.kinds = tensors["s0b0"][0] if "s0b0" in tensors else 1 + tensors["reduce_s0b0"][0]

    def index(self, n, code, s2, s1, s0, b0):
        """Return the index of a transition's score in each tensor that has one."""
        s2, s1, s0 = (n + 1 if node == EMPTY else node for node in (s2, s1, s0))
        if b0 == 0:
            return {}
        pairs = {"s0b0": (code, s0, b0), "s1s0": (code, s1, s0), "s2s1": (code, s2, s1)}
        if code == SH:
            pairs["shift"] = (s0, b0)
        else:
            pairs.update(reduce_s0b0=(code - 1, s0, b0), reduce_s1s0=(code - 1, s1, s0))
            pairs["arcs"] = brute.arc_of(code, b0, s0, s1, s2)
        return {name: pairs[name] for name in self.tensors if name in pairs}

    def score(self, scores, n, *transition):
        return sum(float(scores[name][index]) for name, index in self.index(n, *transition).items())


LOCAL = [
    Search("greedy-mh3", {"s0b0": (3,)}, beam.decode_local),
    Search("greedy-mh4-two", {"s0b0": (7,)}, beam.decode_local),
    Search("greedy-mh4-three", {"s0b0": (7,), "s1s0": (7,)}, beam.decode_local),
    Search("greedy-mh4", {"s0b0": (7,), "s1s0": (7,), "s2s1": (7,)}, beam.decode_local),
]
GLOBAL = [Search(d.name, d.tensors, beam.decode, d) for d in (MH3, MH4_TWO, MH4_HYBRID, *WITH_ARCS)]


def costs(n, rng):
    """Return no cost, the paper's cost against a random tree, and a random cost."""
    return [None, hamming_cost(brute.random_tree(n, rng)), sample((n + 1, n + 1), rng, "normal")]


def some(trees, rng, at_most=60):
    """Return all the trees, or a random sample if there are more than `at_most`."""
    trees = sorted(set(trees))
    if len(trees) <= at_most:
        return trees
    return [trees[i] for i in rng.choice(len(trees), at_most, replace=False)]


def zero_cost(n):
    return np.zeros((n + 1, n + 1), dtype=np.float32)


def hamming_cost(heads):
    """Return the paper's cost: 1 for every arc that is not gold."""
    cost = np.ones((len(heads), len(heads)), dtype=np.float32)
    cost[list(heads[1:]), np.arange(1, len(heads))] = 0
    return cost


def parts_score(derivation, scores, cost=None):
    """Return the score of a derivation's parts plus the cost of its arcs, in double precision."""
    total = sum(scores[name][tuple(rows.T)].sum(dtype=np.float64) for name, rows in derivation.parts.items())
    if cost is not None:
        words = np.arange(1, len(derivation.heads))
        total += cost[derivation.heads[1:], words].sum(dtype=np.float64)
    return total


def tolerance(n, scores, cost=None):
    """Return the tolerance for a float32 score, which grows with the number and size of the terms."""
    summed = [*scores.values(), zero_cost(n) if cost is None else cost]
    largest = max(float(np.abs(a[np.isfinite(a)]).max(initial=0)) for a in summed)
    return 1e-6 * 4 * n * largest + 1e-9


def accepted_trees(decoder, n):
    """Return the trees over n words that the decoder accepts as `heads`."""
    scores = decoder.sample(n, rng_for(n))
    accepted = set()
    for tree in brute.all_trees(n):
        try:
            decoder.decode(scores, heads=np.array(tree, dtype=np.int32))
            accepted.add(tree)
        except NotInClass:
            pass
    return accepted


def found_trees(decoder, n):
    """Return the trees over n words that a decoder of arc scores finds if only their arcs have positive scores."""
    found = set()
    for tree in brute.all_trees(n):
        arcs = np.zeros((n + 1, n + 1), dtype=np.float32)
        arcs[tree[1:], range(1, n + 1)] = 1
        found.add(tuple(decoder.decode({"arcs": arcs}).heads.tolist()))
    return found


@cache
def tree_set(decoder, n):
    return frozenset(decoder.trees(n))


def check(decoder, derivation, n, scores, cost=None, best=None, said=""):
    """Check that a derivation is well-formed and that its score is that of its parts and, if given, the best."""
    heads = derivation.heads
    assert heads.dtype == np.int32 and heads.shape == (n + 1,) and heads[0] == -1
    assert brute.is_tree(heads.tolist())
    assert set(derivation.parts) == set(scores)
    for rows in derivation.parts.values():
        assert np.issubdtype(rows.dtype, np.integer)
    decoder.check_parts(derivation, n, scores)
    assert isinstance(derivation.score, float)
    near = tolerance(n, scores, cost)
    # The score is summed in double precision in every decoder, also if the chart is not.
    assert abs(derivation.score - parts_score(derivation, scores, cost)) <= 1e-6 * near
    if n <= 5:
        assert tuple(heads.tolist()) in tree_set(decoder, n)
        decoder.check_small(derivation, n)
    if best is not None:
        assert abs(derivation.score - best) <= near, f"{decoder.name} n={n} {said}: scores {derivation.score}, the best is {best}"


# ---------------------------------------------------------------------------------- input in other forms, invalid input


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


# The same scores in other layouts and precisions.
VARIANTS = {
    "float64": lambda array: array.astype(np.float64),
    "Fortran order": np.asfortranarray,
    "strided": lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
    "read-only": read_only,
}


def bad_arrays(good):
    """Return arrays that are invalid in place of `good`, by what is wrong with them."""
    return {
        "too small": good[..., :-1],
        "too large": np.concatenate([good, good[..., -1:]], axis=-1),
        "four of the first axis": good[:1].repeat(4, axis=0),
        "a dimension missing": good[0],
        "a dimension too many": good[None],
        "flat": good.ravel(),
        "integers": np.ones(good.shape, dtype=np.int64),
        "booleans": np.ones(good.shape, dtype=bool),
        "complex": good.astype(np.complex64),
        "objects": good.astype(object),
        "text": np.full(good.shape, "1.0"),
    }


def bad_scores(good):
    """Yield dicts of score tensors of which one is invalid, each with the pattern of its message and what is wrong.

    good: valid tensors of a sentence of four words.
    """
    for name, tensor in good.items():
        nan, infinite = tensor.copy(), tensor.copy()
        nan[(..., 1, 2)], infinite[(..., 1, 2)] = np.nan, np.inf
        wrong = [(what, bad, name) for what, bad in bad_arrays(tensor).items()]
        wrong += [("NaN", nan, rf"{name}.*nan.*1, 2"), ("infinity", infinite, rf"{name}.*inf.*1, 2")]
        for what, bad, message in wrong:
            yield {**good, name: bad}, message, f"{name}: {what}"


# Heads that are no tree over four words, by what is wrong with them.
BAD_HEADS = {
    "too short": [-1, 0, 1, 2],
    "too long": [-1, 0, 1, 2, 3, 4],
    "empty": [],
    "two dimensions": [[-1, 0, 1, 2, 3]],
    "head beyond the sentence": [-1, 0, 1, 2, 5],
    "negative head": [-1, 0, 1, 2, -3],
    "the root with a head": [1, 0, 1, 2, 3],
    "its own head": [-1, 0, 2, 1, 1],
    "a cycle": [-1, 0, 3, 2, 1],
    "not integers": [-1.0, 0.5, 1.0, 2.0, 3.0],
}
