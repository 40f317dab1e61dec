"""The Hessian of log_partition times a direction, which is a covariance over all derivations."""

import numpy as np
import pytest
from common import every_root, padded, rng_for
from marginals_judge import EXTREMES, every_model, extreme, name_of
from partition import distribution

from mh4.decoders import batch
from mh4.decoders.batch import DECODERS

pytestmark = pytest.mark.slow


def covariances(model, n, scores, direction, single_root):
    """Return for each score the covariance of its number of uses with a derivation's score in the direction."""
    candidates = model.candidates(n)
    _, probability = distribution(candidates.used(scores), candidates.single_root | (not single_root))
    value = candidates.scores(direction)
    return candidates.counts(direction, probability * (value - (probability * value).sum()))


def product(model, scores, direction, single_root, n):
    batches = [{name: tensor[None] for name, tensor in each.items()} for each in (scores, direction)]
    found = batch.hessian_product(name_of(model), *batches, [n], single_root=single_root)
    assert found.keys() == direction.keys()
    return {name: array[0] for name, array in found.items()}


def directed(scores, rng):
    """Return a random direction, which may have arcs even if the scores have none."""
    shapes = {name: tensor.shape for name, tensor in scores.items()}
    if rng.random() < 0.5 and "crossed_arc" not in shapes:
        n = shapes["shift"][0] - 2 if "shift" in shapes else shapes["arcs"][0] - 1
        shapes["arcs"] = (n + 1, n + 1)
    return {name: 10.0 ** rng.integers(-3, 4) * rng.normal(size=shape) for name, shape in shapes.items()}


def agree(found, expected, size, near):
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=near, atol=near * size, err_msg=name)


def size_of(direction):
    return max(np.abs(array).max() for array in direction.values())


@every_model
@every_root
@pytest.mark.parametrize("n, case", [(n, None) for n in range(1, 6)] + [(n, case) for n in (2, 3, 4) for case in EXTREMES])
def test_covariances_of_all_derivations(model, single_root, n, case):
    """Covariances are right for random scores and for scores whose sums exceed the range of float64."""
    rng = rng_for("covariances", n, case)
    for forbidden in (0,) if case else (0, 0, 0, 0.05):
        scores = extreme(model, n, rng, case) if case else model.sample(n, rng)
        scores = {name: tensor.astype(np.float64) for name, tensor in scores.items()}
        for tensor in scores.values():
            tensor[rng.random(tensor.shape) < forbidden] = -np.inf
        direction = directed(scores, rng)
        found = product(model, scores, direction, single_root, n)
        expected, size = covariances(model, n, scores, direction, single_root), size_of(direction)
        agree(found, expected, size, 1e-7 if case else 1e-9)


@every_model
@every_root
@pytest.mark.parametrize("n", [9, 17, 40])
def test_longer_sentences(model, single_root, n):
    """The Hessian is symmetric and agrees with differences of expected counts, up to their five or six digits."""
    rng = rng_for("longer covariances", n)
    scores = {name: tensor.astype(np.float64) for name, tensor in model.sample(n, rng).items()}
    one, other = ({name: rng.normal(size=tensor.shape) for name, tensor in scores.items()} for _ in range(2))
    by_one, by_other = (product(model, scores, direction, single_root, n) for direction in (one, other))
    assert sum((by_one[name] * other[name]).sum() for name in scores) == pytest.approx(
        sum((by_other[name] * one[name]).sum() for name in scores), rel=1e-8
    )
    step = 1e-5
    up, down = (
        batch.marginals(
            name_of(model),
            {name: (tensor + sign * step * one[name])[None] for name, tensor in scores.items()},
            [n],
            single_root=single_root,
        ).parts
        for sign in (1, -1)
    )
    for name, array in by_one.items():
        np.testing.assert_allclose(array, (up[name] - down[name])[0] / (2 * step), atol=1e-6 * max(1, np.abs(array).max()))


