// The memory of the chart for sums over 1EC trees, and the views of it that the kernels in recurrences.hpp ask for.
//
// As in the decoder's tables, the values of an item a b x are in tiles: for WIDTH consecutive x, one vector for each state. Blocks of x
// to the left of a and b begin at node 0, those to the right end at node n. Unlike there, an item is stored once, and places of x that
// are no node beyond a and b hold 0, as they take part in sums. Of every value there is also a derivative, of the logarithm of the
// partition function by it, at a constant distance in memory.
#pragma once

#include <algorithm>
#include <vector>

#include "recurrences.hpp"
#include "weights.hpp"

namespace VARIANT::oneec {
namespace sums {

// The distance from a value to its derivative, and the views of values through which kernels read and, in their reverse, add
// derivatives to what there is.
template <class N> struct Views {
    typedef typename N::Value Value;
    typedef typename N::Vector Vector;
    enum { WIDTH = N::WIDTH };

    static INLINE Vector loosely_at(const Value* at) {  // N::at, for any address
        if (N::DUAL) {  // whose vectors are not in memory as they are
            alignas(64) Value lanes[WIDTH];
            __builtin_memcpy(lanes, at, sizeof lanes);
            return N::at(lanes);
        }
        Vector vector;
        __builtin_memcpy(&vector, at, sizeof vector);
        return vector;
    }
    static INLINE void put_loosely(Value* at, const Vector& vector) {
        if (N::DUAL) {
            alignas(64) Value lanes[WIDTH];
            N::put(lanes, vector);
            __builtin_memcpy(at, lanes, sizeof lanes);
        } else
            __builtin_memcpy(at, &vector, sizeof vector);
    }
    static INLINE void add_loosely(Value* at, const Vector& more) { put_loosely(at, loosely_at(at) + more); }
    // How sums are found by the recurrences of Projective
    template <class A> static INLINE A either(const A& a, const A& b) { return a + b; }
    template <class A, class B> static INLINE auto both(const A& a, const B& b) { return a * b; }
    static INLINE Vector with_arc(const Vector& rest, const Vector& grandparents, const Value& arc) { return rest * grandparents * arc; }
    static INLINE Vector at(const Value* values) { return N::at(values); }
    static INLINE void put(Value* to, const Vector& values) { N::put(to, values); }
    static Value nothing() { return Value(); }
    static Value one() { return N::exponential(0); }
    static INLINE Vector spread(Value value) {
        alignas(64) Value lanes[WIDTH];
        std::fill_n(lanes, (int)WIDTH, value);
        return N::at(lanes);
    }

    struct Tile {  // values of a block of x, by state
        Value* at;
        ptrdiff_t derivatives;
        INLINE Vector operator[](int state) const { return N::at(at + state * WIDTH); }
        template <int size> INLINE void add(const Vector (&more)[size]) const {
            for (int i = 0; i < size; i++) {
                Value* to = at + derivatives + i * WIDTH;
                N::put(to, N::at(to) + more[i]);
            }
        }
    };

    struct Rows {  // the same, with each state or direction in a row of its own
        Value* rows[3];
        ptrdiff_t derivatives;
        INLINE Vector operator[](int i) const { return loosely_at(rows[i]); }
        template <int size> INLINE void add(const Vector (&more)[size]) const {
            for (int i = 0; i < size; i++) add_loosely(rows[i] + derivatives, more[i]);
        }
    };

    struct Common {  // values that are the same for all lanes; the lanes of their derivatives are added up later
        const Value* at;
        ptrdiff_t stride;
        Value* lanes;
        INLINE Value operator[](int i) const { return at[i * stride]; }
        template <int size> INLINE void add(const Vector (&more)[size]) const {
            for (int i = 0; i < size; i++) N::put(lanes + i * WIDTH, N::at(lanes + i * WIDTH) + more[i]);
        }
    };

    struct Single {  // values for a kernel without lanes
        const Value* at;
        ptrdiff_t stride;
        Value* derivatives;
        INLINE Value operator[](int i) const { return at[i * stride]; }
        template <int size> INLINE void add(const Value (&more)[size]) const {
            for (int i = 0; i < size; i++) derivatives[i * stride] += more[i];
        }
    };
};

// Tiles of the items of one kind in regions of two nodes, first and second; contiguous over the second.
template <class N, int kind> struct Tiles {
    typedef typename N::Value Value;
    Value* origin;
    const ptrdiff_t* first;  // for each first node and block: where the tile of node 0 as the second is or would be, in tiles
    int blocks;

    INLINE Value* tile(int node, int block, int second) const {
        return origin + (first[node * blocks + block] + second) * (STATES[kind] * N::WIDTH);
    }
};

// Those of several kinds.
template <class N, int... kinds> struct Group : Tiles<N, kinds>... {
    template <int kind> INLINE typename N::Value* tile(int node, int block, int second) const {
        return Tiles<N, kind>::tile(node, block, second);
    }
};

using marginals::Counts, marginals::Scores;  // whose tensors are those of Part, as in oneec.marginals

// What each word contributes to the score of a tree: in all, and by these parts if they are visible.
struct TreeScores {
    std::vector<double> words, siblings, grandparents;

