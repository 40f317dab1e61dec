// Vectors and memory views, the building blocks of the recurrences of 1EC.
//
// The values of an item a b x (whatever its nodes are called) are stored in tiles: for LANES consecutive x, a tile has one
// block (a vector register) for each state. Blocks of x to the left of a and b begin at node 0, those to the right end at
// node n (then the first may begin before node 0). They extend beyond the x of an item, to cells that are never looked up.
// Tiles are contiguous over another node, t or v, over which the recurrences iterate.

#pragma once

#include <cstddef>
#include <limits>

#include "chart_memory.hpp"
#include "variant.hpp"

namespace VARIANT::oneec {

typedef float Block __attribute__((vector_size(4 * LANES), may_alias));                  // a value

const float NEVER = -std::numeric_limits<float>::infinity();

#define INLINE inline __attribute__((always_inline))

static INLINE Block maximum(Block a, Block b) { return a > b ? a : b; }
static INLINE float maximum(float a, float b) { return a > b ? a : b; }
static INLINE int minimum(int a, int b) { return a < b ? a : b; }
static INLINE int maximum(int a, int b) { return a > b ? a : b; }
static INLINE Block row(const float* at) {
    Block block;
    __builtin_memcpy(&block, at, sizeof block);
    return block;
}

// A block in memory, at any float. No reference to a type of less alignment, which clang forgets in templates.
struct LooseBlock {
    float* at;
    INLINE operator Block() const { return row(static_cast<const float*>(at)); }
    INLINE void operator=(Block block) const { __builtin_memcpy(at, &block, sizeof block); }
};
static INLINE LooseBlock row(float* at) { return {at}; }

template <class Value> static INLINE void update_maximum(Value& best, Value value) { best = maximum(best, value); }

template <class Value, int size> static INLINE void clear(Value (&values)[size]) {
    for (int i = 0; i < size; i++) values[i] = Value{} + NEVER;
}

// How the best tree is found by the recurrences of Projective; for sums, see sums::Views.
struct MaxPlus {
    typedef float Value;
    typedef Block Vector;
    enum { WIDTH = LANES };

    template <class A> static INLINE A either(A a, A b) { return maximum(a, b); }
    template <class A, class B> static INLINE auto both(A a, B b) { return a + b; }
    static INLINE Block with_arc(Block rest, Block grandparents, float arc) { return rest + (arc + grandparents); }
    static INLINE Block at(const float* values) { return row(values); }
    static INLINE void put(float* to, Block values) { row(to) = values; }
    static INLINE Block spread(float value) { return Block{} + value; }
    static float nothing() { return NEVER; }
    static float one() { return 0; }
};

// The inputs of a kernel, indexed by a state or by the direction of an arc.

struct Tile {  // for a block of x
    const float* at;
    INLINE Block operator[](int state) const { return row(at + state * LANES); }
};

struct Rows {  // the same, with each state or direction in a separate row
    const float *first, *second, *third;
    INLINE Block operator[](int i) const { return row(i == 0 ? first : i == 1 ? second : third); }
};

struct Gaps {  // gaps between one node and all others, by state
    const float* of[3];
};

struct Gap {  // one of them
    Gaps gaps;
    int node;
    INLINE float operator[](int state) const { return gaps.of[state][node]; }
};

struct Arcs {  // both directions between two nodes
    float value[2];
    INLINE float operator[](int direction) const { return value[direction]; }
};

template <int size, class Value> static INLINE void store(float* tile, const Value (&values)[size]) {
    for (int i = 0; i < size; i++) row(tile + i * LANES) = values[i];
}

// Transpose a tile, the block of x that begins at `node`: copy the values of x by state to where(x), for those x in the block
// that are from first to last - 1.
template <int size, class Where> static INLINE void scatter(const float* tile, int node, int first, int last, Where where) {
    const int begin = maximum(first, node), end = minimum(last, node + LANES);
    for (int x = begin; x < end; x++) {
        float* to = where(x);
        for (int state = 0; state < size; state++) to[state] = tile[state * LANES + x - node];
    }
}

// What the charts for maxima and for sums have in common: the nodes of a sentence, in blocks of WIDTH, which are the lanes of a vector;
// rows over g; and which nodes may have two dependents (with a single root, not node 0).
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

}  // namespace VARIANT::oneec
