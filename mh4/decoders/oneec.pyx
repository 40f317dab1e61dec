# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The third-order decoder of 1-Endpoint-Crossing trees, in O(n^4) time and O(n^3) memory (Pitler, TACL 2014).

Uncrossed arcs are derived as in a projective third-order parser (Koo & Collins, ACL 2010), with h a head and g its own
head, or n+2 if that is not visible (n+1 for h = 0, which has none):

    E h m g    everything between h and m with the arc h->m: m has all its dependents on the side of h
    C h e g    h with all its dependents on one side, the last word in their subtrees being e
    S a b g    everything between a and b, of which neither depends on the other: both have their heads outside

Crossed arcs come as complexes X a b, with a and b the outermost of their nodes, made by the rules in oneec_rules.py.
No head is visible across a crossed arc, so they need not know g: the gaps in them are C and S with g = n+2.
"""

import threading

cimport cython
import numpy as np
from libc.math cimport INFINITY
from libcpp.vector cimport vector

from mh4.decoders import arguments, oneec_rules
from mh4.decoders.derivation import Derivation, NotInClass, total


def decode(arc, crossed_arc, grandparent, sibling, *, cost=None, heads=None, single_root=False):
    """The highest-scoring 1-Endpoint-Crossing tree over n words: all arcs that cross a crossed arc share an endpoint.

    arc, crossed_arc: float32 (n+1, n+1), indexed [h, m]. grandparent: float32 (n+2, n+1), indexed [g, m], and sibling,
    indexed [s, m]; row n+1 is for none. The score of an arc h->m that some arc crosses is crossed_arc[h, m]. That of
    any other is arc[h, m], plus sibling[s, m] and grandparent[g, m] where s and g are visible:
        s is the dependent of h next to m between h and m. It is visible if there is none or no arc crosses h->s.
        g is the head of h. It is visible if h is 0, which has none, or no arc crosses g->h; and no crossed arc from h
        to a dependent lies between h->m and h's arc to g, in their order around h.
    cost: float32 (n+1, n+1), cost[h, m] is added for every arc h->m. -inf forbids a part or arc.
    heads: int array (n+1,); if given, the derivation is that of this tree.
    single_root: exactly one dependent of node 0.

    Without words (n = 0) the tree is the root alone.
    Returns a Derivation with parts "arc", "crossed_arc", "grandparent" and "sibling" of two columns, which have as many
    rows as the tree has such parts; it has no transitions.
    Raises ValueError for wrong shapes, NaN and the like, and if nothing is derivable (scores -inf, or single_root
    without words); NotInClass if the tree ``heads`` is not 1-Endpoint-Crossing, or has not the single root required.
    """
    cdef int n = arguments.words("arc", arc, 1)
    tensors = {"arc": arguments.scores("arc", arc, (n + 1, n + 1)),
               "crossed_arc": arguments.scores("crossed_arc", crossed_arc, (n + 1, n + 1)),
               "grandparent": arguments.scores("grandparent", grandparent, (n + 2, n + 1)),
               "sibling": arguments.scores("sibling", sibling, (n + 2, n + 1))}
    if cost is not None:
        cost = arguments.scores("cost", cost, (n + 1, n + 1))
    if heads is not None:
        heads = arguments.tree(heads, n)
        arguments.roots(heads, single_root)
    else:
        heads, _ = best_tree(tensors, cost, single_root)
    parts = parts_of(heads)
    if parts is None:
        raise NotInClass("heads: the tree is not 1-Endpoint-Crossing")
    score = total(tensors, parts, cost, heads)
    if score == -np.inf or (single_root and n == 0):
        raise arguments.no_derivation(None, 0)
    return Derivation(score, heads, parts)


def parts_of(const int[::1] heads):
    """The parts of a tree, as in Derivation, or None if it is not 1-Endpoint-Crossing; heads: a valid tree."""
    cdef int n = heads.shape[0] - 1, m, k, h, g, s, low, high, end, other, x
    cdef vector[int] crossed
    cdef vector[int] parts[4]  # as in the names below
    cdef bint visible
    crossed.assign(n + 1, 0)
    for m in range(1, n + 1):
        low, high = smaller(heads[m], m), larger(heads[m], m)
        end = other = -1  # the nodes that all arcs crossing this one have in common
        for k in range(1, n + 1):
            if (low < k < high) != (low < heads[k] < high) and k != low and k != high \
                    and heads[k] != low and heads[k] != high:
                if not crossed[m]:
                    crossed[m], end, other = True, k, heads[k]
                else:
                    if end != k and end != heads[k]:
                        end = -1
                    if other != k and other != heads[k]:
                        other = -1
                    if end == -1 and other == -1:
                        return None
    for m in range(1, n + 1):
        h = heads[m]
        g = heads[h] if h else n + 1
        if crossed[m]:
            push(parts[1], h, m)
            continue
        push(parts[0], h, m)
        s = n + 1
        for x in range(smaller(h, m) + 1, larger(h, m)):
            if heads[x] == h and (s > n or h < s < x or x < s < h):
                s = x
        if s > n or not crossed[s]:
            push(parts[3], s, m)
        visible = h == 0 or not crossed[h]
        for k in range(1, n + 1):
            if heads[k] == h and crossed[k]:
                if h < m < g <= n or (h > m > g):  # g is beyond m: k between them?
                    if m < k < g or m > k > g:
                        visible = False
                elif h < m < k or h > m > k or (h and (h < g < k or h > g > k)):
                    visible = False
        if visible:
            push(parts[2], g, m)
    return {name: np.array(parts[x], dtype=np.intp).reshape(-1, 2)
            for x, name in enumerate(("arc", "crossed_arc", "grandparent", "sibling"))}


cdef inline void push(vector[int]& rows, int first, int second) noexcept nogil:
    rows.push_back(first)
    rows.push_back(second)


def best_tree(tensors, cost, bint single_root):
    """Heads of the highest-scoring tree and its score in the chart."""
    cdef int n = len(tensors["arc"]) - 1
    allowed = 0 if cost is None else cost.astype(np.float64)
    scores = Scores(*(arguments.float32(tensors[name] + allowed) for name in ("arc", "crossed_arc")),
                    *(arguments.float32(tensors[name].T) for name in ("grandparent", "sibling")))
    found = np.full(n + 1, -1, dtype=np.int32)
    if n == 0:
        return found, 0.0
    if not hasattr(_workspace, "chart"):
        _workspace.chart = Chart()
    cdef Chart chart = _workspace.chart if n <= LONGEST_KEPT else Chart()
    cdef int[::1] heads = found
    cdef float best
    chart.prepare(scores, single_root)
    with nogil:
        chart.fill()
        best = chart.at_c(0, n)[n + 1]
        if best > -INFINITY:
            chart.trace(heads)
    if best == -INFINITY:
        raise arguments.no_derivation(None, 0)
    return found, best


_workspace = threading.local()  # a chart per thread, so that its memory is reused and threads decode side by side
LONGEST_KEPT = 60  # words: some 60 MB


@cython.auto_pickle(False)
cdef class Scores:
    """The scores of a sentence in rows: arc and crossed by head, the others by dependent."""

    cdef const float[:, ::1] arc
    cdef const float[:, ::1] crossed
    cdef const float[:, ::1] grandparent
    cdef const float[:, ::1] sibling

    def __init__(self, arc, crossed, grandparent, sibling):
        self.arc = arc
        self.crossed = crossed
        self.grandparent = grandparent
        self.sibling = sibling


cdef enum:  # the items of three nodes, in the order of ITEMS, after
    GAP, COMPLEX, O, L, Y, N, P, J, I, W, B, Z, M, KINDS
    # and on the agenda, those of the projective part
    ARC, HALF, PAIR

cdef enum:  # states of G a b, S a b and X l r
    APART, FIRST_ABOVE, SECOND_ABOVE

cdef enum:  # the rules, in the order of RULES: result, parts and arcs
    L_G_X, L_O_X, L_O_A, L_O_AX, L_Y, O_LG, O_Y, Y_J, P_NG, N_P, N_G, W_O_T, W_O_TV, I_WN, I_GL, J_IG
    B_LO, B_OL, Z_B, Z_O_RIGHT, Z_O_LEFT, M_A, M_B, M_AB, X_ZG, X_J, X_ML, RULES

cdef struct Case:  # an instance of a rule: the numbers of its states and the directions of its arcs
    int left, right, result, first, second

cdef struct Shape:  # a rule: kinds of items and nodes; the nodes of the result are 0, 1 (, 2), then come the others
    int result, nodes, parts, arcs, ordered
    int kinds[2]
    int part[2][3]
    int arc[2][2]
    int order[4]

cdef struct Item:  # on the agenda
    int kind, state, a, b, x


cdef Shape shapes[RULES]
cdef vector[Case] cases[RULES]
cdef int n_states[KINDS]


def _load():
    states, table = oneec_rules.tables()
    kinds = list(oneec_rules.ITEMS)
    cdef Case case
    cdef int i, j, k
    for i, kind in enumerate(kinds):
        n_states[i] = len(states[kind])
    for i, rule in enumerate(oneec_rules.RULES):
        nodes = list(rule.result[1:])
        for part in rule.parts:
            nodes += [node for node in part[1:] if node not in nodes]
        shapes[i].result = kinds.index(rule.result[0])
        shapes[i].nodes = len(nodes)
        shapes[i].parts = len(rule.parts)
        shapes[i].arcs = len(rule.arcs)
        shapes[i].ordered = len(rule.order)
        for j, part in enumerate(rule.parts):
            shapes[i].kinds[j] = kinds.index(part[0])
            for k, node in enumerate(part[1:]):
                shapes[i].part[j][k] = nodes.index(node)
        for j, arc in enumerate(rule.arcs):
            for k in range(2):
                shapes[i].arc[j][k] = nodes.index(arc[k])
        for j, node in enumerate(rule.order):
            shapes[i].order[j] = nodes.index(node)
        cases[i].clear()
        for row in table[i]:
            case.left, case.right, case.result, case.first, case.second = row
            cases[i].push_back(case)


_load()


@cython.auto_pickle(False)
cdef class Chart:
    """All items of a sentence. An item of three nodes is a row over the last node, for its first two and its state.

    For a single root, arcs from 0 are only allowed where they are the last that 0 gets: as the outermost arc of a
    complex that 0 starts, or to the last dependent of 0 in the projective part.
    """

    cdef int n, side, width, none, hidden
    cdef bint single
    cdef const float[:, ::1] arc
    cdef const float[:, ::1] grandparent
    cdef const float[:, ::1] sibling
    cdef vector[float] crossed, crossed_by     # [h, m], and transposed
    cdef vector[float] outer                   # crossed, with the arcs from 0 in spite of a single root
    cdef vector[vector[float]] table            # by kind; no C array, whose vectors Cython would not free
    cdef vector[float] gap_apart, gap_above, gap_below          # [a, b]: a above b, b above a
    cdef vector[float] complex_apart, complex_above             # [a, b], either order
    cdef vector[float] e, c, s, h                               # rows over g; h: see pairs
    cdef vector[float] crossed_half, crossed_pair               # see halves
    cdef vector[float] row                                      # scratch
    cdef vector[float] nothing

    cdef prepare(self, Scores scores, bint single):
        cdef int kind, i, j, side
        self.arc, self.grandparent, self.sibling = scores.arc, scores.grandparent, scores.sibling
        self.side = side = scores.arc.shape[0]
        self.n = side - 1
        self.width = side + 2
        self.none = side
        self.hidden = side + 1
        self.single = single
        self.outer.assign(side * side, -INFINITY)
        self.crossed_by.assign(side * side, -INFINITY)
        for i in range(side):
            for j in range(1, side):
                if i != j:
                    self.outer[i * side + j] = self.crossed_by[j * side + i] = scores.crossed[i, j]
        self.crossed = self.outer
        if single:
            for j in range(side):
                self.crossed[j] = self.crossed_by[j * side] = -INFINITY
        self.table.resize(KINDS)
        for kind in range(O, KINDS):
            self.table[kind].assign(<size_t> side * side * side * n_states[kind], -INFINITY)
        self.gap_apart.assign(side * side, -INFINITY)
        self.gap_above.assign(side * side, -INFINITY)
        self.gap_below.assign(side * side, -INFINITY)
        self.complex_apart.assign(side * side, -INFINITY)
        self.complex_above.assign(side * side, -INFINITY)
        self.crossed_half.assign(side * side, -INFINITY)
        self.crossed_pair.assign(side * side, -INFINITY)
        self.nothing.assign(self.width, 0)
        self.e.assign(<size_t> side * side * self.width, -INFINITY)
        self.c.assign(<size_t> side * side * self.width, -INFINITY)
        self.s.assign(<size_t> side * side * self.width, -INFINITY)
        self.h.assign(<size_t> side * side * self.width, -INFINITY)
        for i in range(side):
            for j in range(self.width):
                self.at_c(i, i)[j] = 0

    # ------------------------------------------------------------------------------------------------- access

    cdef inline float* at(self, int kind, int a, int b, int state) noexcept nogil:
        return &self.table[kind][((<size_t> a * self.side + b) * n_states[kind] + state) * self.side]

    cdef inline float* at_e(self, int h, int m) noexcept nogil:
        return &self.e[(<size_t> h * self.side + m) * self.width]

    cdef inline float* at_c(self, int h, int end) noexcept nogil:
        return &self.c[(<size_t> h * self.side + end) * self.width]

    cdef inline float* at_s(self, int a, int b) noexcept nogil:
        return &self.s[(<size_t> smaller(a, b) * self.side + larger(a, b)) * self.width]

    cdef inline float* at_h(self, int a, int b) noexcept nogil:
        return &self.h[(<size_t> a * self.side + b) * self.width]

    cdef inline const float* gaps(self, int a, int state) noexcept nogil:
        """The gaps of a as first node, over the second."""
        if state == APART:  # no conditional expression: that would copy the vector
            return &self.gap_apart[a * self.side]
        if state == FIRST_ABOVE:
            return &self.gap_above[a * self.side]
        return &self.gap_below[a * self.side]

    cdef inline const float* gaps_to(self, int b, int state) noexcept nogil:
        """The gaps of b as second node, over the first."""
        return self.gaps(b, APART if state == APART else SECOND_ABOVE if state == FIRST_ABOVE else FIRST_ABOVE)

    cdef inline float complex_score(self, int l, int r, int state) noexcept nogil:
        if state == APART:
            return self.complex_apart[l * self.side + r]
        return self.complex_above[l * self.side + r if state == FIRST_ABOVE else r * self.side + l]

    cdef inline float link(self, int rule, int a, int b, int direction) noexcept nogil:
        """A crossed arc a->b, or b->a for direction 1."""
        cdef int at = b * self.side + a if direction else a * self.side + b
        return self.outer[at] if outermost(rule) else self.crossed[at]

    cdef inline const float* links(self, int b, int direction) noexcept nogil:
        """The crossed arcs x->b, or b->x for direction 1, over x."""
        return &self.crossed[b * self.side] if direction else &self.crossed_by[b * self.side]

    cdef inline bint two_roots(self, int rule, int a) noexcept nogil:
        """Whether a rule gives 0 a second arc."""
        return self.single and a == 0 and (rule == Y_J or rule == M_AB)

    # --------------------------------------------------------------------------------------------------- fill

    cdef void fill(self) noexcept nogil:
        cdef int width, l, r
        for width in range(1, self.side):
            for l in range(self.side - width):
                r = l + width
                self.crossings(l, r)
                self.crossings(r, l)
                self.complexes(l, r)
                self.halves_crossed(l, r)
                self.halves_crossed(r, l)
                self.arcs(l, r)
                self.arcs(r, l)
                self.halves(l, r)
                self.halves(r, l)
                self.pairs(l, r)
                self.gap(l, r)
                self.regions(l, r)
                self.regions(r, l)
                self.both(l, r)

    cdef void crossings(self, int a, int b) noexcept nogil:
        """P, I, J and Y, of smaller items."""
        cdef int side = self.side, step = 1 if b > a else -1, t, v, low, high, near_low, near_high
        cdef Case k
        near_low, near_high = (0, a) if step > 0 else (a + 1, side)
        t = a + step
        while t != b:
            for k in cases[P_NG]:
                raise_to(self.at(P, a, b, k.result), self.at(N, a, t, k.left), self.gaps(t, k.right)[b],
                         near_low, near_high)
            low, high = smaller(a, t) + 1, larger(a, t)  # v between a and t
            for k in cases[I_WN]:
                raise_by(self.at(I, a, b, k.result), self.at(W, a, t, k.left), self.at(N, t, b, k.right), 0, low, high)
            for k in cases[I_GL]:
                raise_by(self.at(I, a, b, k.result), self.gaps_to(t, k.left), self.at(L, t, b, k.right),
                         self.link(I_GL, a, t, k.first), low, high)
            t += step
        low, high = smaller(a, b) + 1, larger(a, b)
        for k in cases[J_IG]:
            raise_by(self.at(J, a, b, k.result), self.at(I, a, b, k.left), self.gaps(a, k.right), 0, low, high)
        if not self.two_roots(Y_J, a):
            for k in cases[Y_J]:
                for v in range(low, high):
                    self.raise_outside(self.at(Y, a, b, k.result), self.links(v, k.first),
                                       self.at(J, a, b, k.left)[v], a, b)

    cdef inline void raise_outside(self, float* out, const float* scores, float score, int a, int b) noexcept nogil:
        """For x outside a..b, where needed: for a < b on either side, for a > b to the right."""
        if score == -INFINITY:
            return
        if a < b:
            raise_to(out, scores, score, 0, a)
            raise_to(out, scores, score, b + 1, self.side)
        else:
            raise_to(out, scores, score, a + 1, self.side)

    cdef void complexes(self, int l, int r) noexcept nogil:
        """X, of smaller items and J."""
        cdef int side = self.side, a, b
        cdef float best[3]
        cdef Case k
        best[0] = best[1] = best[2] = -INFINITY
        for k in cases[X_J]:
            for a in range(l + 1, r):
                best[k.result] = most(best[k.result], self.at(J, l, r, k.left)[a])
        for k in cases[X_ZG]:
            for a in range(l + 1, r):
                best[k.result] = most(best[k.result], self.at(Z, l, a, k.left)[r] + self.gaps(a, k.right)[r])
        if r - l > 2:
            self.row.assign(3 * side, -INFINITY)
            for b in range(l + 2, r):
                for k in cases[X_ML]:
                    raise_by(&self.row[k.result * side], self.at(M, l, b, k.left), self.at(L, b, r, k.right), 0,
                             l + 1, b)
            for b in range(3):
                for a in range(l + 1, r):
                    best[b] = most(best[b], self.row[b * side + a])
        self.complex_apart[l * side + r] = self.complex_apart[r * side + l] = best[APART]
        self.complex_above[l * side + r] = best[FIRST_ABOVE]
        self.complex_above[r * side + l] = best[SECOND_ABOVE]

    cdef void regions(self, int a, int b) noexcept nogil:
        """O, L, N and W, of smaller items, P, Y and the gap."""
        cdef int side = self.side, step = 1 if b > a else -1, t, x, near_low, near_high
        cdef float score
        cdef const float* scores
        cdef Case k
        t = a + step
        while t != b:
            for k in cases[O_LG]:
                self.raise_outside(self.at(O, a, b, k.result), self.at(L, a, t, k.left), self.gaps(t, k.right)[b], a, b)
            t += step
        for k in cases[O_Y]:
            self.raise_outside(self.at(O, a, b, k.result), self.at(Y, a, b, k.left), 0, a, b)
        for k in cases[L_Y]:
            self.raise_outside(self.at(L, a, b, k.result), self.at(Y, a, b, k.left), 0, a, b)
        for k in cases[L_G_X]:
            self.raise_outside(self.at(L, a, b, k.result), self.links(b, k.first), self.gaps(a, k.left)[b], a, b)
        for k in cases[L_O_A]:
            self.raise_outside(self.at(L, a, b, k.result), self.at(O, a, b, k.left), self.link(L_O_A, a, b, k.first),
                               a, b)
        for k in cases[L_O_X]:
            raise_by(self.at(L, a, b, k.result), self.at(O, a, b, k.left), self.links(b, k.first), 0, 0, side)
        for k in cases[L_O_AX]:
            raise_by(self.at(L, a, b, k.result), self.at(O, a, b, k.left), self.links(b, k.second),
                     self.link(L_O_AX, a, b, k.first), 0, side)
        near_low, near_high = (0, a) if step > 0 else (a + 1, side)
        for k in cases[N_G]:
            raise_to(self.at(N, a, b, k.result), self.links(b, k.first), self.gaps(a, k.left)[b], near_low, near_high)
        for k in cases[N_P]:
            raise_by(self.at(N, a, b, k.result), self.at(P, a, b, k.left), self.links(b, k.first), 0,
                     near_low, near_high)
        # W x b a <- O a b x
        for k in cases[W_O_T]:
            for x in range(near_low, near_high):
                score = self.at(O, a, b, k.left)[x] + self.link(W_O_T, x, b, k.first)
                raise_one(self.at(W, x, b, k.result) + a, score)
        for k in cases[W_O_TV]:
            for x in range(near_low, near_high):
                score = (self.at(O, a, b, k.left)[x] + self.link(W_O_TV, x, b, k.first)
                         + self.link(W_O_TV, a, b, k.second))
                raise_one(self.at(W, x, b, k.result) + a, score)

    cdef void both(self, int l, int r) noexcept nogil:
        """B, Z and M, of regions and gaps."""
        cdef int side = self.side, t, rule
        cdef float score
        cdef Case k
        for t in range(l + 1, r):
            for k in cases[B_LO]:
                raise_by(self.at(B, l, r, k.result), self.at(L, l, t, k.left), self.at(O, r, t, k.right), 0, r + 1, side)
            for k in cases[B_OL]:
                raise_by(self.at(B, l, r, k.result), self.at(O, l, t, k.left), self.at(L, r, t, k.right), 0, r + 1, side)
        for k in cases[Z_B]:
            raise_to(self.at(Z, l, r, k.result), self.at(B, l, r, k.left), self.link(Z_B, l, r, k.first), r + 1, side)
        for k in cases[Z_O_RIGHT]:
            raise_to(self.at(Z, l, r, k.result), self.at(O, l, r, k.left), self.link(Z_O_RIGHT, l, r, k.first),
                     r + 1, side)
        for k in cases[Z_O_LEFT]:
            raise_to(self.at(Z, l, r, k.result), self.at(O, r, l, k.left), self.link(Z_O_LEFT, l, r, k.first),
                     r + 1, side)
        # M l r t <- O t l r, G t r
        for rule in range(M_A, M_AB + 1):
            if self.two_roots(rule, l):
                continue
            for k in cases[rule]:
                for t in range(l + 1, r):
                    score = self.at(O, t, l, k.left)[r] + self.gaps(t, k.right)[r]
                    score += self.link(rule, l, r if rule == M_B else t, k.first)
                    if rule == M_AB:
                        score += self.link(rule, l, r, k.second)
                    raise_one(self.at(M, l, r, k.result) + t, score)

    # The projective part. A head's outermost dependent may be crossed: then
    #   crossed_half h e     C h e
    #   crossed_pair h w     h and its dependents up to where those of a node on the other side begin, or cross them: w is
    #                        the last of that node's dependents that h's do not reach, if not the node itself
    # and regardless of g. h a w is like crossed_pair, whatever the outermost dependent, with g.

    cdef void halves_crossed(self, int h, int end) noexcept nogil:
        cdef int side = self.side, step = 1 if end > h else -1, u
        cdef float best = -INFINITY
        u = h + step
        while u != end + step:
            best = most(best, self.complex_above[h * side + u] + self.at_c(u, end)[self.hidden])
            u += step
        self.crossed_half[h * side + end] = best
        best = most(self.crossed_half[h * side + end - step], self.complex_apart[h * side + end])
        u = h + step
        while u != end:
            best = most(best, self.crossed_half[h * side + u] + self.complex_apart[u * side + end])
            u += step
        self.crossed_pair[h * side + end] = best

    cdef void arcs(self, int h, int m) noexcept nogil:
        """E h m."""
        cdef int step = 1 if m > h else -1, s
        cdef float* out = self.at_e(h, m)
        cdef float best
        if m == 0:
            return
        best = self.sibling[m, self.side] + self.at_c(m, h + step)[h]
        if not (self.single and h == 0):
            s = h + step
            while s != m:
                best = most(best, self.crossed_pair[h * self.side + s] + self.at_c(m, s)[h])
                self.raise_heads(out, self.at_e(h, s), self.at_s(s, m)[h] + self.sibling[m, s], h, m)
                s += step
            best = most(best, self.crossed_pair[h * self.side + m])
        self.raise_heads(out, &self.nothing[0], best, h, m)
        for s in range(self.side + 1):
            out[s] += self.arc[h, m] + self.grandparent[m, s]
        out[self.hidden] += self.arc[h, m]

    cdef inline void raise_heads(self, float* out, const float* scores, float score, int a, int b) noexcept nogil:
        """For g outside a..b, and for none and hidden."""
        if score > -INFINITY:
            raise_to(out, scores, score, 0, smaller(a, b))
            raise_to(out, scores, score, larger(a, b) + 1, self.width)

    cdef void halves(self, int h, int end) noexcept nogil:
        """C h end."""
        cdef int step = 1 if end > h else -1, m = h
        while m != end:
            m += step
            self.raise_heads(self.at_c(h, end), self.at_e(h, m), self.at_c(m, end)[h], h, end)
        self.raise_heads(self.at_c(h, end), &self.nothing[0], self.crossed_half[h * self.side + end], h, end)

    cdef void pairs(self, int a, int b) noexcept nogil:
        """S a b and h a b; in h a w, a's dependents reach up to the node before w, or cross those of w."""
        cdef int w
        if not (self.single and a == 0 and b > 1):
            self.raise_heads(self.at_h(a, b), self.at_c(a, b - 1), 0, a, b)
            if not (self.single and a == 0):
                for w in range(a, b):
                    self.raise_heads(self.at_h(a, b), self.at_c(a, w), self.complex_apart[w * self.side + b], a, b)
        for w in range(a + 1, b + 1):
            self.raise_outer(self.at_s(a, b), self.at_h(a, w), self.at_c(b, w), a, b)

    cdef inline void raise_outer(self, float* out, const float* left, const float* right, int a, int b) noexcept nogil:
        raise_by(out, left, right, 0, 0, a)
        raise_by(out, left, right, 0, b + 1, self.width)

    cdef void gap(self, int a, int b) noexcept nogil:
        cdef int side = self.side
        self.gap_apart[a * side + b] = self.gap_apart[b * side + a] = self.at_s(a, b)[self.hidden]
        if not (self.single and a == 0):
            self.gap_above[a * side + b] = self.gap_below[b * side + a] = self.at_c(a, b)[self.hidden]
        self.gap_above[b * side + a] = self.gap_below[a * side + b] = self.at_c(b, a)[self.hidden]

    # -------------------------------------------------------------------------------------------------- trace

    cdef void trace(self, int[::1] heads) noexcept nogil:
        """Unfold the goal, taking every maximum again; items of complexes by the rules as they are written."""
        cdef vector[Item] agenda
        cdef Item item
        push_item(agenda, HALF, 0, 0, self.n, self.none)
        while agenda.size():
            item = agenda.back()
            agenda.pop_back()
            if item.kind == ARC:
                self.trace_arc(agenda, item, heads)
            elif item.kind == HALF:
                self.trace_half(agenda, item)
            elif item.kind == PAIR:
                self.trace_pair(agenda, item)
            elif item.kind == GAP:
                if item.state == APART:
                    push_item(agenda, PAIR, 0, smaller(item.a, item.b), larger(item.a, item.b), self.hidden)
                elif item.state == FIRST_ABOVE:
                    push_item(agenda, HALF, 0, item.a, item.b, self.hidden)
                else:
                    push_item(agenda, HALF, 0, item.b, item.a, self.hidden)
            else:
                self.trace_rules(agenda, item, heads)

    cdef void trace_half(self, vector[Item]& agenda, Item item) noexcept nogil:
        cdef int h = item.a, end = item.b, g = item.x, step = 1 if end > h else -1, m = h, best_m = h
        cdef float value, best = -INFINITY
        if h == end:
            return
        while m != end:
            m += step
            value = self.at_e(h, m)[g] + self.at_c(m, end)[h]
            if value > best:
                best, best_m = value, m
        if self.crossed_half[h * self.side + end] > best:
            self.trace_crossed_half(agenda, h, end)
        else:
            push_item(agenda, ARC, 0, h, best_m, g)
            push_item(agenda, HALF, 0, best_m, end, h)

    cdef void trace_crossed_half(self, vector[Item]& agenda, int h, int end) noexcept nogil:
        cdef int step = 1 if end > h else -1, u = h, best_u = h
        cdef float value, best = -INFINITY
        while u != end:
            u += step
            value = self.complex_above[h * self.side + u] + self.at_c(u, end)[self.hidden]
            if value > best:
                best, best_u = value, u
        self.push_complex(agenda, h, best_u, FIRST_ABOVE)
        push_item(agenda, HALF, 0, best_u, end, self.hidden)

    cdef void push_complex(self, vector[Item]& agenda, int a, int b, int state) noexcept nogil:
        if a < b:
            push_item(agenda, COMPLEX, state, a, b, 0)
        else:
            push_item(agenda, COMPLEX, SECOND_ABOVE if state == FIRST_ABOVE else state, b, a, 0)

    cdef void trace_arc(self, vector[Item]& agenda, Item item, int[::1] heads) noexcept nogil:
        cdef int h = item.a, m = item.b, g = item.x, side = self.side, step = 1 if m > h else -1, s, w, best_s = -1
        cdef int best_w = -1
        cdef float value, best
        heads[m] = h
        best = self.sibling[m, side] + self.at_c(m, h + step)[h]
        if not (self.single and h == 0):
            s = h
            while s != m:
                s += step
                value = self.crossed_pair[h * side + s] + self.at_c(m, s)[h]
                if value > best:
                    best, best_s, best_w = value, -1, s
                if s != m:
                    value = self.at_e(h, s)[g] + (self.at_s(s, m)[h] + self.sibling[m, s])
                    if value > best:
                        best, best_s, best_w = value, s, -1
        if best_s >= 0:
            push_item(agenda, ARC, 0, h, best_s, g)
            push_item(agenda, PAIR, 0, smaller(best_s, m), larger(best_s, m), h)
        elif best_w < 0:
            push_item(agenda, HALF, 0, m, h + step, h)
        else:
            push_item(agenda, HALF, 0, m, best_w, h)
            w = best_w
            best = self.crossed_half[h * side + w - step]
            best_s = -1
            s = h
            while s != w:
                value = self.complex_apart[s * side + w]
                if s != h:
                    value += self.crossed_half[h * side + s]
                if value > best:
                    best, best_s = value, s
                s += step
            if best_s < 0:
                self.trace_crossed_half(agenda, h, w - step)
            else:
                self.push_complex(agenda, best_s, w, APART)
                if best_s != h:
                    self.trace_crossed_half(agenda, h, best_s)

    cdef void trace_pair(self, vector[Item]& agenda, Item item) noexcept nogil:
        cdef int a = item.a, b = item.b, g = item.x, w, v, best_w = -1, best_v = -1
        cdef float value, best = -INFINITY
        for w in range(a + 1, b + 1):
            value = self.at_h(a, w)[g] + self.at_c(b, w)[g]
            if value > best:
                best, best_w = value, w
        push_item(agenda, HALF, 0, b, best_w, g)
        best = self.at_c(a, best_w - 1)[g]
        if self.single and a == 0:
            return
        for v in range(a, best_w):
            value = self.at_c(a, v)[g] + self.complex_apart[v * self.side + best_w]
            if value > best:
                best, best_v = value, v
        if best_v < 0:
            push_item(agenda, HALF, 0, a, best_w - 1, g)
        else:
            push_item(agenda, HALF, 0, a, best_v, g)
            push_item(agenda, COMPLEX, APART, best_v, best_w, 0)

    cdef float value(self, int kind, int state, int a, int b, int x) noexcept nogil:
        if kind == GAP:
            return self.gaps(a, state)[b]
        if kind == COMPLEX:
            return self.complex_score(a, b, state)
        return self.at(kind, a, b, state)[x]

    cdef void trace_rules(self, vector[Item]& agenda, Item item, int[::1] heads) noexcept nogil:
        cdef int rule, i, j, best_rule = 0, extra, fixed = 2 if item.kind == COMPLEX else 3
        cdef int nodes[4]
        cdef int best_nodes[4]
        cdef float value, best = -INFINITY
        cdef Shape* shape
        cdef Case k, best_case
        best_case.left = best_case.right = best_case.first = best_case.second = 0
        nodes[0], nodes[1], nodes[2] = item.a, item.b, item.x
        for rule in range(RULES):
            shape = &shapes[rule]
            if shape.result != item.kind or self.two_roots(rule, item.a):
                continue
            extra = shape.nodes - fixed
            for i in range(self.side if extra > 0 else 1):
                if extra > 0:
                    nodes[fixed] = i
                for j in range(self.side if extra > 1 else 1):
                    if extra > 1:
                        nodes[fixed + 1] = j
                    if not in_order(shape, nodes):
                        continue
                    for k in cases[rule]:
                        if k.result == item.state:
                            value = self.score(rule, nodes, k)
                            if value > best:
                                best, best_rule, best_case = value, rule, k
                                best_nodes[0], best_nodes[1], best_nodes[2], best_nodes[3] = \
                                    nodes[0], nodes[1], nodes[2], nodes[3]
        shape = &shapes[best_rule]
        for i in range(shape.parts):
            push_item(agenda, shape.kinds[i], best_case.right if i else best_case.left, best_nodes[shape.part[i][0]],
                      best_nodes[shape.part[i][1]], best_nodes[shape.part[i][2]])
        for i in range(shape.arcs):
            j = best_case.second if i else best_case.first
            heads[best_nodes[shape.arc[i][1 - j]]] = best_nodes[shape.arc[i][j]]

    cdef float score(self, int rule, const int* nodes, Case k) noexcept nogil:
        cdef Shape* shape = &shapes[rule]
        cdef float value = 0
        cdef int i
        for i in range(shape.parts):
            value += self.value(shape.kinds[i], k.right if i else k.left, nodes[shape.part[i][0]],
                                nodes[shape.part[i][1]], nodes[shape.part[i][2]])
        for i in range(shape.arcs):
            value += self.link(rule, nodes[shape.arc[i][0]], nodes[shape.arc[i][1]], k.second if i else k.first)
        return value


