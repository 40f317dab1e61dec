// The memory of the chart for the best tree, and what kernels read and store there.

#pragma once

#include <algorithm>
#include <type_traits>

#include "interface.hpp"
#include "layout.hpp"

namespace VARIANT::oneec {

enum { NEAR_STATES = STATES[NEITHER] + STATES[CLOSED] };  // of neither t b v and closed t b v, side by side

// All items of a sentence that later ones need, where l counts down from n and, for each l, r counts up from l+1. Stored for
// all l are, with the order of indices,
//
//     left    x < a < b: closed a b x                              [b, block of x, a, state, x]
//                        neither a b x and closed a b x again      [b, x, a, state]
//                        half_pivot x b a                          [b, x, a, state]
//     right   b < a < x: closed, open, neither a b x, arm x b a    [a, block of x, b, state, x]
//
// and those in Layer only for the current l and the others in its group, see Chart::fill. Rows over g are in the projective part. An item
// is stored once for each way in which it is read: closed a b x with x < a < b, for example, in Left for other items with
// the same l (kernel near), in Ends for complexes made of wings, and for one x, by state, for half_pivots.
//
// For a single root, an arc from 0 is allowed only if it is the last one of 0: as the longest arc of a complex that begins with
// 0, or to the last dependent of 0 in the projective part.
struct Tables : Layout<MaxPlus> {
    typedef MaxKernels Kernels;

    // Items of regions a b for x on the side of a
    struct Left : Group<CLOSED, NEITHER, ARM> {  // only for a = l
        float* pivot;                            // pivot a b v of the current l and r: [v] by state
    };
    struct Right : Group<CLOSED, OPEN, NEITHER, ARM> {
        float* pivot;
    } right;
    struct Ends : Group<CLOSED> {} closed_left;

    // Items that only items with the same l need
    struct Layer : Group<CLOSED, OPEN, SPANNED, WING> {  // l b x, and wing l b a in blocks of a
        Left left;
        float* near_right;                  // [v, t]: neither t l v, closed t l v for l < t < v
        float* half_pivot_right;            // [a, v]: half_pivot a l v for l < v < a
        float* complexes[STATES[COMPLEX]];  // complex l x, only those that end in a gap: [x] by state
        float* pairs;                       // see Projective
    };

    struct Links : LinkRows {
        INLINE Arcs between(int a, int b) const { return Arcs{{from[a * width + b], to[a * width + b]}}; }
    } crossed, longest;  // the latter including those of 0 even with a single root
    int group;           // the number of l that take turns, a power of 2

    Links& links(bool longest_arc) { return longest_arc ? longest : crossed; }

    INLINE Layer& layer(int l) { return layers[l & (group - 1)]; }
    INLINE const Layer& layer(int l) const { return layers[l & (group - 1)]; }
    INLINE Left& left(int l) { return layer(l).left; }

    // What kernels ask for

    using Layout::tile;
    template <int kind> INLINE Tile tile(Of<Ends> of, int block, int second) const {
        return Tile{of.items.tile(second, block, of.node)};
    }
    INLINE Of<Ends> ends(int b) const { return {closed_left, b}; }

    template <int kind, class Items, class At>
    INLINE void keep(Of<Items> of, const At& at, int second, const Lanes (&values)[STATES[kind]]) const {
        constexpr bool is_left = std::is_same_v<Items, Left>, near = is_left || std::is_same_v<Items, Right>;
        float scratch[STATES[kind] * LANES], *to = scratch;
        if constexpr (kind != HALF_PIVOT) to = tile<kind>(of, at.block, second).at;
        store(to, values);
        if constexpr (is_left && kind == CLOSED) store(closed_left.tile(second, at.block, of.node), values);
        if constexpr (near && (kind == CLOSED || kind == NEITHER || kind == HALF_PIVOT))
            for (int i = at.first_lane; i < at.end_lane; i++) {
                float* one = kind == HALF_PIVOT ? by_state<kind>(of.items, at.x + i, second, of.node)
                                                : by_state<kind>(of.items, of.node, second, at.x + i);
                for (int state = 0; state < STATES[kind]; state++) one[state] = to[state * LANES + i];
            }
    }

