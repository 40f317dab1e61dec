// The memory of the chart.

#pragma once

#include <algorithm>
#include <vector>

#include "recurrences.hpp"
#include "interface.hpp"

namespace VARIANT::oneec {

// Tiles of items of one kind that share a node, for each block of x, over another node
template <int kind> struct Tiles {
    float* origin;
    const ptrdiff_t* first;  // for each block: where the tile of node 0 is or would be, in tiles
    int shift;               // by how much the first block begins before node 0

    INLINE float* tile(int block, int node) const { return origin + (first[block] + node) * (STATES[kind] * LANES); }
    float value(int state, int node, int x) const {
        return tile((x + shift) / LANES, node)[state * LANES + (x + shift) % LANES];
    }
};

// Crossed arcs of node v with all x
struct Links {
    float *to, *from;  // [v, x]: x->v and v->x
    int width;

    INLINE Rows from_lanes(int x, int v) const {  // arcs x-v, for the block that begins at x
        return Rows{to + v * width + x, from + v * width + x, nullptr};
    }
    INLINE Rows to_lanes(int v, int x) const {  // arcs v-x
        return Rows{from + v * width + x, to + v * width + x, nullptr};
    }
    INLINE Arcs between(int a, int b) const { return Arcs{{from[a * width + b], to[a * width + b]}}; }
};

enum { NEAR_STATES = STATES[NEITHER] + STATES[CLOSED] };  // of neither t b v and closed t b v, side by side

// Items that only items with the same l need
struct Layer {
    Tiles<CLOSED> closed_far, closed_left;  // l b x and x < l < b: tiles over b
    Tiles<OPEN> open_far;                   // l b x
    Tiles<SPANNED> spanned;                 // l b x
    Tiles<NEITHER> neither_left;            // l b x, x < l
    Tiles<ARM> arm_left;                    // x b l, x < l
    Tiles<WING> wing;                       // l b a: tiles over b, in blocks of a
    float* near_right;                      // [v, t]: neither t l v, closed t l v for l < t < v
    float* half_pivot_right;                // [a, v]: half_pivot a l v for l < v < a
    float* complexes[STATES[COMPLEX]];      // complex l x, only those that end in a gap: [x] by state
    float* pairs;                           // see Projective
};

// All items of a sentence that later ones need, where l counts down from n and, for each l, r counts up from l+1. Stored for
// all l are, with the order of indices,
//
//     left    x < a < b: closed a b x                              [b, block of x, a, state, x]
//                        neither a b x and closed a b x again      [b, x, a, state]
//                        half_pivot x b a                          [b, x, a, state]
//     right   b < a < x: closed, open, neither a b x, arm x b a    [a, block of x, b, state, x]
//
// and those in Layer only for the current l and the others in its group, see Complexes. Rows over g are in the projective part. An item
// is stored once for each way in which it is read: closed a b x with x < a < b, for example, in Layer::closed_left for other items with
// the same l (kernel near), in closed_left(b) for complexes made of wings, and in near_left, for one x, for half_pivots.
//
// For a single root, an arc from 0 is allowed only if it is the last one of 0: as the longest arc of a complex that begins with
// 0, or to the last dependent of 0 in the projective part.
struct Tables : MaxPlus, Layout<float, LANES> {
    int group;                   // the number of l that take turns
    float *arc, *sibling;        // [h, m]; [m, s]
    Links crossed, longest;      // crossed arcs; the latter including those of 0 even with a single root
    float* gap_rows[STATES[GAP]];  // [a, b] by state
    float *complex_apart, *complex_above;  // [a, b], either order; [a, b]: a above b
    float *crossed_half, *crossed_pair;    // see Projective
    float* grandparent;                    // rows over g, [m]
    float *coefs;                          // scratch
    float *hinges;                         // hinge t b v of the current b and v: [t] by state
    float *pivot_left, *pivot_right;       // pivot l r v and r l v of the current l and r: [v] by state

    Links& links(bool longest_arc) { return longest_arc ? longest : crossed; }

    Layer& layer(int l) { return layers[l % group]; }

