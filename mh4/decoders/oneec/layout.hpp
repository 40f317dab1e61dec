// What the charts for maxima and for sums have in common: the nodes of a sentence, in blocks of WIDTH, which are the lanes of a vector;
// rows over g; and which nodes may have two dependents (with a single root, not node 0).

#pragma once

#include "chart_memory.hpp"
#include "recurrences.hpp"

namespace oneec {

template <class Value, int WIDTH> struct Layout {
    int n, side, blocks, width, rows;
    int shift;         // by how much blocks of x to the right begin before node 0
    int none, hidden;  // special values of g
    bool single;       // whether node 0 is to have one dependent
    Value *e, *c, *s;  // rows over g

    void measure(int words, bool single_root) {
        n = words;
        single = single_root;
        side = n + 1;
        blocks = (side + WIDTH - 1) / WIDTH;
        width = blocks * WIDTH;
        shift = width - side;
        none = side;
        hidden = side + 1;
        rows = (side + 2 + WIDTH - 1) / WIDTH * WIDTH;
    }

    // Whether the node may have more than one arc to a dependent.
    INLINE bool may_have_two(int node) const { return !(single && node == 0); }

    INLINE int blocks_before(int a) const { return (a + WIDTH - 1) / WIDTH; }  // with nodes to the left of a
    INLINE int block_of(int x) const { return (x + shift) / WIDTH; }            // of a node to the right
    INLINE int right_node(int block) const { return block * WIDTH - shift; }    // the first in a block to the right
    INLINE int right_lane(int x) const { return (x + shift) % WIDTH; }

    INLINE Value* at_e(int h, int m) const { return e + ((size_t)h * side + m) * rows; }
    INLINE Value* at_c(int h, int end) const { return c + ((size_t)h * side + end) * rows; }
    INLINE Value* at_s(int a, int b) const {
        const size_t low = minimum(a, b), high = maximum(a, b);
        return s + (high * (high - 1) / 2 + low) * rows;
    }

    size_t bytes_needed() const { return memory.bytes(); }
    void release() { memory.release(); }

  protected:
    Memory<Value> memory;
    signals::Watch watch;

    Value* take(size_t size) { return memory.take(size); }
};

}  // namespace oneec
