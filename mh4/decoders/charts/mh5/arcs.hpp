// The rows [i,x,y,R] of the MH5 decoder when arcs are scored, too. Names are as in transitions.hpp. In `by_i`, `by_x`,
// `by_y` and `by_r`, the last letter is the head of the arc.
#pragma once
#include "items.hpp"

namespace VARIANT::mh5 {

static const Code ON_PAIR[] = {RApp, LApp, LApp2, LA3, RA2, RAp};

struct Arcs final : Panels<Arcs> {
    // The kinds of rows of a Plane. J_BY_...: the best [i,j,x,y] + shift + an arc to j, over j. K_BY_...: the best
    // [i,x,k,y] + shift + an arc to k + the score on k, y of its reduce (RA'2, RA' or LA'), over k.
    enum { J_BY_I = X3 + 1, J_BY_X, J_BY_Y, K_BY_I, K_BY_X, K_BY_Y, SHIFTED = J_BY_Y };

    // The other data of a Plane.
    struct More {
        float* items4;           // [i,x,k,y] at y, k, x: for arcs from r to x and k
        float* j_by_r;           // the best [i,j,x] + shift + r->j over j, at x, over r
        float *j_by_i, *j_by_x;  // the same with i->j and x->j, at x
        // rows over r in the panel, for the current y. b, a: as Tables::b at k and Tables::a at l, but without arcs
        // from x. b_x, a_x: the same by an arc from x, without the score of this arc
        float *b, *b_x, *a, *a_x;
    } more[BLOCK];

    float* from_block;  // arcs from all i of the block, at BLOCK * dependent
    // rows over r
    float* arcs_to;                   // r->k at k
    float *k_by_i, *k_by_x, *k_by_y;  // shift[k,r] + the score on k, r of RA'2, of RA', of LA' and r->k, at k
    // rows over k
    float *k_by_r_to, *rap_to;  // shift[k,y] + the score on k, y of LA2; the score of RA' on k, y; at y
    // by pairs
    float* on_pair;          // the scores of ON_PAIR on x, y
    float *drop_x, *drop_y;  // rows over r at x, y: the best reduces that remove x and y from [i,x,y,r], except by arcs from i
    float *e_x, *e_i;        // rows over r at h, y: the best that RA2 (if x is h) and RA3 (if i is h) make of [y,l,r]

    More& more_of(const Plane& plane) { return more[plane.i - first]; }
    float arc(int head, int dependent) const { return scores.arc_score(head, dependent); }
    Lanes b(int code, int s0, int R) const { return at(on_s0b0(code, s0, R)); }
    Lanes reduce(int code, int s1, int s0, int R) const { return scores.on_s1s0(code, s1, s0) + b(code, s0, R); }
    Lanes to(int dependent, int R) const { return at(arcs_to + dependent * stride + R * LANES); }

    void arrange_tables() override {
        memory.take_all({&arcs_to, &k_by_i, &k_by_x, &k_by_y, &k_by_r_to, &rap_to}, (n + 1) * stride);
        on_pair = memory.take(two(n + 1) * 8);
        memory.take_all({&drop_x, &drop_y, &e_x, &e_i}, pairs[panels] * LANES);
        from_block = memory.take((n + 1) * BLOCK);
        for (More& own : more) {
            own.items4 = memory.take(three(n + 1));
            own.j_by_r = memory.take((n + 1) * stride);
            memory.take_all({&own.j_by_i, &own.j_by_x}, stride);
            memory.take_all({&own.b, &own.b_x, &own.a, &own.a_x}, (n + 1) * LANES);
        }
    }

