// The sum over the derivations of a chart of transitions (inside), and its derivatives (outside): the base class of MH3
// and MH4.
#pragma once
#include <vector>

#include "transition_scores.hpp"
#include "weights.hpp"

namespace VARIANT::marginals {

// Scale the weights of transitions so that sums over derivations fit into float64, and check whether they did.

enum { LA, RA, LAp, RAp, LA2, RA2, REDUCES };  // in the order of the tensors, without SH; MH3 has the first two
static_assert(REDUCES - 1 == transitions::RA2 - transitions::LA, "not the order of the codes");

// Logarithms of weights. Every weight is divided by the largest of its kind: all shifts of the same word, all reduces
// that remove the word, or all arcs to it. So no weight exceeds 1. Then the weights of shifts are multiplied by
// e^boost. `total` is the logarithm of the number by which the weight of every derivation is divided in all. If not
// `scaled`, the logarithms are the scores.
//
// The derivatives of the logarithms equal the derivatives of the scores, as all these factors are constants.
class Scaling {
    Scores scores, direction;
    int n;
    double boost;
    // the largest scores: of each reduce, by s0; of all reduces, shifts and arcs of a word
    std::vector<double> at_s0[REDUCES], reduces, shifts, arcs;

    double part(const Scores& of, int tensor, int t, int x, int y) const {
        int side = n + 2;
        return of.tensors[tensor] ? of.tensors[tensor][((size_t)t * side + x) * side + y] : 0;
    }
    double arc_score(const Scores& of, int h, int m) const {
        return of.tensors[ARCS] ? of.tensors[ARCS][(size_t)h * (n + 1) + m] : 0;
    }
    static double less(double score, double largest) { return score == -INFINITY ? score : score - largest; }
    void include(double& largest, double score) {
        largest = std::max(largest, score);
        finite = finite && score > -INFINITY;
    }

  public:
    double total;
    bool finite;   // no score is -inf
    bool precise;  // no weight that matters has a relative error above 1e-8, or so

    static int removed(int t, int s1, int s0) { return transitions::dependent_of(t + transitions::LA, -1, s1, s0); }
    static int last_b0(int t, int n) { return t == LA || t == LA2 ? n : n + 1; }  // the end of the sentence cannot be a head

    void find(const Scores& of, const Scores& change, double more, bool scaled, signals::Watch& watch) {
        scores = of;
        direction = change;
        n = of.n;
        boost = more;
        total = 0;
        finite = precise = true;
        for (auto* largest : {&reduces, &shifts, &arcs}) largest->assign(n + 1, scaled ? -INFINITY : 0);
        for (auto& largest : at_s0) largest.assign(n + 1, scaled ? -INFINITY : 0);
        if (!scaled) return;
        for (int t = 0; t < scores.reduces; t++) {
            for (int k = 1; k <= n; k++) {
                watch.pass(10 * n);
                for (int l = k + 1; l <= last_b0(t, n); l++) include(at_s0[t][k], part(scores, S0B0, t, k, l));
            }
            for (int j = 0; j < n; j++) {
                watch.pass(10 * n);
                for (int k = j + 1; k <= n; k++)
                    if (k < last_b0(t, n)) include(reduces[removed(t, j, k)], at_s0[t][k] + part(scores, S1S0, t, j, k));
            }
        }
        for (int h = 0; h <= n; h++) {
            watch.pass(20 * n);
            for (int m = 1; m <= n; m++) {
                if (h < m) include(shifts[m], part(scores, SHIFT, 0, h, m));
                if (h != m) include(arcs[m], arc_score(scores, h, m));
            }
        }
        double size = 0;
        for (int k = 1; k <= n; k++) {
            for (auto* largest : {&reduces, &shifts, &arcs}) {
                if ((*largest)[k] == -INFINITY) (*largest)[k] = 0;
                total += (*largest)[k];
            }
            total -= boost;
            size += fabs(reduces[k]) + fabs(shifts[k]);
        }
        // Subtracting the largest score rounds only the result, which is small, or else the weight is negligible. But
        // before that, the two parts of a reduce, or a shift and the boost, are added. This sum, about as large as the
        // largest of its kind, is rounded, too.
        precise = size * 1.2e-16 < 1e-8;
    }

    Logarithm shift(int s0, int b0) const {
        return {less(part(scores, SHIFT, 0, s0, b0) + boost, shifts[b0]), part(direction, SHIFT, 0, s0, b0)};
    }
    Logarithm arc(int h, int m) const { return {less(arc_score(scores, h, m), arcs[m]), arc_score(direction, h, m)}; }
    // The score of a reduce in two parts: on_s0b0 subtracts at_s0, and on_s1s0 adds it, so that neither part exceeds 0
    Logarithm on_s0b0(int t, int s0, int b0) const {
        return {less(part(scores, S0B0, t, s0, b0), at_s0[t][s0]), part(direction, S0B0, t, s0, b0)};
    }
    Logarithm on_s1s0(int t, int s1, int s0) const {
        return {less(part(scores, S1S0, t, s1, s0) + at_s0[t][s0], reduces[removed(t, s1, s0)]),
                part(direction, S1S0, t, s1, s0)};
    }
    // The score of a reduce without s1s0, in one part
    Logarithm reduce(int t, int s0, int b0) const {
        return {less(part(scores, S0B0, t, s0, b0), reduces[s0]), part(direction, S0B0, t, s0, b0)};
    }

