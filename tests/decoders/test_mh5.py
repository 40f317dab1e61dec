"""MH5 against all sequences that Figure 2 derives with items of up to five heads, for up to five words.

See test_decoders.py for properties of all decoders.
"""

import warnings

import brute
import numpy as np
import pytest
from common import MH5, MH5_HYBRID, MH5_HYBRID_ARCS, decoders, parts_score, rng_for, sample

from mh4.decoders import mh4, mh5

SEQUENCES = [1, 1, 6, 84, 1860, 49908]  # the numbers of sequences over 0 to 5 words

# ----------------------------------------------------------------------------------------------------- the reference itself


@pytest.mark.parametrize("n", [*range(5), pytest.param(5, marks=pytest.mark.slow)])
def test_the_reference(n):
    """The known number of sequences makes the trees of the class, with all twelve reduces from four words on."""
    derivations = brute.derivations(n, 5)
    assert len(derivations.known) == SEQUENCES[n]
    assert set(derivations.trees) == set(brute.mhk_trees(n, 5))
    codes = set(derivations.reduces[..., 0].ravel().tolist())
    assert codes == [set(), {2}, {1, 2, 3, 4, 6}, set(range(1, 12)), set(range(1, 13)), set(range(1, 13))][n]
    assert set(brute.derivations(n, 4).known) <= set(derivations.known)


@pytest.mark.parametrize("n", range(5))
def test_the_reference_by_recognition(n):
    """The reference has those runs of the transition system that can be cut into items as Figure 2 allows."""

    def recognised(run, start, end):
        """Return whether an item of at most five heads derives run[start:end], of (stack before, arc, shifted)."""
        stack, _, shifted = run[start]
        if shifted is None:
            return False
        for before, arc, _ in run[start:end]:  # nothing below the item's first node is touched
            if arc and (min(arc) < shifted or arc[1] == shifted or len(before) <= len(stack)):
                return False
        after = run[end][0] if end < len(run) else [0]
        if len(after) - len(stack) + 1 > 5:
            return False
        if end == start + 1:
            return True
        if run[end - 1][1] and recognised(run, start, end - 1):
            return True
        return any(
            run[cut][2] is not None and recognised(run, start, cut) and recognised(run, cut, end) for cut in range(start + 1, end)
        )

    def runs(stack, b0, rows, run):
        if stack == [0] and b0 == n + 1:
            yield tuple(rows), run
            return
        if b0 <= n:
            s0 = stack[-1] if stack else -1
            yield from runs(stack + [b0], b0 + 1, rows + [(0, None, s0, b0)], run + [(stack, None, b0)])
        for code, (_, *positions) in brute.REDUCES.items():
            nodes = (stack + [b0])[::-1][:5]
            if max(map(brute.POSITIONS.index, positions)) < len(nodes):
                arc = head, dependent = brute.arc_of(code, *nodes)
                if head <= n and dependent > 0:
                    rest = [node for node in stack if node != dependent]
                    yield from runs(rest, b0, rows + [(code, *stack[-2:], b0)], run + [(stack, arc, None)])

    found = {rows for rows, run in runs([], 0, [], []) if recognised(run, 0, len(run))}
    assert found == set(brute.derivations(n, 5).known)


# --------------------------------------------------------------------------------------- against enumeration, n up to five


@pytest.mark.parametrize(
    "decoder, n",
    [(decoder, n) for n in (1, 2, 3, 4) for decoder in MH5]
    + [pytest.param(decoder, 5, marks=pytest.mark.slow) for decoder in (MH5_HYBRID, MH5_HYBRID_ARCS)],
    ids=lambda what: getattr(what, "name", what),
)
def test_finds_every_sequence(decoder, n):
    """Every sequence of MH5 is found when it is the best, with and without its tree given."""
    unfound = []
    for rows, tree in zip(brute.derivations(n, 5).sequences, brute.derivations(n, 5).trees):
        scores = decoder.plant(n, rows)
        for options in ({}, {"heads": np.array(tree, dtype=np.int32)}):
            if decoder.decode(scores, **options).score != n * len(scores):
                unfound.append((rows, list(options)))
    assert not unfound, f"{decoder.name} n={n}: {len(unfound)} of the sequences are not found, the first {unfound[:3]}"


# ---------------------------------------------------------------------------------------------------------------- bad input


@decoders(*MH5)
def test_the_number_of_reduces(decoder):
    """Any number of reduces but twelve is an error."""
    scores = decoder.sample(4, rng_for("reduces"))
    for name in set(scores) & {"reduce_s0b0", "reduce_s1s0"}:
        for count in (0, 2, 6, 11, 13):
            with pytest.raises(ValueError, match=name):
                decoder.decode({**scores, name: np.zeros((count, 6, 6), dtype=np.float32)})
                pytest.fail(f"{count} reduces: no error")


def test_the_limit_of_memory_depends_on_the_number_of_words_alone(recwarn):
    """The same sentences are decoded by MH4 with and without arcs and a single root, whose tables differ in size."""
    warnings.simplefilter("always")
    for n, by_mh4 in ((20, 0), (21, 4)):
        tensors = MH5_HYBRID_ARCS.sample(n, rng_for("limit"))
        for arcs in (None, tensors["arcs"]):
            for single_root in (False, True):
                mh5.decode(**{**tensors, "arcs": arcs}, single_root=single_root, max_bytes=mh5.bytes_needed(20.5))
        assert len(recwarn) == by_mh4


def test_too_long_for_memory():
    """A sentence that is too long is decoded by MH4, with a warning, unless its tree is given."""
    n = 20
    tensors = MH5_HYBRID_ARCS.sample(n, rng_for("long"))
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
