// Padded arrays, of which a sentence of n words takes up the leading corner.
#pragma once
#include <math.h>
#include <stddef.h>

#include <algorithm>
#include <vector>

#include "chart_memory.hpp"

namespace batch {

// A C-contiguous array (sentences, layers, rows, columns) of float64 if it is `wide`, otherwise of float32; NULL if there is none.
struct Padded {
    const void *values;
    bool wide;
    size_t layers, rows, columns;
};

enum { MASKS = 1, INVALID = 2 };  // as in arguments.pyx: numbers that count as -inf; numbers of 1e30 or more, or NaN

template <class From> static inline int kinds(const From *numbers, size_t count) {
    const From largest = (From)1e30, none = -(From)INFINITY;
    int masks = 0, invalid = 0;
    for (size_t x = 0; x < count; x++) {  // the compiler makes vectors of this
        invalid |= !(numbers[x] < largest);
        masks |= (numbers[x] > none) & (numbers[x] <= -largest);
    }
    return (masks ? MASKS : 0) | (invalid ? INVALID : 0);
}

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
                    to[transposed ? y * rows + x : y] = row[y] > -(From)1e30 ? (To)row[y] : -(To)INFINITY;
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

}  // namespace batch
