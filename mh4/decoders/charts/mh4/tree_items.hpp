// The items in MH4 derivations of one tree: every Link makes an arc of the tree. How each sequence is derived once, is at the top of
// inside_outside.hpp.
//
// In an item [i,j,l] every other word between i and l has been removed. Its head is inside the span, so at most one word between i and l
// has a head outside, and if there is one, it is j. Otherwise the head of j is i or l, since a word that has been removed cannot be a
// head any more. There are O(n^2) ways to derive these for a tree as sentences have it; O(n^3), in time and memory, if all words depend
// on one.
#pragma once
#include "chart_memory.hpp"
#include "one_tree.hpp"

namespace VARIANT::one_tree {

template <class Forest> class MH4Items {
    typedef typename Forest::Item Item;
    struct Triple {  // [i,j,l], in the list of its span
        int j;
        Item linked, all;  // the items d[i,j,l] and t[i,j,l]
    };
    struct Span {
        Item two;           // the item [i,l]
        size_t begin, end;  // the triples of the span
    };

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
        return Triple{j, Forest::NONE, Forest::NONE};
    }

    // By the Links of the dependents of `head`, one of i, m and l, to d[i,m,l]
    void link(Forest &forest, int head, int i, int m, int l) {
        for (int k : dependents.of(head)) {
            watch.pass(400);
            if (m < k && k < l) {
                const auto by = forest.reduce(head == i ? RA2 : head == m ? RA : LA, m, k, l, head, k);
                forest.combine(triple(i, m, k).linked, span(k, l).two, m, k, by);
                if (head == i)
                    forest.combine(span(i, m).two, triple(m, k, l).all, i, m, by);
            } else if (i < k && k < m) {
                const auto by = forest.reduce(head == i ? RAp : head == m ? LAp : LA2, k, m, l, head, k);
                forest.combine(triple(i, k, m).linked, span(m, l).two, k, m, by);
                forest.combine(span(i, k).two, triple(k, m, l).all, i, k, by);
            }
        }
    }

    // Add [i,j,l] to the list of i..l if j lies between them and the item can be derived.
    void add(Forest &forest, int i, int j, int l) {
        if (!(i < j && j < l))
            return;
        forest.begin();
        link(forest, i, i, j, l);
        link(forest, j, i, j, l);
        link(forest, l, i, j, l);
        const Item linked = forest.end();
        forest.begin();
        forest.take(linked, forest.no_reduce());
        forest.combine(span(i, j).two, span(j, l).two, i, j, forest.no_reduce());
        if (forest.none())
            return;
        const Item all = forest.end();
        make_room(triples, 1);
        triples.push_back(Triple{j, linked, all});
        span(i, l).end++;
    }

  public:
    // Derive all items; returns [0,n+1]. Throws as Memory::allocate does, or signals::Raised.
    Item derive(Forest &forest, const int *heads, int words) {
        n = words;
        dependents.find(heads, n);
        spans = memory.allocate((size_t)(n + 2) * (n + 2));
        triples.clear();
        for (int i = n; i >= 0; i--) {
            Outside outside;
            span(i, i + 1) = Span{Forest::ONE, 0, 0};
            for (int l = i + 2; l <= n + 1; l++) {
                watch.pass(20);
                dependents.extend(outside, i, l);
                span(i, l) = Span{Forest::NONE, triples.size(), triples.size()};
                if (outside.count == 1)
                    add(forest, i, outside.sum, l);
                if (outside.count)
                    continue;
                for (int j : dependents.of(i))
                    add(forest, i, j, l);
                for (int j : dependents.of(l))
                    add(forest, i, j, l);
                forest.begin();
                for (size_t x = span(i, l).begin; x < triples.size(); x++) {
                    const int j = triples[x].j, head = heads[j];
                    forest.take(triples[x].all, forest.reduce(head == i ? RA : LA, i, j, l, head, j));
                }
                span(i, l).two = forest.end();
            }
        }
        return span(0, n + 1).two;
    }

    size_t bytes_needed() const { return memory.bytes() + triples.size() * sizeof(Triple); }
    void release() {
        memory.release();
        ::release(triples);
    }
};

}  // namespace VARIANT::one_tree