    void tabulate_pairs() {
        for (int k = 1; k <= n; k++) {
            for (float* table : {arcs_to, k_by_i, k_by_x, k_by_y}) std::fill_n(table + k * stride, stride, 0);
            for (int r = 0; r <= n; r++) arcs_to[k * stride + pad + r] = arc(r, k);
            for (int r = k + 1; r <= n + 1; r++) {
                size_t cell = k * stride + pad + r;
                k_by_i[cell] = scores.shift_score(k, r) + scores.on_s1s0(RAp2, k, r);
                k_by_x[cell] = scores.shift_score(k, r) + scores.on_s1s0(RAp, k, r);
                k_by_y[cell] = scores.shift_score(k, r) + scores.on_s1s0(LAp, k, r) + arcs_to[cell];
            }
            for (int y = k + 1; y <= n; y++) {
                k_by_r_to[y * stride + k] = scores.shift_score(k, y) + scores.on_s1s0(LA2, k, y);
                rap_to[y * stride + k] = scores.on_s1s0(RAp, k, y);
                for (int c = 0; c < 6; c++) on_pair[(two(y) + k) * 8 + c] = scores.on_s1s0(ON_PAIR[c], k, y);
            }
        }
        for (int R = 0; R < panels; R++)
            for (int y = 1; y < high(R); y++) {
                watch.pass(10 * y);
                for (int x = 1; x < y; x++) {
                    put(drop_y + pair(R, x, y), maximum(reduce(LA, x, y, R) + to(y, R), reduce(RA, x, y, R) + arc(x, y)));
                    put(drop_x + pair(R, x, y), maximum(reduce(LA2, x, y, R) + to(x, R), reduce(LAp, x, y, R) + arc(y, x)));
                }
            }
    }

    void begin_block() {
        for (int m = 1; m <= n; m++)
            for (int q = 0; q < BLOCK; q++) from_block[m * BLOCK + q] = q <= last - first ? planes[q].arcs[m] : -INFINITY;
    }

    void complete_left(const Plane& plane, int x) {
        More& own = more_of(plane);
        const float* x3 = row(plane, X3, x);
        float by_i = -INFINITY, by_x = -INFINITY;
        for (int j = plane.i + 1; j < x; j++) {
            by_i = maximum(by_i, x3[j] + plane.arcs[j]);
            by_x = maximum(by_x, x3[j] + arc(x, j));
        }
        own.j_by_i[x] = by_i;
        own.j_by_x[x] = by_x;
        for (int R = panel(x); R < panels; R++) {
            Lanes best = all(-INFINITY);
            for (int j = plane.i + 1; j < x; j++) best = maximum(best, x3[j] + to(j, R));
            put(own.j_by_r + x * stride + R * LANES, best);
        }
    }

    // The right parts of [i,x,k] + [k,y,R] without k and of [i,x,y,l] + [l,R] without l, for x from `from`.
    void begin_rows(const Plane& plane, int from, int y, int R) {
        More& own = more_of(plane);
        const Lanes b8 = b(RAp2, y, R), b4 = b(RAp, y, R);
        for (int k = from + 1; k < y; k++) {
            Lanes t3k = at(t3 + pair(R, k, y));
            put(own.b + k * LANES, t3k + maximum(at(drop_x + pair(R, k, y)), plane.arcs[k] + rap2_to[y * stride + k] + b8));
            put(own.b_x + k * LANES, t3k + (rap_to[y * stride + k] + b4));
        }
        for (int l = y + 1; l < high(R); l++) {
            Lanes t2l = scores.shift_score(y, l) + at(span(l, R));
            put(own.a + l * LANES, t2l + maximum(at(drop_y + pair(R, y, l)), plane.arcs[l] + reduce(RA3, y, l, R)));
            put(own.a_x + l * LANES, t2l + reduce(RA2, y, l, R));
        }
    }

    void store(const Plane& plane, int R) {
        const int y = plane.i;
        for (int h = 0; h < y; h++) {
            watch.pass(8 * n);
            Lanes by_x = all(-INFINITY), by_i = all(-INFINITY);
            const float* arcs = h == 0 && scores.single_root ? forbidden : scores.arcs_and_cost + (size_t)h * (n + 1);
            for (int l = y + 1; l < high(R); l++) {
                Lanes t3l = at(t3 + pair(R, y, l));
                by_x = maximum(by_x, t3l + reduce(RA2, y, l, R) + arcs[l]);
                by_i = maximum(by_i, t3l + reduce(RA3, y, l, R) + arcs[l]);
            }
            put(e_x + pair(R, h, y), by_x);
            put(e_i + pair(R, h, y), by_i);
        }
        // For nodes i of the block before x: what arcs from i make of [x,...,R], kept where [i,x,z,R] will be
        Lanes made[BLOCK];
        for (int x = y, z = x + 1; x > first && z < high(R); z++) {
            watch.pass(BLOCK * n);
            combine_made<BLOCK>(made, from_block, x, z, R);
            for (int i = first; i < x; i++) put(t4 + triple(R, i, x, z), made[i - first]);
        }
    }

