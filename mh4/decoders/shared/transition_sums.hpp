// The sum over the derivations of a chart of transitions (inside), and its derivatives (outside): what MH3 and MH4 have in common.
#pragma once
#include "scaling.h"

namespace marginals {

template <class N> class TransitionSums {
  protected:
    typedef typename N::Value Value;
    enum { WIDTH = N::WIDTH };

    const double number;  // the number of derivations of n words is less than e^(number n)
    Scores scores, direction;
    Memory<Value> memory;
    signals::Watch watch;
    int n, stride;
    Scaling scaling;
    Value *t2, *g2;  // [i,l] at i, l, in rows of `stride`; the derivative by it

    explicit TransitionSums(double more_than_derivations) : number(more_than_derivations) {}

    Value *row(Value *table, int x) const { return table + (size_t)x * stride; }
    static int start(int j) { return (j + 1) / WIDTH * WIDTH; }  // of rows over l > j
    Value goal() const { return row(t2, 0)[n + 1]; }

    // What each chart has of its own; `square` is the size of a table by two nodes.
    virtual void arrange(size_t square) = 0;         // take the tables from memory
    virtual void tabulate() = 0;                     // the weights, from `scaling`; all else is 0
    virtual void inside() = 0;                       // the items
    virtual void add_items(Range &) {}               // those besides t2
    virtual void outside() = 0;                      // what the counts consist of, from g2 of the goal
    virtual double write(Counts &counts) = 0;        // the counts; returns their sum

    // The sum of all derivations with weights scaled by `boost`; true if it is right.
    bool sum(double boost) {
        n = scores.n;
        stride = (n + 2 + WIDTH - 1) / WIDTH * WIDTH;
        const size_t square = (size_t)(n + 2) * stride;
        memory.start();
        arrange(square);
        memory.allocate();
        arrange(square);
        scaling.find(scores, direction, boost, N::SCALED, watch);
        if (!scaling.precise)
            return false;
        tabulate();
        inside();
        const Value z = goal();
        if (!N::SCALED || N::is_zero(z))
            return !N::SCALED;
        if (scaling.negligible(N::log(z), number))
            return true;
        Range range;
        for (int i = 0; i <= n; i++) {
            watch.pass(4 * n);
            for (int l = i + 1; l <= n + 1; l++)
                range.add(row(t2, i)[l]);
        }
        add_items(range);
        return scaling.finite && range.fits();
    }

    // The inside pass; true if it is right.
    bool sum_of(const Scores &of, const Scores &change = Scores()) {
        scores = of;
        direction = change;
        return sum(0) || (N::SCALED && scaling.precise && sum(better_boost<N>(t2, stride, n, number)));
    }
    // Whether there are no derivations.
    bool empty() const { return N::is_zero(goal()) || (scores.single_root && n == 0); }

  public:
    // The marginals or, with Duals, their derivatives in a direction; without tables for counts, log_partition alone. True if they are
    // right; false if N is not enough for these scores. Throws as Memory::allocate does, or signals::Raised.
    bool find(const Scores &of, Counts &counts, const Scores &change = Scores()) {
        if (!sum_of(of, change))
            return false;
        counts.log_partition = -INFINITY;
        if (empty())
            return true;
        counts.log_partition = N::log(goal()) + scaling.total;
        if (!counts.tensors[ARCS])
            return true;
        row(g2, 0)[n + 1] = N::inverse(goal());
        outside();
        return isfinite(write(counts));
    }

    size_t bytes_needed() const { return memory.bytes(); }
    void release() { memory.release(); }
};

}  // namespace marginals
