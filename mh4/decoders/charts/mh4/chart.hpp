// The chart of the MH4 decoder, in O(n^4) time and O(n^3) memory, laid out for vector instructions.
//
// Let R1 and R2 be the scores of the best reduces of [i,j,k,l] that remove k and j (docs/explanation/products.md). Then
//
//     t2[i,l]     = max over j of t3[i,j,l] + the best of LA and RA;   t2[i,i+1] = 0
//     t3[i,j,l]   = max of t2[i,j] + shift[i,j] + t2[j,l],   t4[i,j,k,l] + R1[j,k,l] over k,   t4[i,q,j,l] + R2[q,j,l] over q
//     t4[i,j,k,l] = max of t3[i,j,k] + shift[j,k] + t2[k,l],   t2[i,j] + shift[i,j] + t3[j,k,l]
#pragma once
#include "lanes.hpp"
#include "transition_chart.hpp"

namespace VARIANT::mh4 {

using namespace transitions;

// The innermost loops, which take nearly all of the time.
//
// For given i and k, all j between them and all l in the rows of k, which have `count` cells: make [i,j,k,l] by
// Combine, and from this [i,j,l] and [i,k,l] by Link.
//
//     tj[j], tk       the rows of [i,j,l] and [i,k,l]
//     t2k             the row of [k,l]
//     tjk, R1, R2     for each j from first_j: the row of [j,k,l], and of the best reduces that remove k and j
//     left, right     by j: [i,j,k] + shift, which combines with [k,l]; [i,j] + shift, which combines with [j,k,l]
//     ra2, row_ra2    if by_head: the score of RA2, which makes the arc i->k, in a part by j and a part by l
//     rap, row_rap    if by_head: the same for RA', which makes the arc i->j
template <bool by_head>
static inline void link3(float* const* tj, float* tk, const float* t2k, const float* tjk, const float* R1, const float* R2,
                         const float* left, const float* right, const float* ra2, const float* rap, const float* row_ra2,
                         const float* row_rap, int first_j, int k, int start, int count) {
    for (int x = 0; x < count; x += LANES) {
        Lanes best_k = at(tk + x), kl = at(t2k + x), ra2_l = Lanes(), rap_l = Lanes();
        if (by_head) {
            ra2_l = at(row_ra2 + x);
            rap_l = at(row_rap + x);
        }
        long cell = x;
        for (int j = first_j; j < k; j++, cell += count) {
            float* best_j = tj[j] + start + x;
            Lanes t4 = maximum(left[j] + kl, right[j] + at(tjk + cell));
            Lanes without_k = at(R1 + cell), without_j = at(R2 + cell);
            if (by_head) {
                without_k = maximum(without_k, ra2[j] + ra2_l);
                without_j = maximum(without_j, rap[j] + rap_l);
            }
            *(Lanes*)best_j = maximum(at(best_j), t4 + without_k);
            best_k = maximum(best_k, t4 + without_j);
        }
        *(Lanes*)(tk + x) = best_k;
    }
}

// The loops run over i from n down and, for each i, over k from i+1 up. All items that start to the right of i are then
// final. At k, all items [i,j,k] are final, too: Combine makes them when the loop is at j, and Link when it is at j or
// at the removed node, whichever is later, and both come before k. Then, in this order:
//
//     1. Link makes [i,k] from the items [i,j,k].
//     2. Combine makes [i,k,l] from [i,k] and [k,l], for all l.
//     3. For all j < k < l, Combine makes [i,j,k,l], from [i,j,k] and [k,l] or from [i,j] and [j,k,l]. [i,j,k,l] is not
//        stored, but pushed by Link to [i,j,l] and [i,k,l].
//
// Rows run over l, the last node of an item. A row begins at the multiple of LANES at or below the first possible l; it
// has -inf before that l and beyond the sentence. [j,k,l] is read for one k and all j and l. So tables by three nodes
// are indexed k, j, l, and rows that are read one after the other are adjacent.
//
// R1 and R2 do not depend on i and are tabulated first. If the scores of arcs from i depend on i, RA2 and RA' are left
// out of R1 and R2 (by_head). That leaves a few additions and maxima for every i, j, k and l.
//
// Node 0 can only be the first node of an item. The last transition of every derivation is RA with head 0, and no other
// transition leads to [0,n+1]. So a derivation has a single root if it makes no arc from 0 before its last transition.
class Chart : public TransitionChart {
    int n;
    size_t stride, volume;      // the length of a row; the size of a table by three nodes
    bool by_head;               // whether the scores of arcs from i depend on i: then R1 and R2 lack RA2 and RA'
    std::vector<size_t> place;  // the position of l = 0 in the row of [0,k,l] in the tables by three nodes
    std::vector<float*> rows;   // [i,j,l] for the current i, by j
    // tables by three nodes
    float* t3;  // the best score of [i,k,l], at k, i, l
    float* R1;  // the best score of RA, LA and, unless by_head, RA2, which remove k from [i,j,k,l]; at k, j, l
    float* R2;  // the best score of LA', LA2 and, unless by_head, RA', which remove j; at k, j, l
    // tables by two nodes: rows of `stride`
    float* t2;       // the best score of [i,l], at i, l
    float* s0b0;     // six rows at s0, by b0
    float* la_to;    // LA (l->j) in [i,j,l]: the terms that depend on j and l, at l, j
    float* ra_to;    // RA (i->j) in [i,j,l]: the same
    float* shifts;   // shift[j,k] at k, j
    float* ra2_to;   // RA2 (i->k) in [i,j,k,l]: the terms that depend on j and k, at k, j
    float* rap_to;   // RA' (i->j) in [i,j,k,l]: the same
    float* arcs_to;  // the score of an arc at dependent, head
    // tables by one node, for the current i, or i and k
    float* la_from;    // LA (l->j) in [i,j,l]: the terms that depend on i and j, at j
    float* ra_from;    // RA (i->j) in [i,j,l]: the same
    float* arcs_from;  // the score of i->j at j
    float* column;     // [i,j,k] at j
    float* left;       // [i,j,k] + shift[j,k] at j
    float* right;      // [i,j] + shift[i,j] at j
    float* ra2;        // RA2 (i->k) in [i,j,k,l]: the terms that depend on i, j and k, at j
    float* rap;        // RA' (i->j) in [i,j,k,l]: the same

