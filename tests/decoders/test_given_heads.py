"""Marginals of one tree, or of all trees with some given heads, and errors about heads."""

from functools import partial

import brute
import numpy as np
import pytest
from common import MH3, MH3_ARCS, MH4_HYBRID, MHK, MST, every_root, padded, rng_for
from hypothesis import given, settings
from hypothesis import strategies as st
from marginals_judge import (
    EXTREMES,
    SEQUENCES,
    agree,
    enumerated,
    every_chart,
    every_model,
    extreme,
    marginals,
    only,
    sample,
    with_arcs,
    with_heads,
)
from oneec_judge import ONEEC

from mh4.decoders import NotInClass, batch, mh3
from mh4.decoders.batch import DECODERS

WITH_SUMS = [name for name, decoder in DECODERS.items() if decoder.marginals]


def judged(model, n, scores, heads, single_root, said=""):
    """Compare with the enumeration of all derivations, and return whether there are any."""
    expected = enumerated(model, n, with_arcs(model, scores, only(heads)), single_root)
    if expected.log_partition == -np.inf:
        with pytest.raises(ValueError, match="heads|no derivation"):
            marginals(model, scores, heads=np.array(heads), single_root=single_root)
            pytest.fail(f"{model.name}, {heads}: no error")
        return False
    expected = expected._replace(parts={name: expected.parts[name] for name in scores})
    found = marginals(model, scores, heads=np.array(heads), single_root=single_root)
    agree(found, expected, n, scores, f"{model.name}, {heads} {said}")
    return True


@every_model
@every_root
@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_tree(model, single_root, n):
    scores = model.sample(n, rng_for("tree", n))
    derived = sum(judged(model, n, scores, heads, single_root) for heads in brute.all_trees(n))
    assert derived > 0


@pytest.mark.slow
@every_model
@every_root
def test_random_trees_and_parts_of_them(model, single_root):
    n, rng = 5, rng_for("parts")
    derived = 0
    for draw in range(24):
        scores = model.sample(n, rng)
        if draw % 4 == 3:
            for tensor in scores.values():
                tensor[rng.random(tensor.shape) < 0.1] = -np.inf
        heads = np.array(brute.random_tree(n, rng, single_root))
        if draw % 2:
            heads[1:][rng.random(n) < 0.5] = -1 - draw % 4 // 2
            heads[1:][rng.random(n) < 0.2] = -1
        derived += judged(model, n, scores, heads, single_root)
    assert derived > 5


@pytest.mark.slow
@every_model
@pytest.mark.parametrize("case", EXTREMES)
def test_large_and_small_scores(model, case):
    """Scores whose sums exceed the range of float64 have the right marginals."""
    n, rng = 5, rng_for("extreme", case)
    for _ in range(4):
        scores = extreme(model, n, rng, case)
        tree = (
            brute.heads_of(n, brute.random_sequence(n, 3 if model is MH3 or model.k == 3 else 4, rng))
            if model in SEQUENCES
            else None
        )
        judged(model, n, scores, tree or brute.random_tree(n, rng), False, case)


@pytest.mark.slow
@every_model
@given(st.integers(6, 9), st.integers(0, 2**32 - 1), st.booleans(), st.integers(0, 3))
@settings(deadline=None, max_examples=8)
def test_longer_sentences(model, n, seed, single_root, left_open):
    """Marginals are those of the reference chart, or of all trees that have the heads."""
    rng = np.random.default_rng(seed)
    scores = model.sample(n, rng)
    heads = model.decode(model.sample(n, rng), single_root=single_root).heads.copy()
    some = rng.choice(n, left_open, replace=False) + 1
    heads[some] = np.where(heads[some] > 0, rng.choice([-1, -2], left_open), -1)  # so that there is a tree
    expected = with_heads(model, n, scores, heads, single_root)
    agree(marginals(model, scores, heads=heads, single_root=single_root), expected, n, scores, f"{model.name}, {heads}")


