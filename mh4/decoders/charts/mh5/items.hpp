// The items of the MH5 decoder, and the order in which they are computed. mh5.pyx defines the items and their scores.
//
// Rows run over r, the last node of an item. The nodes 0 to n+1 are cut into panels of LANES nodes such that the last
// panel is full; the first panel begins with up to LANES - 1 nodes that do not exist. [i,x,y,R] stands for the row of
// all [i,x,y,r] with r in panel R. For each panel, t3 and other tables by two nodes x < y have a row for every pair,
// and t4 has a row for every triple i < x < y. In a row, lanes of nodes r <= y are -inf. Nodes y at the end of a panel
// or after it have no rows in it.
//
// The loops run over blocks of BLOCK first nodes i, from n down to 0; in a block, over panels; in a panel, over the i
// of the block; and then over the last inner node y. So all items that [i,x,y,R] is made of are computed before it:
//     [j,...,R], j > i        as i decreases;
//     [i,...,l], l <= y       in an earlier panel or, if l is in R, with an earlier y;
//     [i,x,y,l], l > y        in an earlier panel or in the same row.
// Combine [i,j] + [j,x,y,R] reads all of t4. Blocks make it fast: where j is after the block and before the panel, it
// is done for all i of the block at once.
#pragma once
#include <type_traits>

#include "lanes.hpp"
#include "transition_chart.hpp"

namespace VARIANT::mh5 {

using namespace transitions;

enum { BLOCK = 8, TILE = 8 };

// The items that start with a node i of the block, laid out as the left parts of Combine.
struct Plane {
    int i;
    const float* arcs;  // the scores of arcs from i, before the last transition
    float* la_from;     // LA on i, x
    float* ra_from;     // RA on i, x, with i->x
    float* u2;          // [i,x] + shift at x
    float* best_x3;     // the best [i,j,x] + shift over j, at x
    float* rows;        // KINDS rows for each y, over x. The first is [i,x,y] + shift; after x = y - 1 come TILE cells of -inf
    float* current;     // KINDS rows for each x, over nodes of the current panel; `complete` turns them into `rows`
};
enum { CODES = LA3 + 1 };
enum { X3, KINDS = 7 };  // kinds of rows of a Plane; those beside X3 depend on whether arcs are scored

static inline size_t two(size_t a) { return a < 2 ? 0 : a * (a - 1) / 2; }
static inline size_t three(size_t a) { return a < 3 ? 0 : a * (a - 1) * (a - 2) / 6; }
static inline Lanes all(float a) { return a - Lanes(); }
static inline void put(float* row, Lanes lanes) { *(Lanes*)row = lanes; }
static inline void raise(float* row, Lanes lanes) { put(row, maximum(at(row), lanes)); }

// The items and their memory.
struct Items : TransitionChart {
    int n, pad, panels;
    size_t stride, width;                // the lengths of rows over all nodes, and of the rows of a Plane
    std::vector<size_t> pairs, triples;  // the number of the first row of each panel
    int first, last;                     // nodes of the block
    Plane planes[BLOCK];
    // rows over all nodes r
    float* t2;    // [i,r] at i
    float* s0b0;  // at CODES * s0 + code
    // rows over nodes
    float* shifts_to;          // shift[x,y] at y, over x
    float *la_to, *ra_to;      // the scores of LA (with y->x) and of RA on x, y; in the same places
    float* rap2_to;            // the scores of RA'2 on x, y; in the same places
    float *zeros, *forbidden;  // arcs from a node: all 0, all -inf
    float* column;             // [i,x,y] at x
    float* lefts;              // [i,j] + shift for all i of the block, at BLOCK * j
    // rows over the nodes of a panel
    float *t3, *t4;

