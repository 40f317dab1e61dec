"""Marginals of mh3, mh4, mst and oneec: sums in which every sequence or tree is counted once."""

import brute
import numpy as np
import partition
import pytest
from common import every_root, rng_for, sample, small
from marginals_judge import EXTREMES, agree, enumerated, every_chart, every_model, extreme, marginals
from oneec_judge import ONEEC

from mh4.decoders import mh4, mst

# By k and single_root: the numbers of transition sequences over 0 to 7 words.
COUNTS = {
    (3, False): [1, 1, 3, 13, 67, 381, 2307, 14589],
    (3, True): [0, 1, 2, 7, 32, 169, 974, 5947],
    (4, False): [1, 1, 6, 64, 840, 12096, 183616, 2888960],
    (4, True): [0, 1, 3, 23, 255, 3355, 48287, 733379],
}

# ----------------------------------------------------------------------------------------------------------- the references


@pytest.mark.parametrize("k", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_the_number_of_sequences(k):
    """The enumeration and the reference chart have the same number of sequences."""
    for single_root in (False, True):
        for n, count in enumerate(COUNTS[k, single_root]):
            assert partition.count(n, k, single_root) == count
            if n <= 5:
                derivations = brute.derivations(n, k)
                assert len({tuple(row[0] for row in rows) for rows in derivations.sequences}) == len(derivations.sequences)
                assert count == (derivations.single_root.sum() if single_root else len(derivations.sequences))


# -------------------------------------------------------------------------------------------- against enumeration, n up to five


@every_chart
@every_root
@pytest.mark.parametrize("n", range(1, 8))
def test_every_sequence_is_counted_once(model, single_root, n):
    """With zero scores, the partition function is the number of sequences."""
    found = marginals(model, model.sample(n, rng_for(), "zeros"), single_root=single_root)
    assert np.exp(found.log_partition) == pytest.approx(COUNTS[model.k, single_root][n], rel=1e-5)


@every_root
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 20, 50])
def test_every_tree_is_counted_once(single_root, n):
    """There are (n+1)^(n-1) trees, and n^(n-1) with a single root (Cayley)."""
    found = mst.marginals(np.zeros((n + 1, n + 1), dtype=np.float32), single_root=single_root)
    assert found.log_partition == pytest.approx((n - 1) * np.log(n if single_root else n + 1), rel=1e-9, abs=1e-9)


@every_model
@every_root
@small
@pytest.mark.parametrize("kind", ["normal", "ties", "zeros", *EXTREMES])
def test_sums_over_all(model, single_root, n, kind):
    rng = rng_for("all", n, kind)
    for draw in range({"normal": 8, "ties": 8, "zeros": 1}.get(kind, 4)):
        scores = extreme(model, n, rng, kind) if kind in EXTREMES else model.sample(n, rng, kind)
        expected = enumerated(model, n, scores, single_root)
        agree(marginals(model, scores, single_root=single_root), expected, n, scores, f"{model.name}, {kind}, draw {draw}")


@every_root
def test_sums_over_trees_of_six_words(single_root):
    """The sums are right for six words, the fewest for which every rule of 1EC applies in every order of its nodes."""
    scores = ONEEC.sample(6, rng_for("six"))
    expected = enumerated(ONEEC, 6, scores, single_root)
    agree(marginals(ONEEC, scores, single_root=single_root), expected, 6, scores, "1ec")


@every_model
@every_root
@small
def test_minus_infinity_forbids(model, single_root, n):
    """The sums are over the remaining derivations. Without any there is an error."""
    rng = rng_for("forbid", n)
    possible = 0
    for draw in range(40):
        scores = model.sample(n, rng)
        share = rng.choice([0.1, 0.3])
        for tensor in scores.values():
            tensor[rng.random(tensor.shape) < share] = -np.inf
        expected = enumerated(model, n, scores, single_root)
        if expected.log_partition > -np.inf:
            possible += 1
            agree(marginals(model, scores, single_root=single_root), expected, n, scores, f"{model.name}, draw {draw}")
        else:
            with pytest.raises(ValueError, match="no derivation|no tree"):
                marginals(model, scores, single_root=single_root)
                pytest.fail(f"draw {draw}: everything is forbidden, but there is no error")
    assert possible > 2


