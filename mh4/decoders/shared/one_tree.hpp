// The derivations of one tree, of which there are few. Each algorithm finds its items from the bottom up, with the dependents of nodes, and
// hands every way to derive one to a forest, of sums (forest.hpp) or of maxima (tree_search.hpp). The tree has been checked: it has a single
// root where that is required.
#pragma once
#include <vector>

#include "transition_scores.hpp"

namespace one_tree {

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

}  // namespace one_tree
