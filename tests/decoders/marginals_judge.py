"""Check marginals: properties for any scores, and values by the references. Messages name the cell that is wrong."""

from itertools import product

import brute
import numpy as np
import partition
import pytest
from common import MH3, MH3_ARCS, MH4_HYBRID, MH4_HYBRID_ARCS, MH4_TWO, MH4_TWO_ARCS, MST
from oneec_judge import ONEEC, candidates, is_in_class

from mh4.decoders import batch
from mh4.decoders.batch import DECODERS

SEQUENCES = [MH3, MH3_ARCS, MH4_TWO, MH4_HYBRID, MH4_TWO_ARCS, MH4_HYBRID_ARCS]
TREES = [MST, ONEEC]
MODELS = [*SEQUENCES, *TREES]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
every_chart = pytest.mark.parametrize("model", SEQUENCES, ids=lambda model: model.name)

NEAR = 1e-6  # tolerance: relative for the logarithm, absolute and relative for probabilities and expected counts


def name_of(model):
    """Return the name of the decoder in batches."""
    return model.name if model in TREES else "mh%d" % model.k


def sample(model, scores, samples, rng=0, **options):
    return DECODERS[name_of(model)].sample(**scores, samples=samples, rng=rng, **options)


def marginals(model, scores, heads=None, single_root=False):
    """Return the marginals of a sentence, and check that batch.log_partition returns the same log_partition."""
    name = name_of(model)
    found = DECODERS[name].marginals(**scores, heads=heads, single_root=single_root)
    of_batch = {tensor: numbers[None] for tensor, numbers in scores.items()}
    trees = None if heads is None else heads[None]
    alone = batch.log_partition(name, of_batch, [len(found.arcs) - 1], heads=trees, single_root=single_root)
    assert alone.tolist() == [found.log_partition], f"alone, log_partition is {alone}, not {found.log_partition}"
    return found


def enumerated(model, n, scores, single_root=False):
    return partition.over(model.candidates(n), scores, single_root)


def only(heads):
    """Return scores that forbid all arcs but those of `heads` (-1: any, -2: any but the root): float64 (n+1, n+1)."""
    heads = np.array(heads)
    every = np.arange(len(heads))[:, None]
    return np.where((heads == -1) | (heads == every) | (heads == -2) & (every > 0), 0, -np.inf)


def with_heads(model, n, scores, heads, single_root=False):
    """Return the marginals over all that have these heads: by the reference chart, or by all such trees."""
    if model in SEQUENCES:
        return partition.over_chart(n, model.k, with_arcs(model, scores, only(heads)), single_root)
    choices = product(*([head] if head >= 0 else range(-1 - head, n + 1) for head in heads[1:]))
    trees = [tree for words in choices if brute.is_tree(tree := (-1, *words))]
    of_model = candidates(list(filter(is_in_class, trees))) if model is ONEEC else brute.Candidates(trees)
    return partition.over(of_model, scores, single_root)


def with_arcs(model, scores, more):
    """Return the scores with `more`, (n+1, n+1), added for every arc."""
    if model is ONEEC:
        return {**scores, "arc": scores["arc"] + more, "crossed_arc": scores["crossed_arc"] + more}
    return {**scores, "arcs": scores.get("arcs", np.zeros_like(more)) + more}


