"""MH4 and MH5 on longer sentences, against Figure 2 by whole arrays."""

import brute
import dense
import numpy as np
import pytest
from common import KINDS, MH4_HYBRID, MH5, check, costs, decoders, rng_for, scores_of, seeds, tolerance
from hypothesis import given, settings
from hypothesis import strategies as st

from mh4 import trees

pytestmark = pytest.mark.slow

every_decoder = decoders(MH4_HYBRID, *MH5)
lengths = st.integers(1, 20)


@every_decoder
@settings(max_examples=40)
@given(n=lengths, seed=seeds, kind=st.sampled_from((*KINDS, "planted")))
def test_best_of_longer_sentences(decoder, n, seed, kind):
    """The best sequence is found. Given its tree, a sequence with the same score is found."""
    n = n if decoder.k == 5 else 2 * n
    rng = np.random.default_rng(seed)
    scores = scores_of(decoder, n, rng, kind)
    cost = costs(n, rng)[seed % 3]
    derivation = decoder.decode(scores, cost=cost)
    check(decoder, derivation, n, scores, cost, dense.best_score(n, decoder.k, scores, cost), kind)
    assert trees.in_class(derivation.heads, decoder.class_name)
    again = decoder.decode(scores, cost=cost, heads=derivation.heads)
    np.testing.assert_array_equal(again.heads, derivation.heads)
    check(decoder, again, n, scores, cost, said=f"{kind}, heads= of the tree found")
    assert abs(again.score - derivation.score) <= 2 * tolerance(n, scores, cost)


@decoders(*MH5[1::2])
@pytest.mark.parametrize("kind", ["whole", "planted"])
@pytest.mark.parametrize("n", [14, 15, 16, 17, 24, 30, 31, 32, 33])
def test_best_at_the_lengths_where_blocks_begin(decoder, n, kind):
    """Lengths at the borders of blocks of 8, 16 or 32 nodes, by which a chart may be filled, are decoded exactly."""
    rng = rng_for("blocks", n)
    scores = scores_of(decoder, n, rng, kind)
    cost = costs(n, rng)[n % 3]
    check(decoder, decoder.decode(scores, cost=cost), n, scores, cost, dense.best_score(n, 5, scores, cost))


@every_decoder
@settings(max_examples=15)
@given(n=lengths, seed=seeds)
def test_best_sequence_of_a_tree(decoder, n, seed):
    rng = np.random.default_rng(seed)
    scores = decoder.sample(n, rng)
    cost = costs(n, rng)[seed % 3]
    tree = brute.heads_of(n, brute.random_sequence(n, decoder.k, rng, links=0.9))
    derivation = decoder.decode(scores, cost=cost, heads=np.array(tree, dtype=np.int32))
    assert tuple(derivation.heads) == tree
    check(decoder, derivation, n, scores, cost, dense.best_score(n, decoder.k, scores, cost, heads=tree), f"heads={tree}")


@every_decoder
@settings(max_examples=15)
@given(n=st.integers(1, 10), seed=seeds)
def test_best_with_a_single_root(decoder, n, seed):
    rng = np.random.default_rng(seed)
    scores = decoder.sample(n, rng)
    cost = costs(n, rng)[seed % 3]
    best = max(dense.best_score(n, decoder.k, scores, cost, root=word) for word in range(1, n + 1))
    derivation = decoder.decode(scores, cost=cost, single_root=True)
    assert brute.has_single_root(derivation.heads)
    check(decoder, derivation, n, scores, cost, best, "single root")
