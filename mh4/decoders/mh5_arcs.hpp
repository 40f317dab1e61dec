// The rows [i,x,y,R] of the MH5 decoder when arcs are scored too.
#pragma once
#include "mh5_search.hpp"

namespace mh5 {

struct Arcs : Search<Arcs> {
    // The kinds of rows of a Plane: the best [i,j,x,y] + shift + the score of i->j, x->j, y->j over j, and the best
    // [i,x,k,y] + shift + the scores of RA'2, RA', LA' on k, y and of i->k, x->k, y->k over k.
    enum { J_BY_I = X3 + 1, J_BY_X, J_BY_Y, K_BY_I, K_BY_X, K_BY_Y, SHIFTED = J_BY_Y };

    // More of a Plane.
    struct More {
        float *items4;               // [i,x,k,y] at y, k, x
        float *j_by_r;               // the best [i,j,x] + shift + the score of r->j over j, at x, r
        float *j_by_i, *j_by_x;      // the same with i->j, x->j, at x
        float *b, *b_x, *b_flat, *a, *a_x, *a_flat;    // at k or l for the current y and panel
    } more[BLOCK];

    std::vector<int> uneven_before;  // at dependent, h: the number of heads before h for which the score of the arc is not 0
    float *arcs;                     // by_arc, minus a constant for each dependent
    float *arcs_to;                  // rows over heads r
    float *k_by_i, *k_by_x, *k_by_y; // rows over r at k: shift[k,r] + the score of RA'2, RA', LA' on k, r; for LA' with r->k
    float *k_by_r_to, *a8_to, *a4_to;  // at y, k: shift[k,y] + LA2 on k, y; RA'2 on k, y; RA' on k, y
    float *drop_x, *drop_y;          // by pairs: the best reduce that removes x from [i,x,y,r], or y, except by an arc from i
    float *e_x, *e_i;                // by pairs h, y: the best [y,l,r] + RA2, RA3 on y, l and the score of h->l over l
    float *from_block;               // arcs from all i of the block, at BLOCK * dependent

    More &more_of(const Plane &plane) { return more[plane.i - first]; }
    float arc(int head, int dependent) const { return scores.arc(head, dependent); }
    Lanes b(int code, int s0, int R) const { return at(on_s0b0(code, s0, R)); }
    Lanes reduce(int code, int s1, int s0, int R) const { return scores.on_s1s0(code, s1, s0) + b(code, s0, R); }
    Lanes to(int dependent, int R) const { return at(arcs_to + dependent * stride + R * LANES); }

    // Whether all arcs from some heads to a dependent have the score 0.
    bool flat(int first, int last, int dependent) const {
        const int *before = &uneven_before[dependent * (n + 2)];
        return before[first] == before[last + 1];
    }

    void arrange_tables() override {
        uneven_before.resize((n + 1) * (n + 2));
        arcs = take((n + 1) * (n + 1));
        arcs_to = take((n + 1) * stride);
        k_by_i = take((n + 1) * stride);
        k_by_x = take((n + 1) * stride);
        k_by_y = take((n + 1) * stride);
        k_by_r_to = take((n + 1) * stride);
        a8_to = take((n + 1) * stride);
        a4_to = take((n + 1) * stride);
        drop_x = take(pairs[panels] * LANES);
        drop_y = take(pairs[panels] * LANES);
        e_x = take(pairs[panels] * LANES);
        e_i = take(pairs[panels] * LANES);
        from_block = take((n + 1) * BLOCK);
        for (int q = 0; q < BLOCK; q++) {
            more[q].items4 = take(three(n + 1));
            more[q].j_by_r = take((n + 1) * stride);
            more[q].j_by_i = take(stride);
            more[q].j_by_x = take(stride);
            more[q].b = take((n + 1) * LANES);
            more[q].b_x = take((n + 1) * LANES);
            more[q].b_flat = take((n + 1) * LANES);
            more[q].a = take((n + 1) * LANES);
            more[q].a_x = take((n + 1) * LANES);
            more[q].a_flat = take((n + 1) * LANES);
        }
    }

