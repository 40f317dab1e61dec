// The dependents of the nodes of a tree.
#pragma once
#include <vector>

struct Dependents {
    std::vector<int> list, first;  // of h: list[first[h]] to list[first[h + 1] - 1], in increasing order

    // heads: of the words 1 to n.
    void find(const int *heads, int n) {
        first.assign(n + 3, 0);
        list.resize(n);
        for (int m = 1; m <= n; m++)
            first[heads[m] + 2]++;
        for (int h = 0; h <= n + 1; h++)
            first[h + 1] += first[h];
        for (int m = 1; m <= n; m++)  // first[h + 1] is where the next dependent of h goes, and so becomes the end of its list
            list[first[heads[m] + 1]++] = m;
    }
};
