"""Arc-factored MH_k for any k. See test_decoders.py for properties of all decoders."""

import numpy as np
import pytest
from common import MST, rng_for, tolerance

from mh4.decoders import NotInClass, mhk, mst


def test_the_papers_tree_that_mh5_derives_and_mh4_does_not():
    """The tree is that of Section 3.2: 0 -> 2 -> 4 -> 5 -> 3 -> 1."""
    heads = np.array([-1, 3, 0, 5, 2, 4], dtype=np.int32)
    arcs = np.zeros((6, 6), dtype=np.float32)
    arcs[heads[1:], np.arange(1, 6)] = 1
    five = mhk.decode(arcs, 5)
    assert five.score == 5 and five.heads.tolist() == heads.tolist()
    assert mhk.decode(arcs, 5, heads=heads).heads.tolist() == heads.tolist()
    assert mhk.decode(arcs, 4).score < 5
    with pytest.raises(NotInClass, match="not in MH4, only MH5"):
        mhk.decode(arcs, 4, heads=heads)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_is_mst_when_k_leaves_room_for_every_node(n):
    for seed in range(5):
        scores = MST.sample(n, rng_for(n, seed))
        wide = mhk.decode(scores["arcs"], n + 2)
        assert abs(wide.score - mst.decode(scores["arcs"]).score) <= 2 * tolerance(n, scores)


@pytest.mark.parametrize("k", [2, 1, 0, -1])
def test_k_too_small(k):
    with pytest.raises(ValueError, match="k"):
        mhk.decode(np.zeros((4, 4), dtype=np.float32), k)