    // neither, closed and half_pivot a b v for one v, by state
    template <int kind, class Side> INLINE float* by_state(const Side&, int a, int b, int v) const {
        constexpr bool is_left = std::is_same_v<Side, Left>;
        if (kind == HALF_PIVOT)
            return is_left ? half_pivot_left + inside(a, v, b) * STATES[HALF_PIVOT]
                           : layer(b).half_pivot_right + (a * side + v) * STATES[HALF_PIVOT];
        float* const near = is_left ? near_left + inside(v, a, b) * NEAR_STATES : layer(b).near_right + (v * side + a) * NEAR_STATES;
        return kind == CLOSED ? near + STATES[NEITHER] : near;
    }
    template <int kind, class Side> INLINE const float* scalar(const Side& of, int a, int b, int v) const {
        return by_state<kind>(of, a, b, v);
    }
    template <class Side> INLINE const float* neither(const Side& of, int a, int b, int v) const {
        return by_state<NEITHER>(of, a, b, v);
    }
    INLINE const float* hinge(int t) const { return hinges + t * STATES[HINGE]; }
    template <class Side> INLINE const float* pivot(const Side& of, int v) const { return of.pivot + v * STATES[PIVOT]; }
    INLINE const float* scalar_pivot(const Left& of, int v) const { return pivot(of, v); }

    INLINE Gap gap(int a, int b) const {
        return Gap{{gap_rows[SWAPPED[0]] + b * width, gap_rows[SWAPPED[1]] + b * width, gap_rows[SWAPPED[2]] + b * width}, a};
    }
    INLINE Gap scalar_gap(int a, int b) const {
        return Gap{{gap_rows[0] + a * width, gap_rows[1] + a * width, gap_rows[2] + a * width}, b};
    }
    INLINE float* complex_row(int l, int state) const { return layer(l).complexes[state]; }

    // The value of an item in a tile, for one x
    template <int kind, class Items> float stored(const Items& items, int state, int first, int second, int x) const {
        return static_cast<const Tiles<float, LANES, kind>&>(items).cell(first, second, x)[state * LANES];
    }

    // What Projective asks for, besides tables
    static float hidden_sibling_of(int) { return 0; }
    static void only_outside(float*, int, int) {}  // nothing reads g between a and b
    auto pairs_of(int a) { return [table = layer(a).pairs, stride = (size_t)rows](int w) { return table + w * stride; }; }
    void keep_gap(int a, int b, int state, float value) {
        gap_rows[state][a * width + b] = gap_rows[SWAPPED[state]][b * width + a] = value;
    }

    // Lay out the scores of a sentence, rounded. scores and cost: as for BestTree.
    void prepare(int words, const double* const* scores, const double* cost, bool single_root) {
        measure(words, single_root);
        group = n < 32 ? 2 : 4;  // the fastest of those measured
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
        for (Layer& each : layers) std::fill_n(static_cast<Tiles<float, LANES, WING>&>(each).origin, square * STATES[WING], NEVER);
        for (int i = 0; i < side; i++) {
            std::fill_n(grandparent + i * rows + side + 1, rows - side - 1, 0.0f);
            std::fill_n(at_c(i, i), rows, 0.0f);
            crossed_half[i * width + i] = crossed_pair[i * width + i] = NEVER;
        }
    }

  private:
    std::vector<Layer> layers;
    float *near_left, *half_pivot_left;  // see above

    template <int size> static INLINE void store(float* tile, const Lanes (&values)[size]) {
        for (int i = 0; i < size; i++) put(tile + i * LANES, values[i]);
    }

    // The place of the item of v, a node between a and b.
    INLINE ptrdiff_t inside(ptrdiff_t a, ptrdiff_t v, ptrdiff_t b) const {
        return b * (b - 1) * (b - 2) / 6 + a * (2 * b - a - 1) / 2 + v - (a + 1);
    }

    void find_places() {
        for (int j = 0; j < blocks; j++)
            for (int b = j * LANES + 2; b < side; b++) {  // a from j * LANES + 1 to b - 1
                places_left[b * blocks + j] = lefts - (j * LANES + 1);
                lefts += b - (j * LANES + 1);
            }
    }

    // Assign all tables their place in memory.
    void arrange() {
        const size_t insides = (size_t)inside(0, 1, side);
        take_left(closed_left);
        take_right(right);
        near_left = take(insides * NEAR_STATES);
        half_pivot_left = take(insides * STATES[HALF_PIVOT]);
        for (Layer& each : layers) {
            take_layer(each, shift);
            take_layer(each.left, 0);
            each.left.pivot = take(STATES[PIVOT] * side);
            each.near_right = take((size_t)side * side * NEAR_STATES);
            each.half_pivot_right = take((size_t)side * side * STATES[HALF_PIVOT]);
            for (float*& row : each.complexes) row = take_rows(width);
            each.pairs = take((size_t)side * rows);
        }
        right.pivot = take(STATES[PIVOT] * side);
        crossed = {take_links()};
        longest = {take_links()};
        take_values();
        take_scores();
    }
};

}  // namespace VARIANT::oneec
