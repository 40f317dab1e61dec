// The complexes of the chart of 1EC: the kernels of recurrences.hpp, and where they read and store the values of items.
// For the functions that they call, see generate.py.

#pragma once

#include "projective.hpp"

namespace VARIANT::oneec {

// Regions a b for a block of x on the side of a: x < a < b if `left`, otherwise b < a < x
template <bool left> struct Near {
    typedef Block Value;
    Tables& chart;
    Layer& layer;  // of the first node
    int a, b, block, x, begin, end;  // the block begins at x
    Tiles<CLOSED> closed;  // a t x over t
    Tiles<NEITHER> neither;
    const float* pivots;  // a b v over v
    Gaps gaps;            // t b over t

    bool may_have_two(int node) const { return chart.may_have_two(node); }
    INLINE const float* pivot_a_b_v(int v) const { return pivots + v * STATES[PIVOT]; }
    INLINE Tile closed_a_t_x(int t) const { return Tile{closed.tile(block, t)}; }
    INLINE Tile neither_a_t_x(int t) const { return Tile{neither.tile(block, t)}; }
    INLINE Gap gap_t_b(int t) const { return Gap{gaps, t}; }
    INLINE Gap gap_a_b() const { return Gap{gaps, a}; }
    INLINE void keep_open_a_b_x(const Block (&values)[STATES[OPEN]]) const {
        if (!left) store(chart.open_right(a).tile(block, b), values);
    }
    INLINE void keep_closed_a_b_x(const Block (&values)[STATES[CLOSED]]) const {
        keep_near<STATES[CLOSED]>(closed.tile(block, b), values, STATES[NEITHER]);
        if (left) store(chart.closed_left(b).tile(block, a), values);
    }
    INLINE void keep_neither_a_b_x(const Block (&values)[STATES[NEITHER]]) const {
        keep_near<STATES[NEITHER]>(neither.tile(block, b), values, 0);
    }
    INLINE void keep_arm_x_b_a(const Block (&values)[STATES[ARM]]) const {
        store((left ? layer.arm_left : chart.arm_right(a)).tile(block, b), values);
    }

  private:
    template <int size> INLINE void keep_near(float* tile, const Block (&values)[size], int place) const {
        store(tile, values);
        scatter<size>(tile, x, left ? 0 : a + 1, left ? a : chart.side, [&](int v) {
            return (left ? chart.near_left(v, a, b) : chart.near_right(layer, a, v)) + place;
        });
    }
};

// Regions l r for a block of x beyond r
struct Far {
    typedef Block Value;
    Tables& chart;
    Layer& layer;
    int l, r, block, x, begin, end;
    Tiles<CLOSED> closed_right;  // r t x over t
    Tiles<OPEN> open_right;
    Gaps gaps;  // t r over t

    bool may_have_two(int node) const { return chart.may_have_two(node); }
    INLINE const float* pivot_l_r_v(int v) const { return chart.pivot_left + v * STATES[PIVOT]; }
    INLINE Tile closed_l_t_x(int t) const { return Tile{layer.closed_far.tile(block, t)}; }
    INLINE Tile open_l_t_x(int t) const { return Tile{layer.open_far.tile(block, t)}; }
    INLINE Tile closed_r_t_x(int t) const { return Tile{closed_right.tile(block, t)}; }
    INLINE Tile open_r_t_x(int t) const { return Tile{open_right.tile(block, t)}; }
    INLINE Tile open_r_l_x() const { return Tile{open_right.tile(block, l)}; }
    INLINE Gap gap_t_r(int t) const { return Gap{gaps, t}; }
    INLINE Gap gap_l_r() const { return Gap{gaps, l}; }
    INLINE void keep_open_l_r_x(const Block (&values)[STATES[OPEN]]) const { store(layer.open_far.tile(block, r), values); }
    INLINE void keep_closed_l_r_x(const Block (&values)[STATES[CLOSED]]) const {
        store(layer.closed_far.tile(block, r), values);
    }
    INLINE void keep_spanned_l_r_x(const Block (&values)[STATES[SPANNED]]) const {
        store(layer.spanned.tile(block, r), values);
    }
};

// hinge t b v for one t
struct Hinges {
    typedef float Value;
    Gap gap;              // v t
    const float* closed;  // t b v
    float* out;

