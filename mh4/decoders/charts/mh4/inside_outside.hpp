// Marginals of MH4: the sum over all transition sequences (inside), and its derivatives (outside), in O(n^4) time, O(n^3) memory.
//
// The items are as in reference.py. Each sequence must be counted once, but the decoder's chart derives most sequences
// in several ways, for two reasons. The two ways to Combine give the same sequence if [i,j,k] is itself a Combine,
// [i,j] + [j,k]. And the Combine with [i,j] may come before or after a Link of k to j or l. So let d[i,j,k] be the sum
// over only those sequences of [i,j,k] that end in a Link and do not split at j, and t the sum over all sequences of
// an item. With products for concatenation,
//
//     t[i,j,k] = d[i,j,k] + u[i,j] t[j,k]                  u[i,j] = t[i,j] shift[i,j]
//     [i,j,k,l] without k:  u[i,j] t[j,k,l]                only by RA2 (LA and RA: already in t[j,l] of u[i,j] t[j,l])
//                           d[i,j,k] shift[j,k] t[k,l]     by RA2, RA, LA
//     [i,j,k,l] without j:  both of these                  by RA', LA', LA2
//     d[i,j,l], d[i,k,l] = the sums of these               t[i,l] = sum over j of t[i,j,l] (LA + RA);  t[i,i+1] = 1
//
// (A sequence of [i,j,k,l] that splits both at j and at k is [i,j] + [j,k] + [k,l]. To see this, let m be the part
// between the shifts of j and k. Since m is part of [j,k,l], it does not touch the stack below j; by induction on the
// rest of the sequence, m is a sequence of [j,k].)
//
// The weight of a reduce is a product of three factors: one depends on s1 and s0, one on s0 and b0, one on the arc.
// Loops run over l in vectors. Many sums are kept apart because of arcs from i. The outside pass sums the derivatives
// of the partition function by the weights, in reverse order. For each plane j, these come first from the planes
// i < j, in which [j,k,l] and [k,l] are used (gather), and then from the plane itself (unlink).
#pragma once
#include "sum_charts.hpp"
#include "transition_sums.hpp"