    // Every word has one head, so a constant may be subtracted from all arcs to it. If most have the same score, this makes it 0. So it
    // is for the cost in training, and most of the work for arcs from one of several heads can be done once for all of them.
    void begin() {
        for (int m = 0; m <= n; m++) {
            float common = -INFINITY;
            int count = 0;
            for (int h = 0; h <= n; h++) {
                count += h != m ? arc(h, m) == common ? 1 : -1 : 0;
                if (count < 0) {
                    common = arc(h, m);
                    count = 1;
                }
            }
            count = 0;
            for (int h = 0; h <= n; h++)
                count += h != m && arc(h, m) == common;
            const bool most = 2 * count > n && common > -INFINITY;
            int *before = &uneven_before[m * (n + 2)];
            before[0] = 0;
            for (int h = 0; h <= n; h++) {
                float &score = arcs[h * (n + 1) + m];
                score = arc(h, m) - (most ? common : 0);
                before[h + 1] = before[h] + (h != m && score != 0);
            }
        }
        scores.by_arc = arcs;
    }

    void tabulate_pairs() {
        for (int k = 1; k <= n; k++) {
            std::fill(arcs_to + k * stride, arcs_to + (k + 1) * stride, 0);
            for (int r = 0; r <= n; r++)
                arcs_to[k * stride + pad + r] = arc(r, k);
            std::fill(k_by_i + k * stride, k_by_i + (k + 1) * stride, 0);
            std::fill(k_by_x + k * stride, k_by_x + (k + 1) * stride, 0);
            std::fill(k_by_y + k * stride, k_by_y + (k + 1) * stride, 0);
            for (int r = k + 1; r <= n + 1; r++) {
                size_t cell = k * stride + pad + r;
                k_by_i[cell] = scores.shift(k, r) + scores.on_s1s0(RAp2, k, r);
                k_by_x[cell] = scores.shift(k, r) + scores.on_s1s0(RAp, k, r);
                k_by_y[cell] = scores.shift(k, r) + scores.on_s1s0(LAp, k, r) + arcs_to[cell];
            }
            for (int y = k + 1; y <= n; y++) {
                k_by_r_to[y * stride + k] = scores.shift(k, y) + scores.on_s1s0(LA2, k, y);
                a8_to[y * stride + k] = scores.on_s1s0(RAp2, k, y);
                a4_to[y * stride + k] = scores.on_s1s0(RAp, k, y);
            }
        }
        for (int R = 0; R < panels; R++)
            for (int y = 1; y < high(R); y++)
                for (int x = 1; x < y; x++) {
                    put(drop_y + pair(R, x, y), maximum(reduce(LA, x, y, R) + to(y, R), reduce(RA, x, y, R) + arc(x, y)));
                    put(drop_x + pair(R, x, y), maximum(reduce(LA2, x, y, R) + to(x, R), reduce(LAp, x, y, R) + arc(y, x)));
                }
    }

    void begin_block() {
        for (int m = 1; m <= n; m++)
            for (int q = 0; q <= last - first; q++)
                from_block[m * BLOCK + q] = planes[q].arcs[m];
    }

    void complete_left(const Plane &plane, int x) {
        More &own = more_of(plane);
        const float *x3 = row(plane, X3, x);
        float by_i = -INFINITY, by_x = -INFINITY;
        for (int j = plane.i + 1; j < x; j++) {
            by_i = maximum(by_i, x3[j] + plane.arcs[j]);
            by_x = maximum(by_x, x3[j] + arc(x, j));
        }
        own.j_by_i[x] = by_i;
        own.j_by_x[x] = by_x;
        for (int R = panel(x); R < panels; R++) {
            Lanes best = all(-INFINITY);
            for (int j = plane.i + 1; j < x; j++)
                best = maximum(best, x3[j] + to(j, R));
            put(own.j_by_r + x * stride + R * LANES, best);
        }
    }

