// The items [i,l] in the arc-hybrid derivations of one tree: every word between i and l has its head in [i,l]. The last reduce removes a
// dependent of i or l.
#pragma once
#include "chart_memory.hpp"
#include "one_tree.hpp"

namespace VARIANT::one_tree {

template <class Forest> class MH3Items {
    typedef typename Forest::Item Item;
    Memory<Item> memory;
    signals::Watch watch;
    Dependents dependents;

  public:
    // Derive all items; returns [0,n+1]. Throws as Memory::allocate does, or signals::Raised.
    Item derive(Forest &forest, const int *heads, int n) {
        const size_t side = n + 2;
        dependents.find(heads, n);
        Item *items = memory.allocate(side * side);  // [i,l] at i, l
        for (int i = n; i >= 0; i--) {
            Outside outside;
            items[i * side + i + 1] = Forest::ONE;
            for (int l = i + 2; l <= n + 1; l++) {
                watch.pass(20);
                dependents.extend(outside, i, l);
                items[i * side + l] = Forest::NONE;
                if (outside.count)
                    continue;
                forest.begin();
                for (int head : {i, l})
                    for (int j : dependents.of(head))
                        if (i < j && j < l) {
                            watch.pass(200);
                            const auto by = forest.reduce(head == i ? RA : LA, i, j, l, head, j);
                            forest.combine(items[i * side + j], items[j * side + l], i, j, by);
                        }
                items[i * side + l] = forest.end();
            }
        }
        return items[n + 1];
    }

    size_t bytes_needed() const { return memory.bytes(); }
    void release() { memory.release(); }
};

}  // namespace VARIANT::one_tree