@every_chart
@small
def test_one_sequence_remains(model, n):
    """If all that a random sequence does not use is forbidden, the sequence has probability 1, whatever its score."""
    for size in (1, 1e4):
        for draw in range(5):
            rng = rng_for("remains", n, draw)
            used = model.plant(n, brute.random_sequence(n, model.k, rng))
            scores = {
                name: np.where(tensor == 1, sample(tensor.shape, rng, "normal") * size, -np.inf) for name, tensor in used.items()
            }
            scores = {name: tensor.astype(np.float32) for name, tensor in scores.items()}
            expected = enumerated(model, n, scores)
            agree(marginals(model, scores), expected, n, scores, f"{model.name}, times {size:g}, draw {draw}")


@pytest.mark.parametrize("size", [1, 6, 20])
def test_an_improbable_chain_has_one_derivation(size):
    """A chain, each word depending on the one before, has one derivation in MH4: all shifts, then all reduces."""
    n, rng = 80, rng_for("chain", size)
    scores = [rng.normal(size=shape).astype(np.float32) * size for shape in [(n + 2, n + 2), *2 * [(6, n + 2, n + 2)]]]
    chain = np.arange(-1, n)
    derivation, found = mh4.decode(*scores, heads=chain), mh4.marginals(*scores, heads=chain)
    assert found.log_partition == pytest.approx(derivation.score, abs=1e-6)
    for name, rows in derivation.parts.items():
        assert found.parts[name][tuple(rows.T)] == pytest.approx(1) and found.parts[name].sum() == pytest.approx(len(rows))


@pytest.mark.slow
@every_model
@every_root
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("size", [1e7, 1e10, 1e13, 1e16, 1e20, 1e25, 9e29])
def test_scores_of_any_size(model, single_root, n, size):
    """Marginals are right for scores so large that float64 rounds the differences between sums."""
    rng = rng_for("size", n, size)
    for draw in range(4):
        scores = {name: tensor.astype(np.float64) for name, tensor in model.sample(n, rng).items()}
        for tensor in scores.values():
            chosen = rng.random(tensor.shape) < rng.choice([0.3, 0.9])
            if draw == 0:  # a mask
                tensor[chosen] = -size
            elif draw == 1:  # masks of any sign in float32
                tensor[chosen] = np.float32(size) * rng.choice([-1, 1], chosen.sum())
            elif draw == 2:  # numbers next to each other
                tensor[:] = size + np.spacing(size) * rng.integers(3, size=tensor.shape)
            else:  # sums that cancel
                tensor += rng.choice([-size, size])
        if draw == 3 and not single_root:
            for tensor in scores.values():
                tensor[rng.random(tensor.shape) < 0.1] = -np.inf
        expected = enumerated(model, n, scores, single_root)
        if expected.log_partition > -np.inf:
            found = marginals(model, scores, single_root=single_root)
            agree(found, expected, n, scores, f"{model.name}, {size:g}, draw {draw}", near=1e-7)


@every_model
def test_a_sentence_without_words(model):
    scores = model.sample(0, rng_for("none"))
    found = marginals(model, scores)
    assert found.log_partition == 0 and isinstance(found.log_partition, float)
    assert found.arcs.dtype == np.float64 and found.arcs.tolist() == [[0]]
    assert {name: part.shape for name, part in found.parts.items()} == {name: tensor.shape for name, tensor in scores.items()}
    assert not any(part.any() for part in found.parts.values())
    with pytest.raises(ValueError):  # the root has no dependent
        marginals(model, scores, single_root=True)
