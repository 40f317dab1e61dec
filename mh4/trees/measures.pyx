"""Measures of a tree: crossings, 1-Endpoint-Crossing, blocks, well-nestedness and its core; and the levels at which to draw its arcs.

In all functions, heads is an int array (n+1,), a tree. They take O(n log n) time, well_nested O(n log^2 n).
"""

from collections.abc import Sequence

import numpy as np

from cython.operator cimport dereference, postincrement, predecrement
from libcpp.algorithm cimport lower_bound, sort
from libcpp.map cimport map
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from mh4.decoders.arguments cimport checked_tree


def crossings(heads: np.ndarray | Sequence[int]) -> np.ndarray:
    """Return, for every word, the number of arcs that its incoming arc crosses: int32 array (n+1,), 0 at node 0."""
    cdef const int[::1] head = checked_tree(heads)
    counts = np.zeros(len(head), dtype=np.int32)
    find_crossings(head, counts, np.zeros(len(head), dtype=np.int32))
    return counts


cdef int find_crossings(const int[::1] heads, int[::1] count, int[::1] inside) except -1:
    """Count the arcs that cross the arc to each word; `inside` is the end of one of them, if any, that lies inside."""
    cdef int n = heads.shape[0] - 1, w
    cdef vector[int] low, high
    low.resize(n + 1, 0)
    high.resize(n + 1, 0)
    with nogil:
        for w in range(1, n + 1):
            low[w] = minimum(heads[w], w)
            high[w] = maximum(heads[w], w)
        on_the_right(low, high, count, inside)
        for w in range(1, n + 1):  # the mirror image, for arcs that cross on the left
            low[w] = n - maximum(heads[w], w)
            high[w] = n - minimum(heads[w], w)
            inside[w] = n - inside[w]
        on_the_right(low, high, count, inside)
        for w in range(1, n + 1):
            inside[w] = n - inside[w]
    return 0


cdef int on_the_right(const vector[int]& low, const vector[int]& high, int[::1] count, int[::1] inside) except -1 nogil:
    """Add the crossings of every arc with the arcs that begin inside it and end to the right of it."""
    cdef int n = low.size() - 1, w, end, until, step, found, place
    # The last arc that ends at a node; the arc before it; how many arcs begin at each node, in a Fenwick tree.
    cdef vector[int] last, before, begun
    last.resize(n + 1, 0)
    before.resize(n + 1, 0)
    begun.resize(n + 2, 0)
    for w in range(1, n + 1):
        before[w] = last[high[w]]
        last[high[w]] = w
    for end in range(n, -1, -1):  # `begun` counts the arcs that end to the right of `end`
        w = last[end]
        while w:
            until = begun_before(begun, low[w] + 1)
            found = begun_before(begun, end) - until
            if found > 0:
                count[w] += found
                place, step = 0, 1  # where the first of them begins
                while 2 * step <= n + 1:
                    step *= 2
                while step:
                    if place + step <= n + 1 and begun[place + step] <= until:
                        place += step
                        until -= begun[place]
                    step //= 2
                inside[w] = place
            w = before[w]
        w = last[end]
        while w:
            place = low[w] + 1
            while place <= n + 1:
                begun[place] += 1
                place += place & -place
            w = before[w]
    return 0


cdef inline int begun_before(const vector[int]& begun, int place) noexcept nogil:
    """Return the number of arcs that begin to the left of a place."""
    cdef int total = 0
    while place > 0:
        total += begun[place]
        place &= place - 1
    return total


def one_endpoint_crossing(heads: np.ndarray | Sequence[int]) -> bool:
    """Return whether, for every arc, the arcs that cross it share an endpoint.

    If they do, they share an endpoint of any one of them. So it is enough to try the endpoints of one: from a node
    inside the arc to its farthest neighbour on the right, or if that is not outside the arc, on the left.
    """
    cdef const int[::1] head = checked_tree(heads)
    cdef int n = head.shape[0] - 1, w, low, high, inside, outside
    counts, one_inside = np.zeros((2, n + 1), dtype=np.int32)
    cdef int[::1] count = counts, one = one_inside
    find_crossings(head, count, one)
    cdef vector[vector[int]] neighbours  # of every node, in order
    neighbours.resize(n + 1)
    for w in range(1, n + 1):
        neighbours[w].push_back(head[w])
        neighbours[head[w]].push_back(w)
    for w in range(n + 1):
        sort(neighbours[w].begin(), neighbours[w].end())
    for w in range(1, n + 1):
        if count[w] < 2:
            continue
        low, high, inside = minimum(head[w], w), maximum(head[w], w), one[w]
        outside = neighbours[inside].back()
        if outside <= high:
            outside = neighbours[inside].front()
        if (among(neighbours[inside], 0, low) + among(neighbours[inside], high + 1, n + 1) < count[w]
                and among(neighbours[outside], low + 1, high) < count[w]):
            return False
    return True