    static int row_start(int k) { return (k + 1) / LANES * LANES; }  // of rows over l > k
    // The position of l = 0 in the row of [j,k,l] in the tables by three nodes.
    size_t at3(int j, int k) const { return place[k] + (size_t)j * (stride - row_start(k)); }
    // The row of x in a table by two nodes.
    float* row(float* table, int x) const { return table + (size_t)x * stride; }
    float* row_s0b0(int code, int s0) const { return row(s0b0, 6 * s0 + code - LA); }

    void arrange() override {
        const size_t square = (n + 2) * stride;
        memory.take_all({&t3, &R1, &R2}, volume);
        s0b0 = memory.take(6 * square);
        memory.take_all({&t2, &la_to, &ra_to, &shifts, &ra2_to, &rap_to, &arcs_to}, square);
        memory.take_all({&la_from, &ra_from, &arcs_from, &column, &left, &right, &ra2, &rap}, stride);
    }

    bool fill() override {
        tabulate();
        for (int i = n; i >= 0; i--) fill_plane(i);
        return t2[n + 1] > -INFINITY;
    }

    // Lay out the scores as the loops read them. The score of an arc (arcs + cost) is added here. Only scores of arcs
    // from i are added later, by `fill_plane` and `link`.
    void tabulate() {
        for (int m = 1; m <= n; m++)
            for (int h = 0; h < (int)stride; h++) row(arcs_to, m)[h] = h <= n ? scores.arc_score(h, m) : 0;
        for (int k = 1; k <= n; k++) {
            watch.pass((size_t)k * (n - k + LANES));
            const int start = row_start(k);
            for (int code = LA; code <= RA2; code++) {
                float* reduces_k = row_s0b0(code, k);
                for (int l = start; l <= n + 1; l++) reduces_k[l] = scores.on_s0b0(code, k, l);
                std::fill(reduces_k + n + 2, reduces_k + stride, 0);
            }
            float* la_k = row_s0b0(LA, k);
            for (int l = start; l <= n; l++) la_k[l] += row(arcs_to, k)[l];
            la_k[n + 1] = row_s0b0(LA2, k)[n + 1] = -INFINITY;  // the end of the sentence cannot be a head
            for (int l = k + 1; l <= n + 1; l++) {
                row(la_to, l)[k] = la_k[l];
                row(ra_to, l)[k] = row_s0b0(RA, k)[l];
            }
            row(shifts, k)[0] = scores.shift_score(0, k);
            for (int j = 1; j < k; j++) {
                float reduces[RA2 + 1];
                for (int code = LA; code <= RA2; code++) reduces[code] = scores.on_s1s0(code, j, k);
                reduces[RA] += row(arcs_to, k)[j];
                reduces[LAp] += row(arcs_to, j)[k];
                row(shifts, k)[j] = scores.shift_score(j, k);
                row(ra2_to, k)[j] = reduces[RA2];
                row(rap_to, k)[j] = reduces[RAp];
                tabulate_links(R1 + at3(j, k) + start, R2 + at3(j, k) + start, k, start, row(arcs_to, j) + start, reduces);
            }
        }
    }

