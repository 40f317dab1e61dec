// The projective part of the chart of 1EC (Koo & Collins, ACL 2010); see oneec.pyx for its items E, C and S, and for the use
// of complexes in them.

#pragma once

#include "oneec_tables.hpp"

namespace oneec {

// out[g] = the maximum of least and, over i, rows[i, g] + coefs[i]; over blocks of g.
template <int size>
static INLINE void times_blocks(float* out, float least, const float* rows, size_t step, const float* coefs, int count) {
    Block best[size];
    for (int i = 0; i < size; i++) set(best[i], least);
    for (int j = 0; j < count; j++)
        for (int i = 0; i < size; i++) update_maximum(best[i], row(rows + j * step + i * LANES) + coefs[j]);
    store(out, best);
}

static inline void times(float* out, float least, const float* rows, size_t step, const float* coefs, int count, int first,
                         int blocks) {
    int i = first;
    for (; i + 4 <= blocks; i += 4) times_blocks<4>(out + i * LANES, least, rows + i * LANES, step, coefs, count);
    for (; i < blocks; i++) times_blocks<1>(out + i * LANES, least, rows + i * LANES, step, coefs, count);
}

// out[g] = the maximum of its old value and, over i, left[i, g] + right[i, g].
template <int size>
static INLINE void joined_blocks(float* out, const float* left, const float* right, size_t step, int count) {
    Block best[size];
    for (int i = 0; i < size; i++) best[i] = row(out + i * LANES);
    for (int j = 0; j < count; j++)
        for (int i = 0; i < size; i++)
            update_maximum(best[i], row(left + j * step + i * LANES) + row(right + j * step + i * LANES));
    store(out, best);
}

static inline void joined(float* out, const float* left, const float* right, size_t step, int count, int first, int blocks) {
    int i = first;
    for (; i + 4 <= blocks; i += 4)
        joined_blocks<4>(out + i * LANES, left + i * LANES, right + i * LANES, step, count);
    for (; i < blocks; i++) joined_blocks<1>(out + i * LANES, left + i * LANES, right + i * LANES, step, count);
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

    // For g outside a..b, and for none and hidden: the maximum of least and of coefs plus rows begin..end-1.
    INLINE void times(float* out, float least, const float* table, int begin, int end, int a, int b) {
        const int near = blocks_before(a), step = rows;
        table += (size_t)begin * rows;
        oneec::times(out, least, table, step, coefs + begin, end - begin, 0, near);
        oneec::times(out, least, table, step, coefs + begin, end - begin, maximum(near, (b + 1) / LANES), rows / LANES);
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
            times(out, best, at_e(h, 0), low + 1, high, low, high);
        } else {
            times(out, best, at_e(h, 0), low + 1, low + 1, low, high);
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
        times(at_c(h, end), crossed_half[h * width + end], at_e(h, 0), low + right, high + right, low, high);
    }

    // S a b and pairs a b; in pairs a w, a's dependents extend to the node before w, or cross those of w.
    void pairs(int a, int b) {
        const int near = blocks_before(a), far = maximum(near, (b + 1) / LANES);
        float *table = layer(a).pairs, *out = table + (size_t)b * rows;
        if (may_have_two(a)) {
            for (int w = a; w < b; w++) coefs[w] = complex_apart[w * width + b];
            coefs[b - 1] = maximum(coefs[b - 1], 0.0f);
            times(out, NEVER, at_c(a, 0), a, b, a, b);
        } else {
            std::fill_n(out, rows, b > 1 ? NEVER : 0.0f);
        }
        std::copy_n(out, rows, at_s(a, b));
        for (int i = 0; i < 2; i++)
            joined(at_s(a, b), table + (size_t)(a + 1) * rows, at_c(b, a + 1), rows, b - a - 1, i ? far : 0,
                   i ? rows / LANES : near);
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

}  // namespace oneec
