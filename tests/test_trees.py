"""Crossings, classes and nearest trees, against their definitions."""

import csv
import hashlib
import os
from functools import cache
from itertools import combinations
from pathlib import Path

import brute
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny import int32

from mh4 import trees
from mh4.data import conllu
from mh4.decoders import mhk, oneec

NEAREST = {"projective": 3, "mh3": 3, "mh4": 4, "mh5": 5, "1ec": None}  # by class: its k if it is that of MH_k
PAPER = Path(__file__).parents[1] / "experiments" / "published" / "table3_coverage.csv"

seeds = st.integers(0, 2**32 - 1)


def crossed(heads):
    """Return the arcs that trees.crossed_arcs marks, as a set."""
    mask = trees.crossed_arcs(heads)
    assert mask.dtype == bool and mask.shape == heads.shape
    return {(int(heads[m]), int(m)) for m in np.flatnonzero(mask)}


@cache
def in_class(n, name):
    return frozenset(brute.class_trees(n, name))


def yields(tree):
    """Return for each node the set of the node and its descendants."""
    found = [{node} for node in range(len(tree))]
    for word in range(1, len(tree)):
        node = word
        while node > 0:
            node = tree[node]
            found[node].add(word)
    return found


def naive_gap_degree(tree):
    """Return the most gaps of a yield: nodes that are adjacent in the yield but not in the sentence."""
    return max(sum(b - a > 1 for a, b in zip(sorted(nodes), sorted(nodes)[1:])) for nodes in yields(tree))


def naive_block_degree(tree):
    return max(sum(node - 1 not in nodes for node in nodes) for nodes in yields(tree))


def naive_well_nested(tree):
    for one, two in combinations(yields(tree), 2):
        if not one & two:
            for a, b, c, d in combinations(sorted(one | two), 4):
                if (a in one) == (c in one) != (b in one) == (d in one):
                    return False
    return True


def naive_crossings(tree):
    return sum(brute.cross(a, b) for a, b in combinations(brute.arcs_of(tree), 2))


def assert_measures(tree):
    heads = int32(tree)
    assert trees.is_projective(heads) == brute.is_projective(tree), tree
    assert trees.is_one_endpoint_crossing(heads) == brute.is_one_endpoint_crossing(tree), tree
    assert crossed(heads) == brute.crossed_arcs(tree), tree
    assert trees.number_of_crossings(heads) == naive_crossings(tree), tree
    assert trees.gap_degree(heads) == naive_gap_degree(tree), tree
    assert trees.block_degree(heads) == naive_block_degree(tree), tree
    assert trees.is_well_nested(heads) == naive_well_nested(tree), tree


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5])
def test_measures_of_every_tree(n):
    for tree in brute.all_trees(n):
        assert_measures(tree)


