# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The third-order decoder of 1-Endpoint-Crossing trees, in O(n^4) time and O(n^3) memory (Pitler, TACL 2014).

Uncrossed arcs are derived as in a projective third-order parser (Koo & Collins, ACL 2010), with h a head and g its own
head, or n+2 if that is not visible (n+1 for h = 0, which has none):

    E h m g    everything between h and m with the arc h->m: m has all its dependents on the side of h
    C h e g    h with all its dependents on one side, the last word in their subtrees being e
    S a b g    everything between a and b, of which neither depends on the other: both have their heads outside

Crossed arcs come as complexes X a b, with a and b the outermost of their nodes, made by the rules in oneec_rules.py, which
says why these suffice. Between them a complex has gaps, which are C and S in turn:

       .-----------.
       |     .-----|-----.           X a b: its arcs are crossed, each node but a and b has its head;
       a === u === t === b           the gaps a === u: C a u if u depends on a, C u a if a depends on u, or else S a u

In the gaps g = n+2. The head of a node is not visible across a crossed arc; where it is uncrossed, it lies in a gap, and on the
other side of this gap a crossed arc of the node (it has one, and none enters the gap) hides it from those on that other side.

Where complexes are put to use:

    E h m g    .-----------.
               |-----.     |         m's inner sibling s is visible: E h s g, S s m h, and sibling[s, m];
               h === s === m         or there is none: C m h+1 h, and sibling[n+1, m];
               h ( ) w === m         or it is crossed: crossed_pair h w, C m w h
    C h e g    h ( ) u === e         h's outermost arc is crossed: X h u, where u depends on h, and C u e n+2
    S a b g    a === w === b         C a w-1 g, C b w g;
               a === v ( ) w === b   or crossed arcs between those of a and those of b: C a v g, X v w, C b w g

