// The chart of MH_k for any k, with arc scores only; mhk.pyx has the steps that derive its items.
#pragma once
#include "interface.hpp"
#include "smallest_k.hpp"

namespace VARIANT::mhk {

// With a single root m, all other words are below m and are removed before m. So the only arc from 0 is the last arc,
// made by Link of [0,m,n+1].
class Chart final : public BestTree {
    typedef std::vector<int> Item;  // its heads

    int n, most;  // items of fewer than `most` heads are stored
    bool single;
    const double *arcs, *cost;
    Memory<double> memory;
    double bytes = 0;
    std::vector<double*> scores;   // by number of heads, and rank
    std::vector<size_t> binomial;  // a over b, b <= most
    std::vector<Item> agenda;
    Item larger;
    signals::Watch watch;

    size_t choose(int a, int b) const { return binomial[a * (most + 1) + b]; }

    void arrange() {
        for (int size = 2; size < most; size++) scores[size] = memory.take(choose(n + 2, size));
    }

    // The score of an item of `size` heads.
    double& score(const int* item, int size) const {
        size_t rank = 0;  // of the item among all sets of `size` nodes
        for (int x = 0; x < size; x++) rank += choose(item[x], x + 1);
        return scores[size][rank];
    }

    // The best way to an item, of those offered so far. Ties go to the first.
    struct Way {
        double score = -INFINITY;
        int split = 0;              // of a Combine: the index of the head that the parts have in common
        int removed = 0, head = 0;  // of a Link: its arc
        void offer(const Way& other) {
            if (other.score > score) *this = other;
        }
    };

    Way combine(const Item& item) const {
        Way best;
        const int size = item.size();
        for (int x = 1; x < size - 1; x++) best.offer({score(&item[0], x + 1) + score(&item[x], size - x), x});
        return best;
    }

    // The best Link of an item by an arc to item[removed].
    Way link(const Item& item, int removed) const {
        Way best;
        const int size = item.size();
        const bool last = item[0] == 0 && size == 3 && item[2] > n;
        for (int x = 0; x < size; x++)
            if (x != removed && item[x] <= n && !(single && item[x] == 0 && !last)) {
                const size_t arc = (size_t)item[x] * (n + 1) + item[removed];
                best.offer({cost ? arcs[arc] + cost[arc] : arcs[arc], 0, item[removed], item[x]});
            }
        if (best.score > -INFINITY) best.score += size < most ? score(&item[0], size) : combine(item).score;
        return best;
    }

    Way best_way(const Item& item) {
        if (item.size() == 2 && item[1] == item[0] + 1) return {0};
        Way best = combine(item);
        larger.assign(item.begin(), item.end());
        larger.insert(larger.begin() + 1, item[0]);
        int y = 1;  // the index of the new head
        while ((int)item.size() < most && ++larger[y] < item.back())
            if (larger[y] == larger[y + 1])
                y++;  // this head is in the item: go on behind it
            else
                best.offer(link(larger, y));
        watch.pass(20 * item.size() * (item.back() - item[0]));
        return best;
    }

    // Advance the interior heads to their next combination between the outer two; false after the last.
    static bool next(Item& item) {
        const int size = item.size();
        int x = size - 2;
        while (x > 0 && item[x] == item[size - 1] - (size - 1 - x)) x--;
        if (x <= 0) return false;
        item[x]++;
        for (x++; x < size - 1; x++) item[x] = item[x - 1] + 1;
        return true;
    }

    // Find the score of every item, and return the goal's.
    double fill() {
        Item item;
        for (int i = n; i >= 0; i--)
            for (int l = i + 1; l <= n + 1; l++)
                // Larger items first, since Link makes smaller items from them.
                for (int size = std::min(most - 1, l - i + 1); size > 1; size--) {
                    item.resize(size);
                    std::iota(item.begin(), item.end(), i);
                    item.back() = l;
                    do {
                        score(&item[0], size) = best_way(item).score;
                    } while (next(item));
                }
        return score(&item[0], 2);
    }

    // Unfold the goal, recomputing every maximum.
    void trace(int* heads) {
        agenda.assign(1, Item{0, n + 1});
        while (!agenda.empty()) {
            Item item = agenda.back();
            agenda.pop_back();
            if (item.size() == 2 && item[1] == item[0] + 1) continue;
            const Way best = best_way(item);
            if (best.score == -INFINITY) lost();
            if (best.removed) {
                heads[best.removed] = best.head;
                item.insert(std::lower_bound(item.begin(), item.end(), best.removed), best.removed);
                agenda.push_back(item);
            } else {
                agenda.push_back(Item(item.begin(), item.begin() + best.split + 1));
                agenda.push_back(Item(item.begin() + best.split, item.end()));
            }
        }
    }

  public:
    double find(int words, const double* const* tensors, const double* cost_of_arcs, bool single_root, int* heads) override {
        n = words;
        most = std::min(k, std::max(n + 2, 3));
        single = single_root;
        arcs = tensors[ARCS];
        cost = cost_of_arcs;
        bytes = 0;
        double items = n + 2;
        for (int size = 2; size < most; size++) bytes += sizeof(double) * (items *= (n + 3.0 - size) / size);
        if (bytes > 1e12)  // beyond this, the ranks of items would soon overflow, too
            throw std::bad_alloc();
        binomial.assign((size_t)(n + 3) * (most + 1), 0);
        for (int a = 0; a < n + 3; a++)
            for (int b = 0; b <= std::min(a, most); b++)
                binomial[a * (most + 1) + b] = b == 0 ? 1 : choose(a - 1, b - 1) + choose(a - 1, b);
        scores.resize(most);
        memory.start();
        arrange();
        memory.allocate();
        arrange();
        const double goal = fill();
        if (goal == -INFINITY || (single && n == 0)) return -INFINITY;
        trace(heads);
        return goal;
    }
    const PartRows* parts(const int* heads, int words) override {
        return smallest_k(heads, words) > k ? nullptr : BestTree::parts(heads, words);
    }
    size_t bytes_needed() const override { return (size_t)std::min(bytes, 1e18); }
    void release() override { memory.release(); }
};

}  // namespace VARIANT::mhk