@pytest.mark.slow
@settings(max_examples=200)
@given(n=st.integers(6, 14), seed=seeds)
def test_measures_of_random_trees(n, seed):
    rng = np.random.default_rng(seed)
    assert_measures(brute.random_tree(n, rng))
    assert_measures(brute.heads_of(n, brute.random_sequence(n, 4, rng)))


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, 1_000_000])
def test_measures_of_long_sentences(n):
    """Measures of a million words are right, which would be infeasible in quadratic time."""
    words = np.arange(1, n + 1)
    two_chains = int32([-1, *np.maximum(words - 2, 0)])
    odd_then_even = int32([-1, *np.where(words == 2, n - 1, np.maximum(words - 2, 0))])
    for heads, nested, one_endpoint, degree, crossings in (
        (two_chains, False, True, n // 2, n - 2),
        (odd_then_even, True, False, n // 2, n - 1),
        (int32([-1, *(words - 1)]), True, True, 1, 0),
        (int32([-1, *np.where(words == n // 2, 0, n // 2)]), True, True, 1, 0),
    ):
        if n < 15:
            assert_measures(tuple(heads.tolist()))
        assert trees.number_of_crossings(heads) == crossings
        assert trees.is_one_endpoint_crossing(heads) == one_endpoint
        assert trees.block_degree(heads) == degree and trees.is_well_nested(heads) == nested


@pytest.mark.parametrize("name", ["projective", "mh3", "mh4", "mh5", "mh6", "1ec"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_in_class_on_every_tree(n, name):
    for tree in brute.all_trees(n):
        assert trees.in_class(int32(tree), name) == (tree in in_class(n, name)), tree


# -------------------------------------------------------------------------------------------------------------- nearest


@pytest.mark.parametrize("name", NEAREST)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("single_root", [False, True])
def test_nearest_keeps_the_most_arcs(n, name, single_root):
    allowed = {tree for tree in in_class(n, name) if not single_root or tree.count(0) == 1}
    candidates = np.array(sorted(allowed))
    roots = (candidates == 0).sum(axis=1)
    for tree in brute.all_trees(n):
        near = trees.nearest(int32(tree), name, single_root=single_root)
        assert near.dtype == np.int32 and tuple(near.tolist()) in allowed
        arcs = (candidates[:, 1:] == tree[1:]).sum(axis=1)
        assert kept(near, tree) == arcs.max(), tree
        assert (near == 0).sum() == roots[arcs == arcs.max()].min(), tree
        assert tree not in allowed or tuple(near.tolist()) == tree


FOUND = {  # by class and single_root: SHA-1 of the nearest trees of all trees of 4 and 5 words outside the class
    ("projective", False): "40d9db3b8cb6",
    ("projective", True): "58f6fc1cb7f7",
    ("mh4", False): "5171ac0d8710",
    ("mh4", True): "34e247fc5546",
    ("mh5", False): "294caac84af0",
    ("mh5", True): "a9d79cfe34ee",
    ("1ec", False): "2898571030f0",
    ("1ec", True): "b620c9b6ba2e",
}


@pytest.mark.parametrize(("name", "single_root"), FOUND)
def test_which_of_the_nearest_trees_is_found(name, single_root):
    """The nearest trees, which models learn, do not change: otherwise, recorded models could not be trained again."""
    found = hashlib.sha1()
    for heads in map(int32, brute.all_trees(4) + brute.all_trees(5)):
        if not trees.in_class(heads, name) and ((heads[1:] == 0).sum() == 1 or not single_root):
            found.update(trees.nearest(heads, name, single_root=single_root)[1:].astype(np.int8).tobytes())
    assert found.hexdigest()[:12] == FOUND[name, single_root]


def whole_tree_nearest(tree, name, single_root):
    """Return a nearest tree by a decoder of the class on all words: most arcs, then fewest roots."""
    n = len(tree) - 1
    arcs = np.zeros((n + 1, n + 1), dtype=np.float32)
    arcs[0] = -1
    arcs[tree[1:], np.arange(1, n + 1)] += n + 1
    if NEAREST[name]:
        return mhk.decode(arcs, NEAREST[name], single_root=single_root).heads
    zeros = np.zeros((n + 2, n + 1), dtype=np.float32)
    return oneec.decode(arcs, arcs, zeros, zeros, single_root=single_root).heads


def grown(tree, n, rng):
    """Return the tree with leaves inserted next to their heads, anywhere, until it has n words."""
    tree = list(tree)
    while len(tree) <= n:
        head = int(rng.integers(1, len(tree)))
        word = head + int(rng.integers(0, 2))
        tree = [h + (h >= word) for h in tree]
        tree.insert(word, head + (head >= word))
    return tuple(tree)


@pytest.mark.parametrize("name", NEAREST)
@settings(max_examples=100)
@given(words=st.integers(3, 8), more=st.integers(0, 6), seed=seeds, single_root=st.booleans())
def test_the_core_is_enough(name, words, more, seed, single_root):
    """The nearest tree, found by decoding the core, is as good as that found by decoding the whole sentence."""
    rng = np.random.default_rng(seed)
    tree = int32(grown(brute.random_tree(words, rng), words + more, rng))
    near, judge = trees.nearest(tree, name, single_root=single_root), whole_tree_nearest(tree, name, single_root)
    assert trees.in_class(near, name) and trees.in_class(judge, name)
    assert kept(near, tree) == kept(judge, tree)
    assert (near == 0).sum() == (judge == 0).sum()


def kept(near, tree):
    return int((np.array(near)[1:] == np.array(tree)[1:]).sum())


# ------------------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize("name", ["mh", "mh2", "mh4x", "planar", "", None, ["mh4"], "mh" + "9" * 5000])
def test_no_such_class(name):
    for function in (trees.in_class, trees.nearest):
        with pytest.raises(ValueError, match="^unknown class of trees"):
            function(int32((-1, 0, 1)), name)


@pytest.mark.parametrize("heads", [(-1, 0, 1), (-1, 3, 4, 0, 3)])  # a tree of the class, and another
def test_a_single_root_that_is_neither_true_nor_false(heads):
    with pytest.raises(ValueError, match="^single_root: expected True or False, got 'no'"):
        trees.nearest(int32(heads), "projective", single_root="no")


# -------------------------------------------------------------------------------------------------------------- Table 3


def paper_rows():
    with open(PAPER, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def train_file(lang):
    folder = os.environ.get("UD")
    if not folder:
        pytest.skip("the environment variable UD does not name a folder of UD 2.0 treebanks")
    path = Path(folder) / f"{lang}-ud-train.conllu"
    if not path.exists():
        pytest.skip(f"no {path.name} in the folder that UD names")
    return path


def percent(part, whole):
    return f"{100 * part / whole:.2f}"


@pytest.mark.parametrize("row", paper_rows(), ids=lambda row: row["lang"])
def test_coverage_of_table_3(row):
    """Percentages of sentences in each class and of arcs that the nearest tree keeps are those of Table 3."""
    sentences = conllu.read(str(train_file(row["lang"])))
    words = sum(len(sentence.heads) - 1 for sentence in sentences)
    assert (len(sentences), words) == (int(row["sentences"]), int(row["words"]))
    for name in ("projective", "mh4", "1ec"):
        covered = sum(trees.in_class(sentence.heads, name) for sentence in sentences)
        assert percent(covered, len(sentences)) == row[f"sent_{name}"], name
        arcs = sum(kept(trees.nearest(sentence.heads, name), sentence.heads) for sentence in sentences)
        assert percent(arcs, words) == row[f"edge_{name}"], name


def test_the_class_of_all_trees_is_not_searched():
    """The class of all trees is not searched, which would take long with half a million crossings."""
    n, rng = 3000, np.random.default_rng(1)
    heads = np.array([-1, 0, *(int(rng.integers(max(1, m - 5), m)) for m in range(2, n + 1))])
    assert trees.in_class(heads, "any") and (trees.nearest(heads, "any") == heads).all()