No length is too long. Each tree has one score, whatever its derivation: that of an arc is the one it has where it is made, and
that it is crossed there, or has the sibling and grandparent that are visible by the definition, is what the items say of it.
"""

import threading

cimport cython
import numpy as np
from libc.math cimport INFINITY
from libcpp.algorithm cimport copy_n, fill_n
from libcpp.vector cimport vector

from mh4.decoders import arguments
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
LONGEST_KEPT = 100  # words: some 50 MB


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


cdef extern from "oneec_rules.hpp" namespace "oneec" nogil:
    enum: G, X, O, L, Y, N, P, J, I, W, B, Z, M, KINDS  # kinds of items
    enum: Y_J, W_O_T, W_O_TV, I_GL, Z_B, Z_O_RIGHT, Z_O_LEFT, M_A, M_B, M_AB, RULES  # rules, those named here
    const int STATES[]

    struct Case:
        int left, right, result, first, second

    struct Shape:
        int result, nodes, parts, arcs, ordered
        int kinds[2]
        int part[2][3]
        int arc[2][2]
        int order[4]
        int size
        const Case* cases

    const Shape shapes[]


cdef extern from "lanes_per_vector.h" nogil:
    enum: LANES

cdef extern from "oneec.hpp" namespace "oneec" nogil:
    struct Links:
        float* to
        float* from_ "from"
        size_t width

    struct Region:
        int begin, end, a, b, inside_end
        Links inner, outer
        float arc[2]
        float outer_arc[2]
        float gap[3]
        const float* gaps[3]
        const float* inside

    struct Tiles:
        float* origin
        const ptrdiff_t* first

    struct Before:
        pass

    void region_left(const Region&, Tiles, Tiles, Tiles, Tiles, Tiles, int)
    void region_right(const Region&, Tiles, Tiles, Tiles, Tiles, Tiles, Tiles, int, int)
    void region_far(const Region&, Tiles, Tiles, int, int)
    void around(int, int, Tiles, Tiles, Tiles, Tiles, const float*, Tiles, int, int)
    void fill_before(Before*, int, int, Tiles, Tiles, int, const float* const*)
    void longest(int, int, const Before*, Tiles, const Links&, Tiles, int, int, int)
    void fill_inside(float*, int, int, Tiles, int, const float* const*)
    void middle(int, int, int, Tiles, const float* const*, const float*, const Links&, bint, Tiles, int, int)
    void complexes(float*, int, int, Tiles, const float* const*, const float*, Tiles, Tiles)
    void times(float*, float, const float*, size_t, const float*, int, int, int)
    void joined(float*, const float*, const float*, size_t, int, int, int)


cdef enum:  # on the agenda, the items of the projective part
    ARC = 100, HALF, PAIR

cdef enum:  # states of G a b, S a b and X l r
    APART, FIRST_ABOVE, SECOND_ABOVE

cdef struct Item:  # on the agenda
    int kind, state, a, b, x

cdef struct Found:  # the best instance of a rule for an item
    float value
    int rule
    Case k
    int nodes[4]


@cython.auto_pickle(False)
cdef class Chart:
    """All items of a sentence that later ones need, for l = n..0 those that start there, r = l+1..n.

    The values of items of three nodes are in tiles, see oneec.hpp. Kept for all l are those of

        left    x < a < b: L and N a b x, I x b a    tiles of b over a
        right   b < a < x: L, O, N a b x, W x b a    tiles of a over b

    and for the current l only, as none else needs them

        far     a = l < b < x: L and O a b x         tiles over b
        left    x < a = l < b: L and N a b x, W x b a, again
        right   l = b < a < x: L and N a b x, again, and I x b a    tiles over a
        around  l < r < x: Z l r x                   tiles over r
        middle  l < a < b: M l b a                   tiles over b, in blocks of a

    Rows over g are in the projective part. For a single root, arcs from 0 are only allowed where they are the last that
    0 gets: as the outermost arc of a complex that 0 starts, or to the last dependent of 0 in the projective part.
    """

    cdef int n, side, blocks, width, rows, none, hidden, layer_l, layer_x
    cdef bint single
    cdef const float[:, ::1] arc
    cdef const float[:, ::1] sibling
    cdef vector[float] memory
    cdef float* free                         # what is not yet taken of it
    cdef Links crossed, outer                # crossed arcs; the latter with those of 0 in spite of a single root
    cdef float* gap[3]                       # [a, b] by state
    cdef float* complex_apart                # [a, b], either order
    cdef float* complex_above                # [a, b]: a above b
    cdef float* crossed_half                 # see halves_crossed
    cdef float* crossed_pair
    cdef vector[ptrdiff_t] first_left, first_right, first_layer  # see Tiles: of each node, by block
    cdef float* left[KINDS]                  # tiles, by kind
    cdef float* right[KINDS]
    cdef Tiles far_l, far_o, left_l, left_n, left_w, right_l, right_n, right_i, around, middle  # of the current l
    cdef float* e                            # rows over g
    cdef float* c
    cdef float* s
    cdef float* h                            # for the current l, see pairs
    cdef float* grandparent                  # [m, g]
    cdef float* coefs                        # scratch
    cdef float* inside_left                  # J l r v for v by state
    cdef float* inside_right                 # J r l v
    cdef vector[Before] before

    cdef prepare(self, Scores scores, bint single):
        cdef int i, j, side = scores.arc.shape[0]
        self.arc, self.sibling = scores.arc, scores.sibling
        self.single = single
        self.side = side
        self.n = side - 1
        self.blocks = (side + LANES - 1) // LANES
        self.width = self.blocks * LANES
        self.none = side
        self.hidden = side + 1
        self.rows = (side + 2 + LANES - 1) // LANES * LANES
        self.layer_l = self.layer_x = -1
        self.before.resize(side)
        self.lay_out()
        fill_n(self.middle.origin, <size_t> side * self.width * STATES[M], -INFINITY)
        fill_n(self.outer.to, <size_t> side * self.width, -INFINITY)
        fill_n(self.outer.from_, <size_t> side * self.width, -INFINITY)
        for i in range(side):
            for j in range(1, side):
                if i != j:
                    self.outer.from_[i * self.width + j] = self.outer.to[j * self.width + i] = scores.crossed[i, j]
        copy_n(self.outer.to, side * self.width, self.crossed.to)
        copy_n(self.outer.from_, side * self.width, self.crossed.from_)
        if single:
            for j in range(side):
                self.crossed.from_[j] = self.crossed.to[j * self.width] = -INFINITY
        for i in range(side):
            copy_n(&scores.grandparent[i, 0], side + 1, self.grandparent + i * self.rows)
            fill_n(self.grandparent + i * self.rows + side + 1, self.rows - side - 1, 0)
            fill_n(self.at_c(i, i), self.rows, 0)
            self.crossed_half[i * self.width + i] = self.crossed_pair[i * self.width + i] = -INFINITY

    cdef void lay_out(self) noexcept:
        """Find all tables their place in the memory."""
        cdef size_t size
        self.free = NULL
        self.take_tables()  # only to see how much they take
        size = <size_t> self.free // sizeof(float) + 16
        if self.memory.size() < size:
            self.memory.clear()
            self.memory.shrink_to_fit()
            self.memory.resize(size)
        self.free = &self.memory[0]
        while <size_t> self.free % 64:  # the bytes of a block
            self.free += 1
        self.take_tables()

    cdef void take_tables(self) noexcept:
        cdef size_t square = <size_t> self.side * self.width, cube = <size_t> self.side * self.side * self.rows
        cdef ptrdiff_t lefts = 0, rights = 0
        cdef int i, j, kind
        self.first_left.assign(self.side * self.blocks, 0)
        self.first_right.assign(self.side * self.blocks, 0)
        self.first_layer.resize(self.blocks)
        for j in range(self.blocks):
            self.first_layer[j] = j * self.side
            for i in range(self.side):
                if j * LANES + 1 < i:  # a from j * LANES + 1 to b - 1, for b = i
                    self.first_left[i * self.blocks + j] = lefts - (j * LANES + 1)
                    lefts += i - (j * LANES + 1)
                if self.first_beyond(i) <= j and i < self.n:  # b from 0 to a - 1, for a = i
                    self.first_right[i * self.blocks + j] = rights
                    rights += i
        for kind in (L, N, I):
            self.left[kind] = self.take(lefts * STATES[kind] * LANES)
        for kind in (L, O, N, W):
            self.right[kind] = self.take(rights * STATES[kind] * LANES)
        self.far_l, self.far_o = self.layer_tiles(L), self.layer_tiles(O)
        self.left_l, self.left_n, self.left_w = self.layer_tiles(L), self.layer_tiles(N), self.layer_tiles(W)
        self.right_l, self.right_n, self.right_i = self.layer_tiles(L), self.layer_tiles(N), self.layer_tiles(I)
        self.around, self.middle = self.layer_tiles(Z), self.layer_tiles(M)
        for i in range(3):
            self.gap[i] = self.take(square)
        self.complex_apart, self.complex_above = self.take(square), self.take(square)
        self.crossed_half, self.crossed_pair = self.take(square), self.take(square)
        self.outer.to, self.outer.from_, self.outer.width = self.take(square), self.take(square), self.width
        self.crossed.to, self.crossed.from_, self.crossed.width = self.take(square), self.take(square), self.width
        self.e, self.c, self.s = self.take(cube), self.take(cube), self.take(cube // 2)
        self.h, self.grandparent = self.take(self.side * self.rows), self.take(self.side * self.rows)
        self.coefs = self.take(self.width)
        self.inside_left, self.inside_right = self.take(STATES[J] * self.width), self.take(STATES[J] * self.width)

    cdef inline float* take(self, size_t size) noexcept nogil:
        self.free += size
        return self.free - size

    cdef inline Tiles layer_tiles(self, int kind) noexcept nogil:
        cdef Tiles tiles
        tiles.origin = self.take(<size_t> self.side * self.width * STATES[kind])
        tiles.first = &self.first_layer[0]
        return tiles

    # ------------------------------------------------------------------------------------------------- access

    cdef inline int first_beyond(self, int a) noexcept nogil:
        """The block in which the nodes to the right of a begin."""
        return (a + 1) // LANES

    cdef inline Tiles left_of(self, int kind, int b) noexcept nogil:
        cdef Tiles tiles
        tiles.origin, tiles.first = self.left[kind], &self.first_left[b * self.blocks]
        return tiles

    cdef inline Tiles right_of(self, int kind, int a) noexcept nogil:
        cdef Tiles tiles
        tiles.origin, tiles.first = self.right[kind], &self.first_right[a * self.blocks]
        return tiles

    cdef inline float* at_e(self, int h, int m) noexcept nogil:
        return self.e + (<size_t> h * self.side + m) * self.rows

    cdef inline float* at_c(self, int h, int end) noexcept nogil:
        return self.c + (<size_t> h * self.side + end) * self.rows

    cdef inline float* at_s(self, int a, int b) noexcept nogil:
        cdef size_t low = smaller(a, b), high = larger(a, b)
        return self.s + (high * (high - 1) // 2 + low) * self.rows

    cdef inline void gaps(self, int a, const float** out) noexcept nogil:
        """The gaps of a as first node, over the second, by state."""
        for state in range(3):
            out[state] = self.gap[state] + a * self.width

    cdef inline void gaps_to(self, int b, const float** out) noexcept nogil:
        """The gaps of b as second node, over the first, by state."""
        out[APART] = self.gap[APART] + b * self.width
        out[FIRST_ABOVE] = self.gap[SECOND_ABOVE] + b * self.width
        out[SECOND_ABOVE] = self.gap[FIRST_ABOVE] + b * self.width

    cdef inline float complex_score(self, int l, int r, int state) noexcept nogil:
        if state == APART:
            return self.complex_apart[l * self.width + r]
        return self.complex_above[l * self.width + r if state == FIRST_ABOVE else r * self.width + l]

    cdef inline void arcs_between(self, const Links& links, int a, int b, float* out) noexcept nogil:
        """The crossed arcs a->b and b->a."""
        out[0], out[1] = links.from_[a * self.width + b], links.to[a * self.width + b]

    cdef inline float link(self, int rule, int a, int b, int direction) noexcept nogil:
        """A crossed arc a->b, or b->a for direction 1."""
        cdef int at = a * self.width + b
        if outermost(rule):
            return self.outer.to[at] if direction else self.outer.from_[at]
        return self.crossed.to[at] if direction else self.crossed.from_[at]

    cdef inline bint two_roots(self, int rule, int a) noexcept nogil:
        """Whether a rule gives 0 a second arc."""
        return self.single and a == 0 and (rule == Y_J or rule == M_AB)

    # --------------------------------------------------------------------------------------------------- fill

    cdef void fill(self) noexcept nogil:
        cdef int l, r
        for l in range(self.n - 1, -1, -1):
            for r in range(l + 1, self.side):
                self.inside(l, r)
                self.complexes(l, r)
                self.halves_crossed(l, r)
                self.halves_crossed(r, l)
                self.arcs(l, r)
                self.arcs(r, l)
                self.halves(l, r)
                self.halves(r, l)
                self.pairs(l, r)
                self.gap_between(l, r)
                self.regions(l, r)
                if r < self.n:
                    self.beyond(l, r, self.first_beyond(r), self.blocks)
                    self.between(l, r, self.blocks)

    cdef void inside(self, int l, int r) noexcept nogil:
        """J l r and J r l; I x r l for x < l, and I x l r for x > r."""
        cdef const float* gaps[3]
        self.inside_from_left(l, r)
        if l > 0:
            self.gaps(l, gaps)
            fill_before(&self.before[0], l + 1, r, self.left_of(N, r), self.left_of(L, r), l, gaps)
            longest(l + 1, r, &self.before[0], self.left_w, self.outer, self.left_of(I, r), l, 0, (l + LANES - 1) // LANES)
        if r < self.n:
            self.gaps(r, gaps)
            fill_inside(self.inside_right, l + 1, r, self.right_i, r, gaps)
            fill_before(&self.before[0], l + 1, r, self.right_n, self.right_l, r, gaps)
            longest(l + 1, r, &self.before[0], self.right_of(W, r), self.outer, self.right_i, r, self.first_beyond(r),
                    self.blocks)

    cdef void inside_from_left(self, int l, int r) noexcept nogil:
        cdef const float* gaps[3]
        self.gaps(l, gaps)
        fill_inside(self.inside_left, l + 1, r, self.left_of(I, r), l, gaps)

    cdef void complexes(self, int l, int r) noexcept nogil:
        """X l r."""
        cdef float best[3]
        cdef const float* gaps[3]
        self.gaps_to(r, gaps)
        complexes(best, l, r, self.around, gaps, self.inside_left, self.middle, self.left_of(L, r))
        self.complex_apart[l * self.width + r] = self.complex_apart[r * self.width + l] = best[APART]
        self.complex_above[l * self.width + r] = best[FIRST_ABOVE]
        self.complex_above[r * self.width + l] = best[SECOND_ABOVE]

    cdef inline void describe(self, Region& region, int a, int b) noexcept nogil:
        region.a, region.b = a, b
        region.begin = smaller(a, b) + 1
        region.end = larger(a, b)
        region.inside_end = region.begin if self.two_roots(Y_J, a) else region.end
        region.inner, region.outer = self.crossed, self.outer
        self.arcs_between(self.crossed, a, b, region.arc)
        self.arcs_between(self.outer, a, b, region.outer_arc)
        for state in range(3):
            region.gap[state] = self.gap[state][a * self.width + b]
        self.gaps_to(b, region.gaps)
        region.inside = self.inside_left if a < b else self.inside_right

    cdef void regions(self, int l, int r) noexcept nogil:
        """L, O, N and W of l r x for x < l, and of r l x for x > r."""
        cdef Region region
        if l > 0:
            self.describe(region, l, r)
            region_left(region, self.left_l, self.left_n, self.left_w, self.left_of(L, r), self.left_of(N, r),
                        (l + LANES - 1) // LANES)
        if r < self.n:
            self.describe(region, r, l)
            region_right(region, self.right_of(L, r), self.right_of(O, r), self.right_of(N, r), self.right_of(W, r),
                         self.right_l, self.right_n, self.first_beyond(r), self.blocks)

    cdef void beyond(self, int l, int r, int first, int blocks) noexcept nogil:
        """L, O and Z of l r x, for blocks of x > r."""
        cdef Region region
        self.describe(region, l, r)
        region_far(region, self.far_l, self.far_o, first, blocks)
        around(l, r, self.far_l, self.far_o, self.right_of(L, r), self.right_of(O, r), region.outer_arc, self.around,
               first, blocks)

    cdef void between(self, int l, int a, int blocks) noexcept nogil:
        """M l b a, for blocks of b > a."""
        cdef float outer_arc[2]
        cdef const float* gaps[3]
        self.arcs_between(self.outer, l, a, outer_arc)
        self.gaps(a, gaps)
        middle(l, a, self.n, self.right_of(O, a), gaps, outer_arc, self.outer, self.two_roots(M_AB, l), self.middle,
               self.first_beyond(a), blocks)

    # The projective part. A head's outermost dependent may be crossed: then
    #   crossed_half h e     C h e
    #   crossed_pair h w     h and its dependents up to where those of a node on the other side begin, or cross them: w is
    #                        the last of that node's dependents that h's do not reach, if not the node itself
    # and regardless of g. h a w is like crossed_pair, whatever the outermost dependent, with g.

    cdef void halves_crossed(self, int h, int end) noexcept nogil:
        cdef int step = 1 if end > h else -1, u
        cdef const float* above = self.complex_above + h * self.width
        cdef const float* below = self.gap[SECOND_ABOVE] + end * self.width
        cdef float* half = self.crossed_half + h * self.width
        cdef const float* apart = self.complex_apart + end * self.width
        cdef float best = above[end]
        for u in range(smaller(h, end) + 1, larger(h, end)):
            best = most(best, above[u] + below[u])
        half[end] = best
        best = most(half[end - step], apart[h])
        for u in range(smaller(h, end) + 1, larger(h, end)):
            best = most(best, half[u] + apart[u])
        self.crossed_pair[h * self.width + end] = best

    cdef inline void times(self, float* out, float least, const float* rows, int begin, int end, int a,
                           int b) noexcept nogil:
        """For g outside a..b, and for none and hidden: the maximum of coefs and rows begin..end-1, and least."""
        cdef int near = (a + LANES - 1) // LANES
        rows += <size_t> begin * self.rows
        times(out, least, rows, self.rows, self.coefs + begin, end - begin, 0, near)
        times(out, least, rows, self.rows, self.coefs + begin, end - begin, larger(near, self.first_beyond(b)),
              self.rows // LANES)

    cdef void arcs(self, int h, int m) noexcept nogil:
        """E h m."""
        cdef int step = 1 if m > h else -1, s, low = smaller(h, m), high = larger(h, m)
        cdef float* out = self.at_e(h, m)
        cdef const float* pair = self.crossed_pair + h * self.width
        cdef const float* grandparent = self.grandparent + m * self.rows
        cdef float best, arc
        if m == 0:
            fill_n(out, self.rows, -INFINITY)
            return
        best = self.sibling[m, self.side] + self.at_c(m, h + step)[h]
        if self.single and h == 0:
            self.times(out, best, self.at_e(h, 0), low + 1, low + 1, low, high)
        else:
            for s in range(low + 1, high):
                best = most(best, pair[s] + self.at_c(m, s)[h])
                self.coefs[s] = self.at_s(s, m)[h] + self.sibling[m, s]
            best = most(best, pair[m])
            self.times(out, best, self.at_e(h, 0), low + 1, high, low, high)
        arc = self.arc[h, m]
        for s in range(self.rows):
            out[s] += arc + grandparent[s]

    cdef void halves(self, int h, int end) noexcept nogil:
        """C h end."""
        cdef int m, low = smaller(h, end), high = larger(h, end)
        for m in range(low + 1, high):
            self.coefs[m] = self.at_c(m, end)[h]
        self.coefs[end] = 0
        if h < end:
            low += 1
            high += 1
        self.times(self.at_c(h, end), self.crossed_half[h * self.width + end], self.at_e(h, 0), low, high,
                   smaller(h, end), larger(h, end))

    cdef void pairs(self, int a, int b) noexcept nogil:
        """S a b and h a b; in h a w, a's dependents reach up to the node before w, or cross those of w."""
        cdef int i, w, near = (a + LANES - 1) // LANES, far = larger(near, self.first_beyond(b)), blocks = self.rows // LANES
        cdef float* out = self.h + <size_t> b * self.rows
        cdef const float* before = self.at_c(a, b - 1)
        if self.single and a == 0:
            if b > 1:
                fill_n(out, self.rows, -INFINITY)
            else:
                fill_n(out, self.rows, 0)
        else:
            for w in range(a, b):
                self.coefs[w] = self.complex_apart[w * self.width + b]
            self.coefs[b - 1] = most(self.coefs[b - 1], 0)
            self.times(out, -INFINITY, self.at_c(a, 0), a, b, a, b)
        out = self.at_s(a, b)
        copy_n(self.h + <size_t> b * self.rows, self.rows, out)
        for i in range(2):
            joined(out, self.h + <size_t> (a + 1) * self.rows, self.at_c(b, a + 1), self.rows, b - a - 1, far if i else 0,
                   blocks if i else near)

    cdef void gap_between(self, int a, int b) noexcept nogil:
        cdef int ab = a * self.width + b, ba = b * self.width + a
        self.gap[APART][ab] = self.gap[APART][ba] = self.at_s(a, b)[self.hidden]
        self.gap[FIRST_ABOVE][ab] = self.gap[SECOND_ABOVE][ba] = self.at_c(a, b)[self.hidden]
        self.gap[FIRST_ABOVE][ba] = self.gap[SECOND_ABOVE][ab] = self.at_c(b, a)[self.hidden]
        if self.single and a == 0:
            self.gap[FIRST_ABOVE][ab] = self.gap[SECOND_ABOVE][ba] = -INFINITY

    # -------------------------------------------------------------------------------------------------- trace

    cdef void layer(self, int l, int x) noexcept nogil:
        """Have for this l and x what is kept for the current l only."""
        cdef int r
        if self.layer_l != l or self.layer_x != x:
            self.layer_l, self.layer_x = l, x
            for r in range(l + 1, x):
                self.inside_from_left(l, r)
                self.beyond(l, r, x // LANES, x // LANES + 1)
                self.between(l, r, x // LANES + 1)

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
            elif item.kind == G:
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
        if self.crossed_half[h * self.width + end] > best:
            self.trace_crossed_half(agenda, h, end)
        else:
            push_item(agenda, ARC, 0, h, best_m, g)
            push_item(agenda, HALF, 0, best_m, end, h)

    cdef void trace_crossed_half(self, vector[Item]& agenda, int h, int end) noexcept nogil:
        cdef int step = 1 if end > h else -1, u = h, best_u = h
        cdef float value, best = -INFINITY
        while u != end:
            u += step
            value = self.complex_above[h * self.width + u] + self.at_c(u, end)[self.hidden]
            if value > best:
                best, best_u = value, u
        self.push_complex(agenda, h, best_u, FIRST_ABOVE)
        push_item(agenda, HALF, 0, best_u, end, self.hidden)

    cdef void push_complex(self, vector[Item]& agenda, int a, int b, int state) noexcept nogil:
        if a < b:
            push_item(agenda, X, state, a, b, 0)
        else:
            push_item(agenda, X, SECOND_ABOVE if state == FIRST_ABOVE else state, b, a, 0)

    cdef void trace_arc(self, vector[Item]& agenda, Item item, int[::1] heads) noexcept nogil:
        cdef int h = item.a, m = item.b, g = item.x, side = self.side, width = self.width, step = 1 if m > h else -1
        cdef int s, w, best_s = -1, best_w = -1
        cdef float value, best
        heads[m] = h
        best = self.sibling[m, side] + self.at_c(m, h + step)[h]
        if not (self.single and h == 0):
            s = h
            while s != m:
                s += step
                value = self.crossed_pair[h * width + s] + self.at_c(m, s)[h]
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
            best = self.crossed_half[h * width + w - step]
            best_s = -1
            s = h
            while s != w:
                value = self.complex_apart[s * width + w]
                if s != h:
                    value += self.crossed_half[h * width + s]
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
            value = self.head_and(a, w, g) + self.at_c(b, w)[g]
            if value > best:
                best, best_w = value, w
        push_item(agenda, HALF, 0, b, best_w, g)
        best = self.at_c(a, best_w - 1)[g]
        if self.single and a == 0:
            return
        for v in range(a, best_w):
            value = self.at_c(a, v)[g] + self.complex_apart[v * self.width + best_w]
            if value > best:
                best, best_v = value, v
        if best_v < 0:
            push_item(agenda, HALF, 0, a, best_w - 1, g)
        else:
            push_item(agenda, HALF, 0, a, best_v, g)
            push_item(agenda, X, APART, best_v, best_w, 0)

    cdef float head_and(self, int a, int w, int g) noexcept nogil:
        """h a w, see pairs."""
        cdef float best
        cdef int v
        if self.single and a == 0 and w > 1:
            return -INFINITY
        best = self.at_c(a, w - 1)[g]
        if not (self.single and a == 0):
            for v in range(a, w):
                best = most(best, self.at_c(a, v)[g] + self.complex_apart[v * self.width + w])
        return best

    cdef float value(self, int kind, int state, int a, int b, int x) noexcept nogil:
        """Of an item, from where it is kept, or by the rules. Of those kept for the current l only, for layer_l and layer_x."""
        cdef Item item
        if kind == G:
            return self.gap[state][a * self.width + b]
        if kind == X:
            return self.complex_score(a, b, state)
        if kind == Z:
            return tile_value(self.around, Z, state, b, x)
        if kind == M:
            return tile_value(self.middle, M, state, b, x)
        if kind == I and a < b:
            return tile_value(self.left_of(I, b), I, state, x, a)
        if kind == W and a > b:
            return tile_value(self.right_of(W, x), W, state, b, a)
        if x < a < b and (kind == L or kind == N):
            return tile_value(self.left_of(kind, b), kind, state, a, x)
        if b < a and (kind == L or kind == N or kind == O):
            return tile_value(self.right_of(kind, a), kind, state, b, x)
        if kind == L:
            return tile_value(self.far_l, L, state, b, x)
        if kind == O and x > b:
            return tile_value(self.far_o, O, state, b, x)
        item.kind, item.state, item.a, item.b, item.x = kind, state, a, b, x
        return self.best(item).value

    cdef Found best(self, Item item) noexcept nogil:
        """The best instance of the rules as they are written."""
        cdef int rule, i, j, index, extra, low, high, fixed = 2 if item.kind == X else 3
        cdef int nodes[4]
        cdef float value
        cdef const Shape* shape
        cdef Case k
        cdef Found found
        found.value, found.rule = -INFINITY, -1
        nodes[0], nodes[1], nodes[2] = item.a, item.b, item.x
        low, high = smaller(item.a, item.b), larger(item.a, item.b)
        if fixed == 3:
            low, high = smaller(low, item.x), larger(high, item.x)
        for rule in range(RULES):
            shape = &shapes[rule]
            if shape.result != item.kind or self.two_roots(rule, item.a):
                continue
            extra = shape.nodes - fixed  # nodes, between the others
            for i in range(low + 1, high if extra > 0 else low + 2):
                if extra > 0:
                    nodes[fixed] = i
                for j in range(low + 1, high if extra > 1 else low + 2):
                    if extra > 1:
                        nodes[fixed + 1] = j
                    if not in_order(shape, nodes):
                        continue
                    for index in range(shape.size):
                        k = shape.cases[index]
                        if k.result == item.state:
                            value = self.score(rule, nodes, k)
                            if value > found.value:
                                found.value, found.rule, found.k = value, rule, k
                                found.nodes[0], found.nodes[1], found.nodes[2], found.nodes[3] = \
                                    nodes[0], nodes[1], nodes[2], nodes[3]
        return found

    cdef void trace_rules(self, vector[Item]& agenda, Item item, int[::1] heads) noexcept nogil:
        """What needs layer_l and layer_x goes on top of the agenda."""
        cdef int i, j
        cdef Found found
        cdef const Shape* shape
        if item.kind == X:
            self.layer(item.a, item.b)
        elif item.kind == Z or item.kind == B or ((item.kind == L or item.kind == O) and item.a < item.b < item.x):
            self.layer(item.a, item.x)
        found = self.best(item)
        shape = &shapes[found.rule]
        for i in range(shape.parts - 1, -1, -1):
            push_item(agenda, shape.kinds[i], found.k.right if i else found.k.left, found.nodes[shape.part[i][0]],
                      found.nodes[shape.part[i][1]], found.nodes[shape.part[i][2]])
        for i in range(shape.arcs):
            j = found.k.second if i else found.k.first
            heads[found.nodes[shape.arc[i][1 - j]]] = found.nodes[shape.arc[i][j]]

    cdef float score(self, int rule, const int* nodes, Case k) noexcept nogil:
        cdef const Shape* shape = &shapes[rule]
        cdef float value = 0
        cdef int i
        for i in range(shape.parts):
            value += self.value(shape.kinds[i], k.right if i else k.left, nodes[shape.part[i][0]],
                                nodes[shape.part[i][1]], nodes[shape.part[i][2]])
        for i in range(shape.arcs):
            value += self.link(rule, nodes[shape.arc[i][0]], nodes[shape.arc[i][1]], k.second if i else k.first)
        return value


cdef inline float tile_value(Tiles tiles, int kind, int state, int node, int x) noexcept nogil:
    return tiles.origin[((tiles.first[x // LANES] + node) * STATES[kind] + state) * LANES + x % LANES]


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


cdef inline float most(float a, float b) noexcept nogil:
    return a if a > b else b


cdef inline int smaller(int a, int b) noexcept nogil:
    return a if a < b else b


cdef inline int larger(int a, int b) noexcept nogil:
    return a if a > b else b