    Tiles<CLOSED> closed_left(int b) const { return {closed_left_of, &first_left[b * blocks], 0}; }
    Tiles<CLOSED> closed_right(int a) const { return {closed_right_of, &first_right[a * blocks], shift}; }
    Tiles<OPEN> open_right(int a) const { return {open_right_of, &first_right[a * blocks], shift}; }
    Tiles<NEITHER> neither_right(int a) const { return {neither_right_of, &first_right[a * blocks], shift}; }
    Tiles<ARM> arm_right(int a) const { return {arm_right_of, &first_right[a * blocks], shift}; }

    // neither t b v, closed t b v for v < t < b
    INLINE float* near_left(int v, int t, int b) const {
        return near_left_of + inside(v, t, b) * NEAR_STATES;
    }
    INLINE float* near_right(const Layer& layer, int t, int v) const {
        return layer.near_right + (v * side + t) * NEAR_STATES;
    }
    // half_pivot a b v for a < v < b
    INLINE float* half_pivot_left(int a, int b, int v) const {
        return half_pivot_left_of + inside(a, v, b) * STATES[HALF_PIVOT];
    }
    INLINE float* half_pivot_right(const Layer& layer, int a, int v) const {
        return layer.half_pivot_right + (a * side + v) * STATES[HALF_PIVOT];
    }

    INLINE Gaps gaps_from(int a) const {  // gap a t, over t
        return Gaps{{gap_rows[0] + a * width, gap_rows[1] + a * width, gap_rows[2] + a * width}};
    }
    INLINE Gaps gaps_to(int b) const {  // gap t b, over t
        return Gaps{{gap_rows[SWAPPED[0]] + b * width, gap_rows[SWAPPED[1]] + b * width, gap_rows[SWAPPED[2]] + b * width}};
    }

    INLINE Rows gap_lanes(int a, int x) const {  // gap a x, for the block that begins at x
        return Rows{gap_rows[0] + a * width + x, gap_rows[1] + a * width + x, gap_rows[2] + a * width + x};
    }

    // What Projective asks for, besides tables
    static float hidden_sibling_of(int) { return 0; }
    static void only_outside(float*, int, int) {}  // nothing reads g between a and b
    auto pairs_of(int a) { return [table = layer(a).pairs, stride = (size_t)rows](int w) { return table + w * stride; }; }
    void keep_gap(int a, int b, int state, float value) {
        gap_rows[state][a * width + b] = gap_rows[SWAPPED[state]][b * width + a] = value;
    }

    float& complex_score(int l, int r, int state) const {
        if (state == APART) return complex_apart[l * width + r];
        return complex_above[state == FIRST_ABOVE ? l * width + r : r * width + l];
    }

    // Lay out the scores of a sentence, rounded. scores and cost: as for BestTree.
    void prepare(int words, const double* const* scores, const double* cost, bool single_root) {
        measure(words, single_root);
        group = n < 32 ? 2 : 4;  // from 1 on, any is correct; these were the fastest of those measured
        layers.resize(group);
        find_places();
        memory.start();
        arrange();
        memory.allocate();
        arrange();
        size_t square = (size_t)side * width;
        std::fill_n(longest.to, square, NEVER);
        std::fill_n(longest.from, square, NEVER);
        for (int x = 0; x <= side; x++)
            for (int m = 0; m < side; m++) {
                const size_t cell = (size_t)x * side + m;
                grandparent[m * rows + x] = (float)scores[GRANDPARENT][cell];
                sibling[m * (side + 1) + x] = (float)scores[SIBLING][cell];
                if (x == side) continue;
                const double more = cost ? cost[cell] : 0;
                arc[cell] = (float)(scores[ARC][cell] + more);
                if (m > 0 && x != m)
                    longest.from[x * width + m] = longest.to[m * width + x] = (float)(scores[CROSSED_ARC][cell] + more);
            }
        std::copy_n(longest.to, square, crossed.to);
        std::copy_n(longest.from, square, crossed.from);
        if (single)
            for (int j = 0; j < side; j++) crossed.from[j] = crossed.to[j * width] = NEVER;
        for (float* table : gap_rows) std::fill_n(table, square, NEVER);
        for (Layer& each : layers) std::fill_n(each.wing.origin, square * STATES[WING], NEVER);
        for (int i = 0; i < side; i++) {
            std::fill_n(grandparent + i * rows + side + 1, rows - side - 1, 0.0f);
            std::fill_n(at_c(i, i), rows, 0.0f);
            crossed_half[i * width + i] = crossed_pair[i * width + i] = NEVER;
        }
    }

