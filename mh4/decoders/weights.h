// The numbers that marginals are computed with. A sum over derivations is a product of exponentials of scores for each of them:
//
//     Doubles     float64, in vectors of eight. Charts scale the weights so that this usually suffices, and prove it (see fits).
//     Extendeds   float64 with an exponent of its own, one at a time: right for any scores, but ten times as slow.
//
// The charts are templates over these. Vectors always have eight lanes, in one or more registers, so that sums are taken in
// the same order, and results are the same, wherever they are compiled.
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <algorithm>

#include "chart_memory.hpp"
#include "lanes_per_vector.h"

namespace marginals {

struct Extended {  // m * 2^e; e is a whole number
    double m, e;
};

static inline double power_of_two(int e) {  // -1022 <= e <= 1023
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline Extended operator*(Extended a, Extended b) {
    double m = a.m * b.m;  // of two numbers between 1/2 and the number of terms of a sum
    if (m == 0)
        return Extended{0, 0};
    int e;
    m = frexp(m, &e);
    return Extended{m, a.e + b.e + e};
}

static inline Extended operator+(Extended a, Extended b) {
    if (a.m == 0 || b.m == 0)
        return a.m == 0 ? b : a;
    if (a.e < b.e)
        std::swap(a, b);
    double less = a.e - b.e;
    return less > 200 ? a : Extended{a.m + b.m * power_of_two(-(int)less), a.e};
}

static inline Extended operator*(Extended a, double b) { return Extended{a.m * b, a.e}; }

static inline Extended &operator+=(Extended &a, Extended b) { return a = a + b; }

struct Extendeds {
    typedef Extended Value;
    typedef Extended Vector;
    enum { WIDTH = 1, SCALED = false };

    static Extended exponential(double score) {
        if (score == -INFINITY)
            return Extended{0, 0};
        long double exponent = score * 1.442695040888963407359924681001892137L;
        long double whole = floorl(exponent);
        return Extended{exp2((double)(exponent - whole)), (double)whole};
    }
    static double log(Extended x) { return ::log(x.m) + x.e * 0.693147180559945309417232121458; }
    static Extended inverse(Extended x) { return Extended{1 / x.m, -x.e}; }
    static double number(Extended x) { return ldexp(x.m, (int)std::max(-2000.0, std::min(2000.0, x.e))); }
    static bool is_zero(Extended x) { return x.m == 0; }
    static Extended at(const Extended *x) { return *x; }
    static void put(Extended *to, Extended x) { *to = x; }
    static Extended sum(Extended x) { return x; }
    static Extended zero() { return Extended{0, 0}; }
};

// Eight float64, in as many registers as they need on the target processor. (GCC would also split a vector that is larger than a
// register, but keep it in memory.)
enum { PART = LANES / 2 };

struct Eight {
    typedef double Part __attribute__((vector_size(8 * PART), may_alias));
    enum { PARTS = 8 / PART };
    Part parts[PARTS];

    double operator[](int lane) const { return parts[lane / PART][lane % PART]; }
    Eight &operator+=(const Eight &other) {
        for (int p = 0; p < PARTS; p++)
            parts[p] += other.parts[p];
        return *this;
    }
    Eight &operator*=(const Eight &other) {
        for (int p = 0; p < PARTS; p++)
            parts[p] *= other.parts[p];
        return *this;
    }
    Eight &operator*=(double factor) {
        for (int p = 0; p < PARTS; p++)
            parts[p] *= factor;
        return *this;
    }
};

static inline Eight operator+(Eight a, const Eight &b) { return a += b; }
static inline Eight operator*(Eight a, const Eight &b) { return a *= b; }
static inline Eight operator*(Eight a, double b) { return a *= b; }
static inline Eight operator*(double a, Eight b) { return b *= a; }

struct Doubles {
    typedef double Value;
    typedef Eight Vector;
    enum { WIDTH = 8, SCALED = true };

    static double exponential(double score) { return score == -INFINITY ? 0 : exp(score); }
    static double log(double x) { return ::log(x); }
    static double inverse(double x) { return 1 / x; }
    static double number(double x) { return x; }
    static bool is_zero(double x) { return x == 0; }
    static Eight at(const double *x) { return *(const Eight *)x; }
    static void put(double *to, Eight x) { *(Eight *)to = x; }
    static double sum(Eight x) { return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])); }
    static Eight zero() { return Eight(); }
};

// Scores of transitions and arcs of a sentence of n words. Tensors are float64; some may be NULL.
struct Scores {
    int n, reduces;
    bool single_root;
    const double *shift;  // (n + 2, n + 2) by s0, b0
    const double *s0b0;   // (reduces, n + 2, n + 2) by transition, s0, b0
    const double *s1s0;   // the same by s1, s0, or NULL
    const double *arcs;   // (n + 1, n + 1) by head, dependent, or NULL
};

// Expected counts, of the same shapes; arcs are those that any transition makes. They are set to 0 before.
struct Counts {
    double log_partition;
    double *shift, *s0b0, *s1s0, *arcs;
};

}  // namespace marginals