    int low(int R) const { return R * LANES - pad; }
    int high(int R) const { return low(R) + LANES - 1; }
    int panel(int r) const { return (r + pad) / LANES; }
    int lane(int r) const { return (r + pad) % LANES; }
    size_t pair(int R, int x, int y) const { return (pairs[R] + two(y) + x) * LANES; }
    size_t triple(int R, int i, int x, int y) const { return (triples[R] + three(y) + two(x) + i) * LANES; }
    float* span(int i, int R) const { return t2 + i * stride + R * LANES; }
    const float* on_s0b0(int code, int s0, int R) const { return s0b0 + (CODES * s0 + code) * stride + R * LANES; }
    static float* current(const Plane& plane, int kind, int x) { return plane.current + (KINDS * x + kind) * LANES; }
    float* row(const Plane& plane, int kind, int y) const { return plane.rows + (KINDS * y + kind) * width; }

    float item2(int i, int l) const override { return t2[i * stride + pad + l]; }
    float item3(int i, int j, int l) const override { return t3[pair(panel(l), i, j) + lane(l)]; }
    float item4(int i, int j, int k, int l) const override { return t4[triple(panel(l), i, j, k) + lane(l)]; }

    void prepare() override {
        n = scores.n;
        pad = (LANES - (n + 2) % LANES) % LANES;
        panels = (n + 2 + pad) / LANES;
        stride = panels * LANES;
        width = n + 1 + TILE;
        pairs.resize(panels + 1);
        triples.resize(panels + 1);
        pairs[0] = triples[0] = 0;
        for (int R = 0; R < panels; R++) {
            pairs[R + 1] = pairs[R] + two(high(R));
            triples[R + 1] = triples[R] + three(high(R));
        }
        TransitionChart::prepare();
    }

    void arrange() override {
        t4 = memory.take(triples[panels] * LANES);
        t3 = memory.take(pairs[panels] * LANES);
        t2 = memory.take((n + 1) * stride);
        s0b0 = memory.take((n + 1) * CODES * stride);
        memory.take_all({&shifts_to, &la_to, &ra_to, &rap2_to}, (n + 2) * stride);
        memory.take_all({&zeros, &forbidden, &column}, stride);
        lefts = memory.take((n + 1) * BLOCK);
        for (Plane& plane : planes) {
            memory.take_all({&plane.la_from, &plane.ra_from, &plane.u2, &plane.best_x3}, stride);
            plane.rows = memory.take((n + 1) * KINDS * width);
            plane.current = memory.take((n + 1) * KINDS * LANES);
        }
        arrange_tables();
    }

    // Lay out the scores as the loops read them.
    void tabulate() {
        std::fill(zeros, zeros + stride, 0);
        std::fill(forbidden, forbidden + stride, -INFINITY);
        for (int y = 1; y <= n + 1; y++)
            for (int x = 0; x < y; x++) {
                shifts_to[y * stride + x] = scores.shift_score(x, y);
                la_to[y * stride + x] = y > n || x == 0 ? -INFINITY : scores.on_s0b0(LA, x, y) + scores.arc_score(y, x);
                ra_to[y * stride + x] = x == 0 ? -INFINITY : scores.on_s0b0(RA, x, y);
                rap2_to[y * stride + x] = scores.on_s1s0(RAp2, x, y);
            }
        for (int k = 1; k <= n; k++) {
            watch.pass(CODES * n);
            for (int code = LA; code < CODES; code++) {
                float* row = s0b0 + (CODES * k + code) * stride;
                std::fill(row, row + pad, 0);
                for (int r = 0; r <= n + 1; r++) row[pad + r] = scores.on_s0b0(code, k, r);
                if (code == LA || code == LA2 || code == LA3)  // the end of the sentence cannot be a head
                    row[pad + n + 1] = -INFINITY;
            }
        }
    }

    void begin_plane(Plane& plane, int i) const {
        plane.i = i;
        plane.arcs = i == 0 && scores.single_root ? forbidden
                     : scores.arcs_and_cost       ? scores.arcs_and_cost + (size_t)i * (n + 1)
                                                  : zeros;
        for (int x = i + 1; x <= n; x++) {
            plane.la_from[x] = scores.on_s1s0(LA, i, x);
            plane.ra_from[x] = scores.on_s1s0(RA, i, x) + plane.arcs[x];
        }
    }