    // The reduces that remove j from [i,j,x,y,R].
    struct DropsJ {
        Lanes by_i, by_x, by_y, by_r;
    };
    DropsJ drops_j(int x, int y, int R) const {
        const float *on_x_y = on_pair + (two(y) + x) * 8, *on_y_r = on_s0b0(0, y, R);
        DropsJ of = {on_x_y[0] + at(on_y_r + RApp * stride), on_x_y[1] + at(on_y_r + LApp * stride),
                     on_x_y[2] + at(on_y_r + LApp2 * stride), on_x_y[3] + at(on_y_r + LA3 * stride)};
        return of;
    }
    Lanes not_by_i(const DropsJ& drops, int j, int x, int y, int R) const {
        return maximum(maximum(drops.by_x + arc(x, j), drops.by_y + arc(y, j)), drops.by_r + to(j, R));
    }

    // The best [x,y,R] that an arc from i to k or l makes of [x,k,y,R] or [x,y,l,R], to be combined with [i,x]. It is
    // found for COUNT nodes i of the block; arcs: from_block, beginning with the first of these nodes.
    template <int COUNT> void combine_made(Lanes* made, const float* arcs, int x, int y, int R) const {
        for (int q = 0; q < COUNT; q++) made[q] = all(-INFINITY);
        const Lanes b8 = b(RAp2, y, R);
        for (long k = x + 1; k < y; k++) {
            const Lanes right = at(t4 + triple(R, x, k, y)) + (rap2_to[y * stride + k] + b8);
            for (int q = 0; q < COUNT; q++) made[q] = maximum(made[q], arcs[k * BLOCK + q] + right);
        }
        for (long l = y + 1; l < high(R); l++) {
            const Lanes right = at(t4 + triple(R, x, y, l)) + reduce(RA3, y, l, R);
            for (int q = 0; q < COUNT; q++) made[q] = maximum(made[q], arcs[l * BLOCK + q] + right);
        }
    }

    template <int COUNT> void combine(int x, int y, int R) {
        float* row = t4 + triple(R, 0, x, y);
        const DropsJ drops = drops_j(x, y, R);
        Lanes best[COUNT];
        for (int q = 0; q < COUNT; q++) best[q] = all(-INFINITY);
        for (long j = last + 1; j < std::min(x, low(R)); j++) {
            const Lanes right = at(row + j * LANES), by_i = right + drops.by_i, other = right + not_by_i(drops, j, x, y, R);
            for (int q = 0; q < COUNT; q++)
                best[q] = maximum(best[q], lefts[j * BLOCK + q] + maximum(other, from_block[j * BLOCK + q] + by_i));
        }
        if (x < low(R)) {
            Lanes made[COUNT];
            combine_made<COUNT>(made, from_block, x, y, R);
            for (int q = 0; q < COUNT; q++) best[q] = maximum(best[q], lefts[x * BLOCK + q] + made[q]);
        }
        for (int q = 0; q < COUNT; q++) put(row + (first + q) * LANES, best[q]);
    }