    void clear(int n) {
        for (auto* each : {&words, &siblings, &grandparents}) each->assign(n + 1, 0);
    }
};

// The weights of arcs and parts, which are the exponentials of scores, divided such that those of one tree are all 1: if it is the best
// one, the partition function is between 1 and the number of trees. Each word has one arc, crossed or not, in every tree.
//
// The derivatives of their logarithms in a direction of the scores are those of the scores: what they are divided by is constant.
class Scaling {
    typedef marginals::Logarithm Logarithm;
    const Scores scores, direction;
    TreeScores tree;  // or 0: then the weights are those of the scores

    static double less(double score, double in_tree) { return score == -INFINITY ? score : score - in_tree; }
    size_t cell(int x, int m) const { return (size_t)x * (scores.n + 1) + m; }
    double score(Part part, int x, int m) const { return scores.tensors[part][cell(x, m)]; }
    Logarithm logarithm(Part part, int x, int m, double in_tree) const {
        const double* change = direction.tensors[part];
        return {less(score(part, x, m), in_tree), change ? change[cell(x, m)] : 0};
    }

  public:
    double total = 0;  // the score of the tree
    double slack = 0;  // a product of weights of a tree, all but some of one word being either complete or missing, is at most e^slack
    bool precise;      // no weight that matters is wrong by more than 1e-8 of it

    Scaling(const Scores& of, const Scores& change, const TreeScores& good_tree, bool scaled, signals::Watch& watch)
        : scores(of), direction(change) {
        const int n = scores.n;
        double size = 0, incomplete = 0;
        if (scaled)
            tree = good_tree;
        else
            tree.clear(n);
        for (int m = 1; scaled && m <= n; m++) {
            watch.pass(20 * n);
            double arc = -INFINITY, crossed = -INFINITY, sibling = 0, grandparent = 0;
            for (int x = 0; x <= n + 1; x++) {
                sibling = std::max(sibling, score(SIBLING, x, m));
                grandparent = std::max(grandparent, score(GRANDPARENT, x, m));
                if (x == m || x > n) continue;
                arc = std::max(arc, score(ARC, x, m));
                crossed = std::max(crossed, score(CROSSED_ARC, x, m));
            }
            slack += std::max(arc + sibling + grandparent, crossed) - tree.words[m];
            incomplete = std::max(incomplete, fabs(tree.siblings[m]) + fabs(tree.grandparents[m]));
            size += fabs(tree.words[m]) + fabs(tree.siblings[m]) + fabs(tree.grandparents[m]);
            total += tree.words[m];
        }
        slack += incomplete;
        precise = size * 1.2e-16 < 1e-8;
    }