    // R1 (to_k) and R2 (to_j) for one j and k, over l. s1s0: the scores on j and k.
    void tabulate_links(float* __restrict to_k, float* __restrict to_j, int k, int start, const float* arcs_to_j,
                        const float* s1s0) const {
        const float la = s1s0[LA], ra = s1s0[RA], lap = s1s0[LAp], rap = s1s0[RAp], la2 = s1s0[LA2], ra2 = s1s0[RA2];
        const float *row_la = row_s0b0(LA, k) + start, *row_ra = row_s0b0(RA, k) + start;
        const float *row_lap = row_s0b0(LAp, k) + start, *row_rap = row_s0b0(RAp, k) + start;
        const float *row_la2 = row_s0b0(LA2, k) + start, *row_ra2 = row_s0b0(RA2, k) + start;
        const int count = (int)stride - start;
        for (int l = 0; l < count; l++) {
            to_k[l] = maximum(ra + row_ra[l], la + row_la[l]);
            to_j[l] = maximum(lap + row_lap[l], la2 + row_la2[l] + arcs_to_j[l]);
        }
        for (int l = 0; l < count && !by_head; l++) {
            to_k[l] = maximum(to_k[l], ra2 + row_ra2[l]);
            to_j[l] = maximum(to_j[l], rap + row_rap[l]);
        }
    }

    // All items starting with i.
    void fill_plane(int i) {
        float* items = row(t2, i);
        const bool forbidden = scores.single_root && i == 0;  // whether arcs from i are forbidden
        std::fill(items + row_start(i), items + stride, -INFINITY);
        items[i + 1] = 0;
        for (int j = i + 1; j <= n; j++) {
            rows[j] = t3 + at3(i, j);
            arcs_from[j] = forbidden ? -INFINITY : row(arcs_to, j)[i];
            la_from[j] = scores.on_s1s0(LA, i, j);
            ra_from[j] = scores.on_s1s0(RA, i, j) + arcs_from[j];
        }
        for (int k = i + 1; k <= n + 1; k++) {
            // Link [i,j,k] to [i,k]
            for (int j = i + 1; j < k; j++) column[j] = rows[j][k];
            if (forbidden && k > n)  // only the last transition, which leads to [0,n+1], may make an arc from 0
                for (int j = 1; j < k; j++) ra_from[j] = scores.on_s1s0(RA, 0, j) + row(arcs_to, j)[0];
            if (k > i + 1)
                items[k] = link2(column + i + 1, la_from + i + 1, row(la_to, k) + i + 1, ra_from + i + 1, row(ra_to, k) + i + 1,
                                 k - i - 1);
            if (k > n) return;
            watch.pass((size_t)(k - i) * (n - k + LANES));
            right[k] = items[k] + row(shifts, k)[i];
            link(i, k);
        }
    }

    // Start the row of [i,k,l], and push all [i,j,k,l] to [i,j,l] and [i,k,l].
    void link(int i, int k) {
        const int start = row_start(k), count = (int)stride - start, first = i + 1, nodes = k - first;
        const size_t cell = at3(first, k) + start;
        float* tk = rows[k] + start;
        const float* t2k = row(t2, k) + start;
        // Combine makes [i,k,l]: right[k], which is [i,k] + shift[i,k], and [k,l]
        add(tk, t2k, right[k], count);
        // Combine makes [i,j,k,l], as left[j] + [k,l] or right[j] + [j,k,l], and Link makes [i,j,l] and [i,k,l]
        add(left + first, column + first, row(shifts, k) + first, nodes);
        if (by_head) {
            add(ra2 + first, row(ra2_to, k) + first, arcs_from[k], nodes);
            add(rap + first, row(rap_to, k) + first, arcs_from + first, nodes);
            link3<true>(rows.data(), tk, t2k, t3 + cell, R1 + cell, R2 + cell, left, right, ra2, rap, row_s0b0(RA2, k) + start,
                        row_s0b0(RAp, k) + start, first, k, start, count);
        } else
            link3<false>(rows.data(), tk, t2k, t3 + cell, R1 + cell, R2 + cell, left, right, nullptr, nullptr, nullptr, nullptr,
                         first, k, start, count);
    }

    static void add(float* __restrict total, const float* a, float value, int count) {
        for (int x = 0; x < count; x++) total[x] = a[x] + value;
    }
    static void add(float* __restrict total, const float* a, const float* b, int count) {
        for (int x = 0; x < count; x++) total[x] = a[x] + b[x];
    }

  protected:
    float item2(int i, int l) const override { return row(t2, i)[l]; }
    float item3(int i, int j, int l) const override { return t3[at3(i, j) + l]; }
    float item4(int i, int j, int k, int l) const override { return Chart::step4(i, j, k, l).score; }
    Step step4(int i, int j, int k, int l) const override {  // item4 calls this one, even where FirstFound overrides it
        Step best;
        best.combine(item2(i, j) + scores.shift_score(i, j) + item3(j, k, l), 2);
        best.combine(item3(i, j, k) + scores.shift_score(j, k) + item2(k, l), 3);
        return best;
    }

  public:
    void prepare() override {
        n = scores.n;
        stride = (n + 1 + LANES) / LANES * LANES;
        by_head = scores.single_root || scores.arcs_and_cost;  // with a single root, arcs from 0 are forbidden
        place.resize(n + 1);
        rows.resize(n + 1);
        volume = 0;
        for (int k = 0; k <= n; k++) {
            place[k] = volume - row_start(k);
            volume += k * (stride - row_start(k));
        }
        TransitionChart::prepare();
    }
};

}  // namespace VARIANT::mh4
