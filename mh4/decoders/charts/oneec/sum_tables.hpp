// The memory of the chart for sums over 1EC trees, and the views of it that the kernels in recurrences.hpp use.
//
// Unlike in the decoder's tables, the places of x that are not nodes beyond a and b are 0, since they take part in
// sums. Every value has a derivative, that of the logarithm of the partition function with respect to this value, at a
// constant distance in memory.
#pragma once

#include <algorithm>
#include <vector>

#include "layout.hpp"
#include "weights.hpp"

namespace VARIANT::oneec {
namespace sums {

// The operations of sums, and the views through which kernels read values, and their reverses add to derivatives. In a
// view, `to_gradient` is the distance from a value to its derivative.
template <class N> struct Views : N {
    using typename N::Value, typename N::Vector;
    using N::WIDTH;

    // N::at, for any address. Vectors of duals have a different layout in memory.
    static INLINE Vector loosely_at(const Value* at) {
        if (N::DUAL) {
            alignas(64) Value lanes[WIDTH];
            __builtin_memcpy(lanes, at, sizeof lanes);
            return N::at(lanes);
        }
        Vector vector;
        __builtin_memcpy(&vector, at, sizeof vector);
        return vector;
    }
    static INLINE void put_loosely(Value* at, const Vector& vector) {
        if (N::DUAL) {
            alignas(64) Value lanes[WIDTH];
            N::put(lanes, vector);
            __builtin_memcpy(at, lanes, sizeof lanes);
        } else
            __builtin_memcpy(at, &vector, sizeof vector);
    }
    static INLINE void add(Value* to, const Vector& more) { N::put(to, N::at(to) + more); }
    // The operations of the recurrences of Projective
    template <class A> static INLINE A either(const A& a, const A& b) { return a + b; }
    template <class A, class B> static INLINE auto both(const A& a, const B& b) { return a * b; }
    static INLINE Vector with_arc(const Vector& rest, const Vector& grandparents, const Value& arc) {
        return rest * grandparents * arc;
    }
    static Value any(const Vector& lanes) { return N::sum(lanes); }  // the sum of the lanes
    static Value nothing() { return Value(); }
    static Value one() { return N::exponential(0); }
    static INLINE Vector spread(Value value) {
        alignas(64) Value lanes[WIDTH];
        std::fill_n(lanes, (int)WIDTH, value);
        return N::at(lanes);
    }

    struct Tile {  // values of a block of x, by state
        Value* at;
        ptrdiff_t to_gradient;
        INLINE Vector operator[](int state) const { return N::at(at + state * WIDTH); }
        template <int size> INLINE void add(const Vector (&more)[size]) const {
            for (int i = 0; i < size; i++) Views::add(at + to_gradient + i * WIDTH, more[i]);
        }
    };

    struct Rows {  // the same, with each state or direction in a row of its own
        Value* rows[3];
        ptrdiff_t to_gradient;
        INLINE Vector operator[](int i) const { return loosely_at(rows[i]); }
        template <int size> INLINE void add(const Vector (&more)[size]) const {
            for (int i = 0; i < size; i++) put_loosely(rows[i] + to_gradient, loosely_at(rows[i] + to_gradient) + more[i]);
        }
    };

    struct Common {  // values that are the same for all lanes; the lanes of their derivatives are added up later
        const Value* at;
        ptrdiff_t stride;
        Value* lanes;
        INLINE Value operator[](int i) const { return at[i * stride]; }
        template <int size> INLINE void add(const Vector (&more)[size]) const {
            for (int i = 0; i < size; i++) Views::add(lanes + i * WIDTH, more[i]);
        }
    };

    struct Single {  // values for a kernel without lanes
        const Value* at;
        ptrdiff_t stride;
        Value* gradient;
        INLINE Value operator[](int i) const { return at[i * stride]; }
        template <int size> INLINE void add(const Value (&more)[size]) const {
            for (int i = 0; i < size; i++) gradient[i * stride] += more[i];
        }
    };
};

using marginals::Counts, marginals::Scores;  // with the tensors of Part, as in oneec.marginals

// What each word contributes to the score of a tree: in all, and by its sibling and its grandparent where visible.
struct TreeScores {
    std::vector<double> words, siblings, grandparents;

