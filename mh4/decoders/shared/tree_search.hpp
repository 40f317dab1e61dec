// The best derivation of one tree, by the items of an algorithm.
#pragma once
#include <limits.h>
#include <math.h>

#include <algorithm>
#include <vector>

#include "best_derivation.hpp"
#include "chart_memory.hpp"
#include "one_tree.hpp"

namespace one_tree {

// Items, each with the best way to derive it from two others. Of several best ways, the chart of all derivations takes the first that
// its trace tries (step2 and step3 of TracedChart, step4 of mh4::FullChart): a Combine, then Links without k > j, then those without
// k < j, in the order of k, of an item [i,j,k,l] made of [i,j] and [j,k,l] rather than of [i,j,k] and [k,l]. So does this forest.
class BestForest {
    struct Way {
        int left, right, code;  // `right` is -1 if it stands for nothing, and code SH if there is no reduce
    };
    const Scores *scores;
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
    static constexpr Item ONE = {0, 0}, NONE = {-INFINITY, -1};  // as in forest.hpp, like the following

    void start(const Scores &of) {
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
        const float score = scores->on_s0b0(code, s0, b0) + scores->on_s1s0(code, s1, s0) + scores->of_arc(head, dependent);
        return {score, code, dependent == s0 ? dependent : scores->n + dependent};
    }
    Reduce no_reduce() const { return {0, SH, 0}; }
    void combine(Item left, Item right, int s0, int b0, Reduce by) {
        if (left.way >= 0 && right.way >= 0)
            raise(left.score + scores->of_shift(s0, b0) + right.score + by.score, place(by.place, b0), Way{left.way, right.way, by.code});
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

}  // namespace one_tree