    // The right parts of [i,x,k] + [k,y,R] without k and of [i,x,y,l] + [l,R] without l, for x from `from`.
    void begin_rows(const Plane &plane, int from, int y, int R) {
        More &own = more_of(plane);
        const Lanes b8 = b(RAp2, y, R), b4 = b(RAp, y, R);
        for (int k = from + 1; k < y; k++) {
            Lanes t3k = at(t3 + pair(R, k, y));
            Lanes b = t3k + maximum(at(drop_x + pair(R, k, y)), plane.arcs[k] + a8_to[y * stride + k] + b8);
            Lanes b_x = t3k + (a4_to[y * stride + k] + b4);
            put(own.b + k * LANES, b);
            put(own.b_x + k * LANES, b_x);
            put(own.b_flat + k * LANES, maximum(b, b_x));
        }
        for (int l = y + 1; l < high(R); l++) {
            Lanes t2l = scores.shift(y, l) + at(span(l, R));
            Lanes a = t2l + maximum(at(drop_y + pair(R, y, l)), plane.arcs[l] + reduce(RA3, y, l, R));
            Lanes a_x = t2l + reduce(RA2, y, l, R);
            put(own.a + l * LANES, a);
            put(own.a_x + l * LANES, a_x);
            put(own.a_flat + l * LANES, maximum(a, a_x));
        }
    }

    void store(const Plane &plane, int R) {
        const int y = plane.i;
        for (int h = 0; h < y; h++) {
            Lanes by_x = all(-INFINITY), by_i = all(-INFINITY);
            const float *arcs = h == 0 && scores.single ? forbidden : scores.by_arc + (size_t)h * (n + 1);
            for (int l = y + 1; l < high(R); l++) {
                Lanes t3l = at(t3 + pair(R, y, l));
                by_x = maximum(by_x, t3l + reduce(RA2, y, l, R) + arcs[l]);
                by_i = maximum(by_i, t3l + reduce(RA3, y, l, R) + arcs[l]);
            }
            put(e_x + pair(R, h, y), by_x);
            put(e_i + pair(R, h, y), by_i);
        }
    }

    // The reduces that remove j from [i,j,x,y,R].
    struct DropsJ {
        Lanes by_i, by_x, by_y, by_r;
    };
    DropsJ drops_j(int x, int y, int R) const {
        DropsJ of = {reduce(RApp, x, y, R), reduce(LApp, x, y, R), reduce(LApp2, x, y, R), reduce(LA3, x, y, R)};
        return of;
    }
    Lanes not_by_i(const DropsJ &drops, int j, int x, int y, int R) const {
        return maximum(maximum(drops.by_x + arc(x, j), drops.by_y + arc(y, j)), drops.by_r + to(j, R));
    }

    template <int COUNT>
    void combine(int x, int y, int R) {
        float *row = t4 + triple(R, 0, x, y);
        const DropsJ drops = drops_j(x, y, R);
        const bool all_from_block = first > 0 || !scores.single;
        Lanes best[COUNT];
        for (int q = 0; q < COUNT; q++)
            best[q] = all(-INFINITY);
        for (long j = last + 1; j < std::min(x, low(R)); j++) {
            const Lanes right = at(row + j * LANES), by_i = right + drops.by_i, other = right + not_by_i(drops, j, x, y, R);
            if (all_from_block && flat(first, last, j)) {
                const Lanes any = maximum(other, by_i);
                for (int q = 0; q < COUNT; q++)
                    best[q] = maximum(best[q], lefts[j * BLOCK + q] + any);
            } else
                for (int q = 0; q < COUNT; q++)
                    best[q] = maximum(best[q], lefts[j * BLOCK + q] + maximum(other, from_block[j * BLOCK + q] + by_i));
        }
        if (x < low(R)) {
            Lanes inside[COUNT], any = all(-INFINITY);
            for (int q = 0; q < COUNT; q++)
                inside[q] = all(-INFINITY);
            const Lanes b8 = b(RAp2, y, R);
            for (long k = x + 1; k < y; k++) {
                const Lanes right = at(t4 + triple(R, x, k, y)) + (a8_to[y * stride + k] + b8);
                if (all_from_block && flat(first, last, k)) {
                    any = maximum(any, right);
                    continue;
                }
                for (int q = 0; q < COUNT; q++)
                    inside[q] = maximum(inside[q], from_block[k * BLOCK + q] + right);
            }
            for (long l = y + 1; l < high(R); l++) {
                const Lanes right = at(t4 + triple(R, x, y, l)) + reduce(RA3, y, l, R);
                if (all_from_block && flat(first, last, l)) {
                    any = maximum(any, right);
                    continue;
                }
                for (int q = 0; q < COUNT; q++)
                    inside[q] = maximum(inside[q], from_block[l * BLOCK + q] + right);
            }
            for (int q = 0; q < COUNT; q++)
                best[q] = maximum(best[q], lefts[x * BLOCK + q] + maximum(inside[q], any));
        }
        for (int q = 0; q < COUNT; q++)
            put(row + (first + q) * LANES, best[q]);
    }

