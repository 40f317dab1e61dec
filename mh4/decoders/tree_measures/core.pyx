"""The core of a tree, which determines its class: the nodes left after repeatedly removing leaves adjacent to their heads."""

import numpy as np

from libcpp.vector cimport vector

from mh4.decoders.shared.arguments cimport checked_tree


def core(heads):
    """The nodes of the core, and the core as a tree itself: int32 arrays (m+1,), (m+1,) for a core of m words.

    heads: int array (n+1,), a tree. A word without dependents that is adjacent to its head, which is not the root, is removed, which
    makes its neighbours adjacent; this is repeated until there is no such word. The remaining nodes are given in order, node 0
    first, and so are their heads, as indices in that order (-1 for node 0). O(n) time.

    Let T be a tree, v such a word, h its head, and T-v the tree without v.

    Inserting v. The arc h->v crosses nothing; in MH_k, k >= 3, an item [h, w] becomes [h, v, w], from which Link removes v
    (and similarly for [w, h]). So if T-v is in a class (projective, 1EC or MH_k), so is T, and the same holds for every
    other tree over the words of T-v when v is inserted as a dependent of h.

    Removing v. Let U be any tree of the class over the words of T. Merge v and h into one node, which has the dependents
    of both and keeps the incoming arc of one: for MH_k, of the one that the derivation of U removes last; for the other
    classes, of v if h is a descendant of v, and of h otherwise. The other incoming arc is dropped.
      - The result is a tree: the node whose arc is dropped is not an ancestor of the other (descendants are removed first).
      - It is in the class. No arcs cross that did not cross before, and arcs that shared an endpoint still do. In the
        derivation, v and h become one node of every item, [v, h] vanishes, and so does the first of the two removals.
      - It has no more roots than U, and a single root if U has: if the dropped arc were that of U's only root, the other
        node would be a descendant.
      - It has at most one arc of T fewer than U: no arc leaving v is in T, and if an arc entering v is in T, it is h->v.

    So T is in the class iff T-v is (take U = T), and inserting v into a tree nearest to T-v gives one nearest to T: it keeps
    as many arcs as possible, with as few roots as any such tree, or as any such tree with a single root.
    """
    cdef const int[::1] head = checked_tree(heads)
    cdef int n = head.shape[0] - 1, w, v, h
    cdef vector[int] before, after, dependents, waiting
    before.resize(n + 2)
    after.resize(n + 2)
    dependents.resize(n + 1, 0)
    for w in range(n + 2):
        before[w] = w - 1
        after[w] = w + 1
        if 0 < w <= n:
            dependents[head[w]] += 1
            waiting.push_back(w)
    left = np.ones(n + 1, dtype=bool)
    cdef unsigned char[::1] there = left.view(np.uint8)
    while waiting.size():
        v = waiting.back()
        waiting.pop_back()
        h = head[v]
        if not there[v] or h == 0 or dependents[v] > 0 or (h != before[v] and h != after[v]):
            continue
        there[v] = False
        dependents[h] -= 1
        after[before[v]] = after[v]
        before[after[v]] = before[v]
        # words that may now be adjacent to their head, or have lost their last dependent
        if before[v] > 0:
            waiting.push_back(before[v])
        if after[v] <= n:
            waiting.push_back(after[v])
    nodes = np.flatnonzero(left).astype(np.int32)
    places = np.full(n + 1, -1, dtype=np.int32)
    places[nodes] = np.arange(len(nodes), dtype=np.int32)
    of_core = places[np.asarray(head)[nodes]]
    of_core[0] = -1
    return nodes, of_core