  private:
    std::vector<Layer> layers;
    std::vector<ptrdiff_t> first_left, first_right, first_layer;  // see Tiles: for each node, by block
    ptrdiff_t lefts, rights;                                      // the number of tiles
    float *closed_left_of, *closed_right_of, *open_right_of, *neither_right_of, *arm_right_of;
    float *near_left_of, *half_pivot_left_of;

    // The place of the item of v, a node between a and b.
    INLINE ptrdiff_t inside(ptrdiff_t a, ptrdiff_t v, ptrdiff_t b) const {
        return b * (b - 1) * (b - 2) / 6 + a * (2 * b - a - 1) / 2 + v - (a + 1);
    }

    void find_places() {
        lefts = rights = 0;
        first_left.assign(side * blocks, 0);
        first_right.assign(side * blocks, 0);
        first_layer.resize(blocks);
        for (int j = 0; j < blocks; j++) {
            first_layer[j] = j * side;
            for (int i = 0; i < side; i++) {
                if (j * LANES + 1 < i) {  // a from j * LANES + 1 to b - 1, for b = i
                    first_left[i * blocks + j] = lefts - (j * LANES + 1);
                    lefts += i - (j * LANES + 1);
                }
                if (block_of(i + 1) <= j && i < n) {  // b from 0 to a - 1, for a = i
                    first_right[i * blocks + j] = rights;
                    rights += i;
                }
            }
        }
    }

    // Assign all tables their place in memory.
    void arrange() {
        const size_t square = (size_t)side * width, cube = (size_t)side * side * rows, insides = (size_t)inside(0, 1, side);
        closed_left_of = take_tiles(lefts, CLOSED);
        closed_right_of = take_tiles(rights, CLOSED);
        open_right_of = take_tiles(rights, OPEN);
        neither_right_of = take_tiles(rights, NEITHER);
        arm_right_of = take_tiles(rights, ARM);
        near_left_of = take(insides * NEAR_STATES);
        half_pivot_left_of = take(insides * STATES[HALF_PIVOT]);
        for (Layer& each : layers) {
            take_layer(shift, each.closed_far, each.open_far, each.spanned);
            take_layer(0, each.closed_left, each.neither_left, each.arm_left, each.wing);
            each.near_right = take((size_t)side * side * NEAR_STATES);
            each.half_pivot_right = take((size_t)side * side * STATES[HALF_PIVOT]);
            for (float*& row : each.complexes) row = take_row(width);
            each.pairs = take((size_t)side * rows);
        }
        for (float*& table : gap_rows) table = take(square);
        for (float** table : {&complex_apart, &complex_above, &crossed_half, &crossed_pair}) *table = take(square);
        for (Links* links : {&crossed, &longest}) *links = Links{take(square), take(square), width};
        e = take(cube);
        c = take(cube);
        s = take(cube / 2);
        arc = take((size_t)side * side);
        sibling = take((size_t)side * (side + 1));
        grandparent = take((size_t)side * rows);
        coefs = take(width);
        hinges = take(STATES[HINGE] * width);
        pivot_left = take(STATES[PIVOT] * width);
        pivot_right = take(STATES[PIVOT] * width);
    }

    float* take_row(size_t size) {  // for blocks that begin before the first number
        float* const before = take(LANES + size);
        return before ? before + LANES : nullptr;
    }
    float* take_tiles(size_t tiles, int kind) { return take(tiles * STATES[kind] * LANES); }
    template <int... kinds> void take_layer(int shift, Tiles<kinds>&... tiles) {
        ((tiles = Tiles<kinds>{take_tiles((size_t)side * blocks, kinds), first_layer.data(), shift}), ...);
    }
};

}  // namespace VARIANT::oneec
