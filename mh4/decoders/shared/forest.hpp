// Sums over the derivations of one tree. There are few items in these, so they are not in tables but in a packed forest: a list of
// items and of the ways to derive them, each from two others by at most one shift and one reduce. It is built from the bottom up, and
// the numbers are Extendeds, which are right for any scores without scaling.
#pragma once
#include <math.h>

#include <vector>

#include "dependents.h"
#include "weights.h"

namespace marginals {

// The scores that a way to an item uses: those of a shift of b0 on s0 and of a reduce, as the tensors are indexed; none if negative.
struct Uses {
    int shift_s0 = -1, shift_b0 = -1;
    int code = -1, s1 = -1, s0 = -1, b0 = -1, head = -1, dependent = -1;

    static Uses shift(int s0, int b0) {
        Uses uses;
        uses.shift_s0 = s0;
        uses.shift_b0 = b0;
        return uses;
    }
    Uses reduce(int by, int of_s1, int of_s0, int of_b0, int of_head, int of_dependent) const {
        Uses uses = *this;
        uses.code = by;
        uses.s1 = of_s1;
        uses.s0 = of_s0;
        uses.b0 = of_b0;
        uses.head = of_head;
        uses.dependent = of_dependent;
        return uses;
    }
};

// N: Extendeds, or Duals of these.
template <class N> class Forest {
    typedef typename N::Value Value;
    struct Way {
        int to, left, right;
        Value weight;
        Uses uses;
    };
    std::vector<Value> values, by;  // of items; the derivatives of the logarithm of the sum by them
    std::vector<Way> ways;

    // f(number, part), where the parts are shift, s0b0, s1s0 and arcs
    template <class F> void each_cell(const Scores &scores, const Uses &uses, F f) const {
        const size_t side = scores.n + 2;
        if (uses.shift_b0 >= 0)
            f(&Scores::shift, &Counts::shift, uses.shift_s0 * side + uses.shift_b0);
        if (uses.code < 0)
            return;
        f(&Scores::s0b0, &Counts::s0b0, (uses.code * side + uses.s0) * side + uses.b0);
        f(&Scores::s1s0, &Counts::s1s0, (uses.code * side + uses.s1) * side + uses.s0);
        f(&Scores::arcs, &Counts::arcs, uses.head * (side - 1) + uses.dependent);
    }

    static Extended with_change(Extended weight, double, Extended *) { return weight; }
    static Dual<Extended> with_change(Extended weight, double change, Dual<Extended> *) { return {weight, weight * change}; }

    // The product of the exponentials of the scores. Of what is added up, only fractions are rounded.
    Value weight(const Scores &scores, const Scores &direction, const Uses &uses) const {
        double fractions = 0, change = 0;
        Extended weight{1, 0};
        each_cell(scores, uses, [&](const double *Scores::*part, double *Counts::*, size_t cell) {
            const double score = scores.*part ? (scores.*part)[cell] : 0;
            if (score == -INFINITY) {
                weight.m = 0;
                return;
            }
            const double whole = floor(score);
            fractions += score - whole;
            weight.s += (__int128)whole;
            if (direction.*part)
                change += (direction.*part)[cell];
        });
        if (weight.m == 0)
            return Value();
        weight.m = exp(fractions);
        return with_change(weight, change, (Value *)nullptr);
    }

  public:
    enum { NONE = -1, ONE = 0 };  // no item; the item of a shift alone, whose weight is 1

    void start() {
        values.clear();
        ways.clear();
        add();
        values[ONE] = N::exponential(0);
    }
    // A new item, without derivations.
    int add() {
        make_room(values, 1);
        values.push_back(Value());
        return (int)values.size() - 1;
    }
    // The last item, or NONE instead of it if there is no way to it.
    int last() {
        if (!N::is_zero(values.back()))
            return (int)values.size() - 1;
        values.pop_back();
        return NONE;
    }
    // A way to derive an item that nothing has been derived from yet.
    void derive(int to, int left, int right, const Uses &uses, const Scores &scores, const Scores &direction) {
        if (left == NONE || right == NONE)
            return;
        const Value of_scores = weight(scores, direction, uses);
        if (N::is_zero(of_scores))
            return;
        make_room(ways, 1);
        ways.push_back(Way{to, left, right, of_scores, uses});
        values[to] += of_scores * (values[left] * values[right]);
    }

    // log_partition and the expected counts, all derivations being those of the item.
    void count(int goal, const Scores &scores, Counts &counts, signals::Watch &watch) {
        counts.log_partition = N::log(values[goal]);
        by.clear();
        make_room(by, values.size());
        by.resize(values.size(), Value());
        by[goal] = N::inverse(values[goal]);
        for (size_t x = ways.size(); x-- > 0;) {
            watch.pass(200);
            const Way &way = ways[x];
            const Value of_left = by[way.to] * way.weight * values[way.right], uses = of_left * values[way.left];
            by[way.left] += of_left;
            by[way.right] += by[way.to] * way.weight * values[way.left];
            const double expected = N::result(uses);
            each_cell(scores, way.uses, [&](const double *Scores::*, double *Counts::*part, size_t cell) {
                if (counts.*part)
                    (counts.*part)[cell] += expected;
            });
        }
    }

    size_t bytes_needed() const { return (values.size() + by.size()) * sizeof(Value) + ways.size() * sizeof(Way); }
    void release(size_t kept) {
        if (bytes_needed() > kept) {
            std::vector<Value>().swap(values);
            std::vector<Value>().swap(by);
            std::vector<Way>().swap(ways);
        }
    }
};

}  // namespace marginals
