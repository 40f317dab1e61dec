// The derivations of one tree, of which there are few. Each algorithm finds its items from the bottom up, with the dependents of nodes, and
// hands every way to derive one to a forest, of maxima (BestForest) or of sums (Forest). The tree has been checked: it has a single
// root where that is required.
#pragma once
#include <algorithm>
#include <limits.h>
#include <math.h>
#include <vector>

#include "chart_memory.hpp"
#include "interface.hpp"
#include "transition_scores.hpp"
#include "weights.hpp"

namespace VARIANT::one_tree {

using namespace transitions;

// The words between i and l that have their heads outside i..l: how many, and their sum, which is the word if there is one.
struct Outside {
    int count = 0, sum = 0;
};

class Dependents {
    const int *heads;
    std::vector<int> list, first;  // of h: list[first[h]] to list[first[h + 1] - 1]

  public:
    struct Words {  // in increasing order
        const int *first, *last;
        const int *begin() const { return first; }
        const int *end() const { return last; }
    };

    // tree: the heads of the words 1 to n, which are looked at later, too.
    void find(const int *tree, int n) {
        heads = tree;
        first.assign(n + 3, 0);
        list.resize(n);
        for (int m = 1; m <= n; m++)
            first[heads[m] + 2]++;
        for (int h = 0; h <= n + 1; h++)
            first[h + 1] += first[h];
        for (int m = 1; m <= n; m++)  // first[h + 1] is where the next dependent of h goes, and so becomes the end of its list
            list[first[heads[m] + 1]++] = m;
    }

    // Those of a node from 0 to n + 1.
    Words of(int h) const { return {list.data() + first[h], list.data() + first[h + 1]}; }

    // Go from i..l-1 to i..l.
    void extend(Outside &outside, int i, int l) const {
        if (heads[l - 1] < i || heads[l - 1] > l) {
            outside.count++;
            outside.sum += l - 1;
        }
        for (int j : of(l))
            if (i < j && j < l - 1) {
                outside.count--;
                outside.sum -= j;
            }
    }
};

// The best derivation of one tree, by the items of an algorithm.

// Items, each with the best way to derive it from two others. Of several best ways, the chart of all derivations takes the first that
// its trace tries (step2 and step3 of TracedChart, step4 of mh4::FullChart): a Combine, then Links without k > j, then those without
// k < j, in the order of k, of an item [i,j,k,l] made of [i,j] and [j,k,l] rather than of [i,j,k] and [k,l]. So does this forest.
class BestForest {
    struct Way {
        int left, right, code;  // `right` is -1 if it stands for nothing, and code SH if there is no reduce
    };
    const TransitionScores *scores;
    float best;  // of the current item
    long first;  // the place of its way in that order
    Way way;
    std::vector<Way> ways;
    std::vector<int> agenda;

    void raise(float score, long place, const Way &by) {
        if (score > best || (score == best && place < first)) {
            best = score;
            first = place;
            way = by;
        }
    }
    long place(int link, int b0) const { return (long)link * (scores->n + 2) + b0; }

  public:
    struct Item {
        float score;
        int way;
    };
    struct Reduce {
        float score;
        int code, place;  // SH and 0 for none
    };
    static constexpr Item ONE = {0, 0}, NONE = {-INFINITY, -1};  // as in Forest, like the following

