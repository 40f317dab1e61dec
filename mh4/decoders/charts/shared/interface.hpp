// What the algorithms offer to callers that are compiled without them: searches for the best derivation or tree, and sums over all.
//
// Each has its memory, which is used again for the next sentence. `bytes_needed` is what the sentence takes up, until `release`, which
// frees the memory if it is too large to keep. Methods throw as Memory::allocate does, or signals::Raised.
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

// The score tensors of a sentence, in the order in which charts have them (names in sentences.pyx): of transitions and arcs, of which
// mst has the last, and of 1EC.
enum Tensor { SHIFT, S0B0, S1S0, ARCS, TENSORS };
enum Part { ARC, CROSSED_ARC, GRANDPARENT, SIBLING, PARTS };
static_assert((int)PARTS == (int)TENSORS, "as many of each");

// The memory of an algorithm.
class Reusable {
  public:
    virtual ~Reusable() {}
    // A lower bound on what the sentence takes up.
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
    // Then, find the best derivation: it is in `codes`.
    virtual void trace() = 0;
};

typedef std::vector<std::pair<int, int>> PartRows;  // index rows of a tensor

// The best tree where trees are scored, not transitions.
class BestTree : public Reusable {
  public:
    int k = 0;  // of MH_k, for the chart of all k

    // Find the heads of the best tree over n words; returns its score, -inf if there is none. scores: by tensor; cost: of arcs, or NULL.
    virtual double find(int n, const double* const* scores, const double* cost, bool single_root, int* heads) = 0;
    // What a tree uses of each tensor, or NULL if the tree is not in the class. Here, its arcs.
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
    // of transitions: (n + 2, n + 2) by s0, b0; (reduces, n + 2, n + 2) by transition, s0, b0; the same by s1, s0; (n + 1, n + 1) by
    // head, dependent; of 1EC: as for oneec.marginals
    const double* tensors[TENSORS] = {};
    const int* heads = nullptr;  // (n + 1,): the only tree that scores of arcs leave, or NULL; 1EC sums over it faster
};

// Expected counts, or their derivatives, of the same shapes; arcs are those that any transition makes. They are set to 0 before. If
// all are NULL, only log_partition is wanted: the rest takes most of the time.
struct Counts {
    double log_partition = -INFINITY;
    double* tensors[TENSORS] = {};
};

// Trees to be drawn for a sentence.
struct Samples {
    uint64_t seed;  // what is drawn depends on this and the scores alone
    size_t count, columns;
    int* heads;  // (count, columns), of which words get heads; all are -1 before
    bool none;   // whether there is no tree
};

// Sums over the derivations of an algorithm in one type of numbers. Methods return false if the numbers are not enough for these scores.
class SumCharts : public Reusable {
  public:
    // log_partition, and expected counts.
    virtual bool find(const Scores& scores, Counts& counts) = 0;
    // The derivatives of the counts in a direction of the scores, of numbers from -1 to 1. If it has arcs, so have the scores.
    virtual bool differentiate(const Scores& scores, Counts& counts, const Scores& direction) = 0;
    // Trees of derivations, drawn in proportion to the exponential of their scores, by algorithms that can.
    virtual bool draw(const Scores&, Samples& to) { return to.none = true; }
};

// The same in float64 where it is enough, otherwise in numbers that are enough for all scores.
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

// No way to an item was found although it has a score. This cannot happen; the error makes the trace end if it does.
[[noreturn]] static inline void lost() {
    throw std::logic_error("the trace found no way to an item of the chart: this is a mistake in the decoder, please report it");
}

// What makes the charts of an algorithm, in a variant for one kind of processor; NULL for what the algorithm does not have.
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
