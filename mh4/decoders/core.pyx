"""The part of a tree that decides its class: what is left when leaves beside their heads are taken out, again and again."""

import numpy as np

from libcpp.vector cimport vector


def core(const int[::1] heads):
    """The nodes of the core, and the core as a tree of its own: int32 arrays (m+1,), (m+1,) for a core of m words.

    heads: int32 (n+1,), a valid tree (not checked). A word without dependents that stands next to its head, which is not
    the root, is taken out; those beside it are neighbours then; and so on until there is no such word. The nodes left
    are given in order, node 0 first, and so are their heads, as places in that order (-1 for node 0). O(n) time.

    Let T be a tree, v such a word, h its head, and T-v what is left when v is taken out.

    Putting v back. The arc h->v crosses nothing; in MH_k, k >= 3, an item [h, w] becomes [h, v, w], from which Link
    removes v (and similarly for [w, h]). So if T-v is in a class (projective, 1EC or MH_k) T is, and the same holds for every
    other tree over the words of T-v when v is made a dependent of h.

    Taking v out. Let U be any tree of the class over the words of T. Merge v and h into one node, which has the dependents
    of both and keeps the incoming arc of one: for MH_k that of the one which the derivation of U removes last; for the
    other classes that of v if h is a descendant of v, and that of h if not. The other incoming arc is dropped.
      - It is a tree: the node whose arc is dropped is no ancestor of the other (descendants are removed first).
      - It is in the class. No arcs cross that did not before, and those that shared an endpoint still do. In the derivation
        v and h become one node of every item, [v, h] vanishes, and so does the first of the two removals.
      - It has no more roots than U, and a single one if U has: were the dropped arc that of U's only root, the other
        node would be a descendant.
      - It has at most one arc of T less than U: no arc that leaves v is in T, and if one that enters v is, it is h->v.

    So T is in the class iff T-v is (take U = T), and if v is put back into a tree that is nearest to T-v, it is nearest to
    T: it keeps as many arcs as any, with as few roots as any such tree, or as any with a single root.
    """
    cdef int n = heads.shape[0] - 1, w, v, h
    cdef vector[int] before, after, dependents, waiting
    before.resize(n + 2)
    after.resize(n + 2)
    dependents.assign(n + 1, 0)
    for w in range(n + 2):
        before[w] = w - 1
        after[w] = w + 1
        if 0 < w <= n:
            dependents[heads[w]] += 1
            waiting.push_back(w)
    left = np.ones(n + 1, dtype=bool)
    cdef unsigned char[::1] there = left.view(np.uint8)
    while waiting.size():
        v = waiting.back()
        waiting.pop_back()
        h = heads[v]
        if not there[v] or h == 0 or dependents[v] > 0 or (h != before[v] and h != after[v]):
            continue
        there[v] = False
        dependents[h] -= 1
        after[before[v]] = after[v]
        before[after[v]] = before[v]
        # what may have come next to its head, or lost its last dependent
        if before[v] > 0:
            waiting.push_back(before[v])
        if after[v] <= n:
            waiting.push_back(after[v])
    nodes = np.flatnonzero(left).astype(np.int32)
    places = np.full(n + 1, -1, dtype=np.int32)
    places[nodes] = np.arange(len(nodes), dtype=np.int32)
    of_core = places[np.asarray(heads)[nodes]]
    of_core[0] = -1
    return nodes, of_core