    void start(const TransitionScores &of) {
        scores = &of;
        ways.assign(1, Way{-1, -1, SH});
    }
    void begin() {
        best = -INFINITY;
        first = LONG_MAX;
    }
    bool none() const { return best == -INFINITY; }
    Item end() {
        if (none())
            return NONE;
        make_room(ways, 1);
        ways.push_back(way);
        return {best, (int)ways.size() - 1};
    }
    Reduce reduce(int code, int s1, int s0, int b0, int head, int dependent) const {
        const float score = scores->on_s0b0(code, s0, b0) + scores->on_s1s0(code, s1, s0) + scores->arc_score(head, dependent);
        return {score, code, dependent == s0 ? dependent : scores->n + dependent};
    }
    Reduce no_reduce() const { return {0, SH, 0}; }
    void combine(Item left, Item right, int s0, int b0, Reduce by) {
        if (left.way >= 0 && right.way >= 0)
            raise(left.score + scores->shift_score(s0, b0) + right.score + by.score, place(by.place, b0), Way{left.way, right.way, by.code});
    }
    void take(Item item, Reduce by) { raise(item.score + by.score, place(by.place, scores->n + 1), Way{item.way, -1, by.code}); }
    // The transitions of an item, in order of execution; false if it is NONE.
    bool trace(Item goal, std::vector<int> &codes) {
        codes.clear();
        agenda.assign(1, goal.way);
        while (goal.way >= 0 && !agenda.empty()) {  // from the last one to the first
            const int x = agenda.back();
            agenda.pop_back();
            if (x == ONE.way || ways[x].code != SH)
                codes.push_back(ways[x].code);
            for (int part : {ways[x].left, ways[x].right})
                if (part >= 0)
                    agenda.push_back(part);
        }
        std::reverse(codes.begin(), codes.end());
        return goal.way >= 0;
    }

    size_t bytes_needed() const { return ways.size() * sizeof(Way); }
    void release() { ::release(ways); }
};

// The search of an algorithm, used in training to find gold's best derivation.
template <template <class> class Items> class TreeSearch final : public BestDerivation {
    BestForest forest;
    Items<BestForest> items;

  public:
    bool find() override {
        forest.start(scores);
        return forest.trace(items.derive(forest, heads, scores.n), codes);
    }
    size_t bytes_needed() const override { return items.bytes_needed() + forest.bytes_needed(); }
    void release() override {
        items.release();
        forest.release();
    }
};

}  // namespace VARIANT::one_tree

namespace VARIANT::marginals {

// Sums over the derivations of one tree, in a packed forest: a list of items and of the ways to derive them, each from two others by at
// most one shift and one reduce.

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
    template <class F> void each_shift_score(const Uses &uses, F f) const {
        f(SHIFT, (size_t)uses.shift_s0 * (scores.n + 2) + uses.shift_b0);
    }
    template <class F> void each_reduce_score(const Uses &uses, F f) const {
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
            const double part = scores.tensors[tensor] ? scores.tensors[tensor][cell] : 0;
            score += part;
            if (part > -INFINITY)
                product.add(part);
            if (N::DUAL && direction.tensors[tensor])
                change += direction.tensors[tensor][cell];
        };
        if (uses.shift_b0 >= 0) {
            each_shift_score(uses, add);
            if (score == -INFINITY)
                return false;
            scale(product, shifts[uses.shift_b0], score);
            score = 0;
        }
        if (uses.code != transitions::SH) {
            each_reduce_score(uses, add);
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
            for (const Once &word : *words)
                if (!isnan(word.first)) {
                    spread += word.spread;
                    size += fabs(word.first);
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
            for (const Once &word : *words)
                if (!isnan(word.first))
                    counts.log_partition += word.first;
        if (!counts.tensors[ARCS])
            return;
        by.clear();
        make_room(by, values.size());
        by.resize(values.size(), Value());
        by[goal] = N::inverse(values[goal]);
        for (size_t x = ways.size(); x-- > 0;) {
            watch.pass(200);
            const Way &way = ways[x];
            const Value both = by[way.to] * way.weight, by_left = both * values[way.right];
            by[way.left] += by_left;
            by[way.right] += both * values[way.left];
            const double expected = N::result(by_left * values[way.left]);
            const auto add = [&](int tensor, size_t cell) {
                if (counts.tensors[tensor])
                    counts.tensors[tensor][cell] += expected;
            };
            if (way.uses.shift_b0 >= 0)
                each_shift_score(way.uses, add);
            if (way.uses.code != transitions::SH)
                each_reduce_score(way.uses, add);
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

}  // namespace VARIANT::marginals