    Logarithm arc(int h, int m) const {
        return logarithm(ARC, h, m, tree.words[m] - tree.siblings[m] - tree.grandparents[m]);
    }
    Logarithm crossed_arc(int h, int m) const { return logarithm(CROSSED_ARC, h, m, tree.words[m]); }
    Logarithm sibling(int s, int m) const { return logarithm(SIBLING, s, m, tree.siblings[m]); }
    Logarithm grandparent(int g, int m) const { return logarithm(GRANDPARENT, g, m, tree.grandparents[m]); }
    double hidden_sibling(int m) const { return -tree.siblings[m]; }
    double hidden_grandparent(int m) const { return -tree.grandparents[m]; }
};

// All items of a sentence, where l counts down from n and, for each l, r counts up from l+1. Items of the left have regions l r
// with x < l, those of the right have x > r; in tiles over r and over l. In Layer are those that only items with the same l need:
// they are computed again in the reverse.
template <class N> struct Tables : Views<N>, Layout<typename N::Value, N::WIDTH> {
    typedef Views<N> Of;
    using typename Of::Value, typename Of::Vector, typename Of::Rows, typename Of::Common, typename Of::Single;
    enum { WIDTH = N::WIDTH };
    typedef Layout<Value, WIDTH> Base;
    using Base::n, Base::side, Base::blocks, Base::width, Base::shift, Base::rows, Base::hidden;
    using Base::may_have_two, Base::blocks_before, Base::block_of, Base::at_c, Base::memory, Base::watch, Base::take;

    struct Links {  // crossed arcs of node v with all x
        Value *to, *from;  // [v, x]: x->v and v->x
        Value* lanes;      // of derivatives of `between`
        int side, width;
        ptrdiff_t derivatives;

        INLINE Rows from_lanes(int x, int v) const {  // arcs x-v, for the block that begins at x
            return Rows{{to + v * width + x, from + v * width + x, nullptr}, derivatives};
        }
        INLINE Rows to_lanes(int v, int x) const {  // arcs v-x
            return Rows{{from + v * width + x, to + v * width + x, nullptr}, derivatives};
        }
        INLINE Common between(int a, int b) const {
            return Common{from + a * width + b, to - from, lanes + (a * side + b) * 2 * WIDTH};
        }
        Value expected(int h, int m) const {
            const Value *by_row = from + derivatives + h * width + m, *by_column = to + derivatives + m * width + h;
            const Value by_first = N::sum(N::at(lanes + (h * side + m) * 2 * WIDTH));
            const Value by_second = N::sum(N::at(lanes + ((m * side + h) * 2 + 1) * WIDTH));
            return from[h * width + m] * (*by_row + *by_column + (by_first + by_second));
        }
    };

    ptrdiff_t derivatives;

    struct Side : Group<N, OPEN, CLOSED, NEITHER_OPEN, NEITHER, ARM, HALF_PIVOT, HOOKED, SEVERAL, SEVERAL_CLOSED> {  // where x is
        int shift;                   // by how much its first block begins before node 0
        Value *pivot, *pivot_lanes;  // pivot a b v of the current l and r: [v] by state; lanes of derivatives
    } left, right;                   // the last three kinds only on the right
    // Of l, over r, the first node being given as 0; wing l b a is over b, in blocks of a
    struct Layer : Group<N, OPEN, CLOSED, SEVERAL, SEVERAL_CLOSED, TIED, TIED_SEVERAL, BOUND, BOUND_OPEN, BOUND_SEVERAL, BOTH, SPANNED, WING> {
        Value *begin, *end;
    } layer;

    Links crossed, longest;         // crossed arcs; the latter including those of 0 even with a single root
    Value* gaps;                    // [a, b, state]
    Value* gap_lanes;               // the same, lanes of derivatives
    Value* gap_rows[STATES[GAP]];   // [a, b] by state
    Value* complexes[STATES[COMPLEX]];               // [l, r] by state
    Value *complex_apart, *complex_above;            // [a, b], either order; [a, b]: a above b
    Value *crossed_half, *crossed_pair;              // [h, end]
    Value* pairs;                                    // rows over g
    Value *arc, *sibling, *hidden_sibling;           // [h, m]; [m, s]; [m]
    Value* grandparent;                              // rows over g, [m]
    Value *hinge, *hinge_lanes, *neither_lanes;      // for half pivots: [t]
    Value* coefs;                                    // scratch

    INLINE Common gap(int a, int b) const {
        const int at = (a * side + b) * STATES[GAP];
        return Common{gaps + at, 1, gap_lanes + at * WIDTH};
    }
    INLINE Single single_gap(int a, int b) const {
        Value* at = gaps + (a * side + b) * STATES[GAP];
        return Single{at, 1, at + derivatives};
    }
    INLINE Rows gap_from(int a, int x) const {  // gap a x, for the block that begins at x
        return Rows{{gap_rows[0] + a * width + x, gap_rows[1] + a * width + x, gap_rows[2] + a * width + x}, derivatives};
    }

    INLINE Value* at_pairs(int a, int b) const { return pairs + ((size_t)b * (b - 1) / 2 + a) * rows; }

    // What Projective asks for, besides tables
    Value hidden_sibling_of(int m) const { return hidden_sibling[m]; }
    auto pairs_of(int a) const { return [this, a](int w) { return at_pairs(a, w); }; }
    // The nodes from a to b have no g in between; nor is there any beyond `hidden`.
    void only_outside(Value* out, int a, int b) const {
        std::fill(out + minimum(a, b), out + maximum(a, b) + 1, Value());
        std::fill(out + hidden + 1, out + rows, Value());
    }
    void keep_gap(int a, int b, int state, Value value) {
        gap_rows[state][a * width + b] = gap_rows[SWAPPED[state]][b * width + a] = value;
        gaps[(a * side + b) * STATES[GAP] + state] = gaps[(b * side + a) * STATES[GAP] + SWAPPED[state]] = value;
    }

    void prepare(const Scores& scores, const Scaling& scaling) {
        this->measure(scores.n, scores.single_root);
        find_places();
        memory.start();
        arrange();
        memory.allocate();
        Value* const first = take(0);
        arrange();
        marginals::clear(first, take(0), watch);
        marginals::forget_losses();
        tabulate(scaling);
    }

  private:
    std::vector<ptrdiff_t> first_left, first_right, first_layer;  // see Tiles
    ptrdiff_t lefts, rights;                                      // the number of tiles

    void find_places() {
        first_left.assign(side * blocks, 0);
        first_right.assign(side * blocks, 0);
        first_layer.resize(blocks);
        lefts = rights = 0;
        for (int node = 0; node < side; node++)
            for (int block = 0; block < blocks; block++) {
                first_layer[block] = (ptrdiff_t)block * side;
                if (block < blocks_before(node)) {
                    first_left[node * blocks + block] = lefts - (node + 1);
                    lefts += n - node;
                }
                if (node < n && block >= block_of(node + 1)) {
                    first_right[node * blocks + block] = rights;
                    rights += node;
                }
            }
    }

    Value* take_rows(size_t size) {  // for blocks that begin before the first number, or end behind the last
        Value* const before = take(size + 2 * WIDTH);
        return before ? before + WIDTH : nullptr;
    }
    template <int... kinds, class Of> void take_tiles(Of& of, size_t count, const std::vector<ptrdiff_t>& first) {
        ((static_cast<Tiles<N, kinds>&>(of) = {take(count * STATES[kinds] * WIDTH), first.data(), blocks}), ...);
    }

    // Assign all tables their place in memory: values, derivatives, and then what has none.
    void arrange() {
        const size_t square = (size_t)side * width, cells = (size_t)side * side, cube = cells * rows;
        take_tiles<OPEN, CLOSED, NEITHER_OPEN, NEITHER, ARM, HALF_PIVOT>(left, lefts, first_left);
        take_tiles<OPEN, CLOSED, NEITHER_OPEN, NEITHER, ARM, HALF_PIVOT, HOOKED, SEVERAL, SEVERAL_CLOSED>(right, rights, first_right);
        left.shift = 0;
        right.shift = shift;
        layer.begin = take(0);
        take_tiles<OPEN, CLOSED, SEVERAL, SEVERAL_CLOSED, TIED, TIED_SEVERAL, BOUND, BOUND_OPEN, BOUND_SEVERAL, BOTH, SPANNED, WING>(
            layer, (size_t)side * blocks, first_layer);
        layer.end = take(0);
        for (Links* links : {&crossed, &longest}) {
            links->to = take_rows(square);
            links->from = take_rows(square);
        }
        gaps = take(cells * STATES[GAP]);
        for (Value*& row : gap_rows) row = take_rows(square);
        for (Value*& row : complexes) row = take_rows(square);
        for (Value** table : {&complex_apart, &complex_above, &crossed_half, &crossed_pair}) *table = take(square);
        this->e = take(cube);
        this->c = take(cube);
        this->s = take(cube / 2);
        pairs = take(cube / 2);
        for (Side* of : {&left, &right}) of->pivot = take(STATES[PIVOT] * side);
        hinge = take(STATES[HINGE] * side);
        derivatives = memory.bytes() / sizeof(Value);
        take(derivatives);
        for (Links* links : {&crossed, &longest}) {
            links->lanes = take(cells * 2 * WIDTH);
            links->side = side;
            links->width = width;
            links->derivatives = derivatives;
        }
        gap_lanes = take(cells * STATES[GAP] * WIDTH);
        for (Side* of : {&left, &right}) of->pivot_lanes = take(STATES[PIVOT] * WIDTH * side);
        hinge_lanes = take(STATES[HINGE] * WIDTH * side);
        neither_lanes = take(STATES[NEITHER] * WIDTH * side);
        coefs = take(width);
        arc = take(cells);
        sibling = take(cells + side);
        hidden_sibling = take(side);
        grandparent = take((size_t)side * rows);
    }

    void tabulate(const Scaling& scaling) {
        for (int m = 1; m <= n; m++) {
            watch.pass(200 * n);
            for (int h = 0; h <= n; h++) {
                if (h == m) continue;
                arc[h * side + m] = N::exponential(scaling.arc(h, m));
                const Value weight = N::exponential(scaling.crossed_arc(h, m));
                longest.from[h * width + m] = longest.to[m * width + h] = weight;
                if (may_have_two(h)) crossed.from[h * width + m] = crossed.to[m * width + h] = weight;
            }
            for (int x = 0; x <= n + 1; x++) {
                sibling[m * (side + 1) + x] = N::exponential(scaling.sibling(x, m));
                grandparent[m * rows + x] = N::exponential(scaling.grandparent(x, m));
            }
            hidden_sibling[m] = N::exponential(scaling.hidden_sibling(m));
            grandparent[m * rows + hidden] = N::exponential(scaling.hidden_grandparent(m));
        }
        for (int node = 0; node < side; node++) std::fill_n(at_c(node, node), rows, N::exponential(0));
    }
};

}  // namespace sums
}  // namespace VARIANT::oneec
