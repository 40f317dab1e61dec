// The memory of the chart for the best tree, and what kernels read and store there.

#pragma once

#include <algorithm>

#include "interface.hpp"
#include "layout.hpp"

namespace VARIANT::oneec {

// All items of a sentence that later items need; l counts down from n and, for each l, r counts up from l+1. Items in a
// Layer are stored only for the current l and the others in its group (Chart::fill). Rows over g are in the projective
// part.
//
// With a single root, an arc from 0 is allowed only as the longest arc of a complex that begins with 0 or, in the
// projective part, to the only dependent of 0.
struct Tables : Layout<MaxPlus> {
    typedef MaxKernels Kernels;

    // Items of regions a b for x on the side of a
    struct Left : Group<CLOSED, NEITHER, ARM, HALF_PIVOT> {
        float* pivot;  // pivot a b v of the current l and r: [v] by state
    } left;
    struct Right : Left, Group<OPEN> {
    } right;

    // Items l b x that only items with the same l need, and wing l b a in blocks of a
    struct Layer : Group<CLOSED, OPEN, SPANNED, WING> {
        float* complexes[STATES[COMPLEX]];  // complex l x, only those that end in a gap: [x] by state
        float* pairs;                       // see Projective
    };

    struct Links : LinkRows {
        INLINE Arcs between(int a, int b) const { return Arcs{{from[a * width + b], to[a * width + b]}}; }
    } crossed, longest;  // with a single root, only `longest` has arcs from node 0
    int group;           // the number of l that take turns (Chart::fill), a power of 2

    Links& links(bool longest_arc) { return longest_arc ? longest : crossed; }

    INLINE Layer& layer(int l) { return layers[l & (group - 1)]; }
    INLINE const Layer& layer(int l) const { return layers[l & (group - 1)]; }

    // What kernels call

    template <int kind, class Items, class At>
    INLINE void keep(ItemsOf<Items> row, const At& at, int second, const Lanes (&values)[STATES[kind]]) const {
        float* const to = tile<kind>(row, at.block, second).at;
        for (int i = 0; i < STATES[kind]; i++) put(to + i * LANES, values[i]);
    }
    template <int kind, class Items> INLINE Lane scalar(const Items& items, int a, int b, int v) const {
        return {cell<kind>(items, a, b, v)};
    }
    INLINE Lane neither(const Left& items, int a, int b, int v) const { return scalar<NEITHER>(items, a, b, v); }
    INLINE const float* hinge(int t) const { return hinges + t * STATES[HINGE]; }
    INLINE const float* pivot(const Left& items, int v) const { return items.pivot + v * STATES[PIVOT]; }
    INLINE const float* scalar_pivot(const Left& items, int v) const { return pivot(items, v); }

    INLINE Gap gap(int a, int b) const {
        return Gap{{gap_rows[SWAPPED[0]] + b * width, gap_rows[SWAPPED[1]] + b * width, gap_rows[SWAPPED[2]] + b * width}, a};
    }
    INLINE Gap scalar_gap(int a, int b) const {
        return Gap{{gap_rows[0] + a * width, gap_rows[1] + a * width, gap_rows[2] + a * width}, b};
    }
    INLINE float* complex_row(int l, int state) const { return layer(l).complexes[state]; }

    // What Projective calls
    static float hidden_sibling_of(int) { return 0; }
    static void only_outside(float*, int, int) {}  // nothing reads g between a and b
    auto pairs_of(int a) {
        return [table = layer(a).pairs, stride = (size_t)rows](int w) { return table + w * stride; };
    }
    void keep_gap(int a, int b, int state, float value) {
        gap_rows[state][a * width + b] = gap_rows[SWAPPED[state]][b * width + a] = value;
    }

    // Lay out the scores of a sentence, rounded to float32. scores and cost: as for BestTree.
    void prepare(int words, const double* const* scores, const double* cost, bool single_root) {
        measure(words, single_root);
        group = n < 32 ? 2 : 4;  // the fastest of those measured
        layers.resize(group);
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
        for (Layer& each : layers)
            std::fill_n(static_cast<Tiles<float, LANES, WING>&>(each).origin, square * STATES[WING], NEVER);
        for (int i = 0; i < side; i++) {
            std::fill_n(grandparent + i * rows + side + 1, rows - side - 1, 0.0f);
            std::fill_n(at_c(i, i), rows, 0.0f);
            crossed_half[i * width + i] = crossed_pair[i * width + i] = NEVER;
        }
    }

  private:
    std::vector<Layer> layers;

    // Assign all tables their place in memory.
    void arrange() {
        take_left(left);
        take_right(static_cast<Left&>(right));
        take_right(static_cast<Group<OPEN>&>(right));
        for (Layer& each : layers) {
            take_layer(each, shift);
            for (float*& row : each.complexes) row = take_rows(width);
            each.pairs = take((size_t)side * rows);
        }
        for (Left* items : std::initializer_list<Left*>{&left, &right}) items->pivot = take(STATES[PIVOT] * side);
        crossed = {take_links()};
        longest = {take_links()};
        take_values();
        take_scores();
    }
};

}  // namespace VARIANT::oneec