cdef int among(vector[int]& nodes, int start, int end) noexcept nogil:
    """Return how many of these sorted nodes are in start..end-1."""
    return lower_bound(nodes.begin(), nodes.end(), end) - lower_bound(nodes.begin(), nodes.end(), start)


cdef class Paths:
    """A division of a tree into paths, each leading into the largest subtree: at most log2(n + 1) of them reach a node.

    largest: for each node, the dependent with the largest subtree, 0 for none. size: the number of nodes in its
    subtree. top: the first node of its path. nodes: all nodes, in an order in which every subtree is an interval: first
    its root, then the subtree of `largest`. place: the index of each node in this order.
    """
    cdef vector[int] largest, size, top, nodes, place

    def __cinit__(self, heads):
        cdef const int[::1] head = checked_tree(heads)
        cdef int n = head.shape[0] - 1, w, above, k = 0
        # The number of dependents to come; all nodes, after their dependents; the next free place for a dependent.
        cdef vector[int] waiting, upwards, free
        self.largest.resize(n + 1, 0)
        self.size.resize(n + 1, 1)
        self.top.resize(n + 1, 0)
        self.nodes.resize(n + 1, 0)
        self.place.resize(n + 1, 0)
        waiting.resize(n + 1, 0)
        free.resize(n + 1, 0)
        for w in range(1, n + 1):
            waiting[head[w]] += 1
        for w in range(n + 1):
            if not waiting[w]:
                upwards.push_back(w)
        while k < n:  # the root is the last
            w = upwards[k]
            above, k = head[w], k + 1
            self.size[above] += self.size[w]
            if not self.largest[above] or self.size[w] > self.size[self.largest[above]]:
                self.largest[above] = w
            waiting[above] -= 1
            if not waiting[above]:
                upwards.push_back(above)
        for k in range(n, -1, -1):
            w = upwards[k]
            if w:
                above = head[w]
                if self.largest[above] == w:
                    self.place[w], self.top[w] = self.place[above] + 1, self.top[above]
                else:
                    self.place[w], self.top[w] = free[above], w
                    free[above] += self.size[w]
            free[w] = self.place[w] + 1 + self.size[self.largest[w]]
            self.nodes[self.place[w]] = w


def blocks(heads: np.ndarray | Sequence[int]) -> np.ndarray:
    """Return, for every node, the number of blocks of its yield, the maximal intervals of nodes in it: int32 array (n+1,).

    The number of blocks is the number of nodes in the yield minus the number of adjacent pairs w-1, w in the yield. A
    pair is in the yield iff its lowest common ancestor is.
    """
    cdef const int[::1] head = checked_tree(heads)
    cdef int n = head.shape[0] - 1, w, a, b, k
    cdef Paths paths = Paths(head)
    found = np.ones(n + 1, dtype=np.int32)
    cdef int[::1] block = found
    with nogil:
        for w in range(1, n + 1):
            a, b = w - 1, w
            while paths.top[a] != paths.top[b]:  # the path whose top comes later in the order does not lead to the other node
                if paths.place[paths.top[a]] > paths.place[paths.top[b]]:
                    a = head[paths.top[a]]
                else:
                    b = head[paths.top[b]]
            block[a if paths.place[a] < paths.place[b] else b] -= 1
        for k in range(n, 0, -1):  # sum over the yields, from the leaves up
            w = paths.nodes[k]
            block[head[w]] += block[w]
    return found


