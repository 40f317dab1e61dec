// All charts of the sums of one algorithm, known to callers that are compiled without it.
#pragma once
#include "random_choices.hpp"

namespace marginals {

// The derivations that count are all or, where the scores have heads, those of that tree. Methods throw as Memory::allocate does, or
// signals::Raised.
class AnyCharts {
  public:
    virtual ~AnyCharts() {}
    // log_partition, and expected counts.
    virtual void find(const Scores &scores, Counts &counts) = 0;
    // The derivatives of the counts in a direction of the scores, of numbers from -1 to 1. If it has arcs, so have the scores.
    virtual void differentiate(const Scores &scores, Counts &counts, const Scores &direction) = 0;
    // Trees of derivations, drawn in proportion to the exponential of their scores, by algorithms that can.
    virtual void draw(const Scores &, Samples &to) { to.none = true; }
    virtual size_t bytes_needed() const = 0;
    // Free memory that is too large to keep.
    virtual void release() = 0;
};

// All: over all derivations; Sampled: the same, from whose sums derivations can be drawn; Tree: over those of one tree.
template <template <class> class All, template <class> class Sampled, template <class> class Tree>
class AllCharts final : public AnyCharts {
    Charts<Sampled> all;
    Charts<All, Duals> dual_all;
    Charts<Tree> tree;
    Charts<Tree, Duals> dual_tree;

  public:
    void find(const Scores &scores, Counts &counts) override {
        if (scores.heads)
            tree.find(scores, counts);
        else
            all.find(scores, counts);
    }
    void differentiate(const Scores &scores, Counts &counts, const Scores &direction) override {
        if (scores.heads)
            dual_tree.find(scores, counts, direction);
        else
            dual_all.find(scores, counts, direction);
    }
    void draw(const Scores &scores, Samples &to) override { all.find(scores, to); }
    size_t bytes_needed() const override {
        return std::max({all.bytes_needed(), dual_all.bytes_needed(), tree.bytes_needed(), dual_tree.bytes_needed()});
    }
    void release() override {
        all.release();
        dual_all.release();
        tree.release();
        dual_tree.release();
    }
};

}  // namespace marginals
