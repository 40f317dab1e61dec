// The chart of MH4 scored on arcs alone that finds the first of equally good derivations, in the order that first_found.pyx states.
#pragma once
#include "traced_chart.hpp"

namespace VARIANT::mh4 {

using namespace transitions;

class FirstFound final : public TracedChart {
    float *t2;  // [i,l] at i, l
    float *t3;  // [i,j,l] at i, j, l

    void arrange() override {
        const size_t side = scores.side;
        t2 = take(side * side);
        t3 = take(side * side * side);
    }
    float &at2(int i, int l) const { return t2[(size_t)i * scores.side + l]; }
    float &at3(int i, int j, int l) const { return t3[((size_t)i * scores.side + j) * scores.side + l]; }

    bool fill() override {
        const int n = scores.n;
        for (int i = n; i >= 0; i--) {
            at2(i, i + 1) = 0;
            for (int l = i + 2; l <= n + 1; l++) {
                for (int j = i + 1; j < l; j++) {
                    at3(i, j, l) = step3(i, j, l).score;
                    watch.pass(32 * (l - i));
                }
                at2(i, l) = step2(i, l).score;
            }
        }
        return at2(0, n + 1) > -INFINITY;
    }

    // The score of an arc in a Link of an item that ends in l; with a single root, only the `last` Link makes one from node 0.
    float arc(int h, int m, int l, bool last) const {
        if (h > scores.n || (h == 0 && single && !(last && l > scores.n)))
            return -INFINITY;
        return scores.arc_score(h, m);
    }

    Step step2(int i, int l) const override {
        Step best;
        for (int j = i + 1; j < l; j++) {
            best.link(at3(i, j, l) + arc(i, j, l, true), RA, j);
            best.link(at3(i, j, l) + arc(l, j, l, true), LA, j);
        }
        return best;
    }
    Step step3(int i, int j, int l) const override {
        Step best;
        for (int k = i + 1; k < j; k++) {
            const float score = step4(i, k, j, l).score;
            best.link(score + arc(i, k, l, false), RAp, k);
            best.link(score + arc(j, k, l, false), LAp, k);
            best.link(score + arc(l, k, l, false), LA2, k);
        }
        best.combine(at2(i, j) + at2(j, l), 2);
        for (int k = j + 1; k < l; k++) {
            const float score = step4(i, j, k, l).score;
            best.link(score + arc(i, k, l, false), RA2, k);
            best.link(score + arc(j, k, l, false), RA, k);
            best.link(score + arc(l, k, l, false), LA, k);
        }
        return best;
    }
    Step step4(int i, int j, int k, int l) const override {
        Step best;
        best.combine(at3(i, j, k) + at2(k, l), 3);
        best.combine(at2(i, j) + at3(j, k, l), 2);
        return best;
    }
};

}  // namespace VARIANT::mh4
