// The types of numbers for marginals. Marginals are sums over derivations; each term is a product of weights, which are
// the exponentials of scores.
//
//     Doubles     float64, in vectors of eight. Charts scale the weights so that this usually suffices, and check that
//                 it did (for example `negligible` in transition_sums.hpp).
//     Extendeds   float64 with a separate integer exponent, one at a time: right for all scores, but ten times as slow.
//
//     Duals<...>  either of these with its derivative in a direction of the scores, for the derivatives of results.
//
// The charts are templates over these types. Vectors always have eight lanes, in one or more registers. So sums are
// taken in the same order, and results are the same, for all processors.
#pragma once
#include <math.h>

#include <algorithm>
#include <cfenv>

#include "chart_memory.hpp"
#include "variant.hpp"
#include "interface.hpp"

namespace VARIANT::marginals {

using namespace ::marginals;

// The logarithm of a weight, and its derivative in a direction of the scores.
struct Logarithm {
    double value, change;
    Logarithm(double value, double change = 0) : value(value), change(change) {}
};

// m e^s. What counts are the differences between sums of scores, but a float64 cannot hold these for scores of up to
// 1e30. So s is the exact sum of the whole parts of scores, and only their fractions are in m. |m| is kept roughly
// between e^-208 and e^208.
struct __attribute__((packed, aligned(8))) Extended {
    double m;
    __int128 s;
};

static const double MOST = exp(208), STEP = exp(300);

// e^0, e^-1, ..., e^-460. In a sum, a term whose s is smaller by more than 460 adds nothing, whatever both m are.
struct Powers {
    enum { COUNT = 461 };
    double of[COUNT];
    Powers() {
        for (int k = 0; k < COUNT; k++) of[k] = exp(-k);
    }
};

static inline Extended operator*(Extended a, Extended b) {
    double m = a.m * b.m;
    __int128 s = a.s + b.s;
    if (fabs(m) > MOST) return Extended{m / STEP, s + 300};
    if (fabs(m) < 1 / MOST) return m == 0 ? Extended{0, 0} : Extended{m * STEP, s - 300};
    return Extended{m, s};
}

static inline Extended operator+(Extended a, Extended b) {
    if (a.m == 0 || b.m == 0) return a.m == 0 ? b : a;
    if (a.s < b.s) std::swap(a, b);
    static const Powers POWERS;  // made here, not at import, when no variant has been chosen yet
    __int128 less = a.s - b.s;
    return less < Powers::COUNT ? Extended{a.m + b.m * POWERS.of[(int)less], a.s} : a;
}

static inline Extended operator*(Extended a, double b) { return Extended{a.m * b, a.s}; }

static inline Extended& operator+=(Extended& a, Extended b) { return a = a + b; }

struct Extendeds {
    typedef Extended Value;
    typedef Extended Vector;
    enum { WIDTH = 1, SCALED = false, DUAL = false };

    static Extended exponential(Logarithm score) {
        if (score.value == -INFINITY) return Extended{0, 0};
        double whole = floor(score.value);
        return Extended{exp(score.value - whole), (__int128)whole};
    }
    static double log(Extended x) { return ::log(x.m) + (double)x.s; }
    static Extended inverse(Extended x) { return Extended{1 / x.m, -x.s}; }
    static double number(Extended x) {
        double half = exp(std::max(-1e3, std::min(1e3, (double)x.s)) / 2);
        return x.m * half * half;
    }
    static double result(Extended x) { return number(x); }
    static bool is_zero(Extended x) { return x.m == 0; }
    static Extended at(const Extended* x) { return *x; }
    static void put(Extended* to, Extended x) { *to = x; }
    static Extended sum(Extended x) { return x; }
};

// Eight float64, in as many registers as they need on the target processor. (GCC would also split a vector that is larger than a
// register, but keep it in memory.)
enum { PART = LANES / 2 };

struct Eight {
    typedef double Part __attribute__((vector_size(8 * PART), may_alias));
    enum { PARTS = 8 / PART };
    Part parts[PARTS];

