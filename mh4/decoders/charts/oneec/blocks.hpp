// Vectors and memory views, the building blocks of the recurrences of 1EC.
//
// The values of an item a b x (whatever its nodes are called) are stored in tiles: for WIDTH consecutive x, a tile has
// one block (a vector) for each state. Blocks of x to the left of a and b begin at node 0. Blocks of x to the right end
// at node n, so the first of them may begin before node 0. Blocks may extend beyond the possible x of an item; these
// cells are never looked up. Tiles are contiguous over another node, t or v, over which the recurrences iterate.

#pragma once

#include <cstddef>

#include "chart_memory.hpp"
#include "lanes.hpp"

namespace VARIANT::oneec {

const float NEVER = -INFINITY;

#define INLINE inline __attribute__((always_inline))

using ::maximum;
static INLINE int minimum(int a, int b) { return a < b ? a : b; }
static INLINE int maximum(int a, int b) { return a > b ? a : b; }

template <class Value> static INLINE void update_maximum(Value& best, Value value) { best = maximum(best, value); }

template <class Value, int size> static INLINE void clear(Value (&values)[size]) {
    for (int i = 0; i < size; i++) values[i] = Value{} + NEVER;
}

// The operations by which the recurrences find the best tree, and the views through which kernels read values, indexed
// by a state or by the direction of an arc. For sums, see sums::Views.
struct MaxPlus {
    typedef float Value;
    typedef Lanes Vector;
    enum { WIDTH = LANES };

    template <class A> static INLINE A either(A a, A b) { return maximum(a, b); }
    template <class A, class B> static INLINE auto both(A a, B b) { return a + b; }
    static INLINE Lanes with_arc(Lanes rest, Lanes grandparents, float arc) { return rest + (arc + grandparents); }
    static INLINE Lanes loosely_at(const float* values) { return ::loosely_at(values); }
    static INLINE void put_loosely(float* to, Lanes values) { __builtin_memcpy(to, &values, sizeof values); }
    static INLINE Lanes at(const float* values) { return loosely_at(values); }
    static INLINE void put(float* to, Lanes values) { put_loosely(to, values); }
    static INLINE Lanes spread(float value) { return Lanes{} + value; }
    static float nothing() { return NEVER; }
    static float one() { return 0; }
    static float any(Lanes lanes) {  // the best of the lanes
        float found = NEVER;
        for (int i = 0; i < LANES; i++) found = maximum(found, lanes[i]);
        return found;
    }

    struct Tile {  // for a block of x
        float* at;
        ptrdiff_t to_gradient;  // for sums
        INLINE Lanes operator[](int state) const { return loosely_at(at + state * LANES); }
    };

    struct Rows {  // the same, with each state or direction in a separate row
        const float* rows[3];
        ptrdiff_t to_gradient;
        INLINE Lanes operator[](int i) const { return loosely_at(rows[i]); }
    };

    struct Lane {  // one lane of a tile
        const float* at;
        INLINE float operator[](int state) const { return at[state * LANES]; }
    };

    struct Gap {  // between two nodes: the rows of one of them, and the other
        const float* rows[3];
        int node;
        INLINE float operator[](int state) const { return rows[state][node]; }
    };

    struct Arcs {  // both directions between two nodes
        float value[2];
        INLINE float operator[](int direction) const { return value[direction]; }
    };
};

}  // namespace VARIANT::oneec
