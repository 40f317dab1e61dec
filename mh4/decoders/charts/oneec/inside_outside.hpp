// Marginals of 1EC: the sum over all trees (inside), and its derivatives (outside), in O(n^4) time and O(n^3) memory.
//
// The inside pass fills a chart by the kernels for SUM_RULES in rules.py, which derive each tree once (complexes.hpp).
// The outside pass goes through the items in the opposite order. For each item, it adds to the derivatives
// with respect to everything that the item was made of.
#pragma once
#include "complexes.hpp"
#include "sum_projective.hpp"
#include "trace.hpp"

namespace VARIANT::oneec {
namespace sums {

template <class N> struct Reverse : Projective<N> {
    typedef Projective<N> Base;
    using typename Base::ComplexesOfSpanned, typename Base::ComplexesOfWings, typename Base::ComplexesOfPivots,
        typename Base::Far;
    using typename Base::HalfPivots, typename Base::Hinges, typename Base::Kernels, typename Base::Left, typename Base::Pivots;
    using typename Base::Region, typename Base::Right, typename Base::Value, typename Base::Vector, typename Base::Wings;
    template <class Side> using Near = typename Base::template Near<Side>;
    using Base::n, Base::side, Base::to_gradient, Base::layer_of_l, Base::left, Base::right, Base::watch, Base::above,
        Base::apart;
    using Base::grad, Base::each_left, Base::each_right, Base::fill_pivots, Base::WIDTH;

    // Fill the chart. Throws signals::Raised, as `outside` does.
    void inside() {
        for (int l = n - 1; l >= 0; l--)
            for (int r = l + 1; r < side; r++) this->fill(l, r);
    }

    // The reverse of `inside`. The derivative with respect to the goal must be set.
    void outside() {
        for (int l = 0; l < n; l++) {
            restore_layer(l);
            for (int r = n; r > l; r--) outside(l, r);
        }
    }

  private:
    static void clear(Value* lanes, int states, int l, int r) {
        std::fill(lanes + l * states * WIDTH, lanes + r * states * WIDTH, Value());
    }

    void reverse_pivots(const Left& items, int a, int b) {
        for (int v = minimum(a, b) + 1; v < maximum(a, b); v++) Kernels::pivots_outside(Pivots{*this, items, a, b, v});
    }

    void reverse_half_pivots(const Left& items, int b, int v) {
        const int l = minimum(b, v), r = maximum(b, v);
        clear(this->hinge_lanes, STATES[HINGE], l, r);
        clear(this->neither_lanes, STATES[NEITHER], l, r);
        this->fill_hinges(items, b, v);
        this->each_half_pivot(items, b, v, [](const HalfPivots& at) { Kernels::half_pivots_outside(at); });
        for (int t = l + 1; t < r; t++) {
            Kernels::hinges_outside(Hinges{*this, items, t, b, v});
            Value sums[STATES[NEITHER]];
            for (int i = 0; i < STATES[NEITHER]; i++)
                sums[i] = N::sum(N::at(this->neither_lanes + (t * STATES[NEITHER] + i) * WIDTH));
            this->template scalar<NEITHER>(items, t, b, v).add(sums);
        }
    }

    void outside(int l, int r) {
        watch.pass((size_t)80 * (r - l) * n);
        for (const Left* items : std::initializer_list<const Left*>{&left, &right}) {
            clear(items->pivot_lanes, STATES[PIVOT], l, r);
            std::fill(items->pivot + to_gradient + l * STATES[PIVOT], items->pivot + to_gradient + r * STATES[PIVOT], Value());
        }
        fill_pivots(left, l, r);
        if (r < n) {
            fill_pivots(right, r, l);
            each_right(l, r, [&](const Region& at) { Kernels::complexes_of_spanned_outside(ComplexesOfSpanned{at, l, r}); });
            each_right(l, r, [&](const Region& at) { Kernels::wings_outside(Wings{at, l, r}); });
            each_right(l, r, [&](const Region& at) { Kernels::far_outside(Far{at, l, r}); });
            each_right(l, r, [&](const Region& at) { Kernels::near_right_outside(Near<Right>{at, right, r, l}); });
        }
        each_left(l, r, [&](const Region& at) { Kernels::near_left_outside(Near<Left>{at, left, l, r}); });
        this->outside_projective(l, r);
        outside_complexes(l, r);
        if (r < n) {
            reverse_half_pivots(right, l, r);
            reverse_pivots(right, r, l);
        }
        if (l > 0) reverse_half_pivots(left, r, l);
        reverse_pivots(left, l, r);
    }

    // Compute the layer of l again: the layers of smaller l have overwritten it.
    void restore_layer(int l) {
        for (ptrdiff_t offset : {(ptrdiff_t)0, to_gradient})
            marginals::clear(layer_of_l.begin + offset, layer_of_l.end + offset, watch);
        for (int r = l + 1; r < n; r++) {
            watch.pass((size_t)20 * (r - l) * n);
            fill_pivots(left, l, r);
            this->fill_far(l, r, r + 1, side);
            this->fill_wings(l, r, r + 1, side);
        }
    }

    void outside_complexes(int l, int r) {
        Value grads[STATES[COMPLEX]];
        grads[APART] = grad(&apart(l, r)) + grad(&apart(r, l));
        grads[FIRST_ABOVE] = grad(&above(l, r));
        grads[SECOND_ABOVE] = grad(&above(r, l));
        Vector grad_vectors[STATES[COMPLEX]];
        for (int state = 0; state < STATES[COMPLEX]; state++) {
            grad(this->complex_row(l, state) + r) = grads[state];
            grad_vectors[state] = Base::spread(grads[state]);
        }
        this->each_wing(l, r, grad_vectors, [](const ComplexesOfWings& at) { Kernels::complexes_of_wings_outside(at); });
        Kernels::complexes_of_pivots_outside(ComplexesOfPivots{{*this, grads, l, r, l + 1, r}});
    }
};

template <class N> class Marginals : Reverse<N> {
    typedef Reverse<N> Base;
    using typename Base::Value;
    using Base::n, Base::side;

    static constexpr double NUMBER = 2.8;  // the number of trees of n words is less than e^(2.8 n)

    // Whether N suffices. For Doubles: nothing was too large for float64, and nothing was too small or what was lost is
    // negligible. Of each tree, less than e^-700 times the weight of its rest is lost, and the partition function is at
    // least 1.
    bool in_range(const Scaling& scaling) {
        const int lost = marginals::losses();
        return !N::SCALED || lost == 0 || (lost == FE_UNDERFLOW && scaling.slack + NUMBER * n < 640);
    }

  public:
    // The marginals or, with Duals, their derivatives in a direction. True if they are right; false if N does not
    // suffice for these scores. Throws as Memory::allocate does, or signals::Raised.
    bool find(const Scores& scores, Counts& counts, const TreeScores& good_tree, const Scores& direction = Scores()) {
        const Scaling scaling(scores, direction, good_tree, N::SCALED, this->watch);
        if (!scaling.precise) return false;
        this->prepare(scores, scaling);
        this->inside();
        if (!in_range(scaling)) return false;
        const Value z = this->at_c(0, n)[this->none];
        counts.log_partition = N::log(z) + scaling.total;
        if (!counts.tensors[ARC]) return true;
        for (int part : {ARC, CROSSED_ARC}) std::fill_n(counts.tensors[part], (size_t)side * side, 0.0);
        for (int part : {GRANDPARENT, SIBLING}) std::fill_n(counts.tensors[part], (size_t)(side + 1) * side, 0.0);
        this->at_c(0, n)[this->none + this->to_gradient] = N::inverse(z);
        this->expected_arc = counts.tensors[ARC];
        this->expected_sibling = counts.tensors[SIBLING];
        this->expected_grandparent = counts.tensors[GRANDPARENT];
        this->outside();
        for (int h = 0; h <= n; h++)
            for (int m = 1; m <= n; m++)
                if (h != m) counts.tensors[CROSSED_ARC][(size_t)h * side + m] = expected_crossed(h, m);
        return in_range(scaling);
    }

    double expected_crossed(int h, int m) const {
        return N::result(this->longest.expected(h, m)) + (this->may_have_two(h) ? N::result(this->crossed.expected(h, m)) : 0);
    }

    using Base::bytes_needed, Base::release;
};

// All sums. If there is only one tree, log_partition is its score, and its parts have probability 1. Otherwise the best
// tree is found first, since the weights are divided by the weights of its parts.
template <class N> class AllSums final : public marginals::SumCharts {
    Chart search;
    Marginals<N> all;
    Marginals<marginals::Duals<N>> dual_all;
    std::vector<int> heads;
    TreeScores best_tree;

    // f(part, word, index) for the parts of a tree.
    template <class F> static void each_part(const PartRows* rows, int n, F f) {
        for (int part = 0; part < PARTS; part++)
            for (auto [node, m] : rows[part]) f(part, m, (size_t)node * (n + 1) + m);
    }

    void find_of_tree(const Scores& scores, Counts& counts) {
        const PartRows* const rows = search.parts(scores.heads, scores.n);
        if (!rows) return;
        counts.log_partition = 0;
        each_part(rows, scores.n, [&](int part, int, size_t cell) { counts.log_partition += scores.tensors[part][cell]; });
        if (counts.log_partition > -INFINITY && counts.tensors[ARC])
            each_part(rows, scores.n, [&](int part, int, size_t cell) { counts.tensors[part][cell] = 1; });
    }

    // False if there is no tree.
    bool find_best(const Scores& scores) {
        heads.assign(scores.n + 1, -1);
        if (search.find(scores.n, scores.tensors, nullptr, scores.single_root, heads.data()) == -INFINITY) return false;
        best_tree.clear(scores.n);
        each_part(search.parts(heads.data(), scores.n), scores.n, [&](int part, int m, size_t cell) {
            const double score = scores.tensors[part][cell];
            best_tree.words[m] += score;
            if (part == SIBLING) best_tree.siblings[m] = score;
            if (part == GRANDPARENT) best_tree.grandparents[m] = score;
        });
        return true;
    }

  public:
    bool find(const Scores& scores, Counts& counts) override {
        counts.log_partition = -INFINITY;
        if (scores.heads) find_of_tree(scores, counts);
        return scores.heads || !find_best(scores) || all.find(scores, counts, best_tree);
    }
    bool differentiate(const Scores& scores, Counts& counts, const Scores& direction) override {
        counts.log_partition = scores.heads ? 0 : -INFINITY;  // the counts of one tree are constant
        return scores.heads || !find_best(scores) || dual_all.find(scores, counts, best_tree, direction);
    }
    size_t bytes_needed() const override {
        return std::max({search.bytes_needed(), all.bytes_needed(), dual_all.bytes_needed()});
    }
    void release() override {
        all.release();
        dual_all.release();
        search.release();
    }
};

}  // namespace sums
}  // namespace VARIANT::oneec
