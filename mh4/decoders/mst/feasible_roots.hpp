// The words that can be the single root of a tree, in O(n^2) time.
#pragma once
#include <math.h>

#include <algorithm>
#include <vector>

#include "chart_memory.hpp"

namespace marginals {

class Roots {
    const double *arcs;  // (n + 1, n + 1) by head, dependent; -inf if there is no arc
    int n;
    std::vector<bool> reached;
    std::vector<int> agenda;
    signals::Watch watch;

    double arc(int head, int dependent) const { return arcs[(size_t)head * (n + 1) + dependent]; }

    void forget() { reached.assign(n + 1, false); }

    // Mark this word and all its possible descendants, or ancestors, except below, or above, those that are marked.
    void reach(int word, bool upwards) {
        reached[word] = true;
        agenda.assign(1, word);
        while (!agenda.empty()) {
            const int x = agenda.back();
            agenda.pop_back();
            watch.pass(4 * n);
            for (int y = 1; y <= n; y++)
                if (!reached[y] && (upwards ? arc(y, x) : arc(x, y)) > -INFINITY) {
                    reached[y] = true;
                    agenda.push_back(y);
                }
        }
    }
    bool reaches_all(int word) {
        forget();
        reach(word, false);
        return std::count(reached.begin() + 1, reached.end(), true) == n;
    }
    // The first marked word with the best arc from 0; 0 if there is none.
    int best() const {
        int word = 0;
        for (int x = 1; x <= n; x++)
            if (reached[x] && arc(0, x) > (word ? arc(0, word) : -INFINITY))
                word = x;
        return word;
    }

  public:
    // The word with the best arc from 0 of those that all others can descend from; 0 if there is none.
    int find(const double *of, int length) {
        arcs = of;
        n = length;
        reached.assign(n + 1, true);
        int root = best();
        if (!root || reaches_all(root))
            return root;
        forget();
        for (int word = 1; word <= n; word++)
            if (!reached[word]) {  // so none before it can be the root
                root = word;
                reach(word, false);
            }
        if (!reaches_all(root))
            return 0;
        forget();
        reach(root, true);
        return best();
    }
};

}  // namespace marginals
