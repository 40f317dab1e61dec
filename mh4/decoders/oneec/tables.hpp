// The memory of the chart, and which nodes may have two dependents (with a single root, not node 0).

#pragma once

#include <algorithm>
#include <vector>

#include "chart_memory.hpp"
#include "recurrences.hpp"

namespace oneec {

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
struct Tables {
    int n, side, blocks, width, rows;
    int shift;         // by how much blocks of x to the right begin before node 0
    int group;         // the number of l that take turns
    int none, hidden;  // special values of g
    bool single;       // whether node 0 is to have one dependent
    const float *arc, *sibling;  // [h, m]; [m, s]
    Links crossed, longest;      // crossed arcs; the latter including those of 0 even with a single root
    float* gap[STATES[GAP]];     // [a, b] by state
    float *complex_apart, *complex_above;  // [a, b], either order; [a, b]: a above b
    float *crossed_half, *crossed_pair;    // see Projective
    float *e, *c, *s, *grandparent;        // rows over g; the latter [m, g]
    float *coefs, *sums;                   // scratch
    float *pivot_left, *pivot_right;       // pivot l r v and r l v of the current l and r: [v] by state

    Links& links(bool longest_arc) { return longest_arc ? longest : crossed; }

    // Whether the node may have more than one arc to a dependent.
    INLINE bool may_have_two(int node) const { return !(single && node == 0); }

    INLINE int blocks_before(int a) const { return (a + LANES - 1) / LANES; }  // with nodes to the left of a
    INLINE int block_of(int x) const { return (x + shift) / LANES; }            // of a node to the right
    INLINE int right_node(int block) const { return block * LANES - shift; }    // the first in a block to the right

    Layer& layer(int l) { return layers[l % group]; }

    Tiles<CLOSED> closed_left(int b) const { return {closed_left_of, &first_left[b * blocks], 0}; }
    Tiles<CLOSED> closed_right(int a) const { return {closed_right_of, &first_right[a * blocks], shift}; }
    Tiles<OPEN> open_right(int a) const { return {open_right_of, &first_right[a * blocks], shift}; }
    Tiles<NEITHER> neither_right(int a) const { return {neither_right_of, &first_right[a * blocks], shift}; }
    Tiles<ARM> arm_right(int a) const { return {arm_right_of, &first_right[a * blocks], shift}; }

    // neither t b v, closed t b v for v < t < b
    INLINE float* near_left(int v, int t, int b) const {
        return near_left_of + (first_inside[b * side + v] + t) * NEAR_STATES;
    }
    INLINE float* near_right(const Layer& layer, int t, int v) const {
        return layer.near_right + (v * side + t) * NEAR_STATES;
    }
    // half_pivot a b v for a < v < b
    INLINE float* half_pivot_left(int a, int b, int v) const {
        return half_pivot_left_of + (first_inside[b * side + a] + v) * STATES[HALF_PIVOT];
    }
    INLINE float* half_pivot_right(const Layer& layer, int a, int v) const {
        return layer.half_pivot_right + (a * side + v) * STATES[HALF_PIVOT];
    }

    INLINE Gaps gaps_from(int a) const {  // gap a t, over t
        return Gaps{{gap[0] + a * width, gap[1] + a * width, gap[2] + a * width}};
    }
    INLINE Gaps gaps_to(int b) const {  // gap t b, over t
        return Gaps{{gap[SWAPPED[0]] + b * width, gap[SWAPPED[1]] + b * width, gap[SWAPPED[2]] + b * width}};
    }

    INLINE Rows gap_lanes(int a, int x) const {  // gap a x, for the block that begins at x
        return Rows{gap[0] + a * width + x, gap[1] + a * width + x, gap[2] + a * width + x};
    }

    float& complex_score(int l, int r, int state) const {
        if (state == APART) return complex_apart[l * width + r];
        return complex_above[state == FIRST_ABOVE ? l * width + r : r * width + l];
    }

    INLINE float* at_e(int h, int m) const { return e + ((size_t)h * side + m) * rows; }
    INLINE float* at_c(int h, int end) const { return c + ((size_t)h * side + end) * rows; }
    INLINE float* at_s(int a, int b) const {
        size_t low = minimum(a, b), high = maximum(a, b);
        return s + (high * (high - 1) / 2 + low) * rows;
    }