    // The best [i,x,y,R], except for the products that fill_rows computes for several x at once. by_r: the best
    // [i,j,x,y] + the score of r->j.
    Lanes fill_row(const Plane& plane, int x, int y, int R, Lanes by_r) {
        const More& own = more_of(plane);
        const int i = plane.i, start = low(R);
        const float* cell = t4 + triple(R, 0, x, y);
        const DropsJ drops = drops_j(x, y, R);
        const Lanes t2y = at(span(y, R)), t3xy = at(t3 + pair(R, x, y));
        Lanes best = x > last ? at(cell + i * LANES) : all(-INFINITY);
        for (int j = i + 1; j < x; j++) {
            if (j == last + 1) j = std::max(j, start);
            if (j >= x) break;
            const Lanes right = at(cell + j * LANES);
            const Lanes other = right + not_by_i(drops, j, x, y, R), by_i = plane.arcs[j] + (right + drops.by_i);
            best = maximum(best, plane.u2[j] + maximum(other, by_i));
        }
        Lanes made = all(-INFINITY);
        if (x <= last)
            made = at(cell + i * LANES);
        else if (x >= start)
            combine_made<1>(&made, from_block + i - first, x, y, R);
        best = maximum(best, plane.u2[x] + maximum(made, t3xy));
        best = maximum(best, row(plane, X3, y)[x] + maximum(t2y, maximum(at(e_x + pair(R, x, y)), at(e_i + pair(R, i, y)))));
        best = maximum(best, drops.by_i + maximum(row(plane, J_BY_I, y)[x] + t2y, own.j_by_i[x] + t3xy));
        best = maximum(best, drops.by_x + maximum(row(plane, J_BY_X, y)[x] + t2y, own.j_by_x[x] + t3xy));
        best = maximum(best, drops.by_y + maximum(row(plane, J_BY_Y, y)[x] + t2y, own.j_by_r[x * stride + pad + y] + t3xy));
        by_r = maximum(by_r + shifts_to[y * stride + x] + t2y, at(own.j_by_r + x * stride + R * LANES) + t3xy);
        best = maximum(best, drops.by_r + by_r);
        best = maximum(best, row(plane, K_BY_I, y)[x] + (t2y + b(RAp2, y, R)));
        best = maximum(best, row(plane, K_BY_X, y)[x] + (t2y + b(RAp, y, R)));
        return maximum(best, row(plane, K_BY_Y, y)[x] + (t2y + b(LAp, y, R)));
    }

