// The rows [i,x,y,R] of the MH5 decoder when only transitions are scored. Link makes [i,x,y,r] of an item of five
// heads: it removes a node j between i and x, k between x and y, or l between y and r. A, B and C are the ways to make
// the item of five heads (mh5.pyx).
#pragma once
#include "items.hpp"

namespace VARIANT::mh5 {

// Right parts of Combine, with the best Link that follows, if this depends on the right part alone: rows over r in a
// panel, for pairs of nodes.
struct Tables {
    bool from_first;         // whether i can be a head
    float* drop_j;           // at x, y: the best reduce that removes j from [i,j,x,y,r]
    float *drop_x, *drop_y;  // at x, y: the best reduces that remove x and y from [i,x,y,r]
    float* b;                // at k, y: [k,y,r] + the best reduce that removes k: B without k
    float* a;                // at y, l: shift[y,l] + [l,r] + the best reduce that removes l: A without l
    float* c;                // at x, y: [x,y,r], or made from [x,k,y,r] or [x,y,l,r] by an arc from i: C without k or l
    float* e;                // at y: [y,r], or made from [y,l,r] by an arc from i or x: B without l
};

// The kinds of rows of a Plane.
enum {
    DROP_J = X3 + 1,  // the best [i,j,x,y] + shift over j
    DROP_K,           // the best [i,x,k,y] + shift + the score of LA', RA', LA2, RA'2 on k, y over k
    EXTENDED = DROP_K + 4
};
static const Code DROPS_K[] = {LAp, RAp, LA2, RAp2};

// Call body(0) to body(COUNT - 1), unrolled, so that an array Lanes[COUNT] of the surrounding code stays in registers.
template <int COUNT, class Body> __attribute__((always_inline)) static inline void each(Body body) {
#pragma GCC unroll 8
    for (int x = 0; x < COUNT; x++) body(x);
}

struct Transitions final : Panels<Transitions> {
    enum { SHIFTED = DROP_J };
    Tables tables[2];  // 0: for all nodes i; 1: for i = 0 with a single root, where 0 cannot be a head before the end
    float* drop_k;     // rows over r at 4 * k: shift[k,r] + the score of LA', RA', LA2, RA'2 on k, r
    float* ra3_to;     // rows over x: the scores of RA3 on x, y

    // The place of x, y in Tables::a, in which rows of successive y are adjacent.
    size_t after(int R, int x, int y) const { return (pairs[R] + (size_t)x * high(R) - two(x + 1) + y - x - 1) * LANES; }

    // The best of some reduces on s1 = x, s0 = y.
    template <int code> Lanes best(int x, int y, int R) const { return scores.on_s1s0(code, x, y) + at(on_s0b0(code, y, R)); }
    template <int code, int other, int... more> Lanes best(int x, int y, int R) const {
        return maximum(best<code>(x, y, R), best<other, more...>(x, y, R));
    }

    void arrange_tables() override {
        drop_k = memory.take((n + 1) * 4 * stride);
        ra3_to = memory.take((n + 1) * stride);
        for (int k = 0; k < (scores.single_root ? 2 : 1); k++) {
            Tables& t = tables[k];
            t.from_first = k == 0;
            memory.take_all({&t.drop_j, &t.drop_x, &t.drop_y, &t.a, &t.b, &t.c}, pairs[panels] * LANES);
            t.e = memory.take((n + 1) * stride);
        }
    }

    void begin_block() {}
    void begin_rows(const Plane& plane, int, int y, int R) {
        for (const float* table : {t3, tables[0].b, tables[0].c}) __builtin_prefetch(table + pair(R, plane.i, y), 1);
    }
    void complete_left(const Plane&, int) {}

    void tabulate_pairs() {
        for (int k = 1; k <= n; k++)
            for (int c = 0; c < 4; c++) {
                float* row = drop_k + (4 * k + c) * stride;
                std::fill(row, row + pad, 0);
                for (int r = 0; r <= n + 1; r++) row[pad + r] = scores.shift_score(k, r) + scores.on_s1s0(DROPS_K[c], k, r);
            }
        for (int y = 1; y <= n; y++)
            for (int x = 1; x < y; x++) ra3_to[y * stride + x] = scores.on_s1s0(RA3, x, y);
        for (int k = 0; k < (scores.single_root ? 2 : 1); k++) tabulate_pairs(tables[k]);
    }

