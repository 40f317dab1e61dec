// The sum over the arc-hybrid derivations of one tree, and its derivatives.
//
// The items are those of inside_outside.hpp that the tree has: every word between i and l has its head in [i,l]. The last reduce
// removes a dependent of i or l.
#pragma once
#include "forest.hpp"
#include "inside_outside.hpp"

namespace marginals {

template <class N> class MH3Tree {
    Forest<N> forest;
    Memory<int> memory;
    signals::Watch watch;
    Dependents dependents;

  public:
    // log_partition, -inf if the tree has no derivation, and the counts or, with Duals, their derivatives in a direction. True if
    // they are right; false if N is not enough for these scores. Throws as Memory::allocate does, or signals::Raised.
    bool find(const Scores &scores, Counts &counts, const Scores &direction = Scores()) {
        const int n = scores.n;
        const size_t side = n + 2;
        counts.log_partition = -INFINITY;
        dependents.find(scores.heads, n);
        if (scores.single_root && dependents.of(0).size() != 1)
            return true;
        int *items = memory.allocate(side * side);  // [i,l] at i, l
        forest.start(scores, direction);
        for (int i = n; i >= 0; i--) {
            Outside outside;
            items[i * side + i + 1] = Forest<N>::ONE;
            for (int l = i + 2; l <= n + 1; l++) {
                watch.pass(20);
                dependents.extend(outside, i, l);
                items[i * side + l] = Forest<N>::NONE;
                if (outside.count)
                    continue;
                const int item = forest.add();
                for (int head : {i, l})
                    for (int j : dependents.of(head))
                        if (i < j && j < l) {
                            watch.pass(200);
                            const Uses uses = Uses::shift(i, j).reduce(head == i ? RA : LA, i, j, l, head, j);
                            forest.derive(item, items[i * side + j], items[j * side + l], uses);
                        }
                items[i * side + l] = forest.last();
            }
        }
        if (!forest.fits())
            return false;
        forest.count(items[n + 1], counts, watch);
        return true;
    }

    size_t bytes_needed() const { return memory.bytes() + forest.bytes_needed(); }
    void release(size_t kept) {
        memory.release(kept);
        forest.release(kept);
    }
};

}  // namespace marginals