    void clear(int n) {
        for (auto* each : {&words, &siblings, &grandparents}) each->assign(n + 1, 0);
    }
};

// The weights of arcs and parts: the exponentials of scores, divided such that the weights of one tree are all 1. If
// this is the best tree, the partition function is between 1 and the number of trees. Weights can be divided word by
// word because every tree has exactly one arc to each word, crossed or not.
//
// The derivatives of the logarithms equal the derivatives of the scores, as the divisors are constants.
class Scaling {
    typedef marginals::Logarithm Logarithm;
    const Scores scores, direction;
    TreeScores tree;  // all 0 if the weights are not divided

    static double less(double score, double in_tree) { return score == -INFINITY ? score : score - in_tree; }
    size_t cell(int x, int m) const { return (size_t)x * (scores.n + 1) + m; }
    double score(Part part, int x, int m) const { return scores.tensors[part][cell(x, m)]; }
    Logarithm logarithm(Part part, int x, int m, double in_tree) const {
        const double* change = direction.tensors[part];
        return {less(score(part, x, m), in_tree), change ? change[cell(x, m)] : 0};
    }

  public:
    double total = 0;  // the score of the tree
    // An upper bound, e^slack, for products of weights of a tree. For each word except one, such a product has either
    // all weights of the word or no weight of it.
    double slack = 0;
    bool precise;  // no weight that matters has a relative error above 1e-8

    Scaling(const Scores& of, const Scores& change, const TreeScores& good_tree, bool scaled, signals::Watch& watch)
        : scores(of), direction(change) {
        const int n = scores.n;
        double size = 0, incomplete = 0;
        if (scaled)
            tree = good_tree;
        else
            tree.clear(n);
        for (int m = 1; scaled && m <= n; m++) {
            watch.pass(20 * n);
            double arc = -INFINITY, crossed = -INFINITY, sibling = 0, grandparent = 0;
            for (int x = 0; x <= n + 1; x++) {
                sibling = std::max(sibling, score(SIBLING, x, m));
                grandparent = std::max(grandparent, score(GRANDPARENT, x, m));
                if (x == m || x > n) continue;
                arc = std::max(arc, score(ARC, x, m));
                crossed = std::max(crossed, score(CROSSED_ARC, x, m));
            }
            slack += std::max(arc + sibling + grandparent, crossed) - tree.words[m];
            incomplete = std::max(incomplete, fabs(tree.siblings[m]) + fabs(tree.grandparents[m]));
            size += fabs(tree.words[m]) + fabs(tree.siblings[m]) + fabs(tree.grandparents[m]);
            total += tree.words[m];
        }
        slack += incomplete;
        precise = size * 1.2e-16 < 1e-8;
    }