namespace VARIANT::marginals {

template <class N> class MH4 : public TransitionSums<N> {
    typedef TransitionSums<N> Base;

  protected:
    typedef typename N::Value Value;
    typedef typename N::Vector Vector;
    enum { WIDTH = N::WIDTH };
    using Base::arc, Base::count_arc, Base::count_s0b0, Base::count_s1s0, Base::count_shift, Base::g2, Base::memory, Base::n,
        Base::row, Base::scaling, Base::scores, Base::shift, Base::start, Base::stride, Base::t2, Base::watch;

    std::vector<size_t> place;  // the position of l = 0 in the row of [0,k,l] in tables by three nodes
    // by three nodes, at k, i, l for [i,k,l]
    Value *t3, *d3;
    Value* g3;  // the derivative by d
    // by two nodes, rows of `stride`
    Value* on_s0b0[REDUCES];           // at s0, b0
    Value* on_s1s0[REDUCES];           // at s0, s1; including arcs from s1 and s0
    Value *to_la, *to_ra;              // on_s0b0 of LA and RA at b0, s0
    Value* u2_to;                      // u[i,j] at j, i
    Value* by_u2;                      // without arc scores: the factor of u[i,j] in all RA2 to [i,j,l], at j, l
    Value* h3;                         // the derivative by t[i,k,l] for the current i, at k, l
    Value *count_to_la, *count_to_ra;  // the counts of LA and RA that lead to [i,l], at b0, s0
    // by one node, for the current i, or i and k
    Value *from, *la, *ra, *u2, *d, *count_la, *count_ra, *coefficients, *rows;
    // at j: the derivative by u[i,j], and the count of RA' (i->j): vectors whose lanes are still to be added up
    Value *g_u2, *count_rap;
    // The terms of `link`: a reduce of left[j] t[k,l], or of u[i,j] t[j,k,l]
    enum { LEFT_RA, LEFT_LA, LEFT_RA2, LEFT_LA2, U_RA2, U_LAP, U_RAP, U_LA2, KINDS };

    Value* row3(Value* table, int i, int k) const { return table + place[k] + (size_t)i * (stride - start(k)); }
    bool forbidden(int i) const { return scores.single_root && i == 0; }  // arcs from i, before the last transition

    Value* arrange(size_t square) override {
        memory.take_all({&to_la, &to_ra, &u2_to, &by_u2, &count_to_la, &count_to_ra}, square);
        for (int t = 0; t < REDUCES; t++) memory.take_all({&on_s0b0[t], &on_s1s0[t], &count_s1s0[t]}, square);
        Value* const end = memory.take(0);
        place.resize(n + 1);
        size_t volume = 0;
        for (int k = 0; k <= n; k++) {
            place[k] = volume - start(k);
            volume += (size_t)k * (stride - start(k));
        }
        memory.take_all({&t3, &d3, &g3}, volume);
        memory.take_all({&h3}, square);
        memory.take_all({&from, &la, &ra, &u2, &d, &count_la, &count_ra}, stride);
        memory.take_all({&g_u2, &count_rap}, WIDTH * stride);
        memory.take_all({&coefficients, &rows}, KINDS * stride);
        return end;
    }

    // Weights

    void tabulate() override {
        for (int k = 1; k <= n; k++) {
            watch.pass(500 * n);
            for (int t = 0; t < REDUCES; t++) {
                for (int l = k + 1; l <= Scaling::last_b0(t, n); l++)
                    row(on_s0b0[t], k)[l] = N::exponential(scaling.on_s0b0(t, k, l));
                for (int j = 0; j < k; j++) row(on_s1s0[t], k)[j] = N::exponential(scaling.on_s1s0(t, j, k));
            }
            if (scores.tensors[ARCS]) {
                for (int l = k + 1; l <= n; l++) row(on_s0b0[LA], k)[l] = row(on_s0b0[LA], k)[l] * row(arc, k)[l];
                for (int j = 0; j < k; j++) row(on_s1s0[RA], k)[j] = row(on_s1s0[RA], k)[j] * row(arc, k)[j];
                for (int j = 1; j < k; j++) row(on_s1s0[LAp], k)[j] = row(on_s1s0[LAp], k)[j] * row(arc, j)[k];
            }
        }
        // If there is only one tree, no reduce may remove h before its dependent m. Such items would be of no use, but
        // their numbers could be of any size.
        for (int m = 1; scores.heads && m <= n; m++) {
            const int h = scores.heads[m], j = std::min(h, m), k = std::max(h, m);
            for (int t = 0; t < REDUCES; t++) {
                if (Scaling::removed(t, j, k) == h) row(on_s1s0[t], k)[j] = Value();
                if (Scaling::removed(t, 0, h) == h && h < m)
                    std::fill(row(on_s0b0[t], h) + h + 1, row(on_s0b0[t], h) + m + 1, Value());
            }
        }
        for (int k = 1; k <= n; k++)
            for (int l = k + 1; l <= n + 1; l++) {
                row(to_la, l)[k] = row(on_s0b0[LA], k)[l];
                row(to_ra, l)[k] = row(on_s0b0[RA], k)[l];
            }
    }

    // Inside

    void begin_plane(int i) {
        for (int j = i + 1; j <= n; j++) {
            from[j] = forbidden(i) ? Value() : row(arc, j)[i];
            la[j] = row(on_s1s0[LA], j)[i];
            ra[j] = forbidden(i) ? Value() : row(on_s1s0[RA], j)[i];
        }
    }

    void last_of_plane(int i) {  // the last transition may make an arc from 0
        for (int j = i + 1; j <= n; j++) ra[j] = row(on_s1s0[RA], j)[i];
    }

    template <bool by_arc, bool sparse> void inside_plane(int i) {
        begin_plane(i);
        Value* t2_i = row(t2, i);
        for (int k = i + 1; k <= n; k++) std::fill(row3(d3, i, k) + start(k), row3(d3, i, k) + stride, Value());
        for (int k = i + 1; k <= n + 1; k++) {
            if (k > n) last_of_plane(i);
            Value total = k == i + 1 ? N::exponential(0) : Value();
            for (int j = i + 1; j < k; j++) {
                d[j] = row3(d3, i, j)[k];
                total += (d[j] + u2[j] * row(t2, j)[k]) * (la[j] * row(to_la, k)[j] + ra[j] * row(to_ra, k)[j]);
            }
            t2_i[k] = total;
            if (k > n) break;
            u2[k] = row(u2_to, k)[i] = total * row(shift, k)[i];
            link<by_arc, sparse>(i, k);
        }
        for (int x = start(i); x < stride; x += WIDTH) N::put(row(by_u2, i) + x, Vector());
        for (int k = i + 1; k <= n; k++) {
            watch.pass((stride - start(k)) / WIDTH * 8);
            for (int x = start(k); x < stride; x += WIDTH) {
                Vector t = N::at(row3(d3, i, k) + x) + u2[k] * N::at(row(t2, k) + x);
                N::put(row3(t3, i, k) + x, t);
                if (!by_arc && i > 0)
                    N::put(row(by_u2, i) + x,
                           N::at(row(by_u2, i) + x) + row(on_s1s0[RA2], k)[i] * N::at(row(on_s0b0[RA2], k) + x) * t);
            }
        }
    }

    // The factors of a term that depend on j, for `link`, and on l, for `unlink`
    Value* by_j(int kind) const { return coefficients + kind * stride; }
    Value* by_l(int kind) const { return rows + kind * stride; }

    // The factors of the weights of reduces that depend on i, j and k
    struct Factors {
        Value ra, la, ra2, lap, rap, la2;
    };
    Factors factors(int j, int k) const {
        const auto s1s0 = [&](int t) { return row(on_s1s0[t], k)[j]; };
        return {s1s0(RA), s1s0(LA), s1s0(RA2) * from[k], s1s0(LAp), s1s0(RAp) * from[j], s1s0(LA2)};
    }

    // If scores forbid much, as heads do, most items are 0. Then loops skip a j if d and u are both 0, since every term
    // has one of them as a factor.
    template <bool sparse> static bool skips(const Value& d, const Value& u) { return sparse && N::is_zero(d) && N::is_zero(u); }

    // Link all [i,j,k,l] to [i,j,l] and [i,k,l], for given i and k. With left[j] = d[i,j,k] shift[j,k],
    //
    //     d[i,j,l] += left[j] t[k,l] (RA + LA + RA2) + u[i,j] t[j,k,l] RA2
    //     d[i,k,l] += sum over j of (left[j] t[k,l] + u[i,j] t[j,k,l]) (LA' + RA' + LA2)
    //
    // Without arc scores, the sum of u[i,j] t[j,k,l] RA2 over k is u[i,j] by_u2[j,l]. With arc scores, LA2 has a factor
    // that depends on j and l. All other reduces of left[j] t[k,l] without j are summed over j before the loop over l.
    template <bool by_arc, bool sparse> void link(int i, int k) {
        watch.pass((size_t)(k - i) * ((stride - start(k)) / WIDTH + 2) * 16);
        Value left_lap = Value(), left_rap = Value(), left_la2 = Value();
        for (int j = i + 1; j < k; j++) {
            if (skips<sparse>(d[j], u2[j])) continue;
            const Value left = d[j] * row(shift, k)[j], u = u2[j];
            const Factors by = factors(j, k);
            by_j(LEFT_RA)[j] = left * by.ra;
            by_j(LEFT_LA)[j] = left * by.la;
            by_j(LEFT_RA2)[j] = left * by.ra2;
            by_j(LEFT_LA2)[j] = left * by.la2;
            by_j(U_RA2)[j] = u * by.ra2;
            by_j(U_LAP)[j] = u * by.lap;
            by_j(U_RAP)[j] = u * by.rap;
            by_j(U_LA2)[j] = u * by.la2;
            left_lap += left * by.lap;
            left_rap += left * by.rap;
            left_la2 += by_j(LEFT_LA2)[j];
        }
        for (int x = start(k); x < stride; x += WIDTH) {
            Vector kl = N::at(row(t2, k) + x);
            Vector kl_ra = kl * N::at(row(on_s0b0[RA], k) + x), kl_la = kl * N::at(row(on_s0b0[LA], k) + x);
            Vector l_ra2 = N::at(row(on_s0b0[RA2], k) + x), kl_ra2 = kl * l_ra2;
            Vector lap = Vector(), rap = Vector(), la2 = Vector(), arcs_la2 = Vector();
            for (int j = i + 1; j < k; j++) {
                if (skips<sparse>(d[j], u2[j])) continue;
                Vector jkl = N::at(row3(t3, j, k) + x);
                Value* to = row3(d3, i, j) + x;
                Vector more = by_j(LEFT_RA)[j] * kl_ra + by_j(LEFT_LA)[j] * kl_la + by_j(LEFT_RA2)[j] * kl_ra2;
                if (by_arc) more += by_j(U_RA2)[j] * l_ra2 * jkl;
                N::put(to, N::at(to) + more);
                lap += by_j(U_LAP)[j] * jkl;
                rap += by_j(U_RAP)[j] * jkl;
                if (by_arc) {
                    Vector arcs = N::at(row(arc, j) + x);
                    la2 += by_j(U_LA2)[j] * jkl * arcs;
                    arcs_la2 += by_j(LEFT_LA2)[j] * arcs;
                } else {
                    la2 += by_j(U_LA2)[j] * jkl;
                }
            }
            Value* to = row3(d3, i, k) + x;
            Vector more = (lap + left_lap * kl) * N::at(row(on_s0b0[LAp], k) + x) +
                          (rap + left_rap * kl) * N::at(row(on_s0b0[RAp], k) + x) +
                          (la2 + (by_arc ? arcs_la2 * kl : left_la2 * kl)) * N::at(row(on_s0b0[LA2], k) + x);
            if (!by_arc && !forbidden(i)) more += u2[k] * N::at(row(by_u2, k) + x);
            N::put(to, N::at(to) + more);
        }
    }

    // Outside

    // The derivatives by the items of plane i: first from their use in the planes before it, then in plane i
    template <bool by_arc, bool sparse> void outside_plane(int i) {
        Value* h = h3;
        gather<by_arc, sparse>(i);
        begin_plane(i);
        last_of_plane(i);
        for (int k = i + 1; k <= n; k++) {
            std::copy(row(h, k) + start(k), row(h, k) + stride, row3(g3, i, k) + start(k));
            u2[k] = row(u2_to, k)[i];
            count_la[k] = count_ra[k] = Value();
            N::put(g_u2 + WIDTH * k, Vector());
            N::put(count_rap + WIDTH * k, Vector());
        }
        for (int k = n + 1; k > i; k--) {
            if (k == n) begin_plane(i);
            for (int j = i + 1; j < k; j++) d[j] = row3(d3, i, j)[k];
            Value g = row(g2, i)[k];
            if (k <= n) {
                unlink<by_arc, sparse>(i, k);
                Vector sum = N::at(g_u2 + WIDTH * k);
                for (int x = start(k); x < stride; x += WIDTH) {
                    Vector h_k = N::at(row(h, k) + x), kl = N::at(row(t2, k) + x);
                    sum += h_k * kl;
                    N::put(row(g2, k) + x, N::at(row(g2, k) + x) + u2[k] * h_k);
                }
                Value g_u = N::sum(sum);
                row(count_shift, k)[i] += g_u * u2[k];
                g += g_u * row(shift, k)[i];
            }
            for (int j = i + 1; j < k; j++) {
                Value by_la = la[j] * row(to_la, k)[j], by_ra = ra[j] * row(to_ra, k)[j];
                Value t = g * (d[j] + u2[j] * row(t2, j)[k]), la_k = t * by_la, ra_k = t * by_ra;
                row(h, j)[k] += g * (by_la + by_ra);
                row3(g3, i, j)[k] += g * (by_la + by_ra);
                row(count_to_la, k)[j] += la_k;
                row(count_to_ra, k)[j] += ra_k;
                count_la[j] += la_k;
                count_ra[j] += ra_k;
            }
        }
        for (int j = i + 1; j <= n; j++) {
            row(count_s1s0[LA], j)[i] += count_la[j];
            row(count_s1s0[RA], j)[i] += count_ra[j];
            row(count_arc, j)[i] += count_ra[j] + N::sum(N::at(count_rap + WIDTH * j));
        }
    }

    // The reverse of `link`: the derivatives by d[i,j,k] and u[i,j]
    template <bool by_arc, bool sparse> void unlink(int i, int k) {
        watch.pass((size_t)(k - i) * ((stride - start(k)) / WIDTH + 2) * 32);
        const Value* g_k = row3(g3, i, k);
        Vector left_lap = Vector(), left_rap = Vector(), left_la2 = Vector();
        for (int x = start(k); x < stride; x += WIDTH) {
            Vector kl = N::at(row(t2, k) + x), g = N::at(g_k + x);
            Vector lap = g * N::at(row(on_s0b0[LAp], k) + x), rap = g * N::at(row(on_s0b0[RAp], k) + x);
            Vector la2 = g * N::at(row(on_s0b0[LA2], k) + x), ra2 = N::at(row(on_s0b0[RA2], k) + x);
            N::put(by_l(LEFT_RA) + x, kl * N::at(row(on_s0b0[RA], k) + x));
            N::put(by_l(LEFT_LA) + x, kl * N::at(row(on_s0b0[LA], k) + x));
            N::put(by_l(LEFT_RA2) + x, kl * ra2);
            N::put(by_l(U_RA2) + x, ra2);
            N::put(by_l(U_LAP) + x, lap);
            N::put(by_l(U_RAP) + x, rap);
            N::put(by_l(U_LA2) + x, la2);
            N::put(by_l(LEFT_LA2) + x, kl * la2);
            left_lap += kl * lap;
            left_rap += kl * rap;
            left_la2 += kl * la2;
        }
        Vector from_i = Vector();
        for (int j = i + 1; j < k; j++) {
            if (skips<sparse>(d[j], u2[j])) continue;
            Vector sums[KINDS] = {};
            const Value *g_row = row3(g3, i, j), *t_row = row3(t3, j, k);
            for (int x = start(k); x < stride; x += WIDTH) {
                Vector g_j = N::at(g_row + x), jkl = N::at(t_row + x);
                sums[LEFT_RA] += g_j * N::at(by_l(LEFT_RA) + x);
                sums[LEFT_LA] += g_j * N::at(by_l(LEFT_LA) + x);
                sums[LEFT_RA2] += g_j * N::at(by_l(LEFT_RA2) + x);
                sums[U_RA2] += g_j * jkl * N::at(by_l(U_RA2) + x);
                sums[U_LAP] += jkl * N::at(by_l(U_LAP) + x);
                sums[U_RAP] += jkl * N::at(by_l(U_RAP) + x);
                if (by_arc) {
                    Vector arcs = N::at(row(arc, j) + x);
                    sums[U_LA2] += jkl * N::at(by_l(U_LA2) + x) * arcs;
                    sums[LEFT_LA2] += N::at(by_l(LEFT_LA2) + x) * arcs;
                } else {
                    sums[U_LA2] += jkl * N::at(by_l(U_LA2) + x);
                }
            }
            const Value left = d[j] * row(shift, k)[j], u = u2[j];
            const Factors by = factors(j, k);
            const Vector g_left = by.ra * sums[LEFT_RA] + by.la * sums[LEFT_LA] + by.ra2 * sums[LEFT_RA2] + by.lap * left_lap +
                                  by.rap * left_rap + by.la2 * (by_arc ? sums[LEFT_LA2] : left_la2);
            row3(g3, i, j)[k] += row(shift, k)[j] * N::sum(g_left);
            const Vector g_u = by.ra2 * sums[U_RA2] + by.lap * sums[U_LAP] + by.rap * sums[U_RAP] + by.la2 * sums[U_LA2];
            N::put(g_u2 + WIDTH * j, N::at(g_u2 + WIDTH * j) + g_u);
            const Vector rap = by.rap * (left * left_rap + u * sums[U_RAP]);
            N::put(count_rap + WIDTH * j, N::at(count_rap + WIDTH * j) + rap);
            from_i += by.ra2 * (left * sums[LEFT_RA2] + u * sums[U_RA2]);
        }
        row(count_arc, k)[i] += N::sum(from_i);
    }

    // The derivatives by [j,k,l] and [k,l] from their use in [i,j,k,l] in all planes i < j, and the counts of reduces
    template <bool by_arc, bool sparse> void gather(int j) {
        Value *h = h3, *d_arc = by_j(0), *d_arc_k = by_j(1), *u_arc = by_j(2), *u_arc_k = by_j(3), *k_u = by_l(0);
        const Value *u = row(u2_to, j), *arc_j = row(arc, j);
        for (int i = 0; i < j; i++) u_arc[i] = forbidden(i) ? Value() : u[i] * arc_j[i];
        if (!by_arc)
            for (int x = start(j); x < stride; x += WIDTH) {
                Vector sum = Vector();
                for (int i = 0; i < j; i++) sum += u_arc[i] * N::at(row3(g3, i, j) + x);
                N::put(k_u + x, sum);
            }
        for (int k = j + 1; k <= n; k++) {
            watch.pass((size_t)(j + 10) * ((stride - start(k)) / WIDTH + 1) * 16);
            const Value* arc_k = row(arc, k);
            for (int i = 0; i < j; i++) {
                d[i] = row3(d3, i, j)[k];
                if (by_arc) {
                    Value arc_i = forbidden(i) ? Value() : arc_k[i];
                    d_arc[i] = forbidden(i) ? Value() : d[i] * arc_j[i];
                    d_arc_k[i] = d[i] * arc_i;
                    u_arc_k[i] = u[i] * arc_i;
                }
            }
            Vector sums[REDUCES] = {}, shifts = Vector();
            Value s = row(shift, k)[j];
            for (int x = start(k); x < stride; x += WIDTH) {
                Vector k_d = Vector(), k_d_arc = Vector(), k_u_arc = Vector();                  // for Links of k
                Vector j_d = Vector(), j_d_arc = Vector(), j_u = Vector(), j_u_arc = Vector();  // for Links of j
                for (int i = !by_arc && forbidden(0); i < j; i++) {
                    if (skips<sparse>(d[i], u[i])) continue;
                    Vector g_j = N::at(row3(g3, i, j) + x), g_k = N::at(row3(g3, i, k) + x);
                    k_d += d[i] * g_j;
                    j_d += d[i] * g_k;
                    j_u += u[i] * g_k;
                    if (by_arc) {
                        k_d_arc += d_arc_k[i] * g_j;
                        k_u_arc += u_arc_k[i] * g_j;
                        j_d_arc += d_arc[i] * g_k;
                        j_u_arc += u_arc[i] * g_k;
                    }
                }
                if (!by_arc) {
                    k_d_arc = k_d, j_d_arc = j_d, j_u_arc = j_u, k_u_arc = N::at(k_u + x);
                    if (j > 0 && forbidden(0)) {
                        Vector g_j = N::at(row3(g3, 0, j) + x), g_k = N::at(row3(g3, 0, k) + x);
                        k_d += d[0] * g_j;
                        j_d += d[0] * g_k;
                        j_u += u[0] * g_k;
                    }
                }
                Vector weights[REDUCES];
                for (int t = 0; t < REDUCES; t++) weights[t] = row(on_s1s0[t], k)[j] * N::at(row(on_s0b0[t], k) + x);
                if (by_arc) weights[LA2] = weights[LA2] * N::at(row(arc, j) + x);
                Vector jkl = N::at(row3(t3, j, k) + x), kl = N::at(row(t2, k) + x), shifted = s * kl;
                Vector expected[REDUCES];
                expected[LA] = weights[LA] * (shifted * k_d);
                expected[RA] = weights[RA] * (shifted * k_d);
                expected[LAp] = weights[LAp] * (shifted * j_d + jkl * j_u);
                expected[RAp] = weights[RAp] * (shifted * j_d_arc + jkl * j_u_arc);
                expected[LA2] = weights[LA2] * (shifted * j_d + jkl * j_u);
                expected[RA2] = weights[RA2] * (shifted * k_d_arc + jkl * k_u_arc);
                for (int t = 0; t < REDUCES; t++) {
                    sums[t] += expected[t];
                    N::put(row(count_s0b0[t], k) + x, N::at(row(count_s0b0[t], k) + x) + expected[t]);
                }
                N::put(row(count_arc, k) + x, N::at(row(count_arc, k) + x) + expected[LA]);
                N::put(row(count_arc, j) + x, N::at(row(count_arc, j) + x) + expected[LA2]);
                Vector g_kl = s * (k_d * (weights[LA] + weights[RA]) + k_d_arc * weights[RA2] +
                                   j_d * (weights[LAp] + weights[LA2]) + j_d_arc * weights[RAp]);
                shifts += g_kl * kl;
                N::put(row(g2, k) + x, N::at(row(g2, k) + x) + g_kl);
                Vector h_kl = j_u * (weights[LAp] + weights[LA2]) + j_u_arc * weights[RAp] + k_u_arc * weights[RA2];
                N::put(row(h, k) + x, h_kl);
            }
            Value totals[REDUCES];
            for (int t = 0; t < REDUCES; t++) {
                totals[t] = N::sum(sums[t]);
                row(count_s1s0[t], k)[j] += totals[t];
            }
            row(count_shift, k)[j] += N::sum(shifts);
            row(count_arc, k)[j] += totals[RA];
            row(count_arc, j)[k] += totals[LAp];
        }
    }

    // Call f(by_arc, sparse). by_arc: whether arcs are scored. sparse: whether to skip terms that are 0, which pays if
    // scores forbid much, or if numbers are slow.
    template <class F> void as_constants(F f) {
        const std::true_type yes;
        const std::false_type no;
        const bool sparse = !N::SCALED || !scaling.finite;
        if (scores.tensors[ARCS])
            sparse ? f(yes, yes) : f(yes, no);
        else
            sparse ? f(no, yes) : f(no, no);
    }

    void inside() override {
        as_constants([this](auto by_arc, auto sparse) {
            for (int i = n; i >= 0; i--) this->template inside_plane<by_arc, sparse>(i);
        });
    }

    void outside() override {
        as_constants([this](auto by_arc, auto sparse) {
            for (int i = 0; i <= n; i++) this->template outside_plane<by_arc, sparse>(i);
        });
        for (int l = 1; l <= n + 1; l++)
            for (int j = 1; j < l; j++) {
                row(count_s0b0[LA], j)[l] += row(count_to_la, l)[j];
                row(count_s0b0[RA], j)[l] += row(count_to_ra, l)[j];
                row(count_arc, j)[l] += row(count_to_la, l)[j];
            }
    }

  public:
    MH4() : Base(3.3) {}  // n shifts and n of six reduces: fewer than 4^n 6^n, which is e^(3.2 n)
};

// Draws MH4 derivations in proportion to the exponential of their scores, each in O(n^2) time at most.
//
// The derivations drawn are those that the chart counts: one for each transition sequence. The terms of the items
// [i,l], d[i,j,l] and t[i,j,l] are at the top of this file.

template <class N> class SampledMH4 : public DerivationSampler<N, MH4> {
    typedef DerivationSampler<N, MH4> Base;
    typedef typename N::Value Value;
    using typename Base::Item;
    using Base::add, Base::n, Base::row, Base::row3, Base::two, Base::LINKED, Base::THREE, Base::TWO;

    Value u(int i, int j) const { return row(this->u2_to, j)[i]; }
    Value d(int i, int j, int l) const { return row3(this->d3, i, j)[l]; }
    Value t(int i, int j, int l) const { return row3(this->t3, i, j)[l]; }

    // The weight of a reduce with s2, s1, s0, b0 = i, j, k, l
    Value reduce(int code, int i, int j, int k, int l) const {
        const Value weight = row(this->on_s1s0[code], k)[j] * row(this->on_s0b0[code], k)[l];
        if (code == LA2) return weight * row(this->arc, j)[l];
        if (code == RAp || code == RA2) return this->forbidden(i) ? Value() : weight * row(this->arc, code == RAp ? j : k)[i];
        return weight;
    }

    // The terms of [i,l], one for each word j that its last Link can remove, and each head of j
    void terms_of_two(int i, int l) {
        const Item none = Item{};
        for (int j = i + 1; j < l; j++) {
            const Item item = Item{THREE, i, j, l};
            const Value all = d(i, j, l) + u(i, j) * row(this->t2, j)[l];
            add(all * (row(this->on_s1s0[LA], j)[i] * row(this->on_s0b0[LA], j)[l]), item, none, l, j);
            if (l > n || !this->forbidden(i))
                add(all * (row(this->on_s1s0[RA], j)[i] * row(this->on_s0b0[RA], j)[l]), item, none, i, j);
        }
    }

    // The terms of d[i,m,l], by the node that the last Link removed, on either side of m
    void terms_of_linked(int i, int m, int l) {
        for (int k = m + 1; k < l; k++) {
            const Value left = d(i, m, k) * row(this->shift, k)[m] * row(this->t2, k)[l];
            for (int code : {RA, LA, RA2})
                add(left * reduce(code, i, m, k, l), Item{LINKED, i, m, k}, two(k, l), code == RA ? m : code == LA ? l : i, k);
            add(u(i, m) * t(m, k, l) * reduce(RA2, i, m, k, l), two(i, m), Item{THREE, m, k, l}, i, k);
        }
        for (int j = i + 1; j < m; j++) {
            const Value left = d(i, j, m) * row(this->shift, m)[j] * row(this->t2, m)[l], right = u(i, j) * t(j, m, l);
            for (int code : {LAp, RAp, LA2}) {
                const Value weight = reduce(code, i, j, m, l);
                const int head = code == LAp ? m : code == RAp ? i : l;
                add(left * weight, Item{LINKED, i, j, m}, two(m, l), head, j);
                add(right * weight, two(i, j), Item{THREE, j, m, l}, head, j);
            }
        }
    }

    void terms_of_three(int i, int j, int l) {
        add(d(i, j, l), Item{LINKED, i, j, l}, Item{});
        add(u(i, j) * row(this->t2, j)[l], two(i, j), two(j, l));
    }

    void add_terms(const Item& item) override {
        if (item.kind == TWO)
            terms_of_two(item.i, item.l);
        else if (item.kind == LINKED)
            terms_of_linked(item.i, item.j, item.l);
        else
            terms_of_three(item.i, item.j, item.l);
    }
};

}  // namespace VARIANT::marginals
