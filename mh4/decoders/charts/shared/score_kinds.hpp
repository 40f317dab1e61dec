// Check whether scores include numbers that count as -inf or are rejected (see arguments.pyx). The loop reads all
// scores. It is compiled for several processors, too, since it would otherwise take a tenth of the time of a sentence.
#pragma once
#include <math.h>
#include <stdlib.h>

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define CLONED __attribute__((target_clones("avx512f", "avx2", "default"))) static
#else
#define CLONED static inline
#endif

constexpr double LARGEST = 1e30;
enum { MASKS = 1, INVALID = 2 };  // finite numbers from -LARGEST down; numbers of LARGEST or more, or NaN

template <class Number> static inline __attribute__((always_inline)) int kinds_among(const Number* numbers, size_t count) {
    const Number largest = (Number)LARGEST, none = -(Number)INFINITY;
    int masks = 0, invalid = 0;
    for (size_t x = 0; x < count; x++) {  // the compiler makes vectors of this
        invalid |= !(numbers[x] < largest);
        masks |= (numbers[x] > none) & (numbers[x] <= -largest);
    }
    return (masks ? MASKS : 0) | (invalid ? INVALID : 0);
}

CLONED int kinds(const float* numbers, size_t count) { return kinds_among(numbers, count); }
CLONED int kinds(const double* numbers, size_t count) { return kinds_among(numbers, count); }
