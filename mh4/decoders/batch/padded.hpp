// Padded arrays, of which a sentence of n words takes up the leading corner.
#pragma once
#include <vector>

#include "chart_memory.hpp"
#include "score_kinds.hpp"

namespace batch {

// A C-contiguous array (sentences, layers, rows, columns) of float64 if it is `wide`, otherwise of float32; NULL if there is none.
struct Padded {
    const void *values;
    bool wide;
    size_t layers, rows, columns;
};

// Numbers as the charts take them, where they are if nothing has to be changed, otherwise in a copy.
template <class To> class Corner {
    std::vector<To> copy;

    template <class From, bool transposed> bool fill(const Padded &of, const From *from, size_t rows, size_t columns) {
        To *to = copy.data();
        for (size_t layer = 0; layer < of.layers; layer++, from += of.rows * of.columns)
            for (size_t x = 0; x < rows; x++) {
                const From *row = from + x * of.columns;
                if (kinds(row, columns) & INVALID)
                    return false;
                for (size_t y = 0; y < columns; y++)
                    to[transposed ? y * rows + x : y] = row[y] > -(From)LARGEST ? (To)row[y] : -(To)INFINITY;
                to += transposed ? 0 : columns;
            }
        return true;
    }

    template <class From, bool transposed> const To *of_type(const Padded &of, size_t sentence, size_t rows, size_t columns) {
        const From *from = static_cast<const From *>(of.values) + sentence * of.layers * of.rows * of.columns;
        if (!transposed && sizeof(From) == sizeof(To) && rows == of.rows && columns == of.columns) {
            const int found = kinds(from, of.layers * rows * columns);
            if (!found)
                return reinterpret_cast<const To *>(from);
            if (found & INVALID)
                return nullptr;
        }
        room(of.layers * rows * columns);
        return fill<From, transposed>(of, from, rows, columns) ? copy.data() : nullptr;
    }

  public:
    // Room for so many numbers. Throws as `require` does, or std::bad_alloc.
    To *room(size_t size) {
        if (copy.size() < size) {
            make_room(copy, size - copy.size());
            copy.resize(size);
        }
        return copy.data();
    }

    // The leading rows and columns of each layer, C-contiguous; NULL if there are numbers of 1e30 or more, or NaN.
    const To *take(const Padded &of, size_t sentence, size_t rows, size_t columns) {
        return of.wide ? of_type<double, false>(of, sentence, rows, columns) : of_type<float, false>(of, sentence, rows, columns);
    }

    // The same with rows and columns exchanged, of an array of one layer.
    const To *transpose(const Padded &of, size_t sentence, size_t rows, size_t columns) {
        return of.wide ? of_type<double, true>(of, sentence, rows, columns) : of_type<float, true>(of, sentence, rows, columns);
    }

    void release() {
        if (copy.capacity() * sizeof(To) > KEEP)
            std::vector<To>().swap(copy);
    }
};

// The score tensors of transitions and arcs; those that are missing have no values.
struct Tensors {
    Padded shift, s0b0, s1s0, arcs;
};

// The same of a sentence, as the charts take them.
template <class To> class Corners {
    Corner<To> shift, s0b0, s1s0, arcs;

    static bool take(Corner<To> &corner, const Padded &of, size_t sentence, size_t side, const To *&to) {
        if (of.values)
            to = corner.take(of, sentence, side, side);
        return to || !of.values;
    }

  public:
    // Let the scores `to`, of which n is set, point to them; false if there are numbers of 1e30 or more, or NaN.
    template <class Scores> bool take(const Tensors &of, size_t sentence, Scores &to) {
        const size_t arc_side = to.n + 1, side = arc_side + 1;
        return take(shift, of.shift, sentence, side, to.shift) && take(s0b0, of.s0b0, sentence, side, to.s0b0) &&
               take(s1s0, of.s1s0, sentence, side, to.s1s0) && take(arcs, of.arcs, sentence, arc_side, to.arcs);
    }
    void release() {
        for (Corner<To> *corner : {&shift, &s0b0, &s1s0, &arcs})
            corner->release();
    }
};

}  // namespace batch
