// Drawing spanning trees in proportion to their weights: the elimination of words, backwards.
//
// That the matrix-tree theorem makes exact sampling possible is from Colbourn, Myrvold & Neufeld (Journal of Algorithms, 1996), who
// update an inverse matrix for each arc chosen. Here one elimination serves any number of trees, and like it, nothing subtracts.
//
// Let T' be a random tree of the graph without v, whose arcs h->m have weights w[h,m] + w[h,v] w[v,m] / total. Each arc of it is the
// direct one or, with the probability of its share of this weight, the detour. Let v take all m with a detour as its dependents, and
// then choose its own head h with probability in proportion to w[h,v], among the nodes that are not below these. This is a random tree
// T of the graph with v. For T arises from those T' that give its dependents m_1, ..., m_k of v other heads h_1, ..., h_k, with a
// probability in proportion to
//
//     total product over x of (w[h_x,v] w[v,m_x] / total) w[h,v] / W       W: the sum of w[h,v] over the nodes not below these,
//
// and the sum of the product of w[h_x,v] over all h_x that make a tree is W total^(k-1): this is Cayley's formula for trees of k+1
// nodes, which are the rest of the tree and what is below each m_x. What remains is w[h,v] and the product of w[v,m_x], as it should be.
//
// So the words come back in the order opposite to elimination. An arc is replaced by a detour when its first one comes back; which
// that is is drawn when the arc is made, as its weight then is the sum of its own and of the detours through words still to come.
// A tree costs O(n) for each word and each arc that is made: O(n^2) unless many are replaced again and again, at most O(n^3).
#pragma once
#include "matrix_tree.hpp"
#include "random_choices.hpp"

namespace marginals {

template <class N> class SampledMST : public Sampler<MST<N>> {
    typedef MST<N> Base;
    typedef typename N::Value Value;
    using Base::n;
    using Base::row;

    std::vector<Value> inverses;   // of the totals
    std::vector<int> head, via;    // of a word: its head, and the word that is to come between, or 0
    std::vector<char> below;       // of a node: whether it is above the dependents of v, 1, or below one, 2; 0 if this is not known
    std::vector<int> path;
    Choice<N> choice;

    // Make the arc h->m, and draw what it is to be replaced by.
    void link(Random &random, int h, int m) {
        head[m] = h;
        choice.start();
        choice.add(row(this->weights, h)[m]);
        for (int v = n; v > std::max(h, m); v--)
            choice.add(row(this->w, h)[v] * inverses[v] * row(this->w, v)[m]);
        const int chosen = choice.draw(random);
        via[m] = chosen > 0 ? n + 1 - chosen : 0;
    }

    // Find the nodes before v that are below its dependents.
    void find_below(int v) {
        std::fill(below.begin(), below.begin() + v, 0);
        below[0] = 1;
        for (int x = 1; x < v; x++) {
            int y = x;
            for (path.clear(); !below[y] && head[y] != v; y = head[y])
                path.push_back(y);
            if (!below[y])
                below[y] = 2;
            for (int z : path)
                below[z] = below[y];
        }
    }

    void prepare_to_draw() override {
        inverses.resize(n + 1);
        for (int v = 1; v <= n; v++)
            inverses[v] = N::inverse(this->totals[v]);
        head.resize(n + 1);
        via.resize(n + 1);
        below.resize(n + 1);
    }

    bool draw(Random &random, int *heads) override {
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
            if (h < 0)
                return false;
            this->watch.pass(20 * (n - v));
            link(random, h, v);
        }
        for (int m = 1; m <= n; m++)
            heads[this->order[m]] = this->order[head[m]];
        return true;
    }
};

}  // namespace marginals
