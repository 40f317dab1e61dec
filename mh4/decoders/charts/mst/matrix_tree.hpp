// Marginals of spanning trees: their sum by the matrix-tree theorem, and its derivatives, in O(n^3) time.
//
// The sum over all trees is a determinant (Tutte 1984; for parsing Koo, Globerson, Carreras & Collins, EMNLP 2007, Smith & Smith,
// EMNLP 2007). Gaussian elimination of this matrix can do without subtractions, so that nothing cancels however different the
// weights are (Grassmann, Taksar & Heyman, 1985). To eliminate the word v, replace its arcs by detours through it:
//
//     total = sum over h of w[h,v],    w[h,m] += w[h,v] w[v,m] / total    for all other h and m,
//
// and the partition function is the product of the totals. With a single root, the arcs from 0 count as infinitely
// small compared to others: they count only in the total of the last word. This word must be one that can be the root.
#pragma once
#include <algorithm>
#include <math.h>
#include <numeric>
#include <vector>

#include "chart_memory.hpp"
#include "sum_charts.hpp"
#include "weights.hpp"

namespace VARIANT::marginals {

// Of the words that can be the single root of a tree, the one with the best arc from 0; 0 if there is none. A word can
// be the root if all other words can descend from it. arcs: (n + 1, n + 1) by head, dependent; -inf if there is no
// arc. O(n^2) time if the word with the best arc from 0 can be the root, at most O(n^3).
static int best_root(const double* arcs, int n, signals::Watch& watch) {
    const auto arc = [=](int head, int dependent) { return arcs[(size_t)head * (n + 1) + dependent]; };
    std::vector<int> words(n), below;
    std::vector<bool> reached;
    std::iota(words.begin(), words.end(), 1);
    std::stable_sort(words.begin(), words.end(), [=](int a, int b) { return arc(0, a) > arc(0, b); });
    for (int word : words) {
        if (arc(0, word) == -INFINITY) break;
        reached.assign(n + 1, false);
        reached[word] = true;
        below.assign(1, word);
        for (size_t x = 0; x < below.size(); x++) {
            watch.pass(4 * n);
            for (int y = 1; y <= n; y++)
                if (!reached[y] && arc(below[x], y) > -INFINITY) {
                    reached[y] = true;
                    below.push_back(y);
                }
        }
        if ((int)below.size() == n) return word;
    }
    return 0;
}

template <class N> class MST {
  protected:
    typedef typename N::Value Value;
    typedef typename N::Vector Vector;
    enum { WIDTH = N::WIDTH, ROWS = 16 };  // ROWS: between checks for signals

    Memory<Value> memory;
    signals::Watch watch;
    int n, stride;
    bool single_root;
    std::vector<int> order;  // nodes in reverse order of elimination: first 0 and, with a single root, a possible root
    Value *weights, *w, *g;  // at head, dependent; w: weights when either was eliminated; g: see `differentiate`
    std::vector<Value> totals;
    std::vector<double> largest, scales;  // of a word: an arc to it has the weight exp(score - largest) * scale
    double largest_root;                  // single root: weights of arcs from 0 are also divided by exp(largest_root)
    double log_partition;                 // of the sum over all trees, -inf if there are none
    bool precise;                         // no weight that matters has a relative error above 1e-8

    Value* row(Value* table, int x) const { return table + (size_t)x * stride; }
    bool in_total(int h, int v) const { return !single_root || (h == 0) == (v == 1); }

    static void add(Value* to, const Value* row, Value factor, int count) {
        int x = 0;
        for (; x + WIDTH <= count; x += WIDTH) N::put(to + x, N::at(to + x) + factor * N::at(row + x));
        for (; x < count; x++) to[x] += factor * row[x];
    }
    static Value dot(const Value* a, const Value* b, int count) {
        Vector sum = Vector();
        int x = 0;
        for (; x + WIDTH <= count; x += WIDTH) sum += N::at(a + x) * N::at(b + x);
        Value total = N::sum(sum);
        for (; x < count; x++) total += a[x] * b[x];
        return total;
    }

    struct LogSum {  // of exponentials
        double most = -INFINITY, sum = 0;
        void add(double score) {
            if (score > most) {
                sum = sum * exp(most - score) + 1;
                most = score;
            } else if (score > -INFINITY) {
                sum += exp(score - most);
            }
        }
        double value() const { return most == -INFINITY ? 0 : most + log(sum); }
    };

    // Call f(h, m) for the arcs to words that use `scales`: all arcs or, with a single root, only those from words.
    template <class F> void each_scaled(size_t work, F f) {
        for (int h = single_root; h <= n; h++) {
            watch.pass(work * n);
            for (int m = 1; m <= n; m++)
                if (h != m) f(h, m);
        }
    }

    // The weights of Doubles are scaled such that the arcs to a word sum to 1, so that no sum over trees exceeds 1. (With a
    // single root, the arcs from words sum to 1, and so do the arcs from 0 to all words.)
    void tabulate(const double* arcs, const double* direction) {
        stride = (n + 1 + WIDTH - 1) / WIDTH * WIDTH;
        const size_t square = (size_t)(n + 1) * stride;
        weights = memory.allocate(3 * square);
        w = weights + square;
        g = w + square;
        clear(weights, g + square, watch);
        totals.resize(n + 1);
        largest.assign(n + 1, N::SCALED ? -INFINITY : 0);
        scales.assign(n + 1, N::SCALED ? 0 : 1);
        auto place = [&](int h, int m) { return (size_t)order[h] * (n + 1) + order[m]; };
        auto score = [&](int h, int m) { return arcs[place(h, m)]; };
        auto weight = [&](int h, int m, double less) {
            return N::exponential({score(h, m) - largest[m] - less, direction ? direction[place(h, m)] : 0});
        };
        if (N::SCALED) each_scaled(4, [&](int h, int m) { largest[m] = std::max(largest[m], score(h, m)); });
        std::replace(largest.begin(), largest.end(), (double)-INFINITY, 0.0);
        each_scaled(100, [&](int h, int m) { row(weights, h)[m] = weight(h, m, 0); });
        if (N::SCALED) {
            each_scaled(4, [&](int h, int m) { scales[m] += N::number(row(weights, h)[m]); });
            for (double& scale : scales) scale = scale > 0 ? 1 / scale : 1;
            each_scaled(4, [&](int h, int m) { row(weights, h)[m] = row(weights, h)[m] * scales[m]; });
        }
        LogSum roots;
        for (int m = 1; m <= n && N::SCALED && single_root; m++) roots.add(score(0, m) - largest[m] + log(scales[m]));
        largest_root = roots.value();
        precise = fabs(largest_root) * 1.2e-16 < 1e-8;  // it is subtracted from rounded numbers, about as large
        for (int m = 1; m <= n && single_root; m++) row(weights, 0)[m] = weight(0, m, largest_root - log(scales[m]));
        std::copy(weights, weights + square, w);
    }

    bool eliminate() {
        for (int v = n; v > 0; v--) {
            Value total = Value();
            for (int h = 0; h < v; h++)
                if (in_total(h, v)) total += row(w, h)[v];
            totals[v] = total;
            if (N::is_zero(total)) return false;
            const Value inverse = N::inverse(total);
            for (int first = 0; first < v; first += ROWS) {
                watch.pass(v / WIDTH * ROWS * 4);
                for (int h = first; h < std::min(first + ROWS, v); h++) add(row(w, h), row(w, v), row(w, h)[v] * inverse, v);
            }
        }
        return true;
    }

    // The reverse of `eliminate`. If v is eliminated with share[h] = w[h,v] / total, the derivatives g of the logarithm of
    // the partition function are
    //
    //     g[v,m] = sum over h of share[h] g[h,m]
    //     g[h,v] = (grad_share[h] - mean + 1) / total,    or grad_share[h] / total if w[h,v] is not in the total,
    //
    // where grad_share[h] = sum over m of g[h,m] w[v,m], and mean = sum over h of share[h] grad_share[h].
    void differentiate() {
        std::vector<Value> grad_share(n + 1);
        for (int v = 1; v <= n; v++) {
            Value inverse = N::inverse(totals[v]), mean = Value(), minus_one = N::exponential(0) * -1;
            for (int first = 0; first < v; first += ROWS) {
                watch.pass(v / WIDTH * ROWS * 8);
                for (int h = first; h < std::min(first + ROWS, v); h++) {
                    Value share = row(w, h)[v] * inverse;
                    grad_share[h] = dot(row(g, h), row(w, v), v);
                    mean += share * grad_share[h];
                    add(row(g, v), row(g, h), share, v);
                }
            }
            for (int h = 0; h < v; h++) {
                Value grad_w = grad_share[h];
                if (in_total(h, v)) grad_w += (mean + minus_one) * -1;
                row(g, h)[v] = grad_w * inverse;
            }
        }
    }

    // The elimination, and log_partition. True if N suffices.
    bool sum_of(const Scores& scores, const Scores& direction = Scores()) {
        n = scores.n;
        single_root = scores.single_root;
        log_partition = -INFINITY;
        order.resize(n + 1);
        std::iota(order.begin(), order.end(), 0);
        if (single_root) {
            const int root = best_root(scores.tensors[ARCS], n, watch);
            if (!root) return true;
            std::swap(order[1], order[root]);
        }
        tabulate(scores.tensors[ARCS], direction.tensors[ARCS]);
        if (!precise) return false;
        if (!eliminate()) return !N::SCALED;
        double z = 0;
        for (int v = 1; v <= n; v++) z += N::log(totals[v]);
        // If z >= -300, an arc too small for float64 (e^-700) has a probability of at most e^-400. If 1 / total was
        // infinite, z is NaN.
        if (N::SCALED && !(z >= -300)) return false;
        log_partition = z + largest_root;
        for (int v = 1; v <= n; v++) log_partition += largest[v] - log(scales[v]);
        return true;
    }
    // Whether there are no trees.
    bool empty() const { return log_partition == -INFINITY; }

  public:
    // log_partition, and the probability of each arc in counts.tensors[ARCS] or, with Duals, its derivative in a direction.
    // True if the result is right, false if N does not suffice for these scores. Throws as Memory::allocate does, or
    // signals::Raised.
    bool find(const Scores& scores, Counts& counts, const Scores& direction = Scores()) {
        if (!sum_of(scores, direction)) return false;
        counts.log_partition = log_partition;
        if (empty()) return true;
        if (!counts.tensors[ARCS]) return isfinite(counts.log_partition);
        differentiate();
        double sum = 0;
        for (int h = 0; h <= n; h++) {
            watch.pass(20 * n);
            for (int m = 1; m <= n; m++) {
                double expected = N::result(row(weights, h)[m] * row(g, h)[m]);
                sum += expected;
                const size_t cell = (size_t)order[h] * (n + 1) + order[m];
                counts.tensors[ARCS][cell] = N::DUAL ? expected : std::max(0.0, expected);  // -1e-17 is rounding
            }
        }
        return isfinite(sum);
    }

    size_t bytes_needed() const { return memory.bytes(); }
    void release() { memory.release(); }
};

// Draws spanning trees in proportion to their weights, by running the elimination of words backwards.
//
// Colbourn, Myrvold & Neufeld (Journal of Algorithms, 1996) show that the matrix-tree theorem makes exact sampling
// possible; they update an inverse matrix for each arc chosen. Here one elimination serves any number of trees, and
// there are no subtractions in sampling, either.
//
// Let T' be a random tree of the graph without v, whose arcs h->m have weights w[h,m] + w[h,v] w[v,m] / total. An arc
// of T' is a detour through v with the probability of the detour's share of this weight; otherwise it is direct. All m
// with a detour become dependents of v. Then v gets a head h with probability in proportion to w[h,v], among the nodes
// that are not below these dependents. The result is a random tree T of the graph with v, as
// docs/explanation/marginals.md proves.
//
// So words are added in reverse order of elimination. When an arc is made, its weight is the sum of the weights of the
// direct arc and of detours through words that are still to be added. One of these is drawn then. If it is a detour, it
// replaces the arc when its first word is added. A tree takes O(n) for each word and for each arc that is made: O(n^2)
// unless many arcs are replaced again and again, at most O(n^3).

template <class N> class SampledMST : public Sampler<MST<N>> {
    typedef MST<N> Base;
    typedef typename N::Value Value;
    using Base::n;
    using Base::row;

    std::vector<Value> inverses;  // of the totals
    std::vector<int> head, via;   // of a word: its head, and the word that will come between, or 0
    std::vector<char> below;      // of a node: 1 if it is not below v, 2 if it is, 0 if this is not known
    std::vector<int> path;
    Choice<N> choice;

    // Make the arc h->m, and draw the word that will come between, if any.
    void link(Random& random, int h, int m) {
        head[m] = h;
        choice.start();
        choice.add(row(this->weights, h)[m]);
        for (int v = n; v > std::max(h, m); v--) choice.add(row(this->w, h)[v] * inverses[v] * row(this->w, v)[m]);
        const int chosen = choice.draw(random);
        via[m] = chosen > 0 ? n + 1 - chosen : 0;
    }

    // Find which nodes before v are below v: its dependents, and the words below these.
    void find_below(int v) {
        std::fill(below.begin(), below.begin() + v, 0);
        below[0] = 1;
        for (int x = 1; x < v; x++) {
            int y = x;
            for (path.clear(); !below[y] && head[y] != v; y = head[y]) path.push_back(y);
            if (!below[y]) below[y] = 2;
            for (int z : path) below[z] = below[y];
        }
    }

    void prepare_to_draw() override {
        inverses.resize(n + 1);
        for (int v = 1; v <= n; v++) inverses[v] = N::inverse(this->totals[v]);
        head.resize(n + 1);
        via.resize(n + 1);
        below.resize(n + 1);
    }

    bool draw(Random& random, int* heads) override {
        for (int v = 1; v <= n; v++) {
            this->watch.pass(100 * v);
            for (int m = 1; m < v; m++)
                if (via[m] == v) {
                    this->watch.pass(20 * (n - v));
                    link(random, v, m);
                }
            find_below(v);
            // With a single root, an arc from 0 is infinitely unlikely unless it is the only one possible.
            const bool only_root = this->single_root && std::count(below.begin() + 1, below.begin() + v, 1) == 0;
            choice.start();
            for (int h = 0; h < v; h++)
                choice.add(below[h] == 1 && (!this->single_root || (h == 0) == only_root) ? row(this->w, h)[v] : Value());
            const int h = choice.draw(random);
            if (h < 0) return false;
            this->watch.pass(20 * (n - v));
            link(random, h, v);
        }
        for (int m = 1; m <= n; m++) heads[this->order[m]] = this->order[head[m]];
        return true;
    }
};

}  // namespace VARIANT::marginals