    void tabulate_pairs(Tables& t) {
        for (int R = 0; R < panels; R++)
            for (int y = 1; y < high(R); y++) {
                watch.pass(20 * y);
                for (int x = 1; x < y; x++) {
                    size_t cell = pair(R, x, y);
                    Lanes drop_j = best<LApp, LApp2, LA3>(x, y, R), drop_y = best<LA, RA>(x, y, R),
                          drop_x = best<LAp, LA2>(x, y, R);
                    if (t.from_first) {
                        drop_j = maximum(drop_j, best<RApp>(x, y, R));
                        drop_y = maximum(drop_y, best<RA2>(x, y, R));
                        drop_x = maximum(drop_x, best<RAp>(x, y, R));
                    }
                    put(t.drop_j + cell, drop_j);
                    put(t.drop_x + cell, drop_x);
                    put(t.drop_y + cell, drop_y);
                }
            }
    }

    void store(const Plane& plane, int R) {
        if (plane.i > 0)
            for (int k = 0; k < (scores.single_root ? 2 : 1); k++) store(tables[k], plane, R);
    }

    // Write the tables for items that start with i.
    void store(Tables& t, const Plane& plane, int R) {
        const int i = plane.i;
        Lanes e = at(span(i, R));
        for (int y = i + 1; y < high(R); y++) {
            Lanes t3 = at(current(plane, X3, y)), b = best<LAp, RAp, LA2>(i, y, R), made = best<RA2>(i, y, R);
            if (t.from_first) {
                b = maximum(b, best<RAp2>(i, y, R));
                made = maximum(made, best<RA3>(i, y, R));
            }
            put(t.b + pair(R, i, y), t3 + b);
            put(t.c + pair(R, i, y), t.from_first ? maximum(t3, at(current(plane, EXTENDED, y))) : t3);
            e = maximum(e, t3 + made);
        }
        put(t.e + i * stride + R * LANES, e);
        for (int x = 1; x < i; x++) {
            Lanes a = best<LA, RA, RA2>(x, i, R);
            if (t.from_first) a = maximum(a, best<RA3>(x, i, R));
            put(t.a + after(R, x, i), scores.shift_score(x, i) + at(span(i, R)) + a);
        }
    }

    template <int COUNT> void combine(int x, int y, int R) {
        float* row = t4 + triple(R, 0, x, y);
        Lanes best[COUNT];
        // Prefetch the row of x + 2: nothing has been written there yet, so it is in no cache. The same goes for other
        // prefetches for writing.
        const float* later = row + (two(x + 2) - two(x) + first) * LANES;
        each<COUNT>([&](int q) { __builtin_prefetch(later + q * LANES, 1); });
        each<COUNT>([&](int q) { best[q] = all(-INFINITY); });
        for (long j = last + 1; j < std::min(x, low(R)); j++) {
            Lanes right = at(row + j * LANES);
            each<COUNT>([&](int q) { best[q] = maximum(best[q], lefts[j * BLOCK + q] + right); });
        }
        each<COUNT>([&](int q) { put(row + (first + q) * LANES, best[q]); });
    }

