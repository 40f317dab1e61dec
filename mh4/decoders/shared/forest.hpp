// Sums over the derivations of one tree, in a packed forest: a list of items and of the ways to derive them, each from two others by at
// most one shift and one reduce.
#pragma once
#include <math.h>

#include <algorithm>
#include <vector>

#include "one_tree.hpp"
#include "weights.h"

namespace marginals {

// The scores that a way to an item uses: those of a shift of b0 on s0, or none if it is negative, and of a reduce, or none if it is SH.
struct Uses {
    int shift_s0 = -1, shift_b0 = -1;
    int code = transitions::SH, s1 = -1, s0 = -1, b0 = -1, head = -1, dependent = -1;
};

// A product of exponentials of scores.
template <class Number> struct Product;

template <> struct Product<double> {
    double logarithm = 0;
    void add(double score) { logarithm += score; }
    double weight(double) const { return logarithm == 0 ? 1 : exp(logarithm); }
};

template <> struct Product<Extended> {  // of which only fractions are rounded
    double fractions = 0;
    __int128 whole = 0;
    void add(double score) {
        const double floored = floor(score);
        fractions += score - floored;
        whole += (__int128)floored;
    }
    Extended weight(double) const { return Extended{exp(fractions), whole}; }
};

template <class Number> struct Product<Dual<Number>> : Product<Number> {
    Dual<Number> weight(double change) const {
        const Number value = Product<Number>::weight(change);
        return {value, value * change};
    }
};

template <class N> class Forest {
    typedef typename N::Value Value;
    struct Way {
        int to, left, right;
        Value weight;
        Uses uses;
    };
    // What every derivation does once for a word, to shift or to remove it: the first score found, and by how much others differ.
    struct Once {
        double first = NAN, spread = 0;
    };

    Scores scores, direction;
    Value value;                    // of the current item
    std::vector<Value> values, by;  // of items; the derivatives of the logarithm of the sum by them
    std::vector<Way> ways;
    std::vector<Once> shifts, reduces;  // by word

    // f(tensor, index) for the scores that are used, of a shift or of a reduce
    template <class F> void each_of_shift(const Uses &uses, F f) const {
        f(SHIFT, (size_t)uses.shift_s0 * (scores.n + 2) + uses.shift_b0);
    }
    template <class F> void each_of_reduce(const Uses &uses, F f) const {
        const size_t side = scores.n + 2;
        const size_t code = uses.code - transitions::LA;
        f(S0B0, (code * side + uses.s0) * side + uses.b0);
        f(S1S0, (code * side + uses.s1) * side + uses.s0);
        f(ARCS, uses.head * (side - 1) + uses.dependent);
    }

    // If weights are scaled, divide one by the exponential of the first score of what is done to the word.
    void scale(Product<Value> &product, Once &done, double score) const {
        if (!N::SCALED)
            return;
        if (isnan(done.first))
            done.first = score;
        product.add(-done.first);
        done.spread = std::max(done.spread, fabs(score - done.first));
    }

    // The weight of a way; false if it is 0.
    bool find_weight(const Uses &uses, Value &weight) {
        Product<Value> product;
        double score = 0, change = 0;
        const auto add = [&](int tensor, size_t cell) {
            const double of_part = scores.tensors[tensor] ? scores.tensors[tensor][cell] : 0;
            score += of_part;
            if (of_part > -INFINITY)
                product.add(of_part);
            if (N::DUAL && direction.tensors[tensor])
                change += direction.tensors[tensor][cell];
        };
        if (uses.shift_b0 >= 0) {
            each_of_shift(uses, add);
            if (score == -INFINITY)
                return false;
            scale(product, shifts[uses.shift_b0], score);
            score = 0;
        }
        if (uses.code != transitions::SH) {
            each_of_reduce(uses, add);
            if (score == -INFINITY)
                return false;
            scale(product, reduces[uses.dependent], score);
        }
        weight = product.weight(change);
        return true;
    }

  public:
    typedef int Item;
    typedef Uses Reduce;
    static constexpr Item ONE = 0, NONE = -1;  // the item of a shift alone, whose weight is 1; no item

    void start(const Scores &of, const Scores &change) {
        scores = of;
        direction = change;
        for (auto *words : {&shifts, &reduces})
            words->assign(of.n + 1, Once());
        values.assign(1, N::exponential(0));
        ways.clear();
    }
    // A new item, to be derived in all ways before the next.
    void begin() { value = Value(); }
    // Whether no way to it has been found.
    bool none() const { return N::is_zero(value); }
    // The item, or NONE.
    Item end() {
        if (none())
            return NONE;
        make_room(values, 1);
        values.push_back(value);
        return (int)values.size() - 1;
    }
    // What is needed to score a reduce, or for none.
    Reduce reduce(int code, int s1, int s0, int b0, int head, int dependent) const {
        return {-1, -1, code, s1, s0, b0, head, dependent};
    }
    Reduce no_reduce() const { return {}; }
    // A way to derive it: from two items, with a shift of b0 on s0 between them, or from one item, and then by a reduce.
    void combine(Item left, Item right, int s0, int b0, Reduce uses) {
        uses.shift_s0 = s0;
        uses.shift_b0 = b0;
        add(left, right, uses);
    }
    void take(Item item, const Reduce &uses) { add(item, ONE, uses); }

  private:
    void add(Item left, Item right, const Uses &uses) {
        if (left == NONE || right == NONE)
            return;
        make_room(ways, 1);
        ways.push_back(Way{(int)values.size(), left, right, Value(), uses});
        if (find_weight(uses, ways.back().weight))
            value += ways.back().weight * (values[left] * values[right]);
        else
            ways.pop_back();
    }

  public:
    // Whether N is enough for these scores: no part of a derivation is too large or too small for it, whatever it consists of.
    bool fits() const {
        if (!N::SCALED)
            return true;
        const double number = 3.3;  // the number of derivations of n words is less than e^(3.3 n)
        double spread = number * scores.n, size = 0;
        for (auto *words : {&shifts, &reduces})
            for (const Once &of_word : *words)
                if (!isnan(of_word.first)) {
                    spread += of_word.spread;
                    size += fabs(of_word.first);
                }
        return spread < 600 && size * 1.2e-16 < 1e-8;
    }

    // log_partition and the expected counts, all derivations being those of the item; -inf if it is NONE.
    void count(Item goal, Counts &counts, signals::Watch &watch) {
        counts.log_partition = -INFINITY;
        if (goal == NONE)
            return;
        counts.log_partition = N::log(values[goal]);
        for (auto *words : {&shifts, &reduces})
            for (const Once &of_word : *words)
                if (!isnan(of_word.first))
                    counts.log_partition += of_word.first;
        if (!counts.tensors[ARCS])
            return;
        by.clear();
        make_room(by, values.size());
        by.resize(values.size(), Value());
        by[goal] = N::inverse(values[goal]);
        for (size_t x = ways.size(); x-- > 0;) {
            watch.pass(200);
            const Way &way = ways[x];
            const Value of_both = by[way.to] * way.weight, of_left = of_both * values[way.right];
            by[way.left] += of_left;
            by[way.right] += of_both * values[way.left];
            const double expected = N::result(of_left * values[way.left]);
            const auto add = [&](int tensor, size_t cell) {
                if (counts.tensors[tensor])
                    counts.tensors[tensor][cell] += expected;
            };
            if (way.uses.shift_b0 >= 0)
                each_of_shift(way.uses, add);
            if (way.uses.code != transitions::SH)
                each_of_reduce(way.uses, add);
        }
    }

    size_t bytes_needed() const { return (values.size() + by.size()) * sizeof(Value) + ways.size() * sizeof(Way); }
    void release() {
        if (bytes_needed() > KEEP) {
            std::vector<Value>().swap(values);
            std::vector<Value>().swap(by);
            std::vector<Way>().swap(ways);
        }
    }
};

// The sum over the derivations of one tree, by its items.
template <template <class> class Items, class N> class TreeSums {
    Forest<N> forest;
    Items<Forest<N>> items;
    signals::Watch watch;

  public:
    // log_partition, -inf if the tree has no derivation, and the counts or, with Duals, their derivatives in a direction. True if
    // they are right; false if N is not enough for these scores. Throws as Memory::allocate does, or signals::Raised.
    bool find(const Scores &scores, Counts &counts, const Scores &direction = Scores()) {
        forest.start(scores, direction);
        const typename Forest<N>::Item goal = items.derive(forest, scores.heads, scores.n);
        if (!forest.fits())
            return false;
        forest.count(goal, counts, watch);
        return true;
    }

    size_t bytes_needed() const { return items.bytes_needed() + forest.bytes_needed(); }
    void release() {
        items.release();
        forest.release();
    }
};

}  // namespace marginals
