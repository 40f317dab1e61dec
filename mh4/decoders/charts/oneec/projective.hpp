// The projective part of the chart of 1EC (Koo & Collins, ACL 2010); see oneec.pyx for its items E, C and S, and for the use
// of complexes in them.

#pragma once

#include <utility>

#include "tables.hpp"

namespace VARIANT::oneec {

// out[g] = max(least(g), max over i < count of term(i, g)), for several blocks that begin with g.
template <int size, class Least, class Term>
static INLINE void maximum_of_blocks(float* out, int g, Least least, int count, Term term) {
    Block best[size];
    for (int j = 0; j < size; j++) best[j] = least(g + j * LANES);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < size; j++) update_maximum(best[j], term(i, g + j * LANES));
    store(out + g, best);
}

// crossed_half h v and crossed_pair h w are drawn in oneec.pyx; they are the same for any g. pairs a w is like crossed_pair, but
// for any outermost dependent of a, and with g.
struct Projective : Tables {
    // Everything that needs only the complex of l and r.
    void fill_projective(int l, int r) {
        halves_crossed(l, r);
        halves_crossed(r, l);
        arcs(l, r);
        arcs(r, l);
        halves(l, r);
        halves(r, l);
        pairs(l, r);
        gap_between(l, r);
    }

  private:
    void halves_crossed(int h, int end) {
        const int step = end > h ? 1 : -1, low = minimum(h, end), high = maximum(h, end);
        const float *above = complex_above + h * width, *below = gap[SECOND_ABOVE] + end * width;
        const float* apart = complex_apart + end * width;
        float* half = crossed_half + h * width;
        float best = above[end];
        for (int u = low + 1; u < high; u++) update_maximum(best, above[u] + below[u]);
        half[end] = best;
        best = maximum(half[end - step], apart[h]);
        for (int u = low + 1; u < high; u++) update_maximum(best, half[u] + apart[u]);
        crossed_pair[h * width + end] = best;
    }

    // The same for all g outside a..b: the blocks of g < a, and those of g > b, which include none and hidden.
    template <class Least, class Term> INLINE void maximum_outside(float* out, Least least, int count, Term term, int a, int b) {
        const int before = blocks_before(a), after = maximum(before, (b + 1) / LANES);
        for (auto [j, end] : {std::pair(0, before), std::pair(after, rows / LANES)}) {
            for (; j + 4 <= end; j += 4) maximum_of_blocks<4>(out, j * LANES, least, count, term);
            for (; j < end; j++) maximum_of_blocks<1>(out, j * LANES, least, count, term);
        }
    }

    // The maximum over rows begin..end-1 of a table plus coefs, for g outside a..b
    INLINE void max_plus_outside(float* out, float least, const float* table, int begin, int end, int a, int b) {
        const float *first = table + (size_t)begin * rows, *own = coefs + begin;
        const size_t stride = rows;
        maximum_outside(
            out, [=](int) { return Block{} + least; }, end - begin,
            [=](int i, int g) { return row(first + i * stride + g) + own[i]; }, a, b);
    }

    // E h m
    void arcs(int h, int m) {
        const int step = m > h ? 1 : -1, low = minimum(h, m), high = maximum(h, m);
        float* out = at_e(h, m);
        const float *pair = crossed_pair + h * width, *grandparents = grandparent + m * rows;
        const float* siblings = sibling + m * (side + 1);
        if (m == 0) {
            std::fill_n(out, rows, NEVER);
            return;
        }
        float best = siblings[side] + at_c(m, h + step)[h];
        if (may_have_two(h)) {
            for (int s = low + 1; s < high; s++) {
                update_maximum(best, pair[s] + at_c(m, s)[h]);
                coefs[s] = at_s(s, m)[h] + siblings[s];
            }
            update_maximum(best, pair[m]);
            max_plus_outside(out, best, at_e(h, 0), low + 1, high, low, high);
        } else {
            std::fill_n(out, rows, best);
        }
        const float score = arc[h * side + m];
        for (int g = 0; g < rows; g++) out[g] += score + grandparents[g];
    }

    // C h end
    void halves(int h, int end) {
        int low = minimum(h, end), high = maximum(h, end);
        for (int m = low + 1; m < high; m++) coefs[m] = at_c(m, end)[h];
        coefs[end] = 0;
        const int right = h < end;
        max_plus_outside(at_c(h, end), crossed_half[h * width + end], at_e(h, 0), low + right, high + right, low, high);
    }

    // S a b and pairs a b; in pairs a w, a's dependents extend to the node before w, or cross those of w.
    void pairs(int a, int b) {
        float *table = layer(a).pairs, *out = table + (size_t)b * rows;
        if (may_have_two(a)) {
            for (int w = a; w < b; w++) coefs[w] = complex_apart[w * width + b];
            coefs[b - 1] = maximum(coefs[b - 1], 0.0f);
            max_plus_outside(out, NEVER, at_c(a, 0), a, b, a, b);
        } else {
            std::fill_n(out, rows, b > 1 ? NEVER : 0.0f);
        }
        const float *left = table + (size_t)(a + 1) * rows, *right = at_c(b, a + 1);
        const size_t stride = rows;
        maximum_outside(
            at_s(a, b), [=](int g) { return row(out + g); }, b - a - 1,
            [=](int i, int g) { return row(left + i * stride + g) + row(right + i * stride + g); }, a, b);
    }

    void gap_between(int a, int b) {
        float values[STATES[GAP]];
        values[APART] = at_s(a, b)[hidden];
        values[FIRST_ABOVE] = may_have_two(a) ? at_c(a, b)[hidden] : NEVER;
        values[SECOND_ABOVE] = at_c(b, a)[hidden];
        for (int state = 0; state < STATES[GAP]; state++)
            gap[state][a * width + b] = gap[SWAPPED[state]][b * width + a] = values[state];
    }
};

}  // namespace VARIANT::oneec