    // Complete [i,x,y] and [i,y] for a y in the current panel, once all [i,x,k,y] are complete. Write the rows of the
    // Plane for y; to rows of the kinds up to `shifted`, add the shift of y.
    void complete(Plane& plane, int y, int R, int shifted) {
        const int i = plane.i, first = i + 1, count = y - first;
        gather(column + first, plane, X3, first, y, NULL);
        if (y == first)
            t2[i * stride + pad + y] = 0;
        else {
            if (y > n && i == 0)  // the last transition
                for (int x = 1; x <= n; x++) plane.ra_from[x] = scores.on_s1s0(RA, 0, x) + scores.arc_score(0, x);
            t2[i * stride + pad + y] = link2(column + first, plane.la_from + first, la_to + y * stride + first,
                                             plane.ra_from + first, ra_to + y * stride + first, count);
        }
        if (y > n) return;
        plane.u2[y] = t2[i * stride + pad + y] + scores.shift_score(i, y);
        const float* to = shifts_to + y * stride + first;
        for (int kind = X3; kind < KINDS; kind++)
            gather(row(plane, kind, y) + first, plane, kind, first, y, kind <= shifted ? to : NULL);
        float* x3 = row(plane, X3, y);
        plane.best_x3[y] = count > 0 ? *std::max_element(x3 + first, x3 + y) : -INFINITY;
        std::fill(x3 + y, x3 + y + TILE, -INFINITY);
    }

    // Make row `kind` of a Plane, over x from `first` to y - 1, from the cells of y in the current panel.
    void gather(float* __restrict row, const Plane& plane, int kind, int first, int y, const float* added) const {
        const float* cell = current(plane, kind, first) + lane(y);
        const int count = y - first;
        if (added)
            for (int x = 0; x < count; x++) row[x] = cell[x * KINDS * LANES] + added[x];
        else
            for (int x = 0; x < count; x++) row[x] = cell[x * KINDS * LANES];
    }

  protected:
    virtual void arrange_tables() = 0;  // take the memory of the derived class