    INLINE Gap gap_v_t() const { return gap; }
    INLINE const float* closed_t_b_v() const { return closed; }
    INLINE void keep_hinge_t_b_v(const float (&values)[STATES[HINGE]]) const {
        for (int state = 0; state < STATES[HINGE]; state++) out[state] = values[state];
    }
};

// half_pivot a b v for a block of a beyond v: a < v < b if `left`, otherwise b < v < a
template <bool left> struct HalfPivots {
    typedef Block Value;
    Tables& chart;
    Layer& layer;
    int b, v, block, x, begin, end;  // the first a of the block is x
    Tiles<ARM> arms;     // a t v over t
    const float* nears;  // neither t b v, closed t b v over t

    // The hinges for all t.
    void prepare() const {
        const Gaps gaps = chart.gaps_from(v);
        for (int t = begin; t < end; t++)
            oneec::hinges(Hinges{{gaps, t}, nears + t * NEAR_STATES + STATES[NEITHER], chart.hinges + t * STATES[HINGE]});
    }
    INLINE const float* hinge_t_b_v(int t) const { return chart.hinges + t * STATES[HINGE]; }
    INLINE Tile arm_a_t_v(int t) const { return Tile{arms.tile(block, t)}; }
    INLINE const float* neither_t_b_v(int t) const { return nears + t * NEAR_STATES; }
    INLINE void keep_half_pivot_a_b_v(const Block (&values)[STATES[HALF_PIVOT]]) const {
        float tile[STATES[HALF_PIVOT] * LANES];
        store(tile, values);
        scatter<STATES[HALF_PIVOT]>(tile, x, left ? 0 : v + 1, left ? v : chart.side, [&](int first) {
            return left ? chart.half_pivot_left(first, b, v) : chart.half_pivot_right(layer, first, v);
        });
    }
};

// pivot a b v for one v
struct Pivots {
    typedef float Value;
    const float* half_pivot;  // a b v
    Gap gap;                  // a v
    float* out;

    INLINE const float* half_pivot_a_b_v() const { return half_pivot; }
    INLINE Gap gap_a_v() const { return gap; }
    INLINE void keep_pivot_a_b_v(const float (&values)[STATES[PIVOT]]) const {
        for (int state = 0; state < STATES[PIVOT]; state++) out[state] = values[state];
    }
};

// wing l b a for a block of b beyond a
struct Wings {
    typedef Block Value;
    Tables& chart;
    Layer& layer;
    int l, a, block, x, begin, end;  // only values for b from begin to end - 1 are stored; x is the first of the block

    INLINE Tile open_a_l_b() const { return Tile{chart.open_right(a).tile(block, l)}; }
    INLINE Rows gap_a_b() const { return chart.gap_lanes(a, x); }
    INLINE void keep_wing_l_b_a(const Block (&values)[STATES[WING]]) const {  // transposed, into blocks of a
        for (int b = maximum(begin, x); b < minimum(end, x + LANES); b++) {
            float* tile = layer.wing.tile(a / LANES, b);
            for (int state = 0; state < STATES[WING]; state++) tile[state * LANES + a % LANES] = values[state][b - x];
        }
    }
};

// complex l x for a block of x beyond t
struct ComplexesOfSpanned {
    typedef Block Value;
    Tables& chart;
    Layer& layer;
    int t, block, x;