@every_chart
@pytest.mark.parametrize("scale", [1, 20])
def test_improbable_trees(model, scale):
    """A constant for all shifts that makes sums too large for float64 adds n times itself to log_partition."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n = 40
        heads = np.arange(-1, n) if seed == 0 else np.array(brute.heads_of(n, brute.random_sequence(n, model.k, rng)))
        scores = {name: scale * tensor.astype(np.float64) for name, tensor in model.sample(n, rng).items()}
        found = marginals(model, scores, heads=heads)
        exact = marginals(model, {**scores, "shift": scores["shift"] + 1e9}, heads=heads)
        assert found.log_partition == pytest.approx(exact.log_partition - n * 1e9, abs=1e-3)
        for name in scores:
            np.testing.assert_allclose(found.parts[name], exact.parts[name], atol=1e-5)


@every_model
def test_open_heads_are_none(model):
    """Heads that are all open have the same marginals as no heads, to the bit."""
    scores = model.sample(5, rng_for("open"))
    found, expected = marginals(model, scores, heads=np.full(6, -1)), marginals(model, scores)
    assert found.log_partition == expected.log_partition
    np.testing.assert_array_equal(found.arcs, expected.arcs)
    for name in scores:
        np.testing.assert_array_equal(found.parts[name], expected.parts[name], err_msg=name)


# --------------------------------------------------------------------------------------------------------------- errors


@every_model
def test_errors(model):
    n = 4
    scores = model.sample(n, rng_for("errors"))
    for heads, single_root, error, message in [
        ([-1, 2, 1, 0, 0], False, ValueError, "heads: word 1 is on a cycle"),
        ([-1, 2, 1, -1, -1], False, ValueError, "heads: word 1 is on a cycle"),
        ([-1, 2, 5, 0, 0], False, ValueError, "heads: the head of word 2 is 5, expected -2 to 4"),
        ([-1, -1, 5, 0, 0], False, ValueError, "heads: the head of word 2 is 5, expected -2 to 4"),
        ([-1, -1, -3, 0, 0], False, ValueError, "heads: the head of word 2 is -3"),
        ([0, -1, 2, 0, 0], False, ValueError, r"heads: expected heads\[0\] to be -1"),
        ([-1, 0, 0], False, ValueError, "heads: expected length 5"),
        ([-1.0, 0, 0, 0, 0], False, ValueError, "heads: expected a vector of integers"),
        ([-1, 0, 0, 1, 1], True, NotInClass, "a single root is required, but node 0 has 2"),
        ([-1, 0, 0, -1, 1], True, NotInClass, "a single root is required, but node 0 has 2"),
        ([-1, -2, -2, 2, -2], True, NotInClass, "a single root is required, but node 0 has 0"),
        ([-1, -2, -2, 2, -2], False, NotInClass, "no tree of the decoder's class has these heads"),
    ]:
        with pytest.raises(error, match=message):
            marginals(model, scores, heads=np.array(heads), single_root=single_root)
            pytest.fail(f"{heads}: no error")


def test_trees_outside_the_class():
    crossing = np.array([-1, 3, 4, 0, 0])
    with pytest.raises(NotInClass, match="not in MH3, only MH4"):
        marginals(MH3, MH3.sample(4, rng_for("class")), heads=crossing)
    n = 5
    outside = next(heads for heads in brute.all_trees(n) if heads not in set(brute.class_trees(n, "mh4")))
    with pytest.raises(NotInClass, match="not in MH4, only MH5"):
        marginals(MH4_HYBRID, MH4_HYBRID.sample(n, rng_for("class")), heads=np.array(outside))
    outside = next(heads for heads in brute.all_trees(n) if not brute.is_one_endpoint_crossing(heads))
    with pytest.raises(NotInClass, match="not 1-Endpoint-Crossing"):
        marginals(ONEEC, ONEEC.sample(n, rng_for("class")), heads=np.array(outside))


SCORES = MH3.sample(4, rng_for("class"))
OF_PROJECTIVE_TREES = {  # functions, each with the argument by which arcs are forbidden
    **{each.name: (partial(each.decode, each.sample(4, rng_for("class"))), "cost") for each in (MH3, MH3_ARCS, MHK[0])},
    "marginals": (partial(mh3.marginals, **SCORES), "arcs"),
    "samples": (partial(mh3.sample, **SCORES, samples=2), "arcs"),
}


@pytest.mark.parametrize("function, forbidding", OF_PROJECTIVE_TREES.values(), ids=OF_PROJECTIVE_TREES)
def test_open_heads_of_no_tree_in_the_class(function, forbidding):
    """The error for heads that no tree of the class has is not that for heads that scores forbid."""
    with pytest.raises(NotInClass, match="no tree of the decoder's class has these heads"):
        function(heads=np.array([-1, 3, 4, 0, -1]))
    forbidden = only([-1, -1, 0, 4, -1])  # with the heads below, words 3 and 4 would be on a cycle
    with pytest.raises(ValueError, match="no derivation") as error:
        function(heads=np.array([-1, 2, 0, -1, 3]), **{forbidding: forbidden})
    assert not isinstance(error.value, NotInClass)


@pytest.mark.parametrize("model", [MH3, MH4_HYBRID, MST], ids=lambda model: model.name)
@every_root
def test_samples_with_some_heads(model, single_root):
    """Samples have the given heads, and their arcs are as frequent as the marginals say."""
    n, count, rng = 4, 4000, rng_for("sample", model.name)
    scores = model.sample(n, rng)
    for heads in ([-1, -1, 0, -1, 3], [-1, 2, 0, 2, 2], [-1, -2, -1, -2, 3]):
        heads = np.array(heads)
        drawn = sample(model, scores, count, rng=1, heads=heads, single_root=single_root)
        assert ((drawn == heads) | (heads == -1) | (heads == -2) & (drawn > 0)).all()
        arcs = marginals(model, scores, heads=heads, single_root=single_root).arcs
        often = np.array([[(drawn[:, m] == h).mean() for m in range(1, n + 1)] for h in range(n + 1)])
        np.testing.assert_allclose(often, arcs[:, 1:], atol=5 * 0.5 / count**0.5)


# -------------------------------------------------------------------------------------------------------------------- batches


def batch_of(name, lengths, longest, rng):
    """Return scores with NaN in the padding, and heads: none, some or all of a tree."""
    tensors, heads = padded(name, lengths, longest, rng), np.full((len(lengths), longest + 1), -1)
    for b, n in enumerate(lengths):
        heads[b, : n + 1] = brute.random_tree(n, rng, single_root=True)
        if b % 3 == 1:
            heads[b, 1 : n + 1][rng.random(n) < 0.6] = -1
            heads[b, 1 : n + 1][rng.random(n) < 0.2] = -2
            heads[b, 1] = -1  # so that there is a tree
        if b % 3 == 2:
            heads[b] = -1
    return tensors, heads


@pytest.mark.parametrize("name", WITH_SUMS)
@pytest.mark.parametrize("large", [1, 3000])
def test_covariances(name, large):
    """Given heads have the same Hessian product as scores that forbid all other arcs."""
    rng = rng_for("covariances", name)
    lengths = [4, 5, 6, 7, 3]
    tensors, heads = batch_of(name, lengths, 7, rng)
    of_tree = brute.derivations(lengths[0], 3).of_tree
    heads[0, : lengths[0] + 1] = max(of_tree, key=lambda tree: len(of_tree[tree]))  # a tree with several derivations
    arcs = ("arc", "crossed_arc") if name == "1ec" else ("arcs",)
    for tensor in arcs:
        tensors[tensor] *= large
    direction = {tensor: rng.normal(size=array.shape) for tensor, array in tensors.items()}
    masked = {**tensors, **{tensor: tensors[tensor] + np.stack([only(each) for each in heads]) for tensor in arcs}}
    found = batch.hessian_product(name, tensors, direction, lengths, heads=heads)
    expected = batch.hessian_product(name, masked, direction, lengths)
    for tensor in tensors:
        np.testing.assert_allclose(found[tensor], expected[tensor], atol=1e-9, err_msg=tensor)
    if "shift" in tensors:
        assert np.abs(found["reduce_s0b0"][0]).max() > 1e-3


@pytest.mark.parametrize("name", WITH_SUMS)
def test_the_error_is_not_about_heads_if_none_is_given(name):
    tensors = {tensor: np.full(shape.of(2), -np.inf) for tensor, shape in DECODERS[name].tensors.items()}
    for heads in (None, np.full(3, -1)):
        with pytest.raises(ValueError, match="^no derivation: scores of -inf"):
            DECODERS[name].marginals(**tensors, heads=heads)
