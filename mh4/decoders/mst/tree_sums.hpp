// The "sum" over one tree, which is its score: its arcs are certain, whatever the scores.
#pragma once
#include "weights.h"

namespace marginals {

template <class N> class MSTTree {
    static double score(const Scores &of) {
        double total = 0;
        for (int m = 1; m <= of.n; m++)
            total += of.arcs[cell(of, m)];
        return total;
    }
    static size_t cell(const Scores &of, int m) { return (size_t)of.heads[m] * (of.n + 1) + m; }

  public:
    bool find(const Scores &scores, Counts &counts) {
        counts.log_partition = score(scores);
        if (counts.arcs && counts.log_partition > -INFINITY)
            for (int m = 1; m <= scores.n; m++)
                counts.arcs[cell(scores, m)] = 1;
        return true;
    }
    bool find(const Scores &scores, Counts &counts, const Scores &) {  // the counts are constant
        counts.log_partition = score(scores);
        return true;
    }
    size_t bytes_needed() const { return 0; }
    void release(size_t) {}
};

}  // namespace marginals
