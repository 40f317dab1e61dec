// The numbers that marginals are computed with. A sum over derivations is a product of exponentials of scores for each of them:
//
//     Doubles     float64, in vectors of eight. Charts scale the weights so that this usually suffices, and prove it (see fits).
//     Extendeds   float64 with an exponent of its own, one at a time: right for any scores, but ten times as slow.
//
// The charts are templates over these. Vectors always have eight lanes, in one or more registers, so that sums are taken in
// the same order, and results are the same, wherever they are compiled.
#pragma once
#include <math.h>

#include <algorithm>

#include "chart_memory.hpp"
#include "lanes_per_vector.h"

namespace marginals {

// m e^s. Scores of up to 1e30 leave no room in a float64 for the differences between their sums, which are what counts: so s is the
// exact sum of their whole parts, and only their fractions are in m. |m| is kept between e^-208 and e^208, roughly.
struct __attribute__((packed, aligned(8))) Extended {
    double m;
    __int128 s;
};

static const double MOST = exp(208), STEP = exp(300);

// e^0, e^-1, e^-2, ...: what is more than 460 below, whatever both m are, adds nothing to a sum.
struct Powers {
    enum { COUNT = 461 };
    double of[COUNT];
    Powers() {
        for (int k = 0; k < COUNT; k++)
            of[k] = exp(-k);
    }
};
static const Powers POWERS;

static inline Extended operator*(Extended a, Extended b) {
    double m = a.m * b.m;
    __int128 s = a.s + b.s;
    if (fabs(m) > MOST)
        return Extended{m / STEP, s + 300};
    if (fabs(m) < 1 / MOST)
        return m == 0 ? Extended{0, 0} : Extended{m * STEP, s - 300};
    return Extended{m, s};
}

static inline Extended operator+(Extended a, Extended b) {
    if (a.m == 0 || b.m == 0)
        return a.m == 0 ? b : a;
    if (a.s < b.s)
        std::swap(a, b);
    __int128 less = a.s - b.s;
    return less < Powers::COUNT ? Extended{a.m + b.m * POWERS.of[(int)less], a.s} : a;
}

static inline Extended operator*(Extended a, double b) { return Extended{a.m * b, a.s}; }

static inline Extended &operator+=(Extended &a, Extended b) { return a = a + b; }

struct Extendeds {
    typedef Extended Value;
    typedef Extended Vector;
    enum { WIDTH = 1, SCALED = false };

    static Extended exponential(double score) {
        if (score == -INFINITY)
            return Extended{0, 0};
        double whole = floor(score);
        return Extended{exp(score - whole), (__int128)whole};
    }
    static double log(Extended x) { return ::log(x.m) + (double)x.s; }
    static Extended inverse(Extended x) { return Extended{1 / x.m, -x.s}; }
    static double number(Extended x) {
        double half = exp(std::max(-1e3, std::min(1e3, (double)x.s)) / 2);
        return x.m * half * half;
    }
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

// The charts of one algorithm, for scores that Doubles suffice for, and for others.
template <template <class> class Chart> class Charts {
    Chart<Doubles> fast;
    Chart<Extendeds> exact;

  public:
    // Throws as Memory::allocate does, or signals::Raised.
    template <class... Arguments> void find(Arguments &&...arguments) {
        if (!fast.find(arguments...)) {
            fast.release(KEEP);
            exact.find(arguments...);
        }
    }
    size_t bytes_needed() const { return std::max(fast.bytes_needed(), exact.bytes_needed()); }
    void release() {
        fast.release(KEEP);
        exact.release(KEEP);
    }
};

// Set numbers to 0, a page after the other.
template <class Value> static void clear(Value *first, Value *last, signals::Watch &watch) {
    for (const ptrdiff_t page = 4096; first < last; first += std::min(page, last - first)) {
        watch.pass(page / 4);
        std::fill_n(first, std::min(page, last - first), Value());
    }
}

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
