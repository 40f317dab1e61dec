// The numbers that marginals are computed with. A sum over derivations is a product of exponentials of scores for each of them:
//
//     Doubles     float64, in vectors of eight. Charts scale the weights so that this usually suffices, and prove it (see fits).
//     Extendeds   float64 with an exponent of its own, one at a time: right for any scores, but ten times as slow.
//
// The charts are templates over these. Vectors always have eight lanes, which the compiler splits for smaller registers, so that
// sums are taken in the same order, and results are the same, wherever they are compiled.
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <vector>

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
    static void sums(const Extended *of, Extended *to, int first, int last) { std::copy(of + first, of + last, to + first); }
    static Extended zero() { return Extended{0, 0}; }
};

typedef double Eight __attribute__((vector_size(64), may_alias));

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
    // to[j] = the sum of the lanes of of[j], for first <= j < last, and for more j up to multiples of eight
    static void sums(const Eight *of, double *to, int first, int last) {
        typedef long long Order __attribute__((vector_size(64)));
        const Order even = {0, 8, 2, 10, 4, 12, 6, 14}, odd = {1, 9, 3, 11, 5, 13, 7, 15};
        const Order even2 = {0, 1, 8, 9, 4, 5, 12, 13}, odd2 = {2, 3, 10, 11, 6, 7, 14, 15};
        const Order left = {0, 1, 2, 3, 8, 9, 10, 11}, right = {4, 5, 6, 7, 12, 13, 14, 15};
        for (int j = first / 8 * 8; j < last; j += 8) {
            Eight twos[4], fours[2];
            for (int x = 0; x < 4; x++)
                twos[x] = __builtin_shuffle(of[j + 2 * x], of[j + 2 * x + 1], even) +
                          __builtin_shuffle(of[j + 2 * x], of[j + 2 * x + 1], odd);
            for (int x = 0; x < 2; x++)
                fours[x] = __builtin_shuffle(twos[2 * x], twos[2 * x + 1], even2) +
                           __builtin_shuffle(twos[2 * x], twos[2 * x + 1], odd2);
            put(to + j, __builtin_shuffle(fours[0], fours[1], left) + __builtin_shuffle(fours[0], fours[1], right));
        }
    }
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

// Memory for arrays of Values, each aligned to vectors; reused from one sentence to the next.
template <class N> class Memory {
    typedef typename N::Value Value;
    enum { ALIGNMENT = 64 };
    std::vector<Value> values;
    Value *next = nullptr;

  public:
    void reserve(size_t needed) {
        if (values.size() < needed + ALIGNMENT) {
            std::vector<Value>().swap(values);
            values.resize(needed + ALIGNMENT);
        }
        next = values.data();
        while ((uintptr_t)next % ALIGNMENT)
            next++;
    }
    Value *take(size_t count) {  // a multiple of WIDTH
        next += count;
        return next - count;
    }
    void release(size_t kept) {
        if (values.size() > kept)
            std::vector<Value>().swap(values);
    }
};

}  // namespace marginals
