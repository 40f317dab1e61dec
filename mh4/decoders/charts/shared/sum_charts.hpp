// The sums of one algorithm over transitions or arcs, in numbers N: marginals, their derivatives, and samples.
#pragma once
#include <random>
#include <vector>

#include "weights.hpp"

namespace VARIANT::marginals {

// Trees are drawn from the charts of marginals by walking back through their sums. At each sum, one term is drawn with
// probability proportional to its value.

// Random numbers that are the same on every machine: the C++ standard defines the output of this generator.
class Random {
    std::mt19937_64 generator;

  public:
    explicit Random(uint64_t seed) : generator(seed) {}
    double uniform() { return (double)(generator() >> 11) * 0x1p-53; }  // in [0, 1)
};

// Draws one of several choices with probability proportional to its weight.
template <class N> class Choice {
    typedef typename N::Value Value;
    std::vector<Value> weights;
    Value total;

  public:
    void start() {
        weights.clear();
        total = Value();
    }
    void add(const Value& weight) {
        weights.push_back(weight);
        total += weight;
    }
    // The number of the choice drawn, or -1 if all weights are 0. This happens only below a term that is itself
    // negligible: see Scaling::negligible.
    int draw(Random& random) const {
        if (N::is_zero(total)) return -1;
        const Value inverse = N::inverse(total);
        double left = random.uniform();
        int last = -1;
        for (size_t x = 0; x < weights.size() && left >= 0; x++)
            if (!N::is_zero(weights[x])) {
                left -= N::number(weights[x] * inverse);
                last = (int)x;
            }
        return last;
    }
};

// A chart from whose sums derivations are drawn.
template <class Chart> class Sampler : public Chart {
  protected:
    virtual void prepare_to_draw() {}
    // Draw a derivation, and write the heads of its tree. False if it meets a sum of 0: then it has to be drawn again.
    virtual bool draw(Random& random, int* heads) = 0;

  public:
    using Chart::find;

    // True if the trees are drawn from the right distribution; false if N does not suffice for these scores. Throws as
    // the other `find`.
    bool find(const Scores& of, Samples& to) {
        if (!this->sum_of(of)) return false;
        to.none = this->empty();
        if (to.none) return true;
        prepare_to_draw();
        Random random(to.seed);
        for (size_t sample = 0; sample < to.count; sample++)
            while (!draw(random, to.heads + sample * to.columns)) {
            }
        return true;
    }
};

// A chart of transitions: each item is a sum of terms. A term is a product of one or two items and perhaps an arc.
template <class N, template <class> class Chart> class DerivationSampler : public Sampler<Chart<N>> {
  protected:
    enum Kind { TWO, LINKED, THREE };  // TWO: [i,l]; the others only in MH4
    struct Item {
        Kind kind;
        int i, j, l;
    };
    static Item two(int i, int l) { return Item{TWO, i, 0, l}; }

    // Add a term. If l of the second item is 0, the term has no second item; if the dependent is 0, it has no arc.
    void add(const typename N::Value& weight, Item first, Item second, int head = 0, int dependent = 0) {
        if (!N::is_zero(weight)) {
            choice.add(weight);
            terms.push_back(Term{first, second, head, dependent});
        }
    }
    // Add all terms of an item.
    virtual void add_terms(const Item& item) = 0;

  private:
    struct Term {
        Item first, second;
        int head, dependent;
    };
    std::vector<Item> agenda;
    std::vector<Term> terms;
    Choice<N> choice;

    bool draw(Random& random, int* heads) override {
        agenda.assign(1, two(0, this->n + 1));
        while (!agenda.empty()) {
            const Item item = agenda.back();
            agenda.pop_back();
            if (item.kind == TWO && item.l == item.i + 1) continue;
            this->watch.pass(100 * (item.l - item.i));
            choice.start();
            terms.clear();
            add_terms(item);
            const int chosen = choice.draw(random);
            if (chosen < 0) return false;
            const Term& term = terms[chosen];
            if (term.dependent) heads[term.dependent] = term.head;
            agenda.push_back(term.first);
            if (term.second.l) agenda.push_back(term.second);
        }
        return true;
    }
};

// All: the chart of marginals. Sampled: the same chart, from which derivations can also be drawn.
template <class N, template <class> class All, template <class> class Sampled> class AllSums final : public SumCharts {
    Sampled<N> all;
    All<Duals<N>> dual_all;

  public:
    bool find(const Scores& scores, Counts& counts) override { return all.find(scores, counts); }
    bool differentiate(const Scores& scores, Counts& counts, const Scores& direction) override {
        return dual_all.find(scores, counts, direction);
    }
    bool draw(const Scores& scores, Samples& to) override { return all.find(scores, to); }
    size_t bytes_needed() const override { return std::max(all.bytes_needed(), dual_all.bytes_needed()); }
    void release() override {
        all.release();
        dual_all.release();
    }
};

}  // namespace VARIANT::marginals
