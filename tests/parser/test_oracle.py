"""The static oracle, against the enumeration of all sequences of legal transitions."""

import brute
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_transitions import sequences

from mh4 import transitions, trees
from mh4.decoders import beam
from mh4.parser import oracle
from mh4.transitions import EMPTY, LA2, MH3, MH4, RA, SH, Configuration

# The paper's example of a tree that the transition system makes but MH4 does not derive, and its sequence.
EXAMPLE_HEADS = [-1, 3, 0, 5, 2, 4]
EXAMPLE = [SH, SH, SH, LA2, SH, SH, LA2, SH, RA, RA, RA]

BOTH = pytest.mark.parametrize("codes", [MH3, MH4], ids=["mh3", "mh4"])


def check(rows, heads, codes):
    """Check that the rows form a sequence that makes the tree and attaches each word as early as possible."""
    n = len(heads) - 1
    configuration, missing = Configuration(n), np.bincount(heads[1:], minlength=n + 1)
    for code, *positions in rows.tolist():
        assert positions == [configuration.s2, configuration.s1, configuration.s0, configuration.b0]
        possible = []
        for reduce in codes[1:]:
            head, dependent = configuration.arc(reduce)
            if EMPTY not in (head, dependent) and dependent > 0 and heads[dependent] == head and not missing[dependent]:
                possible.append(reduce)
        removing_s1 = [reduce for reduce in possible if configuration.arc(reduce)[1] == configuration.s1]
        assert code in (removing_s1 or possible or [SH])
        if code != SH:
            missing[configuration.arc(code)[0]] -= 1
        configuration.apply(code)
    assert configuration.is_final() and (configuration.heads == heads).all()
    np.testing.assert_array_equal(transitions.run(rows[:, [0, 2, 3, 4]], n), heads)


@BOTH
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
def test_finds_a_sequence_for_every_tree_that_has_one(codes, n):
    derivable = {heads for _, heads in sequences(n, codes)}
    for tree in brute.all_trees(n):
        rows = oracle.canonical(np.array(tree), codes)
        assert (rows is not None) == (tree in derivable)
        if rows is not None:
            check(rows, np.array(tree), codes)


def test_the_papers_example():
    rows = oracle.canonical(np.array(EXAMPLE_HEADS))
    check(rows, np.array(EXAMPLE_HEADS), MH4)
    assert rows[:, 0].tolist() == [int(code) for code in EXAMPLE]


@given(n=st.integers(0, 40), seed=st.integers(0, 2**32 - 1), kinds=st.sampled_from([3, 7]), single_root=st.booleans())
def test_random_trees_of_the_transition_system(n, seed, kinds, single_root):
    rng, codes = np.random.default_rng(seed), {3: MH3, 7: MH4}[kinds]
    heads = beam.decode_local(rng.normal(size=(kinds, n + 2, n + 2)), single_root=single_root and n > 0).heads
    check(oracle.canonical(heads, codes), heads, codes)


@given(n=st.integers(1, 25), seed=st.integers(0, 2**32 - 1))
def test_any_tree(n, seed):
    """Every tree that MH4 derives has a sequence, and trees without one are not in MH4."""
    heads = np.array(brute.random_tree(n, np.random.default_rng(seed)), dtype=np.int32)
    rows = oracle.canonical(heads)
    if rows is None:
        assert not trees.in_class(heads, "mh4")
    else:
        check(rows, heads, MH4)
    nearest = trees.nearest(heads, "mh4")
    check(oracle.canonical(nearest), nearest, MH4)
    assert (oracle.canonical(heads, MH3) is not None) == trees.is_projective(heads)


def test_refuses_what_is_no_tree():
    for bad in ([-1, 1], [-1, 2, 1], [0, 0], [-1, 5], []):
        with pytest.raises(ValueError, match="heads"):
            oracle.canonical(np.array(bad, dtype=int))