def well_formed(found, n, scores, near=NEAR):
    """Check types, shapes, and sums that are known for any scores."""
    assert isinstance(found.log_partition, float) and np.isfinite(found.log_partition), f"log_partition {found.log_partition!r}"
    assert found.arcs.dtype == np.float64 and found.arcs.shape == (n + 1, n + 1)
    assert np.isfinite(found.arcs).all(), f"arcs: {found.arcs}"
    assert found.arcs.min() >= -near and found.arcs.max(initial=0) <= 1 + near, "arcs are not probabilities"
    np.testing.assert_allclose(found.arcs[:, 1:].sum(axis=0), 1, atol=near, err_msg="sums of the columns of arcs")
    assert not found.arcs[:, 0].any() and not np.diag(found.arcs).any(), "arcs to the root, or from a word to itself"
    assert set(found.parts) == set(scores)
    for name, tensor in scores.items():
        part = found.parts[name]
        assert part.shape == tensor.shape and part.dtype.kind == "f", f"parts[{name}]: {part.dtype} of shape {part.shape}"
        assert np.isfinite(part).all() and part.min(initial=0) >= -near, f"parts[{name}] are no expected counts"
        uses = part.sum(dtype=float)
        if "crossed_arc" not in scores:  # in 1EC, not every word uses each part
            assert abs(uses - n) <= n * near, f"parts[{name}] add up to {uses} for {n} words"
        assert uses <= n * (1 + near), f"parts[{name}] add up to {uses} for {n} words"
        assert not part[tensor == -np.inf].any(), f"parts[{name}]: uses of what is forbidden"
    if "arcs" in scores:
        np.testing.assert_allclose(found.parts["arcs"], found.arcs, atol=near, err_msg="parts['arcs'] is not arcs")
    if "crossed_arc" in scores:
        of_both = found.parts["arc"] + found.parts["crossed_arc"]
        np.testing.assert_allclose(of_both, found.arcs, atol=near, err_msg="parts of arcs are not arcs")
        for name in ("grandparent", "sibling"):  # only for uncrossed arcs
            of_words = found.parts[name].sum(axis=0) - found.parts["arc"].sum(axis=0)
            assert of_words.max(initial=0) <= near, f"parts[{name}]: more than there are arcs without crossing"
    if "shift" in scores:  # each word is shifted once
        np.testing.assert_allclose(found.parts["shift"][:, 1 : n + 1].sum(axis=0), 1, atol=near, err_msg="shifts of a word")
        by_s1, by_b0 = (found.parts.get(name) for name in ("reduce_s1s0", "reduce_s0b0"))
        if by_s1 is not None:  # both count the same reduces, with the same s0
            np.testing.assert_allclose(by_s1.sum(axis=1), by_b0.sum(axis=2), atol=n * near, err_msg="reduces by code and s0")


def agree(found, expected, n, scores, said="", near=NEAR):
    """Check that the marginals are those of the reference."""
    size = max(1, abs(expected.log_partition))
    assert abs(found.log_partition - expected.log_partition) <= near * size, (
        f"n={n} {said}: log_partition {found.log_partition}, expected {expected.log_partition}, "
        f"the difference is {found.log_partition - expected.log_partition}"
    )
    well_formed(found, n, scores, max(near, NEAR))
    for name, of_found, of_expected in [("arcs", found.arcs, expected.arcs)] + [
        (f"parts[{name!r}]", found.parts[name], expected.parts[name]) for name in scores
    ]:
        off = np.abs(of_found - of_expected) - near * (1 + np.abs(of_expected))
        worst = tuple(int(i) for i in np.unravel_index(off.argmax(), off.shape)) if off.size else ()
        assert off.max(initial=0) <= 0, (
            f"n={n} {said}: {name}{list(worst)} is {of_found[worst]}, expected {of_expected[worst]}; {(off > 0).sum()} cells are off"
        )


def extreme(model, n, rng, case):
    """Return scores of magnitude up to ten thousand that are nearly equal or very different."""
    scores = model.sample(n, rng)
    for tensor in scores.values():
        if case in ("far above", "far below"):
            tensor += 1e4 if case == "far above" else -1e4
        elif case == "up or down":
            tensor += rng.choice([-1e4, 0, 1e4], tensor.shape)
        elif case == "some far below":
            tensor[rng.random(tensor.shape) < 0.5] = -1e4
        elif case == "some far above":
            tensor[rng.random(tensor.shape) < 0.3] += 1e4
        else:
            tensor *= float(case)
    return scores


EXTREMES = ["far above", "far below", "up or down", "some far below", "some far above", "10", "100", "3000"]
