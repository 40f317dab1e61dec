// The transitions of mh3, mh4 and mh5, and their scores in a sentence.
#pragma once
#include <math.h>
#include <stddef.h>

namespace transitions {

enum Code { SH, LA, RA, LAp, RAp, LA2, RA2, RA3, RAp2, RApp, LApp, LApp2, LA3 };  // LAp is LA', RApp is RA'', and so on

// The next two functions agree with ARC in mh4/transitions.py: the tests compare them.

// The head of the arc that a reduce makes.
static inline int head_of(int code, int s3, int s2, int s1, int s0, int b0) {
    if (code == LA || code == LA2 || code == LA3) return b0;
    if (code == LAp || code == LApp2) return s0;
    if (code == RA || code == LApp) return s1;
    return code == RA2 || code == RAp ? s2 : s3;
}

// The dependent of the arc that a reduce makes: the node that it removes.
static inline int dependent_of(int code, int s2, int s1, int s0) {
    if (code == LA || code == RA || code == RA2 || code == RA3) return s0;
    return code == LAp || code == RAp || code == LA2 || code == RAp2 ? s1 : s2;
}

struct TransitionScores {
    int n = 0, side = 0;           // side is n + 2
    bool single_root = false;      // whether node 0 is to have one dependent
    const float* shift = nullptr;  // (side, side)
    const float* s0b0 = nullptr;   // (reduces, side, side), by code - LA
    const float* s1s0 = nullptr;   // the same, or NULL
    const float* arcs = nullptr;   // (n + 1, n + 1), or NULL
    const float* cost = nullptr;   // the same
    // For the charts: arcs + cost, or whichever is given; -inf where given heads forbid an arc. NULL if all are 0.
    const float* arcs_and_cost = nullptr;

    TransitionScores() = default;
    TransitionScores(int n, bool single_root) : n(n), side(n + 2), single_root(single_root) {}

    float shift_score(int s0, int b0) const { return shift[(size_t)s0 * side + b0]; }
    float on_s0b0(int code, int s0, int b0) const { return s0b0[((size_t)(code - LA) * side + s0) * side + b0]; }
    float on_s1s0(int code, int s1, int s0) const { return s1s0 ? s1s0[((size_t)(code - LA) * side + s1) * side + s0] : 0; }
    // The score of an arc, whichever transition makes it.
    float arc_score(int head, int dependent) const {
        return arcs_and_cost ? arcs_and_cost[(size_t)head * (n + 1) + dependent] : 0;
    }
    // The whole score of a reduce, with its arc. Positions that the reduce does not use may be anything.
    float reduce_score(int code, int s3, int s2, int s1, int s0, int b0) const {
        if (b0 > n && (code == LA || code == LA2 || code == LA3))  // the end of the sentence cannot be a head
            return -INFINITY;
        return on_s0b0(code, s0, b0) + on_s1s0(code, s1, s0) +
               arc_score(head_of(code, s3, s2, s1, s0, b0), dependent_of(code, s2, s1, s0));
    }
};

}  // namespace transitions
