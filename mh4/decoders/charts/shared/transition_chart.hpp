// The base class of the charts of mh3, mh4 and mh5: it has the memory and the trace.
#pragma once
#include <math.h>

#include <algorithm>

#include "interface.hpp"
#include "chart_memory.hpp"

namespace VARIANT::transitions {

using namespace ::transitions;

// The best way to derive an item, of those offered so far. Ties go to the first.
struct Step {
    int code = SH;    // the reduce of a Link; SH for a Combine
    int removed = 0;  // the node removed by Link
    int left = 0;     // the number of heads in the left part of the Combine
    float score = -INFINITY;

    void link(float by, int reduce, int node) {
        if (by > score) *this = Step{reduce, node, 0, by};
    }
    void combine(float by, int heads) {
        if (by > score) *this = Step{SH, 0, heads, by};
    }
};

// A chart without backpointers: the trace recomputes the argmaxes along its path. MH4 and MH5 have the same step2 and
// step3. With a single root, no arc from 0 is made before the last transition, RA from [0,j,n+1].
class TransitionChart : public BestDerivation {
    struct Item {  // [h1,...,hm]
        int size, heads[5];

        Item part(int first, int end) const {  // of the heads from `first` to `end` - 1
            Item found = {end - first, {}};
            std::copy(heads + first, heads + end, found.heads);
            return found;
        }
        Item with_head(int head) const {  // head: not the first of the item
            Item found = *this;
            int x = found.size++;
            for (; found.heads[x - 1] > head; x--) found.heads[x] = found.heads[x - 1];
            found.heads[x] = head;
            return found;
        }
    };
    std::vector<Item> agenda;

    Step step(const Item& item) {
        const int* h = item.heads;
        switch (item.size) {
            case 2: return step2(h[0], h[1]);
            case 3: return step3(h[0], h[1], h[2]);
            case 4: return step4(h[0], h[1], h[2], h[3]);
            default: return step5(h[0], h[1], h[2], h[3], h[4]);
        }
    }

    template <int code> void link_by(Step& best, float score, int s3, int s2, int s1, int s0, int b0) const {
        const bool last = s2 < 0 && b0 > scores.n;
        if (last || !scores.single_root || head_of(code, s3, s2, s1, s0, b0) > 0)
            best.link(score + scores.reduce_score(code, s3, s2, s1, s0, b0), code, dependent_of(code, s2, s1, s0));
    }

  protected:
    Memory<float> memory;
    signals::Watch watch;

    // Take the tables from the memory.
    virtual void arrange() = 0;
    // The scores of [i,l], [i,j,l] and [i,j,k,l] in the filled chart. A chart defines those that its steps need.
    virtual float item2(int, int) const { return 0; }
    virtual float item3(int, int, int) const { return 0; }
    virtual float item4(int, int, int, int) const { return 0; }

    // Offer all possible Links by these reduces from an item with this score and these heads, -1 for missing positions.
    template <int... codes> void try_links(Step& best, float score, int s3, int s2, int s1, int s0, int b0) const {
        (link_by<codes>(best, score, s3, s2, s1, s0, b0), ...);
    }

    // The best way to [i,l], l > i+1.
    virtual Step step2(int i, int l) const {
        Step best;
        for (int j = i + 1; j < l; j++) try_links<LA, RA>(best, item3(i, j, l), -1, -1, i, j, l);
        return best;
    }
    // The best way to [i,j,l].
    virtual Step step3(int i, int j, int l) const {
        Step best;
        best.combine(item2(i, j) + scores.shift_score(i, j) + item2(j, l), 2);
        for (int k = j + 1; k < l; k++) try_links<RA, LA, RA2>(best, item4(i, j, k, l), -1, i, j, k, l);
        for (int q = i + 1; q < j; q++) try_links<LAp, LA2, RAp>(best, item4(i, q, j, l), -1, i, q, j, l);
        return best;
    }
    // The best way to [i,j,k,l], and to [i,j,k,l,r].
    virtual Step step4(int, int, int, int) const { return {}; }
    virtual Step step5(int, int, int, int, int) const { return {}; }

  public:
    void prepare() override {
        memory.start();
        arrange();
    }
    size_t bytes_needed() const override { return memory.bytes(); }
    void allocate() override {
        memory.allocate();
        arrange();
    }
    void release() override { memory.release(); }

    // Unfold the goal into the codes of its transitions: Combine is concatenation, Link appends its reduce.
    void trace() override {
        codes.clear();
        agenda.assign(1, Item{2, {0, scores.n + 1}});
        while (!agenda.empty()) {  // from the last transition to the first
            const Item item = agenda.back();
            agenda.pop_back();
            if (item.size == 2 && item.heads[1] == item.heads[0] + 1) {
                codes.push_back(SH);
                continue;
            }
            watch.pass(100 * (item.heads[item.size - 1] - item.heads[0]));
            const Step best = step(item);
            if (!(best.score > -INFINITY)) lost();
            if (best.code == SH) {
                agenda.push_back(item.part(0, best.left));
                agenda.push_back(item.part(best.left - 1, item.size));
            } else {
                codes.push_back(best.code);
                agenda.push_back(item.with_head(best.removed));
            }
        }
        std::reverse(codes.begin(), codes.end());
    }
};

}  // namespace VARIANT::transitions