    template <int COUNT> void fill_rows(const Plane& plane, const int x0, const int y, const int R) {
        const Tables& t = tables[plane.i == 0 && scores.single_root];
        const long i = plane.i, start = low(R);
        float* to[COUNT];
        to[0] = t4 + triple(R, i, x0, y);
        for (int x = 1; x < COUNT; x++) to[x] = to[x - 1] + (x0 + x - 1) * LANES;
        const long ahead = panel(y + 1);
        for (long L = ahead; L < R; L++) {
            const float* row = t4 + triple(L, i, x0, y);
            each<COUNT>([&](int x) {
                __builtin_prefetch(row);
                row += (x0 + x) * LANES;
            });
        }
        const size_t cell = pair(R, x0, y);
        const Lanes t2y = at(span(y, R));
        Lanes best[COUNT];
        const bool combined = x0 > last;
        if (!combined) each<COUNT>([&](int x) { __builtin_prefetch(to[x], 1); });
        each<COUNT>([&](int x) { best[x] = combined ? at(to[x]) : all(-INFINITY); });
        if (combined) {
            for (long j = i + 1; j <= last; j++)
                each<COUNT>([&](int x) { best[x] = maximum(best[x], plane.u2[j] + at(to[x] + (j - i) * LANES)); });
            for (long j = std::max(start, (long)last + 1); j < x0; j++)
                each<COUNT>([&](int x) { best[x] = maximum(best[x], plane.u2[j] + at(to[x] + (j - i) * LANES)); });
        }
        if (!combined || x0 + COUNT - 2 >= start)
            for (int j = 0; j < COUNT - 1; j++)
                if (!combined || x0 + j >= start)
                    for (int x = j + 1; x < COUNT; x++)
                        best[x] = maximum(best[x], plane.u2[x0 + j] + at(to[x] + (x0 + j - i) * LANES));
        const float *drop_j = row(plane, DROP_J, y) + x0, *x3 = row(plane, X3, y) + x0;
        const Lanes e = at(t.e + y * stride + R * LANES);
        each<COUNT>([&](int x) {
            best[x] = maximum(best[x], drop_j[x] + t2y);
            best[x] = maximum(best[x], plane.best_x3[x0 + x] + at(t3 + cell + x * LANES));
            best[x] = best[x] + at(t.drop_j + cell + x * LANES);
            best[x] = maximum(best[x], plane.u2[x0 + x] + at(t.c + cell + x * LANES));
            best[x] = maximum(best[x], x3[x] + e);
        });
        for (int c = 0; c < 4; c++) {
            if (DROPS_K[c] == RAp2 && !t.from_first) continue;
            const Lanes right = t2y + at(on_s0b0(DROPS_K[c], y, R));
            const float* left = row(plane, DROP_K + c, y) + x0;
            each<COUNT>([&](int x) { best[x] = maximum(best[x], left[x] + right); });
        }
        // B without k
        for (long k = x0 + 1; k < y; k++) {
            const Lanes right = at(t.b + cell + (k - x0) * LANES);
            const float* left = row(plane, X3, k) + x0;
            each<COUNT>([&](int x) { best[x] = maximum(best[x], left[x] + right); });
        }
        // A without l
        alignas(64) float left[COUNT][LANES];
        const float* right = t.a + after(R, y, y + 1) - (y + 1) * LANES;
        for (long L = ahead; L < R; L++) {
            const float* row = t4 + triple(L, i, x0, y);
            each<COUNT>([&](int x) {
                put(left[x], at(row));
                row += (x0 + x) * LANES;
            });
            for (long l = std::max(low(L), y + 1); l <= high(L); l++) {
                const Lanes a = at(right + l * LANES);
                each<COUNT>([&](int x) { best[x] = maximum(best[x], left[x][l - low(L)] + a); });
            }
        }
        for (long l = std::max(start, (long)y + 1); l < high(R); l++) {
            const Lanes a = at(right + l * LANES);
            each<COUNT>([&](int x) { put(left[x], best[x]); });
            each<COUNT>([&](int x) { best[x] = maximum(best[x], left[x][l - start] + a); });
        }
        // Link the items. Members are copied to variables: vectors may alias anything, so otherwise members would be
        // read again after every store.
        float *const row_x = current(plane, X3, x0), *const row_y = current(plane, X3, y);
        const float *const drop_x = t.drop_x + cell, *const drop_y = t.drop_y + cell;
        const float* const more = drop_k + 4 * y * stride + R * LANES;
        const size_t next = stride;
        const Lanes b7 = at(on_s0b0(RA3, y, R)), b8 = at(on_s0b0(RAp2, y, R));
        const float *const a7 = ra3_to + y * stride + x0, *const a8 = rap2_to + y * stride + x0;
        Lanes y3 = at(row_y), y_extended = at(row_y + EXTENDED * LANES), y_drop_j = at(row_y + DROP_J * LANES);
        each<COUNT>([&](int x) {
            float* const rows = row_x + x * KINDS * LANES;
            put(to[x], best[x]);
            raise(rows, best[x] + at(drop_y + x * LANES));
            for (int c = 0; c < 4; c++) raise(rows + (DROP_K + c) * LANES, best[x] + at(more + c * next));
            raise(rows + EXTENDED * LANES, best[x] + (a7[x] + b7));
            y3 = maximum(y3, best[x] + at(drop_x + x * LANES));
            y_extended = maximum(y_extended, best[x] + (a8[x] + b8));
            y_drop_j = maximum(y_drop_j, best[x]);
        });
        put(row_y, y3);
        put(row_y + EXTENDED * LANES, y_extended);
        put(row_y + DROP_J * LANES, y_drop_j);
    }
};

}  // namespace VARIANT::mh5