    // What makes [i,x,y,R] except the products that are done for several x at once. by_r: the best [i,j,x,y] + the score of r->j.
    Lanes fill_row(const Plane &plane, int x, int y, int R, Lanes by_r) {
        const More &own = more_of(plane);
        const int i = plane.i, start = low(R);
        const float *cell = t4 + triple(R, 0, x, y);
        const DropsJ drops = drops_j(x, y, R);
        const Lanes t2y = at(span(y, R)), t3xy = at(t3 + pair(R, x, y));
        Lanes best = x > last ? at(cell + i * LANES) : all(-INFINITY);
        for (int j = i + 1; j < x; j++) {
            if (j == last + 1)
                j = std::max(j, start);
            if (j >= x)
                break;
            const Lanes right = at(cell + j * LANES);
            best = maximum(best, plane.u2[j] + maximum(right + not_by_i(drops, j, x, y, R), plane.arcs[j] + (right + drops.by_i)));
        }
        if (x <= last || x >= start) {
            Lanes inside = t3xy;
            const Lanes b8 = b(RAp2, y, R);
            for (int k = x + 1; k < y; k++)
                inside = maximum(inside, plane.arcs[k] + (at(t4 + triple(R, x, k, y)) + (a8_to[y * stride + k] + b8)));
            for (int l = y + 1; l < high(R); l++)
                inside = maximum(inside, plane.arcs[l] + (at(t4 + triple(R, x, y, l)) + reduce(RA3, y, l, R)));
            best = maximum(best, plane.u2[x] + inside);
        } else
            best = maximum(best, plane.u2[x] + t3xy);
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

    template <int COUNT>
    void fill_rows(const Plane &plane, const int x0, const int y, const int R) {
        const More &own = more_of(plane);
        const long i = plane.i, start = low(R);
        float *items[COUNT];
        const float *left4[COUNT];
        alignas(64) float left[COUNT][LANES];
        Lanes best[COUNT];
        for (int x = 0; x < COUNT; x++) {
            items[x] = t4 + triple(R, i, x0 + x, y);
            left4[x] = own.items4 + three(y) + two(x0 + x);
            best[x] = all(-INFINITY);
        }
        // A without j by r
        const int first_r = std::max((int)start, y + 1), last_r = std::min(high(R), n);
        float flat4[COUNT];
        std::fill(flat4, flat4 + COUNT, -INFINITY);
        for (long j = i + 1; j < x0; j++)
            if (flat(first_r, last_r, j))
                for (int x = 0; x < COUNT; x++)
                    flat4[x] = maximum(flat4[x], left4[x][j]);
            else
                for (int x = 0; x < COUNT; x++)
                    best[x] = maximum(best[x], left4[x][j] + to(j, R));
        for (int j = 0; j < COUNT - 1; j++)
            for (int x = j + 1; x < COUNT; x++)
                best[x] = maximum(best[x], left4[x][x0 + j] + to(x0 + j, R));
        for (int x = 0; x < COUNT; x++)
            put(left[x], maximum(best[x], all(flat4[x])));
        for (int x = 0; x < COUNT; x++)
            put(left[x], fill_row(plane, x0 + x, y, R, at(left[x])));
        // A without k by r
        for (int x = 0; x < COUNT; x++) {
            best[x] = all(-INFINITY);
            flat4[x] = -INFINITY;
        }
        for (int k = 1; k < COUNT; k++)
            if (x0 + k < y)
                for (int x = 0; x < k; x++)
                    best[x] = maximum(best[x], left4[k][x0 + x] + (to(x0 + k, R) + k_by_r_to[y * stride + x0 + k]));
        for (long k = x0 + COUNT; k < y; k++) {
            const float *of_k = own.items4 + three(y) + two(k) + x0, score = k_by_r_to[y * stride + k];
            if (flat(first_r, last_r, k)) {
                for (int x = 0; x < COUNT; x++)
                    flat4[x] = maximum(flat4[x], of_k[x] + score);
                continue;
            }
            const Lanes right = to(k, R) + score;
            for (int x = 0; x < COUNT; x++)
                best[x] = maximum(best[x], of_k[x] + right);
        }
        const Lanes by_r = at(span(y, R)) + b(LA2, y, R);
        for (int x = 0; x < COUNT; x++)
            best[x] = maximum(at(left[x]), maximum(best[x], all(flat4[x])) + by_r);
        // B without k
        for (long k = x0 + 1; k < y; k++) {
            const float *x3 = row(plane, X3, k) + x0, *arcs = arcs_to + k * stride + pad + x0;
            if (flat(x0, x0 + COUNT - 1, k)) {
                const Lanes right = at(own.b_flat + k * LANES);
                for (int x = 0; x < COUNT; x++)
                    best[x] = maximum(best[x], x3[x] + right);
                continue;
            }
            const Lanes right = at(own.b + k * LANES), right_x = at(own.b_x + k * LANES);
            for (int x = 0; x < COUNT; x++)
                best[x] = maximum(best[x], x3[x] + maximum(right, arcs[x] + right_x));
        }
        // A without l
        for (long L = panel(y + 1); L <= R; L++) {
            for (int x = 0; x < COUNT; x++)
                put(left[x], L < R ? at(t4 + triple(L, i, x0 + x, y)) : best[x]);
            for (long l = std::max(low(L), y + 1); l <= high(L) && l < high(R); l++) {
                const float *arcs = arcs_to + l * stride + pad + x0;
                if (flat(x0, x0 + COUNT - 1, l)) {
                    const Lanes right = at(own.a_flat + l * LANES);
                    for (int x = 0; x < COUNT; x++)
                        best[x] = maximum(best[x], left[x][l - low(L)] + right);
                } else {
                    const Lanes right = at(own.a + l * LANES), right_x = at(own.a_x + l * LANES);
                    for (int x = 0; x < COUNT; x++)
                        best[x] = maximum(best[x], left[x][l - low(L)] + maximum(right, arcs[x] + right_x));
                }
                if (L == R)
                    for (int x = 0; x < COUNT; x++)
                        put(left[x], best[x]);
            }
        }
        // Link them
        float *const y_rows = current(plane, X3, y);
        const Lanes b6 = b(RA2, y, R), b4 = b(RAp, y, R);
        const Lanes k_i = at(k_by_i + y * stride + R * LANES) + plane.arcs[y], k_x = at(k_by_x + y * stride + R * LANES),
                    k_y = at(k_by_y + y * stride + R * LANES);
        for (int x = 0; x < COUNT; x++) {
            const int node = x0 + x;
            const size_t cell = pair(R, node, y);
            float *const x_rows = current(plane, X3, node);
            put(items[x], best[x]);
            put(left[x], best[x]);
            raise(x_rows, best[x] + maximum(at(drop_y + cell), plane.arcs[y] + scores.on_s1s0(RA2, node, y) + b6));
            raise(y_rows, best[x] + maximum(at(drop_x + cell), plane.arcs[node] + scores.on_s1s0(RAp, node, y) + b4));
            raise(y_rows + J_BY_I * LANES, best[x] + plane.arcs[node]);
            raise(y_rows + J_BY_X * LANES, best[x] + arc(y, node));
            raise(y_rows + J_BY_Y * LANES, best[x] + to(node, R));
            raise(x_rows + K_BY_I * LANES, best[x] + k_i);
            raise(x_rows + K_BY_X * LANES, best[x] + (arc(node, y) + k_x));
            raise(x_rows + K_BY_Y * LANES, best[x] + k_y);
        }
        for (long l = std::max(start, (long)y + 1); l <= std::min(high(R), n); l++)
            for (int x = 0; x < COUNT; x++)
                own.items4[three(l) + two(y) + x0 + x] = left[x][l - start];
    }
};

}  // namespace mh5