    // True if everything that was too small for float64 is negligible in z, the sum of the scaled derivations. There
    // are fewer than e^(number n) derivations. Without the boost, z would be e^-gap. An item that is too small for
    // float64 is below e^-700, and so is the weight of each of its derivations. All of these together are negligible
    // if gap + number n is well below 700.
    bool negligible(double log_z, double number) const {
        double gap = n * boost - log_z;
        return gap + number * n < 640 && (number + std::max(0.0, boost)) * n < 640;
    }
};

template <class N> class TransitionSums {
  protected:
    typedef typename N::Value Value;
    enum { WIDTH = N::WIDTH };

    const double number;  // the number of derivations of n words is less than e^(number n)
    Scores scores, direction;
    Memory<Value> memory;
    signals::Watch watch;
    int n, stride;
    Scaling scaling;
    // rows of `stride`
    Value *t2, *g2;                                    // [i,l] at i, l; the derivative by it
    Value *shift, *arc;                                // at b0, s0; at dependent, head
    Value *count_shift, *count_arc;                    // expected counts, at the same places
    Value *count_s0b0[REDUCES], *count_s1s0[REDUCES];  // expected counts of reduces: at s0, b0; at s0, s1, if scored

    explicit TransitionSums(double more_than_derivations) : number(more_than_derivations) {}

    Value* row(Value* table, int x) const { return table + (size_t)x * stride; }
    static int start(int j) { return (j + 1) / WIDTH * WIDTH; }  // of rows over l > j
    Value goal() const { return row(t2, 0)[n + 1]; }

    // Each chart defines these. arrange: take the tables from memory; return the end of those that must be 0 at first
    virtual Value* arrange(size_t square) = 0;
    virtual void tabulate() = 0;  // the weights of reduces, from `scaling`
    virtual void inside() = 0;    // the items
    virtual void outside() = 0;   // the counts, from g2 of the goal

    Value* arrange() {
        const size_t square = (size_t)(n + 2) * stride;
        memory.take_all({&t2, &g2, &shift, &arc, &count_shift, &count_arc}, square);
        for (int t = 0; t < scores.reduces; t++) memory.take_all({&count_s0b0[t]}, square);
        return arrange(square);
    }

    // Sum over all derivations, with weights scaled by `boost`. True if N suffices.
    bool sum(double boost) {
        n = scores.n;
        stride = (n + 2 + WIDTH - 1) / WIDTH * WIDTH;
        memory.start();
        arrange();
        memory.allocate();
        Value* const end = arrange();
        scaling.find(scores, direction, boost, N::SCALED, watch);
        if (!scaling.precise) return false;
        forget_losses();
        clear(t2, end, watch);
        for (int m = 1; m <= n; m++) {
            watch.pass(100 * n);
            for (int h = 0; h <= n; h++) row(arc, m)[h] = N::exponential(h == m ? Logarithm(0) : scaling.arc(h, m));
            for (int j = 0; j < m; j++) row(shift, m)[j] = N::exponential(scaling.shift(j, m));
        }
        tabulate();
        inside();
        return !N::SCALED || !losses() || (!N::is_zero(goal()) && scaling.negligible(N::log(goal()), number));
    }

    // A boost that brings items nearer to 1. For each i, the longest [i,l] that is in the range of float64 shows by how
    // much a word makes items smaller.
    double better_boost() const {
        double taken = 0, words = 0;
        for (int i = 0; i < n; i++)
            for (int l = n + 1; l > i + 1; l--) {
                const double value = log(N::number(row(t2, i)[l]));
                if (fabs(value) < 667) {
                    taken -= value;
                    words += l - i - 1;
                    break;
                }
            }
        return words > 0 ? taken / words : 0;
    }

    // Write the counts, and return their sum.
    double write(Counts& counts) {
        const size_t side = n + 2;
        double total = 0;
        for (int k = 1; k <= n; k++) {
            watch.pass(200 * n);
            for (int j = 0; j < k; j++) total += counts.tensors[SHIFT][j * side + k] = N::result(row(count_shift, k)[j]);
            for (int t = 0; t < scores.reduces; t++) {
                for (int l = k + 1; l <= n + 1; l++)
                    total += counts.tensors[S0B0][(t * side + k) * side + l] = N::result(row(count_s0b0[t], k)[l]);
                for (int j = 0; j < k && counts.tensors[S1S0]; j++)
                    total += counts.tensors[S1S0][(t * side + j) * side + k] = N::result(row(count_s1s0[t], k)[j]);
            }
            for (int h = 0; h <= n; h++)
                if (h != k) total += counts.tensors[ARCS][(size_t)h * (n + 1) + k] = N::result(row(count_arc, k)[h]);
        }
        return total;
    }

    // The inside pass. True if N suffices.
    bool sum_of(const Scores& of, const Scores& change = Scores()) {
        scores = of;
        direction = change;
        return sum(0) || (N::SCALED && scaling.precise && sum(better_boost()));
    }
    // Whether there are no derivations.
    bool empty() const { return N::is_zero(goal()) || (scores.single_root && n == 0); }

  public:
    // The marginals or, with Duals, their derivatives in a direction; without tables for counts, log_partition alone.
    // True if they are right; false if N does not suffice for these scores. Throws as Memory::allocate does, or
    // signals::Raised.
    bool find(const Scores& of, Counts& counts, const Scores& change = Scores()) {
        if (!sum_of(of, change)) return false;
        counts.log_partition = -INFINITY;
        if (empty()) return true;
        counts.log_partition = N::log(goal()) + scaling.total;
        if (!counts.tensors[ARCS]) return true;
        row(g2, 0)[n + 1] = N::inverse(goal());
        outside();
        return isfinite(write(counts));
    }

    size_t bytes_needed() const { return memory.bytes(); }
    void release() { memory.release(); }
};

}  // namespace VARIANT::marginals