    Logarithm arc(int h, int m) const { return logarithm(ARC, h, m, tree.words[m] - tree.siblings[m] - tree.grandparents[m]); }
    Logarithm crossed_arc(int h, int m) const { return logarithm(CROSSED_ARC, h, m, tree.words[m]); }
    Logarithm sibling(int s, int m) const { return logarithm(SIBLING, s, m, tree.siblings[m]); }
    Logarithm grandparent(int g, int m) const { return logarithm(GRANDPARENT, g, m, tree.grandparents[m]); }
    double hidden_sibling(int m) const { return -tree.siblings[m]; }
    double hidden_grandparent(int m) const { return -tree.grandparents[m]; }
};

// All items of a sentence; l counts down from n and, for each l, r counts up from l+1. Items of `left` have regions l r
// with x < l, in tiles over r; items of `right` have x > r, in tiles over l. Layer has the items that only items with
// the same l need: the reverse computes them again.
template <class N> struct Tables : Layout<Views<N>> {
    typedef Layout<Views<N>> Base;
    using typename Base::Common, typename Base::LinkRows, typename Base::Single, typename Base::Value, typename Base::Vector;
    using Base::n, Base::side, Base::blocks, Base::width, Base::rows, Base::hidden, Base::to_gradient, Base::gap_rows,
        Base::hinges;
    using Base::may_have_two, Base::blocks_before, Base::at_c, Base::memory, Base::watch, Base::take, Base::take_rows,
        Base::WIDTH;
    template <int... kinds> using Group = typename Base::template Group<kinds...>;
    typedef SumKernels Kernels;

    struct Links : LinkRows {
        Value* lanes;  // of the derivatives that kernels add to through `between`
        int side;
        using LinkRows::to, LinkRows::from, LinkRows::width, LinkRows::to_gradient;

        INLINE Common between(int a, int b) const {
            return Common{from + a * width + b, to - from, lanes + (a * side + b) * 2 * WIDTH};
        }
        Value expected(int h, int m) const {
            const Value *grad_row = from + to_gradient + h * width + m, *grad_column = to + to_gradient + m * width + h;
            const Value grad_first = N::sum(N::at(lanes + (h * side + m) * 2 * WIDTH));
            const Value grad_second = N::sum(N::at(lanes + ((m * side + h) * 2 + 1) * WIDTH));
            return from[h * width + m] * (*grad_row + *grad_column + (grad_first + grad_second));
        }
    } crossed, longest;  // with a single root, only `longest` has arcs from node 0

    // Items of regions a b for x on the side of a
    struct Left : Group<OPEN, CLOSED, NEITHER_OPEN, NEITHER, ARM, HALF_PIVOT> {
        Value *pivot, *pivot_lanes;  // pivot a b v of the current l and r: [v] by state; lanes of derivatives
    } left;
    struct Right : Left, Group<HOOKED, SEVERAL, SEVERAL_CLOSED> {
    } right;
    // Items of the current l, over r; wing l b a is over b, in blocks of a
    struct Layer : Group<OPEN, CLOSED, SEVERAL, SEVERAL_CLOSED, TIED, TIED_SEVERAL, BOUND, BOUND_OPEN, BOUND_SEVERAL, BOTH,
                         SPANNED, WING> {
        Value *begin, *end;
    } layer_of_l;

    Value *gaps, *gap_lanes;             // [a, b, state]; the same, lanes of derivatives
    Value* complexes[STATES[COMPLEX]];   // [l, r] by state
    Value* pairs;                        // rows over g
    Value* hidden_sibling;               // [m]
    Value *hinge_lanes, *neither_lanes;  // for half pivots: [t]

    INLINE const Layer& layer(int) const { return layer_of_l; }

    // What kernels call

    template <int kind, class Items, class At>
    INLINE void keep(ItemsOf<Items> row, const At& at, int second, const Vector (&values)[STATES[kind]]) const {
        Value* const to = this->template tile<kind>(row, at.block, second).at;
        for (int i = 0; i < STATES[kind]; i++) {
            N::put(to + i * WIDTH, values[i]);
            std::fill_n(to + i * WIDTH, at.first_lane, Value());
            std::fill(to + i * WIDTH + at.end_lane, to + (i + 1) * WIDTH, Value());
        }
    }
    // The derivatives with respect to an item
    template <int kind, class Items>
    INLINE void fetch_gradient(ItemsOf<Items> row, int block, int second, Vector (&grad)[STATES[kind]]) const {
        const Value* const from = this->template tile<kind>(row, block, second).at + to_gradient;
        for (int i = 0; i < STATES[kind]; i++) grad[i] = N::at(from + i * WIDTH);
    }
    template <int size> INLINE void fetch_gradient(Common item, Value (&grad)[size]) const {
        for (int i = 0; i < size; i++) grad[i] = item.at[i + to_gradient] + N::sum(N::at(item.lanes + i * WIDTH));
    }

    template <int kind> INLINE Single scalar(const Left& items, int a, int b, int v) const {
        return single(this->template cell<kind>(items, a, b, v), WIDTH);
    }
    INLINE Common neither(const Left& items, int a, int b, int v) const {
        return Common{scalar<NEITHER>(items, a, b, v).at, WIDTH, neither_lanes + a * STATES[NEITHER] * WIDTH};
    }
    INLINE Common hinge(int t) const { return common<HINGE>(hinges, hinge_lanes, t); }
    INLINE Common pivot(const Left& items, int v) const { return common<PIVOT>(items.pivot, items.pivot_lanes, v); }
    INLINE Single scalar_pivot(const Left& items, int v) const { return single(items.pivot + v * STATES[PIVOT], 1); }
    INLINE Common gap(int a, int b) const { return common<GAP>(gaps, gap_lanes, a * side + b); }
    INLINE Single scalar_gap(int a, int b) const { return single(gaps + (a * side + b) * STATES[GAP], 1); }
    INLINE Value* complex_row(int l, int state) const { return complexes[state] + l * width; }

    INLINE Value* at_pairs(int a, int b) const { return pairs + ((size_t)b * (b - 1) / 2 + a) * rows; }

    // What Projective calls
    Value hidden_sibling_of(int m) const { return hidden_sibling[m]; }
    auto pairs_of(int a) const {
        return [this, a](int w) { return at_pairs(a, w); };
    }
    // Set to 0 what is not a value of g: nodes from a to b, and numbers beyond `hidden`.
    void only_outside(Value* out, int a, int b) const {
        std::fill(out + minimum(a, b), out + maximum(a, b) + 1, Value());
        std::fill(out + hidden + 1, out + rows, Value());
    }
    void keep_gap(int a, int b, int state, Value value) {
        gap_rows[state][a * width + b] = gap_rows[SWAPPED[state]][b * width + a] = value;
        gaps[(a * side + b) * STATES[GAP] + state] = gaps[(b * side + a) * STATES[GAP] + SWAPPED[state]] = value;
    }

    void prepare(const Scores& scores, const Scaling& scaling) {
        this->measure(scores.n, scores.single_root);
        memory.start();
        arrange();
        memory.allocate();
        Value* const first = take(0);
        arrange();
        marginals::clear(first, take(0), watch);
        marginals::forget_losses();
        tabulate(scaling);
    }

  private:
    INLINE Single single(Value* at, ptrdiff_t stride) const { return Single{at, stride, at + to_gradient}; }
    template <int kind> static INLINE Common common(Value* values, Value* lanes, int place) {
        return Common{values + place * STATES[kind], 1, lanes + place * STATES[kind] * WIDTH};
    }

    // Assign all tables their place in memory: values, their derivatives, and then tables without derivatives.
    void arrange() {
        const size_t cells = (size_t)side * side;
        Left* const sides[] = {&left, &right};
        this->take_left(left);
        this->take_right(static_cast<Left&>(right));
        this->take_right(static_cast<Group<HOOKED, SEVERAL, SEVERAL_CLOSED>&>(right));
        layer_of_l.begin = take(0);
        this->take_layer(layer_of_l, 0);
        layer_of_l.end = take(0);
        for (Links* links : {&crossed, &longest}) static_cast<LinkRows&>(*links) = this->take_links();
        gaps = take(cells * STATES[GAP]);
        for (Value*& row : complexes) row = take_rows((size_t)side * width);
        this->take_values();
        pairs = take(cells * rows / 2);
        for (Left* items : sides) items->pivot = take(STATES[PIVOT] * side);
        to_gradient = memory.bytes() / sizeof(Value);
        take(to_gradient);
        for (Links* links : {&crossed, &longest}) {
            links->lanes = take(cells * 2 * WIDTH);
            links->side = side;
            links->to_gradient = to_gradient;
        }
        gap_lanes = take(cells * STATES[GAP] * WIDTH);
        for (Left* items : sides) items->pivot_lanes = take(STATES[PIVOT] * WIDTH * side);
        hinge_lanes = take(STATES[HINGE] * WIDTH * side);
        neither_lanes = take(STATES[NEITHER] * WIDTH * side);
        hidden_sibling = take(side);
        this->take_scores();
    }

    void tabulate(const Scaling& scaling) {
        for (int m = 1; m <= n; m++) {
            watch.pass(200 * n);
            for (int h = 0; h <= n; h++) {
                if (h == m) continue;
                this->arc[h * side + m] = N::exponential(scaling.arc(h, m));
                const Value weight = N::exponential(scaling.crossed_arc(h, m));
                longest.from[h * width + m] = longest.to[m * width + h] = weight;
                if (may_have_two(h)) crossed.from[h * width + m] = crossed.to[m * width + h] = weight;
            }
            for (int x = 0; x <= n + 1; x++) {
                this->sibling[m * (side + 1) + x] = N::exponential(scaling.sibling(x, m));
                this->grandparent[m * rows + x] = N::exponential(scaling.grandparent(x, m));
            }
            hidden_sibling[m] = N::exponential(scaling.hidden_sibling(m));
            this->grandparent[m * rows + hidden] = N::exponential(scaling.hidden_grandparent(m));
        }
        for (int node = 0; node < side; node++) std::fill_n(at_c(node, node), rows, N::exponential(0));
    }
};

}  // namespace sums
}  // namespace VARIANT::oneec
