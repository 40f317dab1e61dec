"""MH5 against a chart of all items, kept in a dictionary, and against the decoders of related problems."""

import re
import subprocess
import sys
from itertools import combinations

import brute
import numpy as np
import pytest
from common import hamming_cost, parts_score, rng_for, sample
from hypothesis import given, settings
from hypothesis import strategies as st

from mh4 import transitions
from mh4.decoders import NotInClass, beam, mh4, mh5, mhk
from mh4.transitions import ARC

POSITIONS = ("b0", "s0", "s1", "s2", "s3")
KINDS = ("normal", "ties", "zeros", "forbidding")
seeds = st.integers(0, 2**32 - 1)


def sample_scores(shape, rng, kind):
    """As `sample`, or with every fourth score -inf."""
    if kind == "forbidding":
        return np.where(rng.random(shape) < 0.25, -np.inf, sample(shape, rng, "normal")).astype(np.float32)
    return sample(shape, rng, kind)


def sample_tensors(n, rng, kind="normal", hybrid=True, arcs=False):
    side = n + 2
    tensors = {"shift": sample_scores((side, side), rng, kind), "reduce_s0b0": sample_scores((12, side, side), rng, kind)}
    if hybrid:
        tensors["reduce_s1s0"] = sample_scores((12, side, side), rng, kind)
    if arcs:
        tensors["arcs"] = sample_scores((n + 1, n + 1), rng, kind)
    return tensors


def chart_score(n, shift, reduce_s0b0, reduce_s1s0=None, arcs=None, cost=None, heads=None, single_root=False):
    """The score of the best derivation, or -inf, by Figure 2 with k = 5: of each span, items with more heads come first."""
    by_arc = sum((np.asarray(tensor, dtype=float) for tensor in (arcs, cost) if tensor is not None), np.zeros((n + 1, n + 1)))
    chart = {(i, i + 1): 0.0 for i in range(n + 1)}
    if single_root and n == 0:
        return -np.inf
    for width in range(2, n + 2):
        for first in range(n + 2 - width):
            last = first + width
            for size in range(min(5, width + 1), 1, -1):
                for inner in combinations(range(first + 1, last), size - 2):
                    item = (first, *inner, last)
                    ways = [
                        chart[item[: m + 1]] + float(shift[item[m - 1], item[m]]) + chart[item[m:]] for m in range(1, size - 1)
                    ]
                    chart[item] = score = max([chart.get(item, -np.inf), *ways])
                    s1, s0, b0 = ((-1, -1) + item)[-3:]
                    position = dict(zip(POSITIONS, reversed(item)))
                    for code, (head, dependent) in ARC.items():
                        if dependent not in position or head not in position or position[dependent] == first:
                            continue
                        h, m = position[head], position[dependent]
                        if h == n + 1 or (heads is not None and heads[m] != h):
                            continue
                        if single_root and h == 0 and (size, last) != (3, n + 1):
                            continue
                        total = score + float(reduce_s0b0[code - 1, s0, b0]) + by_arc[h, m]
                        if reduce_s1s0 is not None:
                            total += float(reduce_s1s0[code - 1, s1, s0])
                        without = tuple(node for node in item if node != m)
                        chart[without] = max(chart.get(without, -np.inf), total)
    return chart[0, n + 1]


def check(n, tensors, cost=None, heads=None, single_root=False):
    """The derivation found is well-formed and the best."""
    best = chart_score(n, **tensors, cost=cost, heads=heads, single_root=single_root)
    if best == -np.inf:
        with pytest.raises(ValueError, match="no derivation|a single root"):
            mh5.decode(**tensors, cost=cost, heads=heads, single_root=single_root)
        return None
    derivation = mh5.decode(**tensors, cost=cost, heads=heads, single_root=single_root)
    assert derivation.score == pytest.approx(best, rel=1e-5, abs=1e-4)
    assert derivation.score == pytest.approx(parts_score(derivation, tensors, cost), rel=1e-12, abs=1e-12)
    assert {name: len(rows) for name, rows in derivation.parts.items()} == dict.fromkeys(tensors, n)
    np.testing.assert_array_equal(transitions.run(derivation.transitions, n), derivation.heads)
    if heads is not None:
        np.testing.assert_array_equal(derivation.heads, heads)
    if single_root:
        assert brute.has_single_root(derivation.heads)
    return derivation


def sample_cost(n, rng, kind, number):
    """No cost, that of training, or any."""
    gold = np.array([-1] + [rng.integers(0, m) for m in range(1, n + 1)])
    return [None, hamming_cost(gold), sample_scores((n + 1, n + 1), rng, kind)][number % 3]


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    n=st.integers(0, 8), seed=seeds, kind=st.sampled_from(KINDS), hybrid=st.booleans(), arcs=st.booleans(), single=st.booleans()
)
def test_the_best_of_all_items(n, seed, kind, hybrid, arcs, single):
    rng = np.random.default_rng(seed)
    tensors = sample_tensors(n, rng, kind, hybrid, arcs)
    cost = sample_cost(n, rng, kind, seed)
    found = check(n, tensors, cost, single_root=single)
    if found is not None:
        check(n, tensors, cost, found.heads, single)