    double operator[](int lane) const { return parts[lane / PART][lane % PART]; }
    Eight& operator+=(const Eight& other) {
        for (int p = 0; p < PARTS; p++) parts[p] += other.parts[p];
        return *this;
    }
    Eight& operator*=(const Eight& other) {
        for (int p = 0; p < PARTS; p++) parts[p] *= other.parts[p];
        return *this;
    }
    Eight& operator*=(double factor) {
        for (int p = 0; p < PARTS; p++) parts[p] *= factor;
        return *this;
    }
};

static inline Eight operator+(Eight a, const Eight& b) { return a += b; }
static inline Eight operator*(Eight a, const Eight& b) { return a *= b; }
static inline Eight operator*(Eight a, double b) { return a *= b; }
static inline Eight operator*(double a, Eight b) { return b *= a; }

struct Doubles {
    typedef double Value;
    typedef Eight Vector;
    enum { WIDTH = 8, SCALED = true, DUAL = false };

    static double exponential(Logarithm score) { return score.value == -INFINITY ? 0 : exp(score.value); }
    static double log(double x) { return ::log(x); }
    static double inverse(double x) { return 1 / x; }
    static double number(double x) { return x; }
    static double result(double x) { return x; }
    static bool is_zero(double x) { return x == 0; }
    static Eight at(const double* x) { return *(const Eight*)x; }
    static void put(double* to, Eight x) { *(Eight*)to = x; }
    static double sum(Eight x) { return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])); }
};

// A number and its derivative.
template <class Number> struct Dual {
    Number value, change;

    Dual& operator+=(const Dual& other) {
        value += other.value;
        change += other.change;
        return *this;
    }
};

template <class Number> static inline Dual<Number> operator+(Dual<Number> a, const Dual<Number>& b) { return a += b; }

template <class A, class B>
static inline auto operator*(const Dual<A>& a, const Dual<B>& b) -> Dual<decltype(a.value * b.value)> {
    return {a.value * b.value, a.value * b.change + a.change * b.value};
}

template <class Number> static inline Dual<Number> operator*(const Dual<Number>& a, double b) {
    return {a.value * b, a.change * b};
}

// Results are derivatives. The values alone decide whether N suffices. The derivatives are as right as the values if no
// number of the direction exceeds 1.
template <class N> struct Duals {
    typedef Dual<typename N::Value> Value;
    typedef Dual<typename N::Vector> Vector;
    enum { WIDTH = N::WIDTH, SCALED = N::SCALED, DUAL = true };

    static Value exponential(Logarithm score) {
        const typename N::Value weight = N::exponential(score);
        return {weight, weight * score.change};
    }
    static double log(const Value& x) { return N::log(x.value); }
    static Value inverse(const Value& x) {
        const typename N::Value inverse = N::inverse(x.value);
        return {inverse, x.change * inverse * inverse * -1.0};
    }
    static double number(const Value& x) { return N::number(x.value); }
    static double result(const Value& x) { return N::number(x.change); }
    static bool is_zero(const Value& x) { return N::is_zero(x.value); }
    static Vector at(const Value* x) {
        alignas(64) typename N::Value values[WIDTH], changes[WIDTH];
        for (int lane = 0; lane < WIDTH; lane++) {
            values[lane] = x[lane].value;
            changes[lane] = x[lane].change;
        }
        return {N::at(values), N::at(changes)};
    }
    static void put(Value* to, const Vector& x) {
        alignas(64) typename N::Value values[WIDTH], changes[WIDTH];
        N::put(values, x.value);
        N::put(changes, x.change);
        for (int lane = 0; lane < WIDTH; lane++) to[lane] = {values[lane], changes[lane]};
    }
    static Value sum(const Vector& x) { return {N::sum(x.value), N::sum(x.change)}; }
};

// Overflow and underflow of float64 since the last `forget_losses`: FE_OVERFLOW, FE_UNDERFLOW, both or 0.
static inline int losses() { return std::fetestexcept(FE_OVERFLOW | FE_UNDERFLOW); }
static inline void forget_losses() { std::feclearexcept(FE_OVERFLOW | FE_UNDERFLOW); }

// Set numbers to 0, page by page.
template <class Value> static void clear(Value* first, Value* last, signals::Watch& watch) {
    for (const ptrdiff_t page = 4096; first < last; first += std::min(page, last - first)) {
        watch.pass(page / 4);
        std::fill_n(first, std::min(page, last - first), Value());
    }
}

}  // namespace VARIANT::marginals