    INLINE Tile spanned_l_t_x() const { return Tile{layer.spanned.tile(block, t)}; }
    INLINE Rows gap_t_x() const { return chart.gap_lanes(t, x); }
    INLINE void so_far_complex_l_x(Block (&values)[STATES[COMPLEX]]) const {
        for (int state = 0; state < STATES[COMPLEX]; state++) values[state] = row(layer.complexes[state] + x);
    }
    INLINE void keep_complex_l_x(const Block (&values)[STATES[COMPLEX]]) const {
        for (int state = 0; state < STATES[COMPLEX]; state++) row(layer.complexes[state] + x) = values[state];
    }
};

// complex l r for all v
struct ComplexesOfPivots {
    typedef float Value;
    const float* pivots;  // l r v over v
    float* best;
    int begin, end;

    INLINE const float* pivot_l_r_v(int v) const { return pivots + v * STATES[PIVOT]; }
    INLINE void so_far_complex_l_r(float (&values)[STATES[COMPLEX]]) const { std::copy_n(best, STATES[COMPLEX], values); }
    INLINE void keep_complex_l_r(const float (&values)[STATES[COMPLEX]]) const { std::copy_n(values, STATES[COMPLEX], best); }
};

// complex l r for a block of a and all b
struct ComplexesOfWings {
    typedef Block Value;
    Tiles<WING> wings;     // l b a over b; -inf unless l < a < b
    Tiles<CLOSED> closed;  // b r a over b
    Block* best;
    int block, begin, end;

    INLINE Tile wing_l_b_a(int b) const { return Tile{wings.tile(block, b)}; }
    INLINE Tile closed_b_r_a(int b) const { return Tile{closed.tile(block, b)}; }
    INLINE void so_far_complex_l_r(Block (&values)[STATES[COMPLEX]]) const { std::copy_n(best, STATES[COMPLEX], values); }
    INLINE void keep_complex_l_r(const Block (&values)[STATES[COMPLEX]]) const { std::copy_n(values, STATES[COMPLEX], best); }
};

struct Complexes : Projective<Tables> {
    // Fill the chart. If l simply counted down, all gaps a b with a > l would be known when they are needed. Instead a group of l, low
    // to high, takes turns at each r, so that the tables of r that they all need stay in the cache. So when l reaches r = a, another node
    // of the group, gaps a b are not known, but -inf. Only wing l b a and complex l b <- spanned l a b, gap a b are made of them;
    // catch_up makes these again before they are needed. Throws signals::Raised.
    void fill() {
        for (int high = n - 1; high >= 0; high -= group) {
            const int low = maximum(high - group + 1, 0);
            for (int l = low; l <= high; l++)
                for (float* row : layer(l).complexes) std::fill_n(row, width, NEVER);
            for (int r = low + 1; r < side; r++)
                for (int l = minimum(high, r - 1); l >= low; l--) {
                    catch_up(l, r, minimum(high, r - 1));
                    fill(l, r);
                }
        }
    }

  protected:
    // pivot l r v for all v
    void fill_pivots_left(int l, int r) {
        for (int v = l + 1; v < r; v++)
            pivots(Pivots{half_pivot_left(l, r, v), {gaps_from(l), v}, pivot_left + v * STATES[PIVOT]});
    }

    // The regions l r for blocks of x > r; these need the pivots l r v.
    void fill_far(int l, int r, int first, int end) {
        for (int block = first; block < end; block++)
            far(Far{*this, layer(l), l, r, block, right_node(block), l + 1, r, closed_right(r), open_right(r), gaps_to(r)});
    }

    // wing l b a for b from begin to end - 1, all beyond a
    void fill_wings(int l, int a, int begin, int end) {
        for (int block = block_of(begin); block <= block_of(end - 1); block++)
            wings(Wings{*this, layer(l), l, a, block, right_node(block), begin, end});
    }

  private:
    // What complex l r takes from gaps of the other a in the group, up to `last`: from gap a r-1, wing l r-1 a, and from gap a r,
    // complex l r <- spanned l a r, gap a r. For a = l+1 there are none: spanned l a r, and open a l b in the wing, have an arc
    // to a node between l and a.
    void catch_up(int l, int r, int last) {
        for (int a = l + 2; a <= last; a++) {
            if (a < r - 1) fill_wings(l, a, r - 1, r);
            fill_complexes_of_spanned(l, a, block_of(r), block_of(r) + 1);
        }
    }