    template <int COUNT> void fill_rows(const Plane& plane, const int x0, const int y, const int R) {
        const More& own = more_of(plane);
        const long i = plane.i, start = low(R);
        float* items[COUNT];
        const float* left4[COUNT];
        alignas(64) float left[COUNT][LANES];
        Lanes best[COUNT];
        for (int x = 0; x < COUNT; x++) {
            items[x] = t4 + triple(R, i, x0 + x, y);
            left4[x] = own.items4 + three(y) + two(x0 + x);
            best[x] = all(-INFINITY);
            for (long L = panel(y + 1); L <= R; L++) __builtin_prefetch(t4 + triple(L, i, x0 + x, y));
        }
        // A without j, by an arc from r
        for (long j = i + 1; j < x0; j++)
            for (int x = 0; x < COUNT; x++) best[x] = maximum(best[x], left4[x][j] + to(j, R));
        for (int j = 0; j < COUNT - 1; j++)
            for (int x = j + 1; x < COUNT; x++) best[x] = maximum(best[x], left4[x][x0 + j] + to(x0 + j, R));
        for (int x = 0; x < COUNT; x++) put(left[x], fill_row(plane, x0 + x, y, R, best[x]));
        // A without k, by an arc from r
        for (int x = 0; x < COUNT; x++) best[x] = all(-INFINITY);
        for (int k = 1; k < COUNT; k++)
            if (x0 + k < y)
                for (int x = 0; x < k; x++)
                    best[x] = maximum(best[x], left4[k][x0 + x] + (to(x0 + k, R) + k_by_r_to[y * stride + x0 + k]));
        for (long k = x0 + COUNT; k < y; k++) {
            const float* row_k = own.items4 + three(y) + two(k) + x0;
            const Lanes right = to(k, R) + k_by_r_to[y * stride + k];
            for (int x = 0; x < COUNT; x++) best[x] = maximum(best[x], row_k[x] + right);
        }
        const Lanes by_r = at(span(y, R)) + b(LA2, y, R);
        for (int x = 0; x < COUNT; x++) best[x] = maximum(at(left[x]), best[x] + by_r);
        // B without k
        for (long k = x0 + 1; k < y; k++) {
            const float *x3 = row(plane, X3, k) + x0, *arcs = arcs_to + k * stride + pad + x0;
            const Lanes right = at(own.b + k * LANES), right_x = at(own.b_x + k * LANES);
            for (int x = 0; x < COUNT; x++) best[x] = maximum(best[x], x3[x] + maximum(right, arcs[x] + right_x));
        }
        // A without l
        for (long L = panel(y + 1); L <= R; L++) {
            for (int x = 0; x < COUNT; x++) put(left[x], L < R ? at(t4 + triple(L, i, x0 + x, y)) : best[x]);
            for (long l = std::max(low(L), y + 1); l <= high(L) && l < high(R); l++) {
                const float* arcs = arcs_to + l * stride + pad + x0;
                const Lanes right = at(own.a + l * LANES), right_x = at(own.a_x + l * LANES);
                for (int x = 0; x < COUNT; x++)
                    best[x] = maximum(best[x], left[x][l - low(L)] + maximum(right, arcs[x] + right_x));
                if (L == R)
                    for (int x = 0; x < COUNT; x++) put(left[x], best[x]);
            }
        }
        // Link the items. Members are copied to variables: vectors may alias anything, so otherwise members would be
        // read again after every store.
        float *const row_x = current(plane, X3, x0), *const row_y = current(plane, X3, y);
        const size_t cell = pair(R, x0, y), next = stride;
        const float *const drop_x_from = drop_x + cell, *const drop_y_from = drop_y + cell;
        const float* const on_x_y = on_pair + (two(y) + x0) * 8;
        const float *const arcs_from_i = plane.arcs, *const arcs_from_y = scores.arcs_and_cost + (size_t)y * (n + 1) + x0;
        const float *const to_y = arcs_to + y * stride + pad + x0, *const to_x = arcs_to + x0 * stride + R * LANES;
        const Lanes b6 = b(RA2, y, R), b4 = b(RAp, y, R), k_i = at(k_by_i + y * stride + R * LANES) + plane.arcs[y],
                    k_x = at(k_by_x + y * stride + R * LANES), k_y = at(k_by_y + y * stride + R * LANES);
        Lanes y3 = at(row_y), by_i = at(row_y + J_BY_I * LANES), by_x = at(row_y + J_BY_X * LANES),
              by_y = at(row_y + J_BY_Y * LANES);
        for (int x = 0; x < COUNT; x++) {
            float* const rows = row_x + x * KINDS * LANES;
            put(items[x], best[x]);
            put(left[x], best[x]);
            raise(rows, best[x] + maximum(at(drop_y_from + x * LANES), arcs_from_i[y] + on_x_y[x * 8 + 4] + b6));
            raise(rows + K_BY_I * LANES, best[x] + k_i);
            raise(rows + K_BY_X * LANES, best[x] + (to_y[x] + k_x));
            raise(rows + K_BY_Y * LANES, best[x] + k_y);
            y3 = maximum(y3, best[x] + maximum(at(drop_x_from + x * LANES), arcs_from_i[x0 + x] + on_x_y[x * 8 + 5] + b4));
            by_i = maximum(by_i, best[x] + arcs_from_i[x0 + x]);
            by_x = maximum(by_x, best[x] + arcs_from_y[x]);
            by_y = maximum(by_y, best[x] + at(to_x + x * next));
        }
        put(row_y, y3);
        put(row_y + J_BY_I * LANES, by_i);
        put(row_y + J_BY_X * LANES, by_x);
        put(row_y + J_BY_Y * LANES, by_y);
        for (long l = std::max(start, (long)y + 1); l <= std::min(high(R), n); l++) {
            float* const columns = own.items4 + three(l) + two(y) + x0;
            for (int x = 0; x < COUNT; x++) columns[x] = left[x][l - start];
        }
    }
};

}  // namespace VARIANT::mh5
