// The projective part of the chart for sums over 1EC trees: the same as projective.hpp, with its items, for sums, and its reverse. Each
// tree has one derivation there: the outermost dependent determines how C is made, the inner sibling E, and the innermost word w S.
#pragma once

#include "sum_tables.hpp"

namespace VARIANT::oneec {
namespace sums {

template <class N> struct Projective : Tables<N> {
    typedef Tables<N> Base;
    using typename Base::Value, typename Base::Vector;
    using Base::n, Base::side, Base::width, Base::rows, Base::hidden, Base::derivatives, Base::WIDTH;
    using Base::may_have_two, Base::at_e, Base::at_c, Base::at_s, Base::at_pairs;
    using Base::complex_above, Base::complex_apart, Base::crossed_half, Base::crossed_pair, Base::gap_rows;

    double* expected_arc;      // the counts of the reverse, as in Counts
    double* expected_sibling;
    double* expected_grandparent;

    // Everything that needs only the complex of l and r.
    void inside_projective(int l, int r) {
        halves_crossed(l, r);
        halves_crossed(r, l);
        arcs(l, r);
        arcs(r, l);
        halves(l, r);
        halves(r, l);
        make_pairs(l, r);
        gap_between(l, r);
    }

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

  private:
    Value& by(Value* value) const { return value[derivatives]; }

    // Vectors of g
    static void add_product(Value* out, const Value* row, Value coef, int count) {
        for (int g = 0; g < count; g += WIDTH) N::put(out + g, N::at(out + g) + N::at(row + g) * coef);
    }
    static void add_products(Value* out, const Value* left, const Value* right, int count) {
        for (int g = 0; g < count; g += WIDTH) N::put(out + g, N::at(out + g) + N::at(left + g) * N::at(right + g));
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
    // The nodes from a to b have no g in between; nor is there any beyond `hidden`.
    void only_outside(Value* out, int a, int b) const {
        std::fill(out + minimum(a, b), out + maximum(a, b) + 1, Value());
        std::fill(out + hidden + 1, out + rows, Value());
    }

    Value& above(int h, int u) const { return complex_above[h * width + u]; }
    Value& apart(int a, int b) const { return complex_apart[a * width + b]; }
    Value& half(int h, int end) const { return crossed_half[h * width + end]; }
    Value& pair(int h, int end) const { return crossed_pair[h * width + end]; }
    Value& below(int u, int end) const { return gap_rows[SECOND_ABOVE][end * width + u]; }  // C u end, in a gap

    void halves_crossed(int h, int end) {
        const int step = end > h ? 1 : -1, low = minimum(h, end), high = maximum(h, end);
        Value total = above(h, end);
        for (int u = low + 1; u < high; u++) total += above(h, u) * below(u, end);
        half(h, end) = total;
        total = half(h, end - step) + apart(h, end);
        for (int u = low + 1; u < high; u++) total += half(h, u) * apart(end, u);
        pair(h, end) = total;
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

    // E h m
    void arcs(int h, int m) {
        if (m == 0) return;
        const int step = m > h ? 1 : -1, low = minimum(h, m), high = maximum(h, m);
        Value *out = at_e(h, m), *siblings = this->sibling + m * (side + 1);
        const Value hidden_sibling = this->hidden_sibling[m];
        Value innermost = siblings[side] * at_c(m, h + step)[h];
        if (may_have_two(h)) {
            innermost += hidden_sibling * pair(h, m);
            for (int s = low + 1; s < high; s++) innermost += hidden_sibling * pair(h, s) * at_c(m, s)[h];
        }
        std::fill_n(out, rows, innermost);
        for (int s = low + 1; s < high && may_have_two(h); s++)
            add_product(out, at_e(h, s), at_s(s, m)[h] * siblings[s], rows);
        const Value score = this->arc[h * side + m];
        const Value* grandparents = this->grandparent + m * rows;
        for (int g = 0; g < rows; g += WIDTH) N::put(out + g, N::at(out + g) * N::at(grandparents + g) * score);
        only_outside(out, h, m);
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
        // From here on, the derivative is by what is in `out` before it is multiplied by the scores.
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

    // C h end
    void halves(int h, int end) {
        const int step = end > h ? 1 : -1;
        Value* out = at_c(h, end);
        std::copy_n(at_e(h, end), rows, out);
        for (int m = h + step; m != end; m += step) add_product(out, at_e(h, m), at_c(m, end)[h], rows);
        const Vector crossed = Base::spread(half(h, end));
        for (int g = 0; g < rows; g += WIDTH) N::put(out + g, N::at(out + g) + crossed);
        only_outside(out, h, end);
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

    // S a b and pairs a b; in pairs a w, a's dependents extend to the node before w, or cross those of w.
    void make_pairs(int a, int b) {
        Value* out = at_pairs(a, b);
        if (may_have_two(a)) {
            std::copy_n(at_c(a, b - 1), rows, out);
            for (int w = a; w < b; w++) add_product(out, at_c(a, w), apart(w, b), rows);
        } else {
            std::fill_n(out, rows, b > 1 ? Value() : N::exponential(0));
        }
        only_outside(out, a, b);
        std::copy_n(out, rows, at_s(a, b));
        for (int w = a + 1; w < b; w++) add_products(at_s(a, b), at_pairs(a, w), at_c(b, w), rows);
        only_outside(at_s(a, b), a, b);
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

    void gap_between(int a, int b) {
        const Value values[] = {at_s(a, b)[hidden], may_have_two(a) ? at_c(a, b)[hidden] : Value(), at_c(b, a)[hidden]};
        static_assert(APART == 0 && FIRST_ABOVE == 1 && SECOND_ABOVE == 2, "the order of values");
        for (int state = 0; state < STATES[GAP]; state++) {
            gap_rows[state][a * width + b] = gap_rows[SWAPPED[state]][b * width + a] = values[state];
            this->gaps[(a * side + b) * STATES[GAP] + state] = values[state];
            this->gaps[(b * side + a) * STATES[GAP] + SWAPPED[state]] = values[state];
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
        return gap_rows[state][derivatives + a * width + b] + this->gaps[derivatives + at] + N::sum(N::at(this->gap_lanes + at * WIDTH));
    }
};

}  // namespace sums
}  // namespace VARIANT::oneec
