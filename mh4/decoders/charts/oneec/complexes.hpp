// Derive the complexes of the charts of 1EC: the arguments of the kernels of recurrences.hpp, and the order in which
// the kernels fill a chart. generate.py explains which functions kernels call. Tables has the values; its functions
// `scalar` and `scalar_...` are for kernels without lanes.

#pragma once

#include "projective.hpp"

namespace VARIANT::oneec {

template <class Tables> struct Complexes : Projective<Tables> {
    typedef Projective<Tables> Base;
    using typename Base::Kernels, typename Base::Layer, typename Base::Left, typename Base::Right, typename Base::Value;
    using typename Base::Vector;
    using Base::n, Base::side, Base::blocks, Base::watch, Base::layer, Base::left, Base::right, Base::above, Base::apart;
    using Base::block_of, Base::blocks_before, Base::right_node, Base::WIDTH;

    // The region of a kernel with lanes: its chart, a block and the first node x of the block, and the range of the
    // loop. The lanes that are nodes beyond the region are first_lane to end_lane - 1.
    struct Region {
        typedef Vector Value;
        Complexes& chart;
        int block, x, begin, end, first_lane, end_lane;

        bool may_have_two(int node) const { return chart.may_have_two(node); }
        // An item of a kernel that is stored in a tile: its values, and the derivatives with respect to them
        template <int kind, class Items> INLINE auto tile(ItemsOf<Items> row, int second) const {
            return chart.template tile<kind>(row, block, second);
        }
        template <int kind, class Items>
        INLINE void keep(ItemsOf<Items> row, int second, const Vector (&values)[STATES[kind]]) const {
            chart.template keep<kind>(row, *this, second, values);
        }
        template <int kind, class Items>
        INLINE void gradient(ItemsOf<Items> row, int second, Vector (&grad)[STATES[kind]]) const {
            chart.template fetch_gradient<kind>(row, block, second, grad);
        }
    };

    // Regions a b for a block of x on the side of a
    template <class Side> struct Near : Region {
        const Side& items;
        int a, b;

        INLINE auto pivot_a_b_v(int v) const { return this->chart.pivot(items, v); }
        INLINE auto gap_t_b(int t) const { return this->chart.gap(t, b); }
        INLINE auto gap_a_b() const { return this->chart.gap(a, b); }
        INLINE ItemsOf<Side> items_of_a() const { return {items, a}; }
    };

    // Regions l r for a block of x beyond r
    struct Far : Region {
        int l, r;

        INLINE auto pivot_l_r_v(int v) const { return this->chart.pivot(this->chart.left, v); }
        INLINE auto gap_t_r(int t) const { return this->chart.gap(t, r); }
        INLINE auto gap_l_r() const { return this->chart.gap(l, r); }
        INLINE ItemsOf<Layer> items_of_l() const { return {this->chart.layer(l), l}; }
        INLINE ItemsOf<Right> items_of_r() const { return {this->chart.right, r}; }
    };

    // hinge t b v for one t
    struct Hinges {
        typedef typename Base::Value Value;
        Complexes& chart;
        const Left& items;
        int t, b, v;

        INLINE auto gap_v_t() const { return chart.scalar_gap(v, t); }
        INLINE auto closed_t_b_v() const { return chart.template scalar<CLOSED>(items, t, b, v); }
        INLINE void keep_hinge_t_b_v(const Value (&values)[STATES[HINGE]]) const {
            for (int i = 0; i < STATES[HINGE]; i++) chart.hinges[t * STATES[HINGE] + i] = values[i];
        }
        INLINE void gradient_hinge_t_b_v(Value (&grad)[STATES[HINGE]]) const { chart.fetch_gradient(chart.hinge(t), grad); }
    };

    // half_pivot a b v for a block of a beyond v
    struct HalfPivots : Region {
        const Left& items;
        int b, v;

        INLINE auto hinge_t_b_v(int t) const { return this->chart.hinge(t); }
        INLINE auto neither_t_b_v(int t) const { return this->chart.neither(items, t, b, v); }
        INLINE ItemsOf<Left> items_of_v() const { return {items, v}; }
    };

    // pivot a b v for one v
    struct Pivots {
        typedef typename Base::Value Value;
        Complexes& chart;
        const Left& items;
        int a, b, v;

        INLINE auto half_pivot_a_b_v() const { return chart.template scalar<HALF_PIVOT>(items, a, b, v); }
        INLINE auto gap_a_v() const { return chart.scalar_gap(a, v); }
        INLINE void keep_pivot_a_b_v(const Value (&values)[STATES[PIVOT]]) const {
            for (int i = 0; i < STATES[PIVOT]; i++) items.pivot[v * STATES[PIVOT] + i] = values[i];
        }
        INLINE void gradient_pivot_a_b_v(Value (&grad)[STATES[PIVOT]]) const {
            chart.fetch_gradient(chart.pivot(items, v), grad);
        }
    };

    // wing l b a for a block of b beyond a; it is stored in blocks of a
    struct Wings : Region {
        int l, a;

        INLINE ItemsOf<Right> items_of_a() const { return {this->chart.right, a}; }
        INLINE auto gap_a_b() const { return this->chart.gap_from(a, this->x); }
        INLINE void keep_wing_l_b_a(const Vector (&values)[STATES[WING]]) const {
            alignas(64) typename Base::Value lanes[STATES[WING]][WIDTH];
            for (int state = 0; state < STATES[WING]; state++) Base::put(lanes[state], values[state]);
            each_cell([&](int i, typename Base::Value* cell) {
                for (int state = 0; state < STATES[WING]; state++) cell[state * WIDTH] = lanes[state][i];
            });
        }
        INLINE void gradient_wing_l_b_a(Vector (&grad)[STATES[WING]]) const {
            alignas(64) typename Base::Value lanes[STATES[WING]][WIDTH] = {};
            each_cell([&](int i, typename Base::Value* cell) {
                for (int state = 0; state < STATES[WING]; state++)
                    lanes[state][i] = cell[state * WIDTH + this->chart.to_gradient];
            });
            for (int state = 0; state < STATES[WING]; state++) grad[state] = Base::at(lanes[state]);
        }

      private:
        template <class F> INLINE void each_cell(F f) const {
            const Layer& layer = this->chart.layer(l);
            for (int i = this->first_lane; i < this->end_lane; i++)
                f(i, this->chart.template tile<WING>(ItemsOf<Layer>{layer, l}, a / WIDTH, this->x + i).at + a % WIDTH);
        }
    };

    // complex l x for a block of x beyond t
    struct ComplexesOfSpanned : Region {
        int l, t;

        INLINE ItemsOf<Layer> items_of_l() const { return {this->chart.layer(l), l}; }
        INLINE auto gap_t_x() const { return this->chart.gap_from(t, this->x); }
        INLINE void so_far_complex_l_x(Vector (&values)[STATES[COMPLEX]]) const {
            for (int i = 0; i < STATES[COMPLEX]; i++) values[i] = Base::loosely_at(row(i));
        }
        INLINE void keep_complex_l_x(const Vector (&values)[STATES[COMPLEX]]) const {
            for (int i = 0; i < STATES[COMPLEX]; i++) Base::put_loosely(row(i), values[i]);
        }
        INLINE void gradient_complex_l_x(Vector (&grad)[STATES[COMPLEX]]) const {
            for (int i = 0; i < STATES[COMPLEX]; i++) grad[i] = Base::loosely_at(row(i) + this->chart.to_gradient);
        }

      private:
        typename Base::Value* row(int state) const { return this->chart.complex_row(l, state) + this->x; }
    };

    // complex l r, by state, to which one kernel after the other adds; or the derivatives with respect to it
    template <class Number> struct ComplexSoFar {
        typedef Number Value;
        Complexes& chart;
        Number* complex;
        int l, r, begin, end;

        INLINE void so_far_complex_l_r(Number (&values)[STATES[COMPLEX]]) const { std::copy_n(complex, STATES[COMPLEX], values); }
        INLINE void keep_complex_l_r(const Number (&values)[STATES[COMPLEX]]) const {
            std::copy_n(values, STATES[COMPLEX], complex);
        }
        INLINE void gradient_complex_l_r(Number (&grad)[STATES[COMPLEX]]) const { so_far_complex_l_r(grad); }
    };

    // ... for all v
    struct ComplexesOfPivots : ComplexSoFar<typename Base::Value> {
        INLINE auto pivot_l_r_v(int v) const { return this->chart.scalar_pivot(this->chart.left, v); }
    };

    // ... for a block of a and all b
    struct ComplexesOfWings : ComplexSoFar<Vector> {
        int block;

        INLINE ItemsOf<Layer> items_of_l() const { return {this->chart.layer(this->l), this->l}; }
        INLINE ItemsOf<Left> items_of_b(int b) const { return {this->chart.left, b}; }
        template <int kind, class Items> INLINE auto tile(ItemsOf<Items> row, int second) const {
            return this->chart.template tile<kind>(row, block, second);
        }
    };

  protected:
    // Call f(kernel's argument) for every block of x to the left of the region l r.
    template <class F> void each_left(int l, int r, F f) {
        for (int block = 0; block < blocks_before(l); block++)
            f(Region{*this, block, block * WIDTH, l + 1, r, 0, minimum(l - block * WIDTH, WIDTH)});
    }
    // The same to the right, from block to block, for x from `first` to `last` - 1.
    template <class F> void each_right(int l, int r, int first, int last, F f) {
        for (int block = block_of(first); block <= block_of(last - 1); block++) {
            const int x = right_node(block);
            f(Region{*this, block, x, l + 1, r, maximum(first - x, 0), minimum(last - x, WIDTH)});
        }
    }
    template <class F> void each_right(int l, int r, F f) { each_right(l, r, r + 1, side, f); }
    template <class F> void each_wing(int l, int r, Vector* complex, F f) {
        for (int block = (l + 1) / WIDTH; block * WIDTH < r - 1; block++)
            f(ComplexesOfWings{{*this, complex, l, r, maximum(l + 2, block * WIDTH + 1), r}, block});
    }

    void fill_pivots(const Left& items, int a, int b) {
        for (int v = minimum(a, b) + 1; v < maximum(a, b); v++) Kernels::pivots(Pivots{*this, items, a, b, v});
    }
    void fill_hinges(const Left& items, int b, int v) {
        for (int t = minimum(b, v) + 1; t < maximum(b, v); t++) Kernels::hinges(Hinges{*this, items, t, b, v});
    }
    // Call f(kernel's argument) for half_pivot a b v and every block of a beyond v.
    template <class F> void each_half_pivot(const Left& items, int b, int v, F f) {
        const auto at_region = [&](const Region& at) { f(HalfPivots{at, items, b, v}); };
        b < v ? each_right(b, v, at_region) : each_left(v, b, at_region);
    }
    void fill_half_pivots(const Left& items, int b, int v) {
        fill_hinges(items, b, v);
        each_half_pivot(items, b, v, [](const HalfPivots& at) { Kernels::half_pivots(at); });
    }
    // Fill the regions l r for x from `first` to `last` - 1. The pivots l r v must be filled.
    void fill_far(int l, int r, int first, int last) {
        each_right(l, r, first, last, [&](const Region& at) { Kernels::far(Far{at, l, r}); });
    }
    // Fill wing l b a for b from `first` to `last` - 1.
    void fill_wings(int l, int a, int first, int last) {
        each_right(l, a, first, last, [&](const Region& at) { Kernels::wings(Wings{at, l, a}); });
    }
    // Fill the complexes l x that consist of a spanned item l t x and a gap, for x from `first` to `last` - 1.
    void fill_complexes_of_spanned(int l, int t, int first, int last) {
        each_right(l, t, first, last, [&](const Region& at) { Kernels::complexes_of_spanned(ComplexesOfSpanned{at, l, t}); });
    }

    // Fill complex l r. fill_complexes_of_spanned has already filled complexes that end in a gap.
    void fill_complexes(int l, int r) {
        Value total[STATES[COMPLEX]];
        Vector from_wings[STATES[COMPLEX]];
        for (int state = 0; state < STATES[COMPLEX]; state++) {
            total[state] = this->complex_row(l, state)[r];
            from_wings[state] = Base::spread(Base::nothing());
        }
        Kernels::complexes_of_pivots(ComplexesOfPivots{{*this, total, l, r, l + 1, r}});
        each_wing(l, r, from_wings, [](const ComplexesOfWings& at) { Kernels::complexes_of_wings(at); });
        for (int state = 0; state < STATES[COMPLEX]; state++)
            total[state] = Base::either(total[state], Base::any(from_wings[state]));
        apart(l, r) = apart(r, l) = total[APART];
        above(l, r) = total[FIRST_ABOVE];
        above(r, l) = total[SECOND_ABOVE];
    }

    // Fill all items of l and r.
    void fill(int l, int r) {
        watch.pass((size_t)40 * (r - l) * n);
        fill_pivots(left, l, r);
        if (l > 0) fill_half_pivots(left, r, l);
        if (r < n) {
            fill_pivots(right, r, l);
            fill_half_pivots(right, l, r);
        }
        fill_complexes(l, r);
        this->fill_projective(l, r);
        each_left(l, r, [&](const Region& at) { Kernels::near_left(Near<Left>{at, left, l, r}); });
        if (r < n) {
            each_right(l, r, [&](const Region& at) { Kernels::near_right(Near<Right>{at, right, r, l}); });
            fill_far(l, r, r + 1, side);
            fill_wings(l, r, r + 1, side);
            fill_complexes_of_spanned(l, r, r + 1, side);
        }
    }
};

}  // namespace VARIANT::oneec
