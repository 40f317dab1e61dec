// The layout of items in memory, which the charts for maxima and for sums have in common.
#pragma once

#include <vector>

#include "recurrences.hpp"

namespace VARIANT::oneec {

// Tiles of the items of one kind in regions of two nodes, first and second; contiguous over the second.
template <class Value, int WIDTH, int kind> struct Tiles {
    Value* origin;
    const ptrdiff_t* places;  // by first node and block: the number of the tile whose second node is, or would be, 0
    int step;                 // from the places of a node to the next node's; 0 if there is one node only
    int shift;                // how far the first block begins before node 0

    INLINE Value* tile(int first, int block, int second) const {
        return origin + (places[first * step + block] + second) * (STATES[kind] * WIDTH);
    }
    INLINE Value* cell(int first, int second, int x) const {
        return tile(first, (x + shift) / WIDTH, second) + (x + shift) % WIDTH;
    }
};

// The tiles of several kinds.
template <class Value, int WIDTH, int... kinds> struct Group : Tiles<Value, WIDTH, kinds>... {};

// The items whose first node is `node`.
template <class Items> struct ItemsOf {
    const Items& items;
    int node;
};

// The nodes of a sentence, in blocks of WIDTH (the lanes of a vector), and tables.
template <class Views> struct Layout : Views {
    using typename Views::Rows, typename Views::Tile, typename Views::Value;
    using Views::WIDTH;
    template <int... kinds> using Group = oneec::Group<Value, WIDTH, kinds...>;

    int n, side, blocks, width, rows;
    int shift;                             // how far blocks of x to the right begin before node 0
    int none, hidden;                      // values of g for a root without a head, and for a head that is not visible
    bool single;                           // whether node 0 is to have one dependent
    Value *e, *c, *s;                      // rows over g
    Value *arc, *sibling;                  // [h, m]; [m, s]
    Value* grandparent;                    // rows over g, [m]
    Value* gap_rows[STATES[GAP]];          // [a, b] by state
    Value *complex_apart, *complex_above;  // [a, b], either order; [a, b]: a above b
    Value *crossed_half, *crossed_pair;    // [h, end], see Projective
    Value* hinges;                         // hinge t b v of the current b and v: [t] by state
    Value* coefs;                          // scratch
    ptrdiff_t to_gradient = 0;             // in sums: from a value to the derivative with respect to it

    // Crossed arcs of node v with all x
    struct LinkRows {
        Value *to, *from;  // [v, x]: x->v and v->x
        int width;
        ptrdiff_t to_gradient;

        INLINE Rows from_lanes(int x, int v) const {  // arcs x-v, for the block that begins at x
            return Rows{{to + v * width + x, from + v * width + x}, to_gradient};
        }
        INLINE Rows to_lanes(int v, int x) const {  // arcs v-x
            return Rows{{from + v * width + x, to + v * width + x}, to_gradient};
        }
    };

    // Whether the node may have more than one arc to a dependent.
    INLINE bool may_have_two(int node) const { return !(single && node == 0); }

    INLINE int blocks_before(int a) const { return (a + WIDTH - 1) / WIDTH; }  // with nodes to the left of a
    INLINE int block_of(int x) const { return (x + shift) / WIDTH; }           // of a node to the right
    INLINE int right_node(int block) const { return block * WIDTH - shift; }   // the first in a block to the right

    INLINE Value* at_e(int h, int m) const { return e + ((size_t)h * side + m) * rows; }
    INLINE Value* at_c(int h, int end) const { return c + ((size_t)h * side + end) * rows; }
    INLINE Value* at_s(int a, int b) const {
        const size_t low = minimum(a, b), high = maximum(a, b);
        return s + (high * (high - 1) / 2 + low) * rows;
    }

    INLINE Rows gap_from(int a, int x) const {  // gap a x, for the block that begins at x
        return Rows{{gap_rows[0] + a * width + x, gap_rows[1] + a * width + x, gap_rows[2] + a * width + x}, to_gradient};
    }
    template <int kind, class Items> INLINE Tile tile(ItemsOf<Items> row, int block, int second) const {
        return Tile{static_cast<const Tiles<Value, WIDTH, kind>&>(row.items).tile(row.node, block, second), to_gradient};
    }
    // Where an item a b v of one side is, for one v and the first state. Each other state follows WIDTH numbers later.
    template <int kind, class Items> INLINE Value* cell(const Items& items, int a, int b, int v) const {
        constexpr bool blocks_of_a = kind == ARM || kind == HALF_PIVOT;  // other items are in blocks of v
        return static_cast<const Tiles<Value, WIDTH, kind>&>(items).cell(blocks_of_a ? v : a, b, blocks_of_a ? a : v);
    }

    size_t bytes_needed() const { return memory.bytes(); }
    void release() { memory.release(); }

  protected:
    Memory<Value> memory;
    signals::Watch watch;
    std::vector<ptrdiff_t> places_left, places_right, places_layer;  // see Tiles
    ptrdiff_t lefts, rights;                                         // the number of tiles

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
        lefts = rights = 0;
        places_left.assign(side * blocks, 0);
        places_right.assign(side * blocks, 0);
        places_layer.resize(blocks);
        for (int block = 0; block < blocks; block++) places_layer[block] = (ptrdiff_t)block * side;
        for (int a = 0; a < side; a++)
            for (int block = 0; block < blocks; block++) {
                if (block < blocks_before(a)) {  // b from a + 1 to n
                    places_left[a * blocks + block] = lefts - (a + 1);
                    lefts += n - a;
                }
                if (a < n && block >= block_of(a + 1)) {  // b from 0 to a - 1
                    places_right[a * blocks + block] = rights;
                    rights += a;
                }
            }
    }

