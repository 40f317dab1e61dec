// Read and write sentences in padded arrays. A sentence of n words takes up the leading corner.
#pragma once
#include <vector>

#include "chart_memory.hpp"
#include "interface.hpp"
#include "score_kinds.hpp"

namespace padded {

// A C-contiguous array (sentences, layers, rows, columns) of float64 if it is `wide`, otherwise of float32; NULL if there is none.
struct Padded {
    const void* values;
    bool wide;
    size_t layers, rows, columns;
    size_t words;  // the number of words that it has room for
};

// How many rows and columns a sentence takes up.
static inline size_t rows_of(const Padded& of, size_t n) { return of.rows - of.words + n; }
static inline size_t columns_of(const Padded& of, size_t n) { return of.columns - of.words + n; }

// The numbers of one sentence, as the charts read them: in place if nothing has to be changed, otherwise in a copy.
template <class To> class Corner {
    std::vector<To> copy;

    template <class From> bool fill(const Padded& of, const From* from, size_t rows, size_t columns) {
        To* to = copy.data();
        for (size_t layer = 0; layer < of.layers; layer++, from += of.rows * of.columns)
            for (size_t x = 0; x < rows; x++) {
                const From* row = from + x * of.columns;
                if (kinds(row, columns) & INVALID) return false;
                for (size_t y = 0; y < columns; y++) to[y] = row[y] > -(From)LARGEST ? (To)row[y] : -(To)INFINITY;
                to += columns;
            }
        return true;
    }

    template <class From> const To* take_from(const Padded& of, size_t sentence, size_t n) {
        const size_t rows = rows_of(of, n), columns = columns_of(of, n);
        const From* from = static_cast<const From*>(of.values) + sentence * of.layers * of.rows * of.columns;
        if (sizeof(From) == sizeof(To) && rows == of.rows && columns == of.columns) {
            const int found = kinds(from, of.layers * rows * columns);
            if (!found) return reinterpret_cast<const To*>(from);
            if (found & INVALID) return nullptr;
        }
        room(of.layers * rows * columns);
        return fill(of, from, rows, columns) ? copy.data() : nullptr;
    }

    static To* start(const Padded& of, size_t sentence) {
        return const_cast<To*>(static_cast<const To*>(of.values)) + sentence * of.layers * of.rows * of.columns;
    }

  public:
    // Room for so many numbers. Throws as `require` does, or std::bad_alloc.
    To* room(size_t size) {
        if (copy.size() < size) {
            make_room(copy, size - copy.size());
            copy.resize(size);
        }
        return copy.data();
    }

    // The numbers of a sentence of n words, C-contiguous; NULL if there are any of 1e30 or more, or NaN.
    const To* take(const Padded& of, size_t sentence, size_t n) {
        return of.wide ? take_from<double>(of, sentence, n) : take_from<float>(of, sentence, n);
    }

    // Where to write numbers of a sentence, all 0 at first: in the array or, if it has padding, in a copy.
    To* place(const Padded& to, size_t sentence, size_t n) {
        const size_t size = to.layers * rows_of(to, n) * columns_of(to, n);
        return n == to.words ? start(to, sentence) : std::fill_n(room(size), size, To()) - size;
    }
    // Copy numbers that have been written to the copy into the array.
    void spread(const Padded& to, size_t sentence, size_t n) const {
        const size_t rows = rows_of(to, n), columns = columns_of(to, n);
        for (size_t row = 0; row < to.layers * rows && n < to.words; row++)
            std::copy_n(&copy[row * columns], columns, start(to, sentence) + (row / rows * to.rows + row % rows) * to.columns);
    }

    // The scores of arcs (NULL: all 0), with -inf for every arc that contradicts the heads. -1 allows any head, -2 any
    // head except the root.
    const To* with_heads(const To* arcs, const int* heads, size_t n) {
        To* to = room((n + 1) * (n + 1));
        for (size_t h = 0, arc = 0; h <= n; h++)
            for (size_t m = 0; m <= n; m++, arc++) {
                bool possible = heads[m] >= 0 ? (size_t)heads[m] == h : heads[m] == -1 || h > 0;
                to[arc] = !possible ? -(To)INFINITY : arcs ? arcs[arc] : 0;
            }
        return to;
    }

    void release() { ::release(copy); }
};

// The score tensors of a sentence, as the charts read them, and the cost of arcs.
template <class To> class Corners {
    Corner<To> corners[TENSORS], costs, sums, allowed;

  public:
    Corner<To>& operator[](int x) { return corners[x]; }
    // Point `to` to the tensors, NULL for missing ones. False if there are numbers of 1e30 or more, or NaN.
    bool take(const Padded* of, size_t sentence, size_t n, const To** to) {
        for (int x = 0; x < TENSORS; x++) {
            to[x] = of[x].values ? corners[x].take(of[x], sentence, n) : nullptr;
            if (of[x].values && !to[x]) return false;
        }
        return true;
    }
    // The same, and the cost of arcs, if there is one.
    bool take(const Padded* of, const Padded& cost_of, size_t sentence, size_t n, const To** to, const To** cost) {
        *cost = cost_of.values ? costs.take(cost_of, sentence, n) : nullptr;
        return (*cost || !cost_of.values) && take(of, sentence, n, to);
    }
    // The sum of arcs and cost, or whichever is not NULL.
    const To* sum(const To* arcs, const To* cost, size_t n) {
        if (!arcs || !cost) return arcs ? arcs : cost;
        To* both = sums.room((n + 1) * (n + 1));
        for (size_t x = 0; x < (n + 1) * (n + 1); x++) both[x] = arcs[x] + cost[x];
        return both;
    }
    const To* with_heads(const To* arcs, const int* heads, size_t n) { return allowed.with_heads(arcs, heads, n); }
    void release() {
        for (Corner<To>& corner : corners) corner.release();
        costs.release();
        sums.release();
        allowed.release();
    }
};

}  // namespace padded