    void fill(int l, int r) {
        watch.pass((size_t)20 * (r - l) * n);
        fill_pivots_left(l, r);
        if (l > 0) fill_half_pivots_left(l, r);
        if (r < n) {
            fill_pivots_right(l, r);
            fill_half_pivots_right(l, r);
        }
        fill_complexes(l, r);
        fill_projective(l, r);
        if (l > 0) fill_near_left(l, r);
        if (r < n) {
            const int first = block_of(r + 1);
            fill_near_right(l, r);
            fill_far(l, r, first, blocks);
            fill_wings(l, r, r + 1, side);
            fill_complexes_of_spanned(l, r, first, blocks);
        }
    }

    // half_pivot a r l for all a < l
    void fill_half_pivots_left(int l, int r) {
        HalfPivots<true> at{*this, layer(l), r, l, 0, 0, l + 1, r, layer(l).arm_left, near_left(l, 0, r)};
        at.prepare();
        for (; at.block < blocks_before(l); at.block++, at.x += LANES) half_pivots(at);
    }

    // pivot r l v for all v
    void fill_pivots_right(int l, int r) {
        for (int v = l + 1; v < r; v++)
            pivots(Pivots{half_pivot_right(layer(l), r, v), {gaps_from(r), v}, pivot_right + v * STATES[PIVOT]});
    }

    // half_pivot a l r for all a > r
    void fill_half_pivots_right(int l, int r) {
        const int first = block_of(r + 1);
        HalfPivots<false> at{*this, layer(l), l, r, first, right_node(first), l + 1, r, arm_right(r), near_right(layer(l), 0, r)};
        at.prepare();
        for (; at.block < blocks; at.block++, at.x += LANES) half_pivots(at);
    }

    // complex l r
    void fill_complexes(int l, int r) {
        float best[STATES[COMPLEX]];
        for (int state = 0; state < STATES[COMPLEX]; state++) best[state] = layer(l).complexes[state][r];
        complexes_of_pivots(ComplexesOfPivots{pivot_left, best, l + 1, r});
        Block by_wings[STATES[COMPLEX]];
        clear(by_wings);
        for (int block = (l + 1) / LANES; block * LANES < r - 1; block++)
            complexes_of_wings(ComplexesOfWings{layer(l).wing, closed_left(r), by_wings, block,
                                                maximum(l + 2, block * LANES + 1), r});
        for (int state = 0; state < STATES[COMPLEX]; state++) {
            for (int i = 0; i < LANES; i++) update_maximum(best[state], by_wings[state][i]);
            complex_score(l, r, state) = best[state];
        }
        complex_apart[r * width + l] = best[APART];
    }

    // The regions l r for x < l
    void fill_near_left(int l, int r) {
        Near<true> at{*this, layer(l), l, r, 0, 0, l + 1, r, layer(l).closed_left, layer(l).neither_left, pivot_left, gaps_to(r)};
        for (; at.block < blocks_before(l); at.block++, at.x += LANES) near(at);
    }

    // The regions r l for x > r
    void fill_near_right(int l, int r) {
        const int first = block_of(r + 1);
        Near<false> at{*this, layer(l), r, l, first, right_node(first), l + 1, r, closed_right(r), neither_right(r), pivot_right,
                       gaps_to(l)};
        for (; at.block < blocks; at.block++, at.x += LANES) near(at);
    }

    // The complexes l x that consist of a spanned item l t x and a gap, for blocks of x > t
    void fill_complexes_of_spanned(int l, int t, int first, int end) {
        for (int block = first; block < end; block++)
            complexes_of_spanned(ComplexesOfSpanned{*this, layer(l), t, block, right_node(block)});
    }
};

}  // namespace VARIANT::oneec