@pytest.mark.slow
@pytest.mark.parametrize("n", [16, 17, 18, 25])
@pytest.mark.parametrize("arcs", [False, True])
def test_longer_sentences(n, arcs):
    """More than one block of first nodes, and panels of last nodes for any width of vectors."""
    rng = rng_for("longer", n, arcs)
    tensors = sample_tensors(n, rng, arcs=arcs)
    found = check(n, tensors)
    check(n, tensors, hamming_cost(found.heads))
    check(n, tensors, single_root=True)
    check(n, tensors, heads=found.heads)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 15), seed=seeds, single=st.booleans(), as_cost=st.booleans())
def test_scores_on_arcs_alone_are_those_of_mhk(n, seed, single, as_cost):
    rng = np.random.default_rng(seed)
    tensors = {name: np.zeros_like(tensor) for name, tensor in sample_tensors(n, rng, hybrid=False).items()}
    arcs = sample((n + 1, n + 1), rng, "normal")
    found = mh5.decode(**tensors, **{"cost" if as_cost else "arcs": arcs}, single_root=single)
    assert found.score == pytest.approx(mhk.decode(arcs, 5, single_root=single).score, rel=1e-5, abs=1e-5)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 12), seed=seeds)
def test_at_least_as_good_as_mh4(n, seed):
    rng = np.random.default_rng(seed)
    tensors = sample_tensors(n, rng)
    found = mh4.decode(tensors["shift"], tensors["reduce_s0b0"][:6], tensors["reduce_s1s0"][:6])
    assert mh5.decode(**tensors).score >= found.score - 1e-4
    assert mh5.decode(**tensors, heads=found.heads).score >= found.score - 1e-4


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 4), seed=seeds, single=st.booleans())
def test_a_beam_that_holds_everything_finds_at_least_as_much(n, seed, single):
    """The transition system produces all that the chart derives."""
    tensors = sample_tensors(n, np.random.default_rng(seed), arcs=True)
    found = beam.decode(**tensors, beam=10**6, single_root=single)
    np.testing.assert_array_equal(transitions.run(found.transitions, n), found.heads)
    assert found.score == pytest.approx(parts_score(found, tensors), rel=1e-12)
    assert found.score >= mh5.decode(**tensors, single_root=single).score - 1e-4


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_number_of_trees(n):
    tensors, accepted = sample_tensors(n, rng_for("trees", n)), set()
    for tree in brute.all_trees(n):
        try:
            mh5.decode(**tensors, heads=np.array(tree, dtype=np.int32))
            accepted.add(tree)
        except NotInClass:
            pass
    assert len(accepted) == [1, 3, 16, 125, 1276][n - 1]
    assert accepted == set(brute.mhk_trees(n, 5))


def test_too_long_for_memory():
    """MH4 instead, with a warning; not for a given tree."""
    n = 20
    tensors = sample_tensors(n, rng_for("long"), arcs=True)
    cost = sample((n + 1, n + 1), rng_for("cost"), "normal")
    with pytest.warns(RuntimeWarning, match=r"MH5 takes .* 20 words, more than .* decoded by MH4"):
        found = mh5.decode(**tensors, cost=cost, single_root=True, max_bytes=10_000)
    of_mh4 = {name: tensor[:6] if name.startswith("reduce") else tensor for name, tensor in tensors.items()}
    expected = mh4.decode(**of_mh4, cost=cost, single_root=True)
    assert found.score == expected.score and found.heads.tolist() == expected.heads.tolist()
    assert found.score == pytest.approx(parts_score(found, tensors, cost))
    again = mh5.decode(**tensors, cost=cost, single_root=True)
    assert again.score >= found.score
    assert mh5.decode(**tensors, heads=again.heads, max_bytes=10_000).heads.tolist() == again.heads.tolist()


def test_no_memory():
    """An error, after which the decoder can be used again."""
    code = """
import resource, numpy as np
from mh4.decoders import mh5
def decode(n):
    return mh5.decode(np.zeros((n + 2, n + 2), np.float32), np.zeros((12, n + 2, n + 2), np.float32), max_bytes=1 << 50)
decode(10)
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20),) * 2)
try:
    decode(250)
except MemoryError as error:
    print(error)
print(decode(10).score)
"""
    if not sys.platform.startswith("linux"):
        pytest.skip("needs a limit on memory")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert re.fullmatch(
        r"a sentence of 250 words needs [0-9]+ MB, which is more memory than there is( \([0-9]+ MB\))?\n0.0\n", result.stdout
    ), result.stdout + result.stderr
