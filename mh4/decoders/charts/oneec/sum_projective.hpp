// The reverse of the projective part, for sums over 1EC trees.
#pragma once

#include "complexes.hpp"
#include "sum_tables.hpp"

namespace VARIANT::oneec {
namespace sums {

template <class N> struct Projective : Complexes<Tables<N>> {
    typedef Complexes<Tables<N>> Base;
    using typename Base::Value, typename Base::Vector;
    using Base::n, Base::side, Base::width, Base::rows, Base::hidden, Base::derivatives, Base::WIDTH, Base::gap_rows;
    using Base::may_have_two, Base::at_e, Base::at_c, Base::at_s, Base::at_pairs;
    using Base::above, Base::apart, Base::half, Base::pair, Base::below;

    double* expected_arc;  // the counts of the reverse, as in Counts
    double* expected_sibling;
    double* expected_grandparent;

    void outside_projective(int l, int r) {
        gap_between_outside(l, r);
        make_pairs_outside(l, r);
        halves_outside(r, l);
        halves_outside(l, r);
        arcs_outside(r, l);
        arcs_outside(l, r);
        halves_crossed_outside(r, l);
        halves_crossed_outside(l, r);
    }

  protected:
    Value& by(Value* value) const { return value[derivatives]; }

  private:
    // Vectors over g
    static void add_product(Value* out, const Value* row, Value coef, int count) {
        for (int g = 0; g < count; g += WIDTH) Base::add(out + g, N::at(row + g) * coef);
    }
    static void add_products(Value* out, const Value* left, const Value* right, int count) {
        for (int g = 0; g < count; g += WIDTH) Base::add(out + g, N::at(left + g) * N::at(right + g));
    }
    static Value dot(const Value* left, const Value* right, int count) {
        Vector sum = Vector();
        for (int g = 0; g < count; g += WIDTH) sum += N::at(left + g) * N::at(right + g);
        return N::sum(sum);
    }
    static Value sum(const Value* row, int count) {
        Vector total = Vector();
        for (int g = 0; g < count; g += WIDTH) total += N::at(row + g);
        return N::sum(total);
    }

    void halves_crossed_outside(int h, int end) {
        const int step = end > h ? 1 : -1, low = minimum(h, end), high = maximum(h, end);
        const Value by_pair = by(&pair(h, end));
        by(&half(h, end - step)) += by_pair;
        by(&apart(h, end)) += by_pair;
        for (int u = low + 1; u < high; u++) {
            by(&half(h, u)) += by_pair * apart(end, u);
            by(&apart(end, u)) += by_pair * half(h, u);
        }
        const Value by_half = by(&half(h, end));
        by(&above(h, end)) += by_half;
        for (int u = low + 1; u < high; u++) {
            by(&above(h, u)) += by_half * below(u, end);
            by(&below(u, end)) += by_half * above(h, u);
        }
    }

    void arcs_outside(int h, int m) {
        if (m == 0) return;
        const int step = m > h ? 1 : -1, low = minimum(h, m), high = maximum(h, m);
        Value *out = at_e(h, m), *by_out = out + derivatives, *siblings = this->sibling + m * (side + 1);
        const Value score = this->arc[h * side + m], hidden_sibling = this->hidden_sibling[m];
        const Value* grandparents = this->grandparent + m * rows;
        double uses = 0;
        for (int g = 0; g <= hidden; g++) {
            const double expected = N::result(out[g] * by_out[g]);
            uses += expected;
            if (g < hidden) expected_grandparent[(size_t)g * side + m] += expected;
        }
        expected_arc[(size_t)h * side + m] += uses;
        // From here on, by_out is the derivative by the values of `out` before the multiplication by the scores.
        for (int g = 0; g < rows; g += WIDTH) N::put(by_out + g, N::at(by_out + g) * N::at(grandparents + g) * score);
        const Value by_innermost = sum(by_out, rows);
        Value* const inner_half = at_c(m, h + step) + h;
        expected_sibling[(size_t)side * side + m] += N::result(by_innermost * siblings[side] * *inner_half);
        by(inner_half) += by_innermost * siblings[side];
        if (!may_have_two(h)) return;
        const Value by_pairs = by_innermost * hidden_sibling;
        by(&pair(h, m)) += by_pairs;
        for (int s = low + 1; s < high; s++) {
            Value *const inner = at_c(m, s) + h, *const between = at_s(s, m) + h;
            by(&pair(h, s)) += by_pairs * *inner;
            by(inner) += by_pairs * pair(h, s);
            const Value by_coef = dot(by_out, at_e(h, s), rows), coef = *between * siblings[s];
            add_product(at_e(h, s) + derivatives, by_out, coef, rows);
            expected_sibling[(size_t)s * side + m] += N::result(by_coef * coef);
            by(between) += by_coef * siblings[s];
        }
    }

    void halves_outside(int h, int end) {
        const int step = end > h ? 1 : -1;
        const Value* by_out = at_c(h, end) + derivatives;
        const Value one = N::exponential(0);
        by(&half(h, end)) += sum(by_out, rows);
        add_product(at_e(h, end) + derivatives, by_out, one, rows);
        for (int m = h + step; m != end; m += step) {
            add_product(at_e(h, m) + derivatives, by_out, at_c(m, end)[h], rows);
            at_c(m, end)[h + derivatives] += dot(by_out, at_e(h, m), rows);
        }
    }

    void make_pairs_outside(int a, int b) {
        const Value *by_s = at_s(a, b) + derivatives, one = N::exponential(0);
        Value* by_out = at_pairs(a, b) + derivatives;
        add_product(by_out, by_s, one, rows);
        for (int w = a + 1; w < b; w++) {
            add_products(at_pairs(a, w) + derivatives, by_s, at_c(b, w), rows);
            add_products(at_c(b, w) + derivatives, by_s, at_pairs(a, w), rows);
        }
        if (!may_have_two(a)) return;
        add_product(at_c(a, b - 1) + derivatives, by_out, one, rows);
        for (int w = a; w < b; w++) {
            by(&apart(w, b)) += dot(by_out, at_c(a, w), rows);
            add_product(at_c(a, w) + derivatives, by_out, apart(w, b), rows);
        }
    }

    void gap_between_outside(int a, int b) {
        Value by_state[STATES[GAP]];
        for (int state = 0; state < STATES[GAP]; state++) by_state[state] = by_gap(a, b, state) + by_gap(b, a, SWAPPED[state]);
        at_s(a, b)[hidden + derivatives] += by_state[APART];
        if (may_have_two(a)) at_c(a, b)[hidden + derivatives] += by_state[FIRST_ABOVE];
        at_c(b, a)[hidden + derivatives] += by_state[SECOND_ABOVE];
    }
    Value by_gap(int a, int b, int state) const {
        const int at = (a * side + b) * STATES[GAP] + state;
        return gap_rows[state][derivatives + a * width + b] + this->gaps[derivatives + at] +
               N::sum(N::at(this->gap_lanes + at * WIDTH));
    }
};

}  // namespace sums
}  // namespace VARIANT::oneec
