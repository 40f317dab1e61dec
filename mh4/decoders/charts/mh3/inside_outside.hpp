// Marginals of MH3: the sum over all arc-hybrid derivations (inside), and its derivatives (outside), in O(n^3) time.
//
// The chart of chart.hpp derives each transition sequence in one way. So it is enough to replace its maxima by sums,
// and its sums by products:
//
//     t[i,l] = sum over j of u[i,j] (before[j,l] + arc(i->j) after[j,l]),    u[i,j] = t[i,j] shift[i,j],    t[i,i+1] = 1
//     before[j,l] = t[j,l] LA[j,l] arc(l->j),    after[j,l] = t[j,l] RA[j,l].
#pragma once
#include "sum_charts.hpp"
#include "transition_sums.hpp"

namespace VARIANT::marginals {

template <class N> class MH3 : public TransitionSums<N> {
    typedef TransitionSums<N> Base;

  protected:
    typedef typename N::Value Value;
    typedef typename N::Vector Vector;
    enum { WIDTH = N::WIDTH };
    using Base::arc, Base::count_arc, Base::count_s0b0, Base::count_shift, Base::g2, Base::memory, Base::n, Base::row,
        Base::scaling, Base::scores, Base::shift, Base::start, Base::stride, Base::t2, Base::watch;

    // rows of `stride`
    Value *left, *right, *before, *after;  // at i, l; left and right: LA and RA
    Value *g_before, *g_after;

    Value* arrange(size_t square) override {
        memory.take_all({&left, &right, &before, &after}, square);
        g_before = count_s0b0[LA], g_after = count_s0b0[RA];  // later, the counts take their place
        return memory.take(0);
    }

    void tabulate() override {
        for (int j = 1; j <= n; j++) {
            watch.pass(100 * n);
            for (int l = j + 1; l <= n + 1; l++) {
                row(left, j)[l] = l > n ? Value() : N::exponential(scaling.reduce(LA, j, l)) * row(arc, j)[l];
                row(right, j)[l] = N::exponential(scaling.reduce(RA, j, l));
            }
        }
    }

    Value from(int i, int j) const {  // the weight of i->j in [i,l], l <= n
        return scores.single_root && i == 0 ? Value() : row(arc, j)[i];
    }

    void inside() override {
        for (int i = n; i >= 0; i--) {
            Value* items = row(t2, i);
            items[i + 1] = N::exponential(0);
            for (int j = i + 1; j <= n; j++) {
                watch.pass((stride - start(j)) / WIDTH * 8);
                Value u = items[j] * row(shift, j)[i], u_arc = u * from(i, j);
                for (int x = start(j); x < stride; x += WIDTH)
                    N::put(items + x, N::at(items + x) + u * N::at(row(before, j) + x) + u_arc * N::at(row(after, j) + x));
                if (scores.single_root && i == 0) items[n + 1] += u * row(arc, j)[0] * row(after, j)[n + 1];
            }
            for (int x = start(i); x < stride; x += WIDTH) {
                N::put(row(before, i) + x, N::at(items + x) * N::at(row(left, i) + x));
                N::put(row(after, i) + x, N::at(items + x) * N::at(row(right, i) + x));
            }
        }
    }

    void outside() override {
        for (int i = 0; i <= n; i++) {
            Value* g = row(g2, i);
            for (int x = start(i); x < stride; x += WIDTH) {
                const Vector by_before = N::at(row(g_before, i) + x), by_after = N::at(row(g_after, i) + x);
                const Vector la = by_before * N::at(row(before, i) + x);
                N::put(row(count_s0b0[LA], i) + x, la);
                N::put(row(count_s0b0[RA], i) + x, by_after * N::at(row(after, i) + x));
                N::put(row(count_arc, i) + x, N::at(row(count_arc, i) + x) + la);
                N::put(g + x, N::at(g + x) + by_before * N::at(row(left, i) + x) + by_after * N::at(row(right, i) + x));
            }
            for (int j = n; j > i; j--) {
                watch.pass((stride - start(j)) / WIDTH * 16);
                Value u = row(t2, i)[j] * row(shift, j)[i], arc_j = from(i, j), u_arc = u * arc_j;
                Vector by_before = Vector(), by_after = Vector();
                for (int x = start(j); x < stride; x += WIDTH) {
                    Vector g_l = N::at(g + x);
                    by_before += g_l * N::at(row(before, j) + x);
                    by_after += g_l * N::at(row(after, j) + x);
                    N::put(row(g_before, j) + x, N::at(row(g_before, j) + x) + u * g_l);
                    N::put(row(g_after, j) + x, N::at(row(g_after, j) + x) + u_arc * g_l);
                }
                Value by_arc = arc_j * N::sum(by_after);
                if (scores.single_root && i == 0) {
                    by_arc = row(arc, j)[0] * g[n + 1] * row(after, j)[n + 1];
                    row(g_after, j)[n + 1] += u * row(arc, j)[0] * g[n + 1];
                }
                Value by_u = N::sum(by_before) + by_arc;
                g[j] += by_u * row(shift, j)[i];
                row(count_shift, j)[i] += by_u * u;
                row(count_arc, j)[i] += by_arc * u;
            }
        }
    }

  public:
    MH3() : Base(2.1) {}  // n shifts and n of two reduces: fewer than 4^n 2^n, which is e^(2.08 n)
};

// Draws arc-hybrid derivations in proportion to the exponential of their scores, each in O(n^2) time at most.

template <class N> class SampledMH3 : public DerivationSampler<N, MH3> {
    typedef DerivationSampler<N, MH3> Base;
    using typename Base::Item;
    using Base::row, Base::two;

    void add_terms(const Item& item) override {
        const int i = item.i, l = item.l;
        for (int j = i + 1; j < l; j++) {
            const auto u = row(this->t2, i)[j] * row(this->shift, j)[i];
            this->add(u * row(this->before, j)[l], two(i, j), two(j, l), l, j);
            const auto arc = l > this->n ? row(this->arc, j)[i] : this->from(i, j);
            this->add(u * arc * row(this->after, j)[l], two(i, j), two(j, l), i, j);
        }
    }
};

}  // namespace VARIANT::marginals
