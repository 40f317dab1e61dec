// The interfaces of the algorithms for callers that are compiled separately: searches for the best derivation or tree,
// and sums over all.
//
// Each object reuses its memory for the next sentence. `bytes_needed` is the memory that a sentence takes up until
// `release`, which frees the memory if it is too large to keep. Methods throw as Memory::allocate does, or
// signals::Raised.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "transition_scores.hpp"

// The score tensors of a sentence, in the order of the charts (`names` in sentences.pyx). Tensor: for transition
// systems; mst and mhk have only ARCS. Part: for 1EC.
enum Tensor { SHIFT, S0B0, S1S0, ARCS, TENSORS };
enum Part { ARC, CROSSED_ARC, GRANDPARENT, SIBLING, PARTS };
static_assert((int)PARTS == (int)TENSORS, "as many of each");

// The memory of an algorithm.
class Reusable {
  public:
    virtual ~Reusable() {}
    // A lower bound on the bytes that the sentence takes up.
    virtual size_t bytes_needed() const = 0;
    virtual void release() = 0;
};

// The best derivation of a transition system.
class BestDerivation : public Reusable {
  public:
    // Set these, then prepare, allocate, fill and trace.
    transitions::TransitionScores scores;
    // The codes of the transitions found, in order of execution.
    std::vector<int> codes;

    // Lay out the chart of a new sentence.
    virtual void prepare() = 0;
    virtual void allocate() = 0;
    // Find the best score of every item; true if the goal was derived.
    virtual bool fill() = 0;
    // After `fill`, find the best derivation, and write it to `codes`.
    virtual void trace() = 0;
};

typedef std::vector<std::pair<int, int>> PartRows;  // index rows of a tensor

// The best tree, for algorithms that score trees instead of transitions.
class BestTree : public Reusable {
  public:
    int k = 0;  // of MH_k, for the chart of all k

    // Find the heads of the best tree over n words. Return its score, or -inf if there is no tree. scores: by tensor;
    // cost: of arcs, or NULL.
    virtual double find(int n, const double* const* scores, const double* cost, bool single_root, int* heads) = 0;
    // The index rows of each tensor that a tree uses, or NULL if the tree is not in the class. By default, its arcs.
    virtual const PartRows* parts(const int* heads, int n) {
        rows.resize(TENSORS);
        rows[ARCS].clear();
        for (int word = 1; word <= n; word++) rows[ARCS].push_back({heads[word], word});
        return rows.data();
    }

  private:
    std::vector<PartRows> rows;
};

namespace marginals {

// Scores of a sentence of n words. Tensors are float64; some may be NULL.
struct Scores {
    int n = 0, reduces = 0;
    bool single_root = false;
    // of transitions: (n + 2, n + 2) by s0, b0; (reduces, n + 2, n + 2) by transition, s0, b0; the same by transition,
    // s1, s0; (n + 1, n + 1) by head, dependent; of 1EC: as for oneec.marginals
    const double* tensors[TENSORS] = {};
    const int* heads = nullptr;  // (n + 1,): the tree, if the scores of arcs allow only one, otherwise NULL
};

// Expected counts, or their derivatives, in the shapes of the scores; ARCS counts the arcs made by any transition. The
// caller sets them to 0 first. If all are NULL, only log_partition is computed, since the rest takes most of the time.
struct Counts {
    double log_partition = -INFINITY;
    double* tensors[TENSORS] = {};
};

// Trees to be drawn for a sentence.
struct Samples {
    uint64_t seed;  // the trees drawn depend only on this and the scores
    size_t count, columns;
    int* heads;  // (count, columns), all -1 at first; only the heads of words are written
    bool none;   // whether there is no tree
};

// Sums over the derivations of an algorithm in one type of numbers. Methods return false if this type does not suffice
// for the scores.
class SumCharts : public Reusable {
  public:
    // log_partition, and expected counts.
    virtual bool find(const Scores& scores, Counts& counts) = 0;
    // The derivatives of the counts in a direction of the scores, with numbers from -1 to 1. If the direction has arcs,
    // the scores must have them, too.
    virtual bool differentiate(const Scores& scores, Counts& counts, const Scores& direction) = 0;
    // Trees of derivations, drawn in proportion to the exponential of their scores, if the algorithm supports this.
    virtual bool draw(const Scores&, Samples& to) { return to.none = true; }
};

// The same in float64 if this suffices, otherwise in numbers that suffice for all scores.
class Sums {
    template <class F> void with(F f) {
        if (!f(*fast)) {
            fast->release();
            f(*exact);
        }
    }

  public:
    std::unique_ptr<SumCharts> fast, exact;

    void find(const Scores& scores, Counts& counts) {
        with([&](SumCharts& charts) { return charts.find(scores, counts); });
    }
    void differentiate(const Scores& scores, Counts& counts, const Scores& direction) {
        with([&](SumCharts& charts) { return charts.differentiate(scores, counts, direction); });
    }
    void draw(const Scores& scores, Samples& to) {
        with([&](SumCharts& charts) { return charts.draw(scores, to); });
    }
};

}  // namespace marginals

// Raise an error: the trace found no way to an item although it has a score. This cannot happen, but if it did, the
// trace might not end.
[[noreturn]] static inline void lost() {
    throw std::logic_error("the trace found no way to an item of the chart: this is a mistake in the decoder, please report it");
}

// Functions that make the charts of an algorithm in one variant; NULL for charts that the algorithm does not have.
struct Factories {
    BestDerivation* (*search)();
    BestTree* (*best_tree)();
    marginals::SumCharts* (*sums)();        // in float64
    marginals::SumCharts* (*exact_sums)();  // for all scores; in the baseline alone
    BestDerivation* (*first_found)();       // as mh4.first_found breaks ties; in the baseline alone
};

template <class Chart, class Interface> Interface* make() { return new Chart; }

// The charts of an algorithm.
struct Charts {
    std::unique_ptr<BestDerivation> search;
    std::unique_ptr<BestTree> best_tree;
    marginals::Sums sums;

    void make(const Factories& chosen, const Factories& baseline) {
        if (chosen.search) search.reset(chosen.search());
        if (chosen.best_tree) best_tree.reset(chosen.best_tree());
        if (chosen.sums) {
            sums.fast.reset(chosen.sums());
            sums.exact.reset(baseline.exact_sums());
        }
    }
    template <class F> void each(F f) const {
        for (Reusable* chart : std::initializer_list<Reusable*>{search.get(), best_tree.get(), sums.fast.get(), sums.exact.get()})
            if (chart) f(*chart);
    }
    size_t bytes_needed() const {
        size_t most = 0;
        each([&](const Reusable& chart) { most = std::max(most, chart.bytes_needed()); });
        return most;
    }
    void release() {
        each([](Reusable& chart) { chart.release(); });
    }
};
