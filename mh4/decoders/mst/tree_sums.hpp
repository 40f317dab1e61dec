// The "sum" over one tree, which is its score: its arcs are certain, whatever the scores.
#pragma once
#include "weights.h"

namespace marginals {

template <class N> struct MSTTree {
    bool find(const Scores &scores, Counts &counts, const Scores & = Scores()) {
        counts.log_partition = 0;
        for (int m = 1; m <= scores.n; m++)
            counts.log_partition += scores.tensors[ARCS][cell(scores, m)];
        if (!N::DUAL && counts.tensors[ARCS] && counts.log_partition > -INFINITY)  // the derivatives are 0
            for (int m = 1; m <= scores.n; m++)
                counts.tensors[ARCS][cell(scores, m)] = 1;
        return true;
    }
    static size_t cell(const Scores &of, int m) { return (size_t)of.heads[m] * (of.n + 1) + m; }
    size_t bytes_needed() const { return 0; }
    void release(size_t) {}
};

}  // namespace marginals