def well_nested(heads: np.ndarray | Sequence[int]) -> bool:
    """Return whether no two disjoint subtrees interleave.

    If two subtrees interleave, so do the subtrees of two siblings that contain them. So we read the yield of every head
    from left to right, and check the sequence of the dependents to whose subtrees the words belong. Of the words in the
    largest subtree, it is enough to read those that follow a word of another subtree. Then O(n log n) words are read in
    all.
    """
    cdef const int[::1] head = checked_tree(heads)
    cdef int n = head.shape[0] - 1, w, top, node, other = 0, k, m, count
    cdef Paths paths = Paths(head)
    cdef vector[int] last, opened, rank  # the last word of each subtree; see interleave; the index of a word in `words`
    cdef vector[int] words, following  # the sorted yield of a path; see next_of, which finds the next word not removed
    cdef vector[pair[int, int]] sequence  # words, and the dependents whose subtrees contain them
    last.resize(n + 1, 0)
    opened.resize(n + 1, 0)
    rank.resize(n + 1, 0)
    for k in range(n, 0, -1):
        w = paths.nodes[k]
        last[w] = maximum(last[w], w)
        last[head[w]] = maximum(last[head[w]], last[w])
    for k in range(n + 1):
        top = paths.nodes[k]
        if paths.top[top] != top or paths.size[top] < 5:
            continue
        words.clear()
        following.clear()
        for m in range(paths.size[top]):
            words.push_back(paths.nodes[k + m])
            following.push_back(m)
        following.push_back(words.size())
        sort(words.begin(), words.end())
        for m in range(<int> words.size()):
            rank[words[m]] = m
        node = top
        while paths.largest[node]:
            following[rank[node]] += 1
            sequence.clear()
            m = paths.place[node] + 1 + paths.size[paths.largest[node]]
            for m in range(m, paths.place[node] + paths.size[node]):
                w = paths.nodes[m]
                if head[w] == node:
                    other = w  # it comes before the rest of its subtree
                following[rank[w]] += 1
                sequence.push_back(pair[int, int](w, other))
            node = paths.largest[node]
            count = sequence.size()
            for m in range(count + (count > 0)):
                w = next_of(following, rank[sequence[m].first] if m < count else 0)
                if w < <int> words.size():
                    sequence.push_back(pair[int, int](words[w], node))
            sort(sequence.begin(), sequence.end())
            if interleave(sequence, last, opened):
                return False
    return True


cdef int next_of(vector[int]& following, int k) noexcept nogil:
    """Return the first number from k on that has not been removed; `following` leads from a removed number to a later one."""
    while following[k] != k:
        following[k] = following[following[k]]
        k = following[k]
    return k


cdef int interleave(const vector[pair[int, int]]& sequence, const vector[int]& last, vector[int]& opened) except -1 nogil:
    """Return whether a sequence of words, each with its subtree, has the form a..b..a..b for any two subtrees a and b.

    last: the last word of each subtree. opened: whether a subtree has been seen; at first 0 for all in the sequence.
    """
    cdef vector[int] still  # the subtrees that have begun and not ended, each between two words of the previous one
    cdef size_t k
    for k in range(sequence.size()):
        while still.size() and still.back() != sequence[k].second and last[still.back()] < sequence[k].first:
            still.pop_back()
        if not still.size() or still.back() != sequence[k].second:
            if opened[sequence[k].second]:
                return True
            opened[sequence[k].second] = 1
            still.push_back(sequence[k].second)
    return False


def levels(heads: np.ndarray | Sequence[int]) -> np.ndarray:
    """Return, for every word, the level at which to draw its incoming arc: int32 array (n+1,), 0 at node 0.

    The level of an arc is one above the highest level of the shorter arcs that overlap it. Of two arcs of the same
    length, the arc to the earlier word counts as shorter. Arcs from the root are above all others.
    """
    cdef const int[::1] head = checked_tree(heads)
    cdef int n = head.shape[0] - 1, k, w, low, high, level, below = 0, top = 0
    found = np.zeros(n + 1, dtype=np.int32)
    cdef int[::1] level_of = found
    lengths = np.abs(np.asarray(head)[1:] - np.arange(1, n + 1))
    cdef const int[::1] words = (np.argsort(lengths, kind="stable") + 1).astype(np.int32)
    cdef map[int, int] highest  # the highest level so far, from each node in the map up to the next one
    cdef map[int, int].iterator at
    highest[0] = 0
    with nogil:
        for k in range(n):
            w = words[k]
            if not head[w]:
                continue
            low, high, level = minimum(head[w], w), maximum(head[w], w), 0
            at = highest.upper_bound(low)
            predecrement(at)
            while at != highest.end() and dereference(at).first < high:
                below = dereference(at).second
                level = maximum(level, below)
                if dereference(at).first < low:
                    postincrement(at)
                else:
                    highest.erase(postincrement(at))
            highest[low] = level_of[w] = level + 1
            if at == highest.end() or dereference(at).first > high:
                highest[high] = below
            top = maximum(top, level + 1)
        for w in range(1, n + 1):
            if not head[w]:
                level_of[w] = top + 1
    return found


def core(heads: np.ndarray | Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes of the core, which determines the class of a tree, and the core as a tree: int32 (m+1,) for a core of m words.

    heads: int array (n+1,), a tree. A word without dependents is removed if it is adjacent to its head and this is not
    the root. Then its neighbours are adjacent. This is repeated until there is no such word. The remaining nodes are
    returned in order, node 0 first, and so are their heads, as indices in that order (-1 for node 0). O(n) time.

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
      - It has no more roots than U, and a single root if U has: if the dropped arc led to U's only root, the other
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


cdef inline int minimum(int a, int b) noexcept nogil:  # Cython compiles min() and max() of vector elements wrongly
    return a if a < b else b


cdef inline int maximum(int a, int b) noexcept nogil:
    return a if a > b else b
