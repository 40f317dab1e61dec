"""Functions of trees raise an error for what is no tree, and never crash or loop forever."""

import faulthandler

import numpy as np
import pytest
from tiny import int32

from mh4 import trees
from mh4.decoders.mhk import smallest_k
from mh4.trees import measures
from mh4.trees.measures import core

FUNCTIONS = {
    "core": core,
    "smallest k": smallest_k,
    **{
        name: getattr(measures, name)
        for name in ("crossings", "one_endpoint_crossing", "blocks", "well_nested", "levels", "Paths")
    },
    **{
        name: getattr(trees, name)
        for name in ("is_projective", "is_one_endpoint_crossing", "crossed_arcs", "number_of_crossings")
        + ("gap_degree", "block_degree", "is_well_nested")
    },
    "in_class": lambda heads: trees.in_class(heads, "mh4"),
    "nearest": lambda heads: trees.nearest(heads, "mh4"),
}
every_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)

NO_TREES = {
    "a cycle": (int32([-1, 0, 3, 4, 2]), "word 2 is on a cycle"),
    "a cycle of all": (int32([-1, 2, 1]), "word 1 is on a cycle"),
    "its own head": (int32([-1, 0, 2]), "word 2 is on a cycle"),
    "far beyond the sentence": (int32([-1, 0, 2**30]), "the head of word 2 is 1073741824, expected 0 to 2"),
    "just beyond": (int32([-1, 0, 3]), "the head of word 2 is 3, expected 0 to 2"),
    "negative": (int32([-1, 0, -7]), "the head of word 2 is -7, expected 0 to 2"),
    "the root with a head": (int32([0, 0]), "expected heads.0. to be -1"),
    "empty": (int32([]), "expected heads.0. to be -1"),
    "a matrix": (int32([[-1, 0]]), "expected a vector of integers, got dtype int32 and shape .1, 2."),
    "floats": (np.array([-1.0, 0.0, 1.0]), "expected a vector of integers, got dtype float64"),
    "booleans": (np.array([True, False]), "expected a vector of integers, got dtype bool"),
    "no number": (None, "expected (a vector of integers|heads.0. to be -1)"),
    "text": ("-1 0 1", "expected a vector of integers, got dtype <U6"),
    "beyond 32 bits": (np.array([-1, 2**32]), "the head of word 1 is 4294967296, expected 0 to 1"),
    "a cycle in 64 bits": (np.array([-1, 2, 1]), "word 1 is on a cycle"),
}


@every_function
@pytest.mark.parametrize("heads, message", NO_TREES.values(), ids=NO_TREES)
def test_no_tree(function, heads, message):
    faulthandler.dump_traceback_later(60, exit=True)
    with pytest.raises(ValueError, match="^heads: .*" + message):
        function(heads)
    faulthandler.cancel_dump_traceback_later()


@every_function
def test_trees_in_other_forms(function):
    """Trees may be arrays of any type and layout, or lists."""
    heads = int32([-1, 3, 4, 0, 3, 2])
    strided, read_only = np.repeat(heads, 2)[::2], heads.copy()
    read_only.flags.writeable = False
    expected = repr(function(heads)) if function is not measures.Paths else ""
    for form in (heads.astype(np.int64), heads.astype(np.int16), strided, read_only, heads.tolist()):
        found = function(form)
        assert function is measures.Paths or repr(found) == expected
