"""Claims of the paper that are not in its tables."""

import brute
import pytest
from test_transitions import sequences

from mh4 import transitions, trees
from mh4.decoders import arguments

# Figure 1: Jack Dempseys are not an easy cichlid to breed
FIGURE_1 = arguments.tree([-1, 2, 7, 7, 7, 7, 7, 0, 9, 6])


def test_the_tree_of_figure_1():
    """The tree is in the classes of all parsers except mh3: 6 -> 9 crosses five arcs of node 7."""
    assert not trees.is_projective(FIGURE_1) and trees.number_of_crossings(FIGURE_1) == 5
    assert not trees.in_class(FIGURE_1, "mh3")
    assert all(trees.in_class(FIGURE_1, name) for name in ("mh4", "mh5", "1ec"))
    assert trees.is_one_endpoint_crossing(FIGURE_1) and trees.is_well_nested(FIGURE_1) and trees.gap_degree(FIGURE_1) == 1


@pytest.mark.slow
def test_the_trees_of_the_transition_system_that_mh4_does_not_derive():
    """Section 3.2 has one of five words. There is one of four words, and there are 50 of five."""
    made = {n: {heads for _, heads in sequences(n, transitions.MH4)} for n in range(1, 6)}
    beyond = {n: trees - set(brute.mhk_trees(n, 4)) for n, trees in made.items()}
    assert {n: len(trees) for n, trees in beyond.items()} == {1: 0, 2: 0, 3: 0, 4: 1, 5: 50}
    assert beyond[4] == {(-1, 3, 0, 0, 1)} and (-1, 3, 0, 5, 2, 4) in beyond[5]
    assert all(set(brute.mhk_trees(n, 4)) <= trees for n, trees in made.items())
