"""What the paper says in words, and no table of it or ours shows."""

import csv
from itertools import product

import brute
import pytest
from toy import ROOT

from mh4 import transitions, trees
from mh4.decoders.shared import arguments

# Figure 1: Jack Dempseys are not an easy cichlid to breed
FIGURE_1 = arguments.tree([-1, 2, 7, 7, 7, 7, 7, 0, 9, 6])


def test_the_tree_of_figure_1():
    """It is not projective, as 6 -> 9 crosses five arcs of node 7, but in the classes of all other parsers."""
    assert not trees.is_projective(FIGURE_1) and trees.number_of_crossings(FIGURE_1) == 5
    assert not trees.in_class(FIGURE_1, "mh3")
    assert all(trees.in_class(FIGURE_1, name) for name in ("mh4", "mh5", "1ec"))
    assert trees.is_one_endpoint_crossing(FIGURE_1) and trees.is_well_nested(FIGURE_1) and trees.gap_degree(FIGURE_1) == 1


def rows(path):
    with open(ROOT / "experiments" / path, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize("page", ["paper/table3_coverage.csv", "results/table3.csv"])
def test_both_parsers_cover_more_than_80_percent_of_the_non_projective_trees(page):
    """Section 3.1: "well over 80%", in the treebanks of a survey. By the paper's own Table 3, not in Basque (74.6, and 80.0 for 1EC)."""
    tried = 0
    for row in rows(page):
        if row.get("split", "train") != "train":
            continue
        projective = float(row["sent_projective"])
        covered = {name: 100 * (float(row["sent_" + name]) - projective) / (100 - projective) for name in ("mh4", "1ec")}
        if row["lang"] == "eu":
            assert covered["mh4"] == pytest.approx(74.6, abs=0.1) and covered["1ec"] == pytest.approx(80.0, abs=0.1)
        else:
            assert min(covered.values()) > 80, (row["lang"], covered)
        tried += 1
    assert tried >= 4


def items(n, k, axioms_for_all):
    """The arcs of every forest that MH_k derives for each item, with one axiom and Shift (Figure 2), or without Shift and with all
    [i, i+1] as axioms (the original formulation): everything that the steps make of what there is, until nothing is new."""
    derived = {(i, i + 1): {frozenset()} for i in range(n + 1 if axioms_for_all else 1)}
    new = True
    while new:
        new = []
        if not axioms_for_all:  # Shift
            new += [((item[-1], item[-1] + 1), frozenset()) for item in derived if item[-1] <= n]
        for left, right in product(derived, derived):  # Combine
            if left[-1] == right[0] and len(left) + len(right) - 1 <= k:
                new += [(left + right[1:], a | b) for a, b in product(derived[left], derived[right])]
        for item, forests in derived.items():  # Link
            for head, dependent in product(item, item[1:-1]):
                if head not in (dependent, n + 1):
                    rest = tuple(node for node in item if node != dependent)
                    new += [(rest, arcs | {(head, dependent)}) for arcs in forests]
        new = [(item, arcs) for item, arcs in new if arcs not in derived.get(item, ())]
        for item, arcs in new:
            derived.setdefault(item, set()).add(arcs)
    return derived


@pytest.mark.parametrize(("n", "k"), [(n, k) for n in (1, 2, 3, 4) for k in (3, 4, 5)])
def test_both_forms_of_the_axioms_are_equivalent(n, k):
    """Section 3.1. Not for [1, 2], ... to be reached, but for what is derived of each item that is."""
    ours, original = items(n, k, False), items(n, k, True)
    assert ours == original
    assert len(ours[0, n + 1]) == len(brute.mhk_trees(n, k))


def test_the_reduces_of_mh4_are_those_of_attardis_all_s0s1():
    """Section 3.2: all arcs whose dependent is s0 or s1, and whose head is another of s2, s1, s0 and b0."""
    reduces = {(head, dependent) for _, head, dependent in list(brute.REDUCES.values())[:6]}
    assert reduces == {(head, s) for s in ("s0", "s1") for head in ("s2", "s1", "s0", "b0") if head != s}
    assert [str(transitions.Transition(code)) for code in range(1, 7)] == [
        name for name, _, _ in list(brute.REDUCES.values())[:6]
    ]


@pytest.mark.slow
def test_the_trees_of_the_transition_system_that_mh4_does_not_derive():
    """Section 3.2 has one of five words. There is one of four words, and there are 50 of five."""
    beyond = {n: reached(n) - set(brute.mhk_trees(n, 4)) for n in range(1, 6)}
    assert {n: len(trees) for n, trees in beyond.items()} == {1: 0, 2: 0, 3: 0, 4: 1, 5: 50}
    assert beyond[4] == {(-1, 3, 0, 0, 1)} and (-1, 3, 0, 5, 2, 4) in beyond[5]
    assert all(set(brute.mhk_trees(n, 4)) <= reached(n) for n in range(1, 6))


def reached(n):
    """The heads of all words of every tree that MH4's transitions make."""
    found, pending, seen = set(), [transitions.Configuration(n)], set()
    while pending:
        configuration = pending.pop()
        if configuration.is_final():
            found.add(tuple(configuration.heads.tolist()))
            continue
        for code in transitions.MH4:
            if configuration.legal(code):
                after = transitions.Configuration(n)
                after.stack, after.buffer = list(configuration.stack), configuration.buffer
                after.heads = configuration.heads.copy()
                after.apply(code)
                state = (tuple(after.stack), tuple(after.buffer), tuple(after.heads.tolist()))
                if state not in seen:
                    seen.add(state)
                    pending.append(after)
    return found
