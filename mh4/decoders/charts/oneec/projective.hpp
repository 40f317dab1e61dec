// The projective part of the charts of 1EC (Koo & Collins, ACL 2010). oneec.pyx explains its items E, C and S, and how
// they use complexes. This code is the same for the best tree and for sums over all trees: `both` is the value of two
// parts together, and `either` is the higher of two values or their sum (MaxPlus and sums::Views define them).

#pragma once

#include <utility>

#include "layout.hpp"

namespace VARIANT::oneec {

// crossed_half h v and crossed_pair h w are drawn in oneec.pyx; they do not depend on g. pairs a w is like
// crossed_pair, but the arc to the outermost dependent of a may be uncrossed, and pairs depends on g. Each tree has
// one derivation: the outermost dependent determines how C is made, the inner sibling determines E, and the innermost
// word w determines S.
//
// The comments below give the formulas for the best tree; for sums, read `sum` for `max`, and products for sums. They
// are for h < m; for m < h, read the node to the left of w, w-1, as the one to its right, and so on.
template <class Tables> struct Projective : Tables {
    using typename Tables::Value, typename Tables::Vector;
    using Tables::n, Tables::side, Tables::width, Tables::rows, Tables::hidden, Tables::coefs, Tables::gap_rows, Tables::WIDTH;
    using Tables::complex_above, Tables::complex_apart, Tables::crossed_half, Tables::crossed_pair;
    using Tables::may_have_two, Tables::blocks_before, Tables::at_e, Tables::at_c, Tables::at_s, Tables::only_outside;
    using Tables::either, Tables::both, Tables::at, Tables::put, Tables::spread, Tables::nothing;

    // Fill all items of l and r. Complex l r must be filled.
    void fill_projective(int l, int r) {
        halves_crossed(l, r);
        halves_crossed(r, l);
        arcs(l, r);
        arcs(r, l);
        halves(l, r);
        halves(r, l);
        fill_pairs(l, r);
        gap_between(l, r);
    }

  protected:
    Value& above(int h, int u) const { return complex_above[h * width + u]; }
    Value& apart(int a, int b) const { return complex_apart[a * width + b]; }
    Value& half(int h, int end) const { return crossed_half[h * width + end]; }
    Value& pair(int h, int end) const { return crossed_pair[h * width + end]; }
    Value& below(int u, int end) const { return gap_rows[SECOND_ABOVE][end * width + u]; }  // C u end, in a gap

  private:
    // crossed_half h end = max over u of  complex h u, with h above u  +  C u end hidden
    // crossed_pair h end = max of         crossed_half h end-1
    //                      and over u of  crossed_half h u  +  complex u end      (u = h: no crossed_half)
    void halves_crossed(int h, int end) {
        const int step = end > h ? 1 : -1, low = minimum(h, end), high = maximum(h, end);
        Value found = above(h, end);
        for (int u = low + 1; u < high; u++) found = either(found, both(above(h, u), below(u, end)));
        half(h, end) = found;
        found = either(half(h, end - step), apart(h, end));
        for (int u = low + 1; u < high; u++) found = either(found, both(half(h, u), apart(end, u)));
        pair(h, end) = found;
    }

    // out[g] = last(g, `either` of first(g) and of term(i, g) for all i < count), for `size` blocks from g on.
    template <int size, class First, class Term, class Last>
    static INLINE void fill_blocks(Value* out, int g, First first, int count, Term term, Last last) {
        Vector found[size];
        for (int j = 0; j < size; j++) found[j] = first(g + j * WIDTH);
        for (int i = 0; i < count; i++)
            for (int j = 0; j < size; j++) found[j] = either(found[j], term(i, g + j * WIDTH));
        for (int j = 0; j < size; j++) put(out + g + j * WIDTH, last(g + j * WIDTH, found[j]));
    }

    // The same for all g outside a..b: the blocks of g < a and of g > b, which include none and hidden.
    template <class First, class Term, class Last>
    INLINE void fill_outside(Value* out, First first, int count, Term term, Last last, int a, int b) {
        const int before = blocks_before(a), after = maximum(before, (b + 1) / WIDTH);
        for (auto [j, end] : {std::pair(0, before), std::pair(after, rows / WIDTH)}) {
            for (; j + 4 <= end; j += 4) fill_blocks<4>(out, j * WIDTH, first, count, term, last);
            for (; j < end; j++) fill_blocks<1>(out, j * WIDTH, first, count, term, last);
        }
        only_outside(out, a, b);
    }
    struct AsItIs {
        INLINE Vector operator()(int, const Vector& found) const { return found; }
    };

    // E h m g = arc[h,m] + grandparent[g,m]
    //         + max of         sibling[none,m]  +  C m h+1 h
    //           and over w of  crossed_pair h w  +  C m w h                 (sibling not visible)
    //           and over s of  sibling[s,m]  +  E h s g  +  S s m h
    void arcs(int h, int m) {
        const int step = m > h ? 1 : -1, low = minimum(h, m), high = maximum(h, m);
        if (m == 0) {
            std::fill_n(at_e(h, m), rows, nothing());
            return;
        }
        const Value *siblings = this->sibling + m * (side + 1), *grandparents = this->grandparent + m * rows;
        const Value hidden_sibling = this->hidden_sibling_of(m), score = this->arc[h * side + m];
        Value innermost = both(siblings[side], at_c(m, h + step)[h]);
        if (may_have_two(h)) {
            innermost = either(innermost, both(hidden_sibling, pair(h, m)));
            for (int s = low + 1; s < high; s++) {
                innermost = either(innermost, both(both(hidden_sibling, pair(h, s)), at_c(m, s)[h]));
                coefs[s] = both(at_s(s, m)[h], siblings[s]);
            }
        }
        const Value *first_sibling = at_e(h, low + 1), *coef = coefs + low + 1;
        const size_t stride = rows;
        fill_outside(
            at_e(h, m), [=](int) { return spread(innermost); }, may_have_two(h) ? high - low - 1 : 0,
            [=](int i, int g) { return both(at(first_sibling + i * stride + g), coef[i]); },
            [=](int g, const Vector& found) { return Tables::with_arc(found, at(grandparents + g), score); }, low, high);
    }

    // C h end g = max of         crossed_half h end
    //             and over m of  E h m g  +  C m end h
    void halves(int h, int end) {
        const int step = end > h ? 1 : -1, low = minimum(h, end), high = maximum(h, end);
        for (int m = low + 1; m < high; m++) coefs[m] = at_c(m, end)[h];
        const Value *outermost = at_e(h, end), *first_arc = at_e(h, h + step), *coef = coefs + h + step;
        const Vector crossed = spread(half(h, end));
        const ptrdiff_t stride = (ptrdiff_t)step * rows;
        fill_outside(
            at_c(h, end), [=](int g) { return at(outermost + g); }, high - low - 1,
            [=](int i, int g) { return both(at(first_arc + i * stride + g), coef[i * step]); },
            [=](int, const Vector& found) { return either(found, crossed); }, low, high);
    }

    // pairs a b g = max of         C a b-1 g
    //               and over w of  C a w g  +  complex w b, neither above the other
    // S a b g     = max over w of  pairs a w g  +  C b w g
    void fill_pairs(int a, int b) {
        const auto pairs = this->pairs_of(a);
        const Value *half_before_b = at_c(a, b - 1), *halves_a = at_c(a, a), *coef = coefs + a;
        const Value *pairs_b = pairs(b), *halves_b = at_c(b, a + 1);
        const size_t stride = rows;
        if (may_have_two(a)) {
            for (int w = a; w < b; w++) coefs[w] = apart(w, b);
            fill_outside(
                pairs(b), [=](int g) { return at(half_before_b + g); }, b - a,
                [=](int i, int g) { return both(at(halves_a + i * stride + g), coef[i]); }, AsItIs(), a, b);
        } else {  // the only dependent of 0 is elsewhere
            std::fill_n(pairs(b), rows, b > 1 ? nothing() : Tables::one());
            only_outside(pairs(b), a, b);
        }
        fill_outside(
            at_s(a, b), [=](int g) { return at(pairs_b + g); }, b - a - 1,
            [=](int i, int g) { return both(at(pairs(a + 1 + i) + g), at(halves_b + i * stride + g)); }, AsItIs(), a, b);
    }

    void gap_between(int a, int b) {
        this->keep_gap(a, b, APART, at_s(a, b)[hidden]);
        this->keep_gap(a, b, FIRST_ABOVE, may_have_two(a) ? at_c(a, b)[hidden] : nothing());
        this->keep_gap(a, b, SECOND_ABOVE, at_c(b, a)[hidden]);
    }
};

}  // namespace VARIANT::oneec