    Value* take(size_t size) { return memory.take(size); }
    Value* take_rows(size_t size) {  // with room for blocks that begin before the first number, or end behind the last
        Value* const before = take(size + 2 * WIDTH);
        return before ? before + WIDTH : nullptr;
    }
    // The tables that have derivatives, and the tables of scores, which have none
    void take_values() {
        const size_t square = (size_t)side * width, cube = (size_t)side * side * rows;
        for (Value*& row : gap_rows) row = take_rows(square);
        for (Value** table : {&complex_apart, &complex_above, &crossed_half, &crossed_pair}) *table = take(square);
        e = take(cube);
        c = take(cube);
        s = take(cube / 2);
        hinges = take(STATES[HINGE] * side);
    }
    void take_scores() {
        arc = take((size_t)side * side);
        sibling = take((size_t)side * (side + 1));
        grandparent = take((size_t)side * rows);
        coefs = take(width);
    }
    LinkRows take_links() {
        const size_t square = (size_t)side * width;
        return {take_rows(square), take_rows(square), width, to_gradient};
    }
    template <int... kinds> void take_left(oneec::Group<Value, WIDTH, kinds...>& items) {
        take_tiles(items, lefts, places_left, blocks, 0);
    }
    template <int... kinds> void take_right(oneec::Group<Value, WIDTH, kinds...>& items) {
        take_tiles(items, rights, places_right, blocks, shift);
    }
    template <int... kinds> void take_layer(oneec::Group<Value, WIDTH, kinds...>& items, int shift) {
        take_tiles(items, (size_t)side * blocks, places_layer, 0, shift);
    }

  private:
    template <int... kinds>
    void take_tiles(oneec::Group<Value, WIDTH, kinds...>& items, size_t count, const std::vector<ptrdiff_t>& places, int step,
                    int shift) {
        ((static_cast<Tiles<Value, WIDTH, kinds>&>(items) = {take(count * STATES[kinds] * WIDTH), places.data(), step, shift}),
         ...);
    }
};

}  // namespace VARIANT::oneec