    // arc, crossed_arc: [h, m]; grandparents: [m, g]; siblings: [m, s]
    void prepare(int words, const float* arcs, const float* crossed_arcs, const float* grandparents, const float* siblings,
                 bool single_root) {
        n = words;
        side = n + 1;
        arc = arcs;
        sibling = siblings;
        single = single_root;
        blocks = (side + LANES - 1) / LANES;
        width = blocks * LANES;
        shift = width - side;
        group = n < 32 ? 2 : 4;  // from 1 on, any is correct; these were the fastest of those measured
        layers.resize(group);
        none = side;
        hidden = side + 1;
        rows = (side + 2 + LANES - 1) / LANES * LANES;
        memory.start();
        arrange(true);
        memory.allocate();
        arrange(false);
        size_t square = (size_t)side * width;
        std::fill_n(longest.to, square, NEVER);
        std::fill_n(longest.from, square, NEVER);
        for (int i = 0; i < side; i++)
            for (int j = 1; j < side; j++)
                if (i != j) longest.from[i * width + j] = longest.to[j * width + i] = crossed_arcs[i * side + j];
        std::copy_n(longest.to, square, crossed.to);
        std::copy_n(longest.from, square, crossed.from);
        if (single)
            for (int j = 0; j < side; j++) crossed.from[j] = crossed.to[j * width] = NEVER;
        for (float* table : gap) std::fill_n(table, square, NEVER);
        for (Layer& each : layers) std::fill_n(each.wing.origin, square * STATES[WING], NEVER);
        for (int i = 0; i < side; i++) {
            std::copy_n(grandparents + i * (side + 1), side + 1, grandparent + i * rows);
            std::fill_n(grandparent + i * rows + side + 1, rows - side - 1, 0.0f);
            std::fill_n(at_c(i, i), rows, 0.0f);
            crossed_half[i * width + i] = crossed_pair[i * width + i] = NEVER;
        }
    }

    size_t bytes_needed() const { return memory.bytes(); }
    void release(size_t kept) { memory.release(kept); }

  protected:
    signals::Watch watch;

  private:
    std::vector<Layer> layers;
    Memory<float> memory;
    std::vector<ptrdiff_t> first_left, first_right, first_layer;  // see Tiles: for each node, by block
    std::vector<ptrdiff_t> first_inside;                          // the same for items of a < b and a node in between
    float *closed_left_of, *closed_right_of, *open_right_of, *neither_right_of, *arm_right_of;
    float *near_left_of, *half_pivot_left_of;

    // Assign all tables their place in memory, unless it is only to be counted.
    void arrange(bool only_count) {
        size_t square = (size_t)side * width, cube = (size_t)side * side * rows;
        ptrdiff_t lefts = 0, rights = 0, insides = 0;
        if (!only_count) {
            first_left.assign(side * blocks, 0);
            first_right.assign(side * blocks, 0);
            first_inside.assign(side * side, 0);
            first_layer.resize(blocks);
        }
        for (int j = 0; j < blocks; j++) {
            if (!only_count) first_layer[j] = j * side;
            for (int i = 0; i < side; i++) {
                if (j * LANES + 1 < i) {  // a from j * LANES + 1 to b - 1, for b = i
                    if (!only_count) first_left[i * blocks + j] = lefts - (j * LANES + 1);
                    lefts += i - (j * LANES + 1);
                }
                if (block_of(i + 1) <= j && i < n) {  // b from 0 to a - 1, for a = i
                    if (!only_count) first_right[i * blocks + j] = rights;
                    rights += i;
                }
            }
        }
        for (int b = 0; b < side; b++)
            for (int a = 0; a < b; a++) {
                if (!only_count) first_inside[b * side + a] = insides - (a + 1);
                insides += b - (a + 1);
            }
        closed_left_of = take_tiles(lefts, CLOSED);
        closed_right_of = take_tiles(rights, CLOSED);
        open_right_of = take_tiles(rights, OPEN);
        neither_right_of = take_tiles(rights, NEITHER);
        arm_right_of = take_tiles(rights, ARM);
        near_left_of = take(insides * NEAR_STATES);
        half_pivot_left_of = take(insides * STATES[HALF_PIVOT]);
        for (Layer& each : layers) {
            take_layer(each.closed_far, shift);
            take_layer(each.closed_left, 0);
            take_layer(each.open_far, shift);
            take_layer(each.spanned, shift);
            take_layer(each.neither_left, 0);
            take_layer(each.arm_left, 0);
            take_layer(each.wing, 0);
            each.near_right = take((size_t)side * side * NEAR_STATES);
            each.half_pivot_right = take((size_t)side * side * STATES[HALF_PIVOT]);
            for (float*& row : each.complexes) row = take_row(width);
            each.pairs = take((size_t)side * rows);
        }
        for (float*& table : gap) table = take(square);
        for (float** table : {&complex_apart, &complex_above, &crossed_half, &crossed_pair}) *table = take(square);
        for (Links* links : {&crossed, &longest}) *links = Links{take(square), take(square), width};
        e = take(cube);
        c = take(cube);
        s = take(cube / 2);
        grandparent = take((size_t)side * rows);
        coefs = take(width);
        sums = take((size_t)SUMS_GAP_CLOSED * width);
        pivot_left = take(STATES[PIVOT] * width);
        pivot_right = take(STATES[PIVOT] * width);
    }

    float* take(size_t size) { return memory.take(size); }
    float* take_row(size_t size) {  // for blocks that begin before the first number
        float* const before = take(LANES + size);
        return before ? before + LANES : nullptr;
    }
    float* take_tiles(size_t tiles, int kind) { return take(tiles * STATES[kind] * LANES); }
    template <int kind> void take_layer(Tiles<kind>& tiles, int shift) {
        tiles = Tiles<kind>{take_tiles((size_t)side * blocks, kind), first_layer.data(), shift};
    }
};

}  // namespace oneec
