// The sum over the MH4 derivations of one tree, and its derivatives.
//
// Which items [i,j,l] the tree has is said in tree_chart.pyx, and how each sequence is derived once at the top of inside_outside.hpp.
// There are O(n^2) ways to derive them for a tree as sentences have it; O(n^3), in time and memory, if all words depend on one.
#pragma once
#include "forest.hpp"
#include "inside_outside.hpp"

namespace marginals {

template <class N> class MH4Tree {
    struct Triple {  // [i,j,l], in the list of its span
        int j;
        int linked, all;  // the items d[i,j,l] and t[i,j,l]
    };
    struct Span {
        int two;            // the item [i,l]
        size_t begin, end;  // the triples of the span
    };
    enum { NONE = Forest<N>::NONE, ONE = Forest<N>::ONE };

    Forest<N> forest;
    Memory<Span> memory;
    std::vector<Triple> triples;
    signals::Watch watch;
    Dependents dependents;
    int n;
    Span *spans;  // at i, l

    Span &span(int i, int l) const { return spans[(size_t)i * (n + 2) + l]; }
    Triple triple(int i, int j, int l) const {
        for (size_t x = span(i, l).begin; x < span(i, l).end; x++)
            if (triples[x].j == j)
                return triples[x];
        return Triple{j, NONE, NONE};
    }

    // By the Links of the dependents of `head`, one of i, m and l, to d[i,m,l]
    void link(int to, int head, int i, int m, int l) {
        for (int k : dependents.of(head)) {
            watch.pass(400);
            if (m < k && k < l) {
                const int code = head == i ? RA2 : head == m ? RA : LA;
                forest.derive(to, triple(i, m, k).linked, span(k, l).two, Uses::shift(m, k).reduce(code, m, k, l, head, k));
                if (head == i)
                    forest.derive(to, span(i, m).two, triple(m, k, l).all, Uses::shift(i, m).reduce(code, m, k, l, head, k));
            } else if (i < k && k < m) {
                const int code = head == i ? RAp : head == m ? LAp : LA2;
                forest.derive(to, triple(i, k, m).linked, span(m, l).two, Uses::shift(k, m).reduce(code, k, m, l, head, k));
                forest.derive(to, span(i, k).two, triple(k, m, l).all, Uses::shift(i, k).reduce(code, k, m, l, head, k));
            }
        }
    }

    // Add [i,j,l] to the list of i..l if j lies between them and the item can be derived.
    void add(int i, int j, int l) {
        if (!(i < j && j < l))
            return;
        const int to = forest.add();
        for (int head : {i, j, l})
            link(to, head, i, j, l);
        const int linked = forest.last(), all = forest.add();
        forest.derive(all, linked, ONE, Uses());
        forest.derive(all, span(i, j).two, span(j, l).two, Uses::shift(i, j));
        if (forest.last() == NONE)
            return;
        make_room(triples, 1);
        triples.push_back(Triple{j, linked, all});
        span(i, l).end++;
    }

  public:
    // log_partition, -inf if the tree has no derivation, and the counts or, with Duals, their derivatives in a direction. True if
    // they are right; false if N is not enough for these scores. Throws as Memory::allocate does, or signals::Raised.
    bool find(const Scores &scores, Counts &counts, const Scores &direction = Scores()) {
        const int *heads = scores.heads;
        n = scores.n;
        counts.log_partition = -INFINITY;
        dependents.find(heads, n);
        if (scores.single_root && dependents.of(0).size() != 1)
            return true;
        spans = memory.allocate((size_t)(n + 2) * (n + 2));
        forest.start(scores, direction);
        triples.clear();
        for (int i = n; i >= 0; i--) {
            Outside outside;
            span(i, i + 1) = Span{ONE, 0, 0};
            for (int l = i + 2; l <= n + 1; l++) {
                watch.pass(20);
                dependents.extend(outside, i, l);
                span(i, l) = Span{NONE, triples.size(), triples.size()};
                if (outside.count == 1)
                    add(i, outside.sum, l);
                if (outside.count)
                    continue;
                for (int head : {i, l})
                    for (int j : dependents.of(head))
                        add(i, j, l);
                const int two = forest.add();
                for (size_t x = span(i, l).begin; x < span(i, l).end; x++) {
                    const int j = triples[x].j, head = heads[j];
                    forest.derive(two, triples[x].all, ONE, Uses().reduce(head == i ? RA : LA, i, j, l, head, j));
                }
                span(i, l).two = forest.last();
            }
        }
        if (!forest.fits())
            return false;
        forest.count(span(0, n + 1).two, counts, watch);
        return true;
    }

    size_t bytes_needed() const { return memory.bytes() + triples.size() * sizeof(Triple) + forest.bytes_needed(); }
    void release(size_t kept) {
        memory.release(kept);
        forest.release(kept);
        if (triples.capacity() * sizeof(Triple) > kept)
            std::vector<Triple>().swap(triples);
    }
};

}  // namespace marginals
