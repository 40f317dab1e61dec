// Marginals of 1EC: the sum over all trees (inside), and its derivatives (outside), in O(n^4) time and O(n^3) memory.
//
// The inside pass fills a chart as complexes.hpp does, by kernels that are made of SUM_RULES in rules.py, which derive each tree once.
// The outside pass goes back through it in the opposite order and, for each item, adds to the derivatives by what it was made of.
#pragma once
#include "sum_projective.hpp"
#include "trace.hpp"

namespace VARIANT::oneec {
namespace sums {

template <class N> struct Complexes : Projective<N> {
    typedef Projective<N> Base;
    using typename Base::Common, typename Base::Layer, typename Base::Rows, typename Base::Side, typename Base::Single, typename Base::Tile;
    using typename Base::Value, typename Base::Vector;
    using Base::n, Base::side, Base::width, Base::blocks, Base::derivatives, Base::layer, Base::left, Base::right, Base::watch;
    using Base::block_of, Base::blocks_before, Base::right_node, Base::WIDTH;

    template <int size> static INLINE void fetch(const Value* tile, Vector (&values)[size]) {
        for (int i = 0; i < size; i++) values[i] = N::at(tile + i * WIDTH);
    }

    // The items of one node
    template <class Items> struct Of {
        const Items& items;
        int node;
    };
    template <int kind, class Items> INLINE Tile tile(Of<Items> of, int block, int second) const {
        return Tile{of.items.template tile<kind>(of.node, block, second), derivatives};
    }

    // A region of a kernel with lanes: its chart, the block and its first node x, and the loop. Those of lanes that are nodes
    // beyond the region are first_lane to end_lane - 1.
    struct Region {
        typedef Vector Value;
        Complexes& chart;
        int block, x, begin, end, first_lane, end_lane;

        bool may_have_two(int node) const { return chart.may_have_two(node); }
        // An item of a kernel that is stored in a tile: its values, and the derivatives by them
        template <int kind, class Items> INLINE Tile tile(Of<Items> of, int second) const {
            return chart.template tile<kind>(of, block, second);
        }
        template <int kind, class Items> INLINE void derivatives(Of<Items> of, int second, Vector (&by)[STATES[kind]]) const {
            fetch(tile<kind>(of, second).at + chart.derivatives, by);
        }
        template <int kind, class Items> INLINE void keep(Of<Items> of, int second, const Vector (&values)[STATES[kind]]) const {
            typename Base::Value* const to = tile<kind>(of, second).at;
            for (int i = 0; i < STATES[kind]; i++) {
                N::put(to + i * WIDTH, values[i]);
                std::fill_n(to + i * WIDTH, first_lane, typename Base::Value());
                std::fill(to + i * WIDTH + end_lane, to + (i + 1) * WIDTH, typename Base::Value());
            }
        }
    };

    // For a block of x before `low`
    Region left_of(int low, int block, int begin, int end) {
        return Region{*this, block, block * WIDTH, begin, end, 0, minimum(low - block * WIDTH, WIDTH)};
    }
    // For a block of x beyond `high`
    Region right_of(int high, int block, int begin, int end) {
        const int x = right_node(block);
        return Region{*this, block, x, begin, end, maximum(high + 1 - x, 0), WIDTH};
    }

    // Regions a b for a block of x on the side of a
    struct Near : Region {
        const Side& side;
        int a, b;

        INLINE Common pivot_a_b_v(int v) const {
            return Common{side.pivot + v * STATES[PIVOT], 1, side.pivot_lanes + v * STATES[PIVOT] * WIDTH};
        }
        INLINE Common gap_t_b(int t) const { return this->chart.gap(t, b); }
        INLINE Common gap_a_b() const { return this->chart.gap(a, b); }
        INLINE Of<Side> of_a() const { return {side, a}; }
    };

    // Regions l r for a block of x beyond r
    struct Far : Region {
        int l, r;

        INLINE Common pivot_l_r_v(int v) const {
            return Common{this->chart.left.pivot + v * STATES[PIVOT], 1, this->chart.left.pivot_lanes + v * STATES[PIVOT] * WIDTH};
        }
        INLINE Common gap_t_r(int t) const { return this->chart.gap(t, r); }
        INLINE Common gap_l_r() const { return this->chart.gap(l, r); }
        INLINE Of<Layer> of_l() const { return {this->chart.layer, 0}; }
        INLINE Of<Side> of_r() const { return {this->chart.right, r}; }
    };

    // half_pivot a b v for a block of a beyond v
    struct HalfPivots : Region {
        const Side& side;
        int b, v, v_block, v_lane;  // where v is an x

        typename Base::Value* at_neither(int t) const { return side.template tile<NEITHER>(t, v_block, b) + v_lane; }
        typename Base::Value* at_closed(int t) const { return side.template tile<CLOSED>(t, v_block, b) + v_lane; }
        INLINE Of<Side> of_v() const { return {side, v}; }
        INLINE Common neither_t_b_v(int t) const {
            return Common{at_neither(t), WIDTH, this->chart.neither_lanes + t * STATES[NEITHER] * WIDTH};
        }
        INLINE Common hinge_t_b_v(int t) const {
            return Common{this->chart.hinge + t * STATES[HINGE], 1, this->chart.hinge_lanes + t * STATES[HINGE] * WIDTH};
        }
    };

    // An item of a kernel without lanes: its values by state, and the derivatives by them, which are also in lanes
    template <int kind> struct ByState {
        typedef typename Base::Value Value;
        Value* out;
        ptrdiff_t derivatives;
        const Value* lanes;

        INLINE void keep(const Value (&values)[STATES[kind]]) const {
            for (int i = 0; i < STATES[kind]; i++) out[i] = values[i];
        }
        INLINE void fetch(Value (&by)[STATES[kind]]) const {
            for (int i = 0; i < STATES[kind]; i++) by[i] = out[i + derivatives] + N::sum(N::at(lanes + i * WIDTH));
        }
    };

    // hinge t b v for one t
    struct Hinges : ByState<HINGE> {
        Single gap, closed;  // v t, t b v
        INLINE Single gap_v_t() const { return gap; }
        INLINE Single closed_t_b_v() const { return closed; }
        INLINE void keep_hinge_t_b_v(const Value (&values)[STATES[HINGE]]) const { this->keep(values); }
        INLINE void derivatives_hinge_t_b_v(Value (&by)[STATES[HINGE]]) const { this->fetch(by); }
    };

    // pivot a b v for one v
    struct Pivots : ByState<PIVOT> {
        Single half_pivot, gap;  // a b v, a v
        INLINE Single half_pivot_a_b_v() const { return half_pivot; }
        INLINE Single gap_a_v() const { return gap; }
        INLINE void keep_pivot_a_b_v(const Value (&values)[STATES[PIVOT]]) const { this->keep(values); }
        INLINE void derivatives_pivot_a_b_v(Value (&by)[STATES[PIVOT]]) const { this->fetch(by); }
    };

    // wing l b a for a block of b beyond a
    struct Wings : Region {
        int l, a;
        INLINE Of<Side> of_a() const { return {this->chart.right, a}; }
        INLINE Rows gap_a_b() const { return this->chart.gap_from(a, this->x); }
        INLINE void keep_wing_l_b_a(const Vector (&values)[STATES[WING]]) const {  // transposed, into blocks of a
            alignas(64) typename Base::Value lanes[WIDTH];
            for (int state = 0; state < STATES[WING]; state++) {
                N::put(lanes, values[state]);
                for (int i = this->first_lane; i < this->end_lane; i++) at(this->x + i)[state * WIDTH] = lanes[i];
            }
        }
        INLINE void derivatives_wing_l_b_a(Vector (&by)[STATES[WING]]) const {
            alignas(64) typename Base::Value lanes[WIDTH] = {};
            for (int state = 0; state < STATES[WING]; state++) {
                for (int i = this->first_lane; i < this->end_lane; i++)
                    lanes[i] = at(this->x + i)[state * WIDTH + this->chart.derivatives];
                by[state] = N::at(lanes);
            }
        }

      private:
        typename Base::Value* at(int b) const { return this->chart.layer.template tile<WING>(0, a / WIDTH, b) + a % WIDTH; }
    };

    // complex l x for a block of x beyond t
    struct ComplexesOfSpanned : Region {
        int l, t;
        INLINE Of<Layer> of_l() const { return {this->chart.layer, 0}; }
        INLINE Rows gap_t_x() const { return this->chart.gap_from(t, this->x); }
        INLINE void so_far_complex_l_x(Vector (&values)[STATES[COMPLEX]]) const { read(values, 0); }
        INLINE void keep_complex_l_x(const Vector (&values)[STATES[COMPLEX]]) const {
            for (int i = 0; i < STATES[COMPLEX]; i++) Base::put_loosely(row(i), values[i]);
        }
        INLINE void derivatives_complex_l_x(Vector (&by)[STATES[COMPLEX]]) const { read(by, this->chart.derivatives); }

      private:
        typename Base::Value* row(int state) const { return this->chart.complexes[state] + l * this->chart.width + this->x; }
        INLINE void read(Vector (&values)[STATES[COMPLEX]], ptrdiff_t offset) const {
            for (int i = 0; i < STATES[COMPLEX]; i++) values[i] = Base::loosely_at(row(i) + offset);
        }
    };

    // complex l r, by state, as one kernel after the other adds to it; or the derivatives by it
    template <class Number> struct ComplexSoFar {
        typedef Number Value;
        Complexes& chart;
        Number* complex;

        INLINE void so_far_complex_l_r(Number (&values)[STATES[COMPLEX]]) const { std::copy_n(complex, STATES[COMPLEX], values); }
        INLINE void keep_complex_l_r(const Number (&values)[STATES[COMPLEX]]) const { std::copy_n(values, STATES[COMPLEX], complex); }
        INLINE void derivatives_complex_l_r(Number (&by)[STATES[COMPLEX]]) const { so_far_complex_l_r(by); }
    };

    // complex l r for all v
    struct ComplexesOfPivots : ComplexSoFar<typename Base::Value> {
        int begin, end;

        INLINE Single pivot_l_r_v(int v) const {
            typename Base::Value* const at = this->chart.left.pivot + v * STATES[PIVOT];
            return Single{at, 1, at + this->chart.derivatives};
        }
    };

    // complex l r for a block of a and all b
    struct ComplexesOfWings : ComplexSoFar<Vector> {
        int r, block, begin, end;

        INLINE Of<Layer> of_l() const { return {this->chart.layer, 0}; }
        INLINE Of<Side> of_b(int b) const { return {this->chart.left, b}; }
        template <int kind, class Items> INLINE Tile tile(Of<Items> of, int second) const {
            return this->chart.template tile<kind>(of, block, second);
        }
    };

    // Fill the chart. Throws signals::Raised, as `outside` does.
    void inside() {
        for (int l = n - 1; l >= 0; l--)
            for (int r = l + 1; r < side; r++) inside(l, r);
    }

    // Its reverse, given the derivative by the goal.
    void outside() {
        for (int l = 0; l < n; l++) {
            restore_layer(l);
            for (int r = n; r > l; r--) outside(l, r);
        }
    }

  private:
    // Calls f(kernel's argument) for every block of x to the left or right of the region l r.
    template <class F> void each_left(int l, int r, F f) {
        for (int block = 0; block < blocks_before(l); block++) f(left_of(l, block, l + 1, r));
    }
    template <class F> void each_right(int l, int r, F f) {
        for (int block = block_of(r + 1); block < blocks; block++) f(right_of(r, block, l + 1, r));
    }

    HalfPivots at_half_pivots(const Region& at, const Side& side, int b, int v) {  // v is between a and b
        return {at, side, b, v, (v + side.shift) / WIDTH, (v + side.shift) % WIDTH};
    }
    Pivots at_pivots(const Side& side, int a, int b, int v) {
        Value* const half_pivot = side.template tile<HALF_PIVOT>(v, (a + side.shift) / WIDTH, b) + (a + side.shift) % WIDTH;
        return Pivots{{side.pivot + v * STATES[PIVOT], derivatives, side.pivot_lanes + v * STATES[PIVOT] * WIDTH},
                      Single{half_pivot, WIDTH, half_pivot + derivatives}, this->single_gap(a, v)};
    }
    Hinges at_hinges(const HalfPivots& at, int t) {
        Value* const closed = at.at_closed(t);
        return Hinges{{this->hinge + t * STATES[HINGE], derivatives, this->hinge_lanes + t * STATES[HINGE] * WIDTH},
                      this->single_gap(at.v, t), Single{closed, WIDTH, closed + derivatives}};
    }

    void pivots_left(int l, int r) {
        for (int v = l + 1; v < r; v++) pivots(at_pivots(left, l, r, v));
    }
    void pivots_right(int l, int r) {
        for (int v = l + 1; v < r; v++) pivots(at_pivots(right, r, l, v));
    }
    void regions_far(int l, int r) {
        each_right(l, r, [&](const Region& at) { far(Far{at, l, r}); });
    }
    void wings_from(int l, int a) {
        each_right(l, a, [&](const Region& at) { wings(Wings{at, l, a}); });
    }

    void prepare_hinges(const HalfPivots& at, int l, int r) {
        for (int t = l + 1; t < r; t++) hinges(at_hinges(at, t));
    }

    // The reverse of half_pivots, for all blocks
    template <class Each> void reverse_half_pivots(const HalfPivots& first, int l, int r, Each each) {
        std::fill(this->hinge_lanes + l * STATES[HINGE] * WIDTH, this->hinge_lanes + r * STATES[HINGE] * WIDTH, Value());
        std::fill(this->neither_lanes + l * STATES[NEITHER] * WIDTH, this->neither_lanes + r * STATES[NEITHER] * WIDTH, Value());
        prepare_hinges(first, l, r);
        each();
        for (int t = l + 1; t < r; t++) {
            hinges_outside(at_hinges(first, t));
            Value* const neither = first.at_neither(t);
            for (int i = 0; i < STATES[NEITHER]; i++)
                neither[i * WIDTH + derivatives] += N::sum(N::at(this->neither_lanes + (t * STATES[NEITHER] + i) * WIDTH));
        }
    }

    void inside(int l, int r) {
        watch.pass((size_t)40 * (r - l) * n);
        pivots_left(l, r);
        if (l > 0) {
            prepare_hinges(at_half_pivots(left_of(l, 0, l + 1, r), left, r, l), l, r);
            each_left(l, r, [&](const Region& at) { half_pivots(at_half_pivots(at, left, r, l)); });
        }
        if (r < n) {
            pivots_right(l, r);
            prepare_hinges(at_half_pivots(right_of(r, blocks - 1, l + 1, r), right, l, r), l, r);
            each_right(l, r, [&](const Region& at) { half_pivots(at_half_pivots(at, right, l, r)); });
        }
        inside_complexes(l, r);
        this->fill_projective(l, r);
        each_left(l, r, [&](const Region& at) { near_left(Near{at, left, l, r}); });
        if (r < n) {
            each_right(l, r, [&](const Region& at) { near_right(Near{at, right, r, l}); });
            regions_far(l, r);
            wings_from(l, r);
            each_right(l, r, [&](const Region& at) { complexes_of_spanned(ComplexesOfSpanned{at, l, r}); });
        }
    }

    void outside(int l, int r) {
        watch.pass((size_t)80 * (r - l) * n);
        for (const Side* side : {&left, &right}) {
            std::fill(side->pivot_lanes + l * STATES[PIVOT] * WIDTH, side->pivot_lanes + r * STATES[PIVOT] * WIDTH, Value());
            std::fill(side->pivot + derivatives + l * STATES[PIVOT], side->pivot + derivatives + r * STATES[PIVOT], Value());
        }
        pivots_left(l, r);
        if (r < n) {
            pivots_right(l, r);
            each_right(l, r, [&](const Region& at) { complexes_of_spanned_outside(ComplexesOfSpanned{at, l, r}); });
            each_right(l, r, [&](const Region& at) { wings_outside(Wings{at, l, r}); });
            each_right(l, r, [&](const Region& at) { far_outside(Far{at, l, r}); });
            each_right(l, r, [&](const Region& at) { near_right_outside(Near{at, right, r, l}); });
        }
        each_left(l, r, [&](const Region& at) { near_left_outside(Near{at, left, l, r}); });
        this->outside_projective(l, r);
        outside_complexes(l, r);
        if (r < n) {
            reverse_half_pivots(at_half_pivots(right_of(r, blocks - 1, l + 1, r), right, l, r), l, r, [&] {
                each_right(l, r, [&](const Region& at) { half_pivots_outside(at_half_pivots(at, right, l, r)); });
            });
            for (int v = l + 1; v < r; v++) pivots_outside(at_pivots(right, r, l, v));
        }
        if (l > 0)
            reverse_half_pivots(at_half_pivots(left_of(l, 0, l + 1, r), left, r, l), l, r, [&] {
                each_left(l, r, [&](const Region& at) { half_pivots_outside(at_half_pivots(at, left, r, l)); });
            });
        for (int v = l + 1; v < r; v++) pivots_outside(at_pivots(left, l, r, v));
    }

    // Compute again what later ones have overwritten.
    void restore_layer(int l) {
        for (ptrdiff_t offset : {(ptrdiff_t)0, derivatives}) marginals::clear(layer.begin + offset, layer.end + offset, watch);
        for (int r = l + 1; r < n; r++) {
            watch.pass((size_t)20 * (r - l) * n);
            pivots_left(l, r);
            regions_far(l, r);
            wings_from(l, r);
        }
    }

    Value& complex(int l, int r, int state) const { return this->complexes[state][l * width + r]; }

    // complex l r, to which the spanned ones have been added already
    void inside_complexes(int l, int r) {
        Value total[STATES[COMPLEX]];
        Vector by_wings[STATES[COMPLEX]] = {};
        for (int state = 0; state < STATES[COMPLEX]; state++) total[state] = complex(l, r, state);
        complexes_of_pivots(ComplexesOfPivots{{*this, total}, l + 1, r});
        each_wing(l, r, by_wings, [](const ComplexesOfWings& at) { complexes_of_wings(at); });
        for (int state = 0; state < STATES[COMPLEX]; state++)
            complex(l, r, state) = total[state] + N::sum(by_wings[state]);
        this->complex_apart[l * width + r] = this->complex_apart[r * width + l] = complex(l, r, APART);
        this->complex_above[l * width + r] = complex(l, r, FIRST_ABOVE);
        this->complex_above[r * width + l] = complex(l, r, SECOND_ABOVE);
    }

    void outside_complexes(int l, int r) {
        const Value *by_apart = this->complex_apart + derivatives, *by_above = this->complex_above + derivatives;
        Value by[STATES[COMPLEX]];
        by[APART] = by_apart[l * width + r] + by_apart[r * width + l];
        by[FIRST_ABOVE] = by_above[l * width + r];
        by[SECOND_ABOVE] = by_above[r * width + l];
        Vector by_lanes[STATES[COMPLEX]];
        for (int state = 0; state < STATES[COMPLEX]; state++) {
            this->complexes[state][derivatives + l * width + r] = by[state];
            by_lanes[state] = Base::spread(by[state]);
        }
        each_wing(l, r, by_lanes, [](const ComplexesOfWings& at) { complexes_of_wings_outside(at); });
        complexes_of_pivots_outside(ComplexesOfPivots{{*this, by}, l + 1, r});
    }

    template <class F> void each_wing(int l, int r, Vector* complex, F f) {
        for (int block = (l + 1) / WIDTH; block * WIDTH < r - 1; block++)
            f(ComplexesOfWings{{*this, complex}, r, block, maximum(l + 2, block * WIDTH + 1), r});
    }
};

template <class N> class Marginals : Complexes<N> {
    typedef Complexes<N> Base;
    using typename Base::Value;
    using Base::n, Base::side;

    static constexpr double NUMBER = 2.8;  // the number of trees of n words is less than e^(2.8 n)

    // Whether the numbers of a chart of Doubles are right: nothing was too large for float64, and nothing was lost that is too small,
    // or it is negligible. Of each tree, less than e^-700 times the weight of its rest is lost; the partition function is at least 1.
    bool in_range(const Scaling& scaling) {
        const int lost = marginals::losses();
        return !N::SCALED || lost == 0 || (lost == FE_UNDERFLOW && scaling.slack + NUMBER * n < 640);
    }

  public:
    // The marginals or, with Duals, their derivatives in a direction. True if they are right; false if N is not enough for these
    // scores. Throws as Memory::allocate does, or signals::Raised.
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
        this->at_c(0, n)[this->none + this->derivatives] = N::inverse(z);
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

// All sums. That over one tree is its score, as its parts are certain. For that over all, the best tree is found first, as the weights
// are scaled by those of its parts.
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
    size_t bytes_needed() const override { return std::max({search.bytes_needed(), all.bytes_needed(), dual_all.bytes_needed()}); }
    void release() override {
        all.release();
        dual_all.release();
        search.release();
    }
};

}  // namespace sums
}  // namespace VARIANT::oneec
