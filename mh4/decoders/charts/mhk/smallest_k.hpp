#pragma once
#include "chart_memory.hpp"

// The smallest k >= 3 such that MH_k derives the tree with these heads, over n words.
//
// It is always safe to Link as early as possible, since a head that has all its dependents only makes items larger. If
// this is done, all derivations of an item [i,...,l] have removed the same words: those whose subtree lies strictly
// between i and l, and whose head is i, l or between them. So every span has one item, of some size [i,l]. MH_k
// derives it iff there is an x in between such that MH_k derives [i,...,x] and [x,...,l], and
// size [i,x] + size [x,l] - 1 <= k. Throws as Memory::allocate does, or signals::Raised.
static inline int smallest_k(const int* heads, int n) {
    const int side = n + 2;
    std::vector<int> low(n + 1), high(n + 1);  // the extent of every subtree
    Memory<int> memory;                        // new, so all numbers are 0
    signals::Watch watch;
    int *const linked = memory.allocate(2 * (size_t)side * side), *const smallest = linked + (size_t)side * side;
    const auto at = [=](int i, int l) { return (size_t)i * side + l; };
    for (int w = 0; w <= n; w++) low[w] = high[w] = w;
    for (int w = 1; w <= n; w++) {
        watch.pass(n);
        for (int h = heads[w]; h > 0; h = heads[h]) {
            low[h] = std::min(low[h], w);
            high[h] = std::max(high[h], w);
        }
    }
    // linked[i,l]: how many words are removed from the item of i..l. At first, a word counts in its smallest span only
    for (int w = 1; w <= n; w++) linked[at(std::min(low[w] - 1, heads[w]), std::max(high[w] + 1, heads[w]))]++;
    for (int i = n; i >= 0; i--) {
        watch.pass(4 * n);
        for (int l = i + 1; l < side; l++)
            linked[at(i, l)] += linked[at(i, l - 1)] + linked[at(i + 1, l)] - linked[at(i + 1, l - 1)];
    }
    for (int i = n; i >= 0; i--) {
        smallest[at(i, i + 1)] = 3;
        for (int l = i + 2; l < side; l++) {
            watch.pass(4 * (l - i));
            int best = n + 3;
            for (int x = i + 1; x < l; x++) {
                const int size = l - i + 1 - linked[at(i, x)] - linked[at(x, l)];
                best = std::min(best, std::max({size, smallest[at(i, x)], smallest[at(x, l)]}));
            }
            smallest[at(i, l)] = best;
        }
    }
    return smallest[at(0, n + 1)];
}
