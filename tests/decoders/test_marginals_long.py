"""Marginals of mh3, mh4, mst and oneec on longer sentences."""

import numpy as np
import partition
import pytest
from common import MST, every_root, fill_unused, rng_for, seeds
from hypothesis import given, settings
from hypothesis import strategies as st
from marginals_judge import NEAR, agree, every_chart, every_model, marginals, well_formed
from oneec_judge import ONEEC

pytestmark = pytest.mark.slow


@every_chart
@settings(max_examples=10)
@given(n=st.integers(1, 12), seed=seeds, size=st.sampled_from([1, 1, 10, 1000]))
def test_sums_over_all_by_the_reference_chart(model, n, seed, size):
    scores = {name: size * tensor for name, tensor in model.sample(n, np.random.default_rng(seed)).items()}
    scores = {name: tensor.astype(np.float32) for name, tensor in scores.items()}
    expected = partition.over_chart(n, model.k, scores)
    agree(marginals(model, scores), expected, n, scores, f"{model.name}, times {size}", near=3e-6)


@every_chart
@settings(max_examples=5)
@given(n=st.integers(1, 8), seed=seeds)
def test_single_root_by_the_reference_chart(model, n, seed):
    scores = model.sample(n, np.random.default_rng(seed))
    expected = partition.over_chart(n, model.k, scores, single_root=True)
    agree(marginals(model, scores, single_root=True), expected, n, scores, f"{model.name}, single root", near=3e-6)


@every_chart
@pytest.mark.parametrize("n", [15, 16, 17, 24])
def test_sums_over_all_at_the_lengths_where_blocks_begin(model, n):
    """Lengths at the borders of blocks of 8 or 16 nodes, by which a chart may be filled, have the right sums."""
    scores = model.sample(n, rng_for("blocks", n))
    expected = partition.over_chart(n, model.k, scores)
    agree(marginals(model, scores), expected, n, scores, model.name, near=5e-6)


@every_root
@settings(max_examples=40)
@given(n=st.integers(1, 60), seed=seeds)
def test_spanning_trees_by_the_matrix_tree_theorem(single_root, n, seed):
    rng = np.random.default_rng(seed)
    scores = MST.sample(n, rng)
    arcs = scores["arcs"]
    found = marginals(MST, scores, single_root=single_root)
    well_formed(found, n, scores)
    expected = partition.matrix_tree(arcs, single_root)
    assert abs(found.log_partition - expected) <= 1e-8 * max(1, abs(expected))
    word = int(rng.integers(1, n + 1))
    for head in {int(rng.integers(n + 1)), int(found.arcs[:, word].argmax())} - {word}:
        without = arcs.copy()
        without[head, word] = -np.inf
        lost = 1.0
        if n > 1 and (without[:, word] > -np.inf).sum() > 1:
            lost = 1 - np.exp(partition.matrix_tree(without, single_root) - expected)
        assert abs(found.arcs[head, word] - lost) <= NEAR, f"n={n}: {head} -> {word}: {found.arcs[head, word]}, not {lost}"


@every_model
def test_what_is_no_arc_does_not_matter(model):
    """Scores of arcs and transitions that do not exist change nothing."""
    for n in (1, 4, 12):
        scores = model.sample(n, rng_for("no arc", n))
        expected = marginals(model, scores)
        for value in (-np.inf, 1e4):
            fill_unused(scores, value)
            found = marginals(model, scores)
            assert found.log_partition == pytest.approx(expected.log_partition, rel=1e-6, abs=1e-6), (model.name, n, value)
            np.testing.assert_allclose(found.arcs, expected.arcs, atol=1e-5, err_msg=f"{model.name} n={n}: {value}")


@every_model
@pytest.mark.parametrize("n, size", [(60, 1), (60, 30), (100, 1)])
def test_long_sentences(model, n, size):
    """Marginals are finite and consistent for random scores, and for scores that make a planted derivation likely."""
    n = n // 2 if model is ONEEC else n
    scores = {name: np.float32(size) * tensor for name, tensor in model.sample(n, rng_for("long", n)).items()}
    planted, tree, score = model.planted(n, rng_for("planted", n))
    planted = {name: np.float32(200) * tensor for name, tensor in planted.items()}
    for single_root in (False, True):
        found = marginals(model, scores, single_root=single_root)
        well_formed(found, n, scores, near=1e-4)
        best = model.decode(scores, single_root=single_root).score
        assert best <= found.log_partition + 1e-5 * abs(best)
    found = marginals(model, planted)
    well_formed(found, n, planted, near=1e-4)
    assert found.log_partition >= 200 * score * (1 - 1e-6)
    assert found.arcs[list(tree[1:]), np.arange(1, n + 1)].min() > 1e-3