    // The best ways to items of four and five heads, for the trace.
    Step step4(int i, int j, int k, int l) const override {
        Step best;
        best.combine(item3(i, j, k) + scores.shift_score(j, k) + item2(k, l), 3);
        best.combine(item2(i, j) + scores.shift_score(i, j) + item3(j, k, l), 2);
        for (int x = i + 1; x < j; x++) try_links<RApp, LApp, LApp2, LA3>(best, step5(i, x, j, k, l).score, i, x, j, k, l);
        for (int x = j + 1; x < k; x++) try_links<RAp2, LAp, RAp, LA2>(best, step5(i, j, x, k, l).score, i, j, x, k, l);
        for (int x = k + 1; x < l; x++) try_links<RA3, LA, RA, RA2>(best, step5(i, j, k, x, l).score, i, j, k, x, l);
        return best;
    }
    Step step5(int i, int j, int k, int l, int r) const override {
        Step best;
        best.combine(item4(i, j, k, l) + scores.shift_score(k, l) + item2(l, r), 4);
        best.combine(item3(i, j, k) + scores.shift_score(j, k) + item3(k, l, r), 3);
        best.combine(item2(i, j) + scores.shift_score(i, j) + item4(j, k, l, r), 2);
        return best;
    }
};

// Call f with `count` as a constant, from 1 to TILE; do nothing for 0.
template <int COUNT = TILE, class F> static inline void with_constant(int count, F f) {
    if constexpr (COUNT > 0) {
        if (count == COUNT)
            f(std::integral_constant<int, COUNT>());
        else
            with_constant<COUNT - 1>(count, f);
    }
}

// What depends on whether arcs are scored is left to a derived class, Rows:
//     SHIFTED                            the last kind of rows of a Plane to which the shift of y is added
//     tabulate_pairs()                   lay out the scores, after Items::tabulate()
//     begin_block()                      lay out the scores of arcs from the block
//     combine<COUNT>(x, y, R)            [i,j] + [j,x,y,R] for the COUNT nodes i of the block and all j between block
//                                        and panel; this is kept where [i,x,y,R] will be
//     begin_rows(plane, from, y, R)      prepare for [i,x,y,R] with x >= from
//     fill_rows<COUNT>(plane, x, y, R)   [i,x,y,R] for COUNT nodes from x, which are all in the block or all after it
//     complete_left(plane, y)            [i,...,y] are complete
//     store(plane, R)                    [i,...,R] are complete
template <class Rows> struct Panels : Items {
    bool fill() override {
        tabulate();
        rows()->tabulate_pairs();
        for (last = n; last >= 0; last = first - 1) {
            first = std::max(0, last - BLOCK + 1);
            for (int i = first; i <= last; i++) begin_plane(planes[i - first], i);
            rows()->begin_block();
            for (int R = panel(first + 1); R < panels; R++) fill_panel(R);
        }
        return item2(0, n + 1) > -INFINITY;
    }

  private:
    Rows* rows() { return static_cast<Rows*>(this); }

    void fill_panel(int R) {
        const int start = low(R);
        for (int i = first; i <= last; i++)
            if (high(R) > i) begin(planes[i - first], R);
        for (int j = last + 1; j < start; j++)
            for (int q = 0; q <= last - first; q++) lefts[j * BLOCK + q] = planes[q].u2[j];
        // Rows [i,x,y,R] with x and y between the block and the panel: for all i at once, as they share what they read.
        // Of the items that start in the block and end in the panel, they need only [j,x,y,R].
        for (int y = last + 2; y < start; y++) {
            for (int i = last; i >= first; i--) rows()->begin_rows(planes[i - first], last + 1, y, R);
            for (int x = last + 1; x < y; x += TILE) {
                combine_tile(x, std::min(x + TILE, y), y, R);
                for (int i = last; i >= first; i--) fill_tile(planes[i - first], x, std::min(x + TILE, y), y, R);
            }
        }
        for (int y = std::max(start, last + 2); y < high(R); y++) combine_tile(last + 1, y, y, R);
        // The other rows, one i after the other
        for (int i = last; i >= first; i--)
            if (high(R) > i) fill_plane(planes[i - first], R);
    }

    void begin(Plane& plane, int R) {
        put(span(plane.i, R), all(-INFINITY));
        for (int x = plane.i + 1; x < std::min(n + 1, high(R)); x++) {
            put(current(plane, X3, x), last < x && x < low(R) ? plane.u2[x] + at(span(x, R)) : all(-INFINITY));
            for (int kind = X3 + 1; kind < KINDS; kind++) put(current(plane, kind, x), all(-INFINITY));
        }
    }

    void fill_plane(Plane& plane, int R) {
        const int i = plane.i;
        for (int y = i + 1; y <= high(R); y++) {
            watch.pass(4 * n);
            if (y >= low(R)) {
                complete(plane, y, R, Rows::SHIFTED);
                if (y <= n) rows()->complete_left(plane, y);
                if (y == high(R)) break;
            }
            if (y >= low(R) || y <= last) raise(current(plane, X3, y), plane.u2[y] + at(span(y, R)));
            if (i < last || y >= low(R)) rows()->begin_rows(plane, i + 1, y, R);
            if (i < last) fill_tile(plane, i + 1, std::min(y, last + 1), y, R);
            if (y >= low(R))
                for (int x = last + 1; x < y; x += TILE) fill_tile(plane, x, std::min(x + TILE, y), y, R);
        }
        for (int y = i + 1; y < high(R); y++) put(t3 + pair(R, i, y), at(current(plane, X3, y)));
        rows()->store(plane, R);
    }

    void combine_tile(int x, int end, int y, int R) {
        for (; x < end; x++) {
            watch.pass(BLOCK * (n + LANES));
            with_constant(last - first + 1, [&](auto count) { rows()->template combine<count>(x, y, R); });
        }
    }

    void fill_tile(const Plane& plane, int x, int end, int y, int R) {
        watch.pass(TILE * 4 * (n + LANES));
        with_constant(end - x, [&](auto count) { rows()->template fill_rows<count>(plane, x, y, R); });
    }
};

}  // namespace VARIANT::mh5
