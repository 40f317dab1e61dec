// The reverse of the projective part, for sums over 1EC trees. projective.hpp has the formulas that are reversed here.
#pragma once

#include "complexes.hpp"
#include "sum_tables.hpp"

namespace VARIANT::oneec {
namespace sums {

template <class N> struct Projective : Complexes<Tables<N>> {
    typedef Complexes<Tables<N>> Base;
    using typename Base::Value, typename Base::Vector;
    using Base::n, Base::side, Base::width, Base::rows, Base::hidden, Base::to_gradient, Base::WIDTH, Base::gap_rows;
    using Base::may_have_two, Base::at_e, Base::at_c, Base::at_s, Base::at_pairs;
    using Base::above, Base::apart, Base::half, Base::pair, Base::below;

    double* expected_arc;  // the counts of the reverse, as in Counts
    double* expected_sibling;
    double* expected_grandparent;

    void outside_projective(int l, int r) {
        gap_between_outside(l, r);
        pairs_outside(l, r);
        halves_outside(r, l);
        halves_outside(l, r);
        arcs_outside(r, l);
        arcs_outside(l, r);
        halves_crossed_outside(r, l);
        halves_crossed_outside(l, r);
    }

  protected:
    Value& grad(Value* value) const { return value[to_gradient]; }

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
        const Value grad_pair = grad(&pair(h, end));
        grad(&half(h, end - step)) += grad_pair;
        grad(&apart(h, end)) += grad_pair;
        for (int u = low + 1; u < high; u++) {
            grad(&half(h, u)) += grad_pair * apart(end, u);
            grad(&apart(end, u)) += grad_pair * half(h, u);
        }
        const Value grad_half = grad(&half(h, end));
        grad(&above(h, end)) += grad_half;
        for (int u = low + 1; u < high; u++) {
            grad(&above(h, u)) += grad_half * below(u, end);
            grad(&below(u, end)) += grad_half * above(h, u);
        }
    }

    void arcs_outside(int h, int m) {
        if (m == 0) return;
        const int step = m > h ? 1 : -1, low = minimum(h, m), high = maximum(h, m);
        Value *out = at_e(h, m), *grad_out = out + to_gradient, *siblings = this->sibling + m * (side + 1);
        const Value score = this->arc[h * side + m], hidden_sibling = this->hidden_sibling[m];
        const Value* grandparents = this->grandparent + m * rows;
        double uses = 0;
        for (int g = 0; g <= hidden; g++) {
            const double expected = N::result(out[g] * grad_out[g]);
            uses += expected;
            if (g < hidden) expected_grandparent[(size_t)g * side + m] += expected;
        }
        expected_arc[(size_t)h * side + m] += uses;
        // From here on, grad_out is the derivative with respect to `out` before it was multiplied by the scores.
        for (int g = 0; g < rows; g += WIDTH) N::put(grad_out + g, N::at(grad_out + g) * N::at(grandparents + g) * score);
        const Value grad_innermost = sum(grad_out, rows);
        Value* const inner_half = at_c(m, h + step) + h;
        expected_sibling[(size_t)side * side + m] += N::result(grad_innermost * siblings[side] * *inner_half);
        grad(inner_half) += grad_innermost * siblings[side];
        if (!may_have_two(h)) return;
        const Value grad_pairs = grad_innermost * hidden_sibling;
        grad(&pair(h, m)) += grad_pairs;
        for (int s = low + 1; s < high; s++) {
            Value *const inner = at_c(m, s) + h, *const between = at_s(s, m) + h;
            grad(&pair(h, s)) += grad_pairs * *inner;
            grad(inner) += grad_pairs * pair(h, s);
            const Value grad_coef = dot(grad_out, at_e(h, s), rows), coef = *between * siblings[s];
            add_product(at_e(h, s) + to_gradient, grad_out, coef, rows);
            expected_sibling[(size_t)s * side + m] += N::result(grad_coef * coef);
            grad(between) += grad_coef * siblings[s];
        }
    }

    void halves_outside(int h, int end) {
        const int step = end > h ? 1 : -1;
        const Value* grad_out = at_c(h, end) + to_gradient;
        const Value one = N::exponential(0);
        grad(&half(h, end)) += sum(grad_out, rows);
        add_product(at_e(h, end) + to_gradient, grad_out, one, rows);
        for (int m = h + step; m != end; m += step) {
            add_product(at_e(h, m) + to_gradient, grad_out, at_c(m, end)[h], rows);
            grad(at_c(m, end) + h) += dot(grad_out, at_e(h, m), rows);
        }
    }

    void pairs_outside(int a, int b) {
        const Value *grad_s = at_s(a, b) + to_gradient, one = N::exponential(0);
        Value* grad_out = at_pairs(a, b) + to_gradient;
        add_product(grad_out, grad_s, one, rows);
        for (int w = a + 1; w < b; w++) {
            add_products(at_pairs(a, w) + to_gradient, grad_s, at_c(b, w), rows);
            add_products(at_c(b, w) + to_gradient, grad_s, at_pairs(a, w), rows);
        }
        if (!may_have_two(a)) return;
        add_product(at_c(a, b - 1) + to_gradient, grad_out, one, rows);
        for (int w = a; w < b; w++) {
            grad(&apart(w, b)) += dot(grad_out, at_c(a, w), rows);
            add_product(at_c(a, w) + to_gradient, grad_out, apart(w, b), rows);
        }
    }

    void gap_between_outside(int a, int b) {
        Value grads[STATES[GAP]];
        for (int state = 0; state < STATES[GAP]; state++) grads[state] = grad_gap(a, b, state) + grad_gap(b, a, SWAPPED[state]);
        grad(at_s(a, b) + hidden) += grads[APART];
        if (may_have_two(a)) grad(at_c(a, b) + hidden) += grads[FIRST_ABOVE];
        grad(at_c(b, a) + hidden) += grads[SECOND_ABOVE];
    }
    Value grad_gap(int a, int b, int state) const {
        const int at = (a * side + b) * STATES[GAP] + state;
        return gap_rows[state][to_gradient + a * width + b] + this->gaps[to_gradient + at] +
               N::sum(N::at(this->gap_lanes + at * WIDTH));
    }
};

}  // namespace sums
}  // namespace VARIANT::oneec
