// Vectors of floats, of the processor's width, and an inner loop that MH4 and MH5 share. This code only adds and takes
// maxima. So vector width, order of operands and compiler flags make no difference: results are the same to the bit.
#pragma once
#include <math.h>

#include "variant.hpp"

typedef float Lanes __attribute__((vector_size(4 * LANES), may_alias));                   // of an aligned row
typedef float LooseLanes __attribute__((vector_size(4 * LANES), may_alias, aligned(4)));  // of any row

static inline float maximum(float a, float b) { return a > b ? a : b; }
static inline Lanes maximum(Lanes a, Lanes b) { return a > b ? a : b; }
static inline Lanes at(const float* row) { return *(const Lanes*)row; }
static inline Lanes loosely_at(const float* row) { return *(const LooseLanes*)row; }

// The maximum of column[j] + max(la_from[j] + la_to[j], ra_from[j] + ra_to[j]) for j < count: [i,l] from all [i,j,l].
static inline float link2(const float* column, const float* la_from, const float* la_to, const float* ra_from, const float* ra_to,
                          int count) {
    float best = -INFINITY;
    int j = 0;
    if (count >= LANES) {
        Lanes lanes = -INFINITY - Lanes();
        for (; j + LANES <= count; j += LANES) {
            Lanes la = loosely_at(la_from + j) + loosely_at(la_to + j), ra = loosely_at(ra_from + j) + loosely_at(ra_to + j);
            lanes = maximum(lanes, loosely_at(column + j) + maximum(la, ra));
        }
        for (int x = 0; x < LANES; x++) best = maximum(best, lanes[x]);
    }
    for (; j < count; j++) best = maximum(best, column[j] + maximum(la_from[j] + la_to[j], ra_from[j] + ra_to[j]));
    return best;
}