@pytest.mark.parametrize("name", [name for name, decoder in DECODERS.items() if decoder.marginals])
def test_batches_of_any_padding(name):
    """Results do not depend on padding, other sentences or threads. Infinite numbers affect only their sentence."""
    rng = rng_for("covariances of batches", name)
    lengths = [3, 9, 0, 6, 2]
    scores, direction = (padded(name, lengths, 10, rng) for _ in "sd")
    first = next(iter(direction))
    direction[first][3, ..., 1, 2] = np.inf
    found = batch.hessian_product(name, scores, direction, lengths, threads=3)
    for tensor, shape in DECODERS[name].tensors.items():
        for b, n in enumerate(lengths):
            ours, corner = found[tensor][b], (..., slice(n + shape.rows), slice(n + shape.columns))
            assert np.isnan(ours[corner]).all() if b == 3 else np.isfinite(ours).all()
            assert (ours[..., n + shape.rows :, :] == 0).all() and (ours[..., n + shape.columns :] == 0).all()
    for b, n in enumerate(lengths):
        if b == 3:
            continue
        of, by = (
            {tensor: corner[None] for tensor, corner in batch.single(name, each, b, n).items()} for each in (scores, direction)
        )
        alone = batch.hessian_product(name, of, by, [n], threads=1)
        for tensor, array in alone.items():
            rows, columns = array.shape[-2:]
            np.testing.assert_array_equal(found[tensor][b][..., :rows, :columns], array[0])


def test_without_derivations():
    """Without derivations, marginals are an error or, with allow_none, 0, and the Hessian is 0."""
    arcs = np.zeros((2, 3, 3))
    arcs[1] = -np.inf
    with pytest.raises(ValueError, match="^sentence 1: no derivation"):
        batch.marginals("mst", {"arcs": arcs}, [2, 2])
    found = batch.marginals("mst", {"arcs": arcs}, [2, 2], allow_none=True)
    assert (
        found.log_partition.tolist() == [pytest.approx(np.log(3)), -np.inf] and (found.arcs[1] == 0).all() and found.arcs[0].any()
    )
    direction = np.ones((2, 3, 3))
    direction[:, 0, 1] = 2
    product = batch.hessian_product("mst", {"arcs": arcs}, {"arcs": direction}, [2, 2])["arcs"]
    assert product[0].any() and (product[1] == 0).all()
    with pytest.raises(ValueError, match="^sentence 0: arcs: scores must be below"):
        batch.marginals("mst", {"arcs": arcs + np.nan}, [2, 2], allow_none=True)
    for function in (batch.marginals, batch.log_partition):
        with pytest.raises(ValueError, match="^allow_none: expected True or False, got 'no'"):
            function("mst", {"arcs": arcs}, [2, 2], allow_none="no")


def test_errors():
    arcs = np.zeros((1, 3, 3))
    shift, reduces = np.zeros((1, 4, 4)), np.zeros((1, 2, 4, 4))
    scores = {"shift": shift, "reduce_s0b0": reduces, "arcs": arcs}
    for direction, message in [
        ({"shift": shift, "reduce_s0b0": reduces}, "direction: has no tensor 'arcs', but the scores have"),
        (
            {"shift": np.zeros((1, 5, 5)), "reduce_s0b0": np.zeros((1, 2, 5, 5))},
            "direction: has room for 3 words, but the scores for 2",
        ),
        ({"shift": shift}, "direction: mh3 needs the tensor reduce_s0b0"),
        ({**scores, "sibling": shift}, "direction: mh3 has no tensor 'sibling'"),
        (None, "direction: expected the tensors by name"),
    ]:
        with pytest.raises(ValueError, match="^" + message):
            batch.hessian_product("mh3", scores, direction, [2])
    with pytest.raises(ValueError, match="^mh5 has no marginals that can be differentiated; mh3, mh4, mst, 1ec have$"):
        batch.hessian_product("mh5", {}, {}, [])
    with pytest.raises(ValueError, match="^no decoder 'mh6'"):
        batch.hessian_product("mh6", {}, {}, [])
