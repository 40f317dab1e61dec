// Which numbers there are among scores that count as -inf, or are refused; arguments.pyx says why.
#pragma once
#include <math.h>
#include <stddef.h>

constexpr double LARGEST = 1e30;
enum { MASKS = 1, INVALID = 2 };  // finite numbers from -LARGEST down; numbers of LARGEST or more, or NaN

template <class Number> static inline int kinds(const Number *numbers, size_t count) {
    const Number largest = (Number)LARGEST, none = -(Number)INFINITY;
    int masks = 0, invalid = 0;
    for (size_t x = 0; x < count; x++) {  // the compiler makes vectors of this
        invalid |= !(numbers[x] < largest);
        masks |= (numbers[x] > none) & (numbers[x] <= -largest);
    }
    return (masks ? MASKS : 0) | (invalid ? INVALID : 0);
}
