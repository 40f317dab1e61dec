// The chart of the arc-hybrid decoder: MH3, all projective trees, in O(n^3) time and O(n^2) memory.
//
// An item [i,j] is a computation that puts i on top of the stack and ends with j as the first buffer element
// (Kuhlmann, Gómez-Rodríguez & Satta, ACL 2011; Section 3 of the MH4 paper). The shift is scored where two items
// combine. A reduce always follows, so both are one step:
//
//     [i,l] = max over i<j<l of  [i,j] + shift[i,j] + [j,l] + max(LA[j,l] + arc l->j, RA[j,l] + arc i->j).
//
// The last transition of every derivation is RA with head 0, and no other transition leads to [0,n+1]. So a derivation
// has a single root if it makes no arc from 0 before its last transition.
#pragma once
#include "lanes.hpp"
#include "transition_chart.hpp"

namespace VARIANT::mh3 {

using namespace transitions;

class Chart final : public TransitionChart {
    enum { BLOCK = 16 };  // nodes between checks for signals

    float* t2;     // [i,l] at i, l
    float* left;   // [j,l] + LA[j,l] + arc l->j: all that follows the shift of j if l becomes its head
    float* right;  // [j,l] + RA[j,l], still without the arc i->j

    size_t at(int i, int l) const { return (size_t)i * scores.side + l; }

    void arrange() override { memory.take_all({&t2, &left, &right}, at(scores.side, 0)); }

    // The score of the arc i->dependent in deriving [i,l].
    float arc_from(int i, int dependent, int l) const {
        return scores.single_root && i == 0 && l <= scores.n ? -INFINITY : scores.arc_score(i, dependent);
    }

    bool fill() override {
        const int n = scores.n;
        for (int i = n; i >= 0; i--) {
            float* items = t2 + at(i, 0);
            std::fill(items + i + 1, items + n + 2, -INFINITY);
            items[i + 1] = 0;
            for (int j = i + 1; j <= n; j += BLOCK) {
                watch.pass(BLOCK * (n - j));
                combine(i, j, std::min(j + BLOCK, n + 1));
            }
            for (int l = i + 1; l <= n + 1; l++) right[at(i, l)] = items[l] + scores.on_s0b0(RA, i, l);
            for (int l = i + 1; l <= n; l++) left[at(i, l)] = items[l] + scores.on_s0b0(LA, i, l) + scores.arc_score(l, i);
        }
        return t2[at(0, n + 1)] > -INFINITY;
    }

    // [i,l] via each j from `first` to `last` - 1, for all l.
    void combine(int i, int first, int last) {
        const int n = scores.n;
        float* items = t2 + at(i, 0);
        for (int j = first; j < last; j++) {
            const float before = items[j] + scores.shift_score(i, j);
            link(items + j + 1, left + at(j, j + 1), right + at(j, j + 1), before, before + arc_from(i, j, n), n - j);
            // the end of the sentence cannot be a head
            items[n + 1] = maximum(items[n + 1], before + scores.arc_score(i, j) + right[at(j, n + 1)]);
        }
    }

    // [i,l] via one j, for l from j+1 to n.
    static void link(float* __restrict items, const float* left, const float* right, float before, float before_arc, int count) {
        for (int l = 0; l < count; l++) items[l] = maximum(items[l], maximum(before + left[l], before_arc + right[l]));
    }

    Step step2(int i, int l) const override {
        Step best;
        for (int j = i + 1; j < l; j++) {
            const float before = t2[at(i, j)] + scores.shift_score(i, j);
            best.link(before + arc_from(i, j, l) + right[at(j, l)], RA, j);
            if (l <= scores.n) best.link(before + left[at(j, l)], LA, j);
        }
        return best;
    }
    Step step3(int, int, int) const override { return {SH, 0, 2, 0}; }  // [i,j] and [j,l]
};

}  // namespace VARIANT::mh3