cdef inline void push_item(vector[Item]& agenda, int kind, int state, int a, int b, int x) noexcept nogil:
    cdef Item item
    item.kind, item.state, item.a, item.b, item.x = kind, state, a, b, x
    agenda.push_back(item)


cdef inline bint outermost(int rule) noexcept nogil:
    return rule in (W_O_T, W_O_TV, I_GL, Z_B, Z_O_RIGHT, Z_O_LEFT, M_A, M_B, M_AB)


cdef inline bint in_order(const Shape* shape, const int* nodes) noexcept nogil:
    cdef int i, before, after
    cdef bint rising = shape.ordered == 0 or nodes[shape.order[0]] < nodes[shape.order[1]]
    for i in range(shape.ordered - 1):
        before, after = nodes[shape.order[i]], nodes[shape.order[i + 1]]
        if before == after or (before < after) != rising:
            return False
    return True


cdef inline void raise_one(float* out, float score) noexcept nogil:
    if score > out[0]:
        out[0] = score


cdef inline void raise_to(float* out, const float* scores, float score, int low, int high) noexcept nogil:
    cdef int i
    for i in range(low, high):
        out[i] = most(out[i], scores[i] + score)


cdef inline void raise_by(float* out, const float* left, const float* right, float score, int low,
                          int high) noexcept nogil:
    cdef int i
    for i in range(low, high):
        out[i] = most(out[i], left[i] + right[i] + score)


cdef inline float most(float a, float b) noexcept nogil:
    return a if a > b else b


cdef inline int smaller(int a, int b) noexcept nogil:
    return a if a < b else b


cdef inline int larger(int a, int b) noexcept nogil:
    return a if a > b else b
