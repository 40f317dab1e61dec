// The items in MH5 derivations of one tree: every Link makes an arc of the tree.
//
// There are few of these. Words between i and l that are not heads of an item of the span i..l have found their heads in it. So
// words with a head outside the span are heads of the item, which must not be more than two; and those heads j, k of the item
// that have their head in the span have it among i, j, k and l.
#pragma once
#include <algorithm>
#include <utility>

#include "chart_memory.hpp"
#include "one_tree.hpp"

namespace one_tree {

template <class Forest> class MH5Items {
    typedef typename Forest::Item Item;
    struct Span {                   // i..l
        Item two;                   // the item [i,l]
        size_t begin, middle, end;  // of items: first the [i,j,k,l], in the order of j, k; from the middle on the [i,j,l], in that of j
    };
    typedef std::pair<int, int> Inner;  // j, k of [i,j,k,l], or j, 0 of [i,j,l]
    struct Inside {
        Inner inner;
        Item item;
    };

    Memory<Span> memory;
    std::vector<Inside> items;
    signals::Watch watch;
    Dependents dependents;
    int n;
    Span *spans;  // at i, l
    // of the current span
    std::vector<int> outside;  // words with a head outside the span, in increasing order
    std::vector<int> inside;   // dependents of i and l, in increasing order
    std::vector<Inner> inner;

    Span &span(int i, int l) const { return spans[(size_t)i * (n + 2) + l]; }
    Item find(size_t begin, size_t end, Inner inner) const {
        const auto last = items.begin() + end;
        const auto at = std::lower_bound(items.begin() + begin, last, inner, [](const Inside &a, const Inner &b) { return a.inner < b; });
        return at != last && at->inner == inner ? at->item : Forest::NONE;
    }
    Item two(int i, int l) const { return span(i, l).two; }
    Item three(int i, int j, int l) const { return find(span(i, l).middle, span(i, l).end, Inner(j, 0)); }
    Item four(int i, int j, int k, int l) const { return find(span(i, l).begin, span(i, l).middle, Inner(j, k)); }

    void append_dependents(int head, int i, int l) {
        for (int word : dependents.of(head))
            if (i < word && word < l)
                inside.push_back(word);
    }

    void append_inner(int a, int b) {
        watch.pass(8);
        make_room(inner, 1);
        inner.push_back(std::minmax(a, b));
    }

    // The possible j, k of the items [i,j,k,l].
    void list_inner(int i, int l) {
        const size_t count = inside.size();
        inner.clear();
        if (outside.size() == 2)
            append_inner(outside[0], outside[1]);
        else if (outside.size() == 1) {
            append_dependents(outside[0], i, l);
            for (int word : inside)
                append_inner(word, outside[0]);
            inside.resize(count);
        } else
            for (size_t x = 0; x < count; x++) {
                append_dependents(inside[x], i, l);
                for (size_t y = 0; y < inside.size(); y++)
                    if (y < x || y >= count)
                        append_inner(inside[x], inside[y]);
                inside.resize(count);
            }
        std::sort(inner.begin(), inner.end(), signals::Less(watch));
    }

    // Link dependents of the heads `nodes` of an item, to derive it.
    void link(Forest &forest, const int *nodes, int count) {
        static const int CODE[][5] = {  // of a reduce, by the positions of its dependent and head in the order b0, s0, s1, ...
            {}, {LA, SH, RA, RA2, RA3}, {LA2, LAp, SH, RAp, RAp2}, {LA3, LApp2, LApp, SH, RApp}};
        int x[5];
        for (int h = 0; h < count; h++)
            for (int removed : dependents.of(nodes[h])) {
                watch.pass(100);
                const int d = (int)(std::lower_bound(nodes, nodes + count, removed) - nodes);
                if (d == 0 || d == count || nodes[d] == removed)
                    continue;
                std::copy_n(nodes, d, x);
                x[d] = removed;
                std::copy(nodes + d, nodes + count, x + d + 1);
                const int code = CODE[count - d][count - (h < d ? h : h + 1)];
                const auto by = forest.reduce(code, x[count - 2], x[count - 1], x[count], nodes[h], removed);
                if (count == 3) {
                    forest.take(four(x[0], x[1], x[2], x[3]), by);
                    continue;
                }
                forest.combine(four(x[0], x[1], x[2], x[3]), two(x[3], x[4]), x[2], x[3], by);
                forest.combine(three(x[0], x[1], x[2]), three(x[2], x[3], x[4]), x[1], x[2], by);
                forest.combine(two(x[0], x[1]), four(x[1], x[2], x[3], x[4]), x[0], x[1], by);
            }
    }

    // Append an item to the list if it can be derived.
    void append(Forest &forest, Inner inner) {
        if (forest.none())
            return;
        make_room(items, 1);
        items.push_back(Inside{inner, forest.end()});
    }

    void add3(Forest &forest, int i, int j, int l) {
        const int nodes[] = {i, j, l};
        forest.begin();
        forest.combine(two(i, j), two(j, l), i, j, forest.no_reduce());
        link(forest, nodes, 3);
        append(forest, Inner(j, 0));
    }

    void add4(Forest &forest, int i, int j, int k, int l) {
        const int nodes[] = {i, j, k, l};
        forest.begin();
        forest.combine(three(i, j, k), two(k, l), j, k, forest.no_reduce());
        forest.combine(two(i, j), three(j, k, l), i, j, forest.no_reduce());
        link(forest, nodes, 4);
        append(forest, Inner(j, k));
    }

    // All items of the span i..l: those with more heads first, as Link removes one.
    void fill(Forest &forest, const int *heads, int i, int l) {
        span(i, l) = Span{Forest::NONE, items.size(), items.size(), items.size()};
        if (outside.size() > 2)
            return;
        inside.clear();
        append_dependents(i, i, l);
        append_dependents(l, i, l);
        std::sort(inside.begin(), inside.end());
        list_inner(i, l);
        for (const Inner &of : inner)
            add4(forest, i, of.first, of.second, l);
        span(i, l).middle = span(i, l).end = items.size();
        if (outside.size() < 2)
            for (int j : outside.empty() ? inside : outside)
                add3(forest, i, j, l);
        span(i, l).end = items.size();
        if (!outside.empty())
            return;
        forest.begin();
        for (size_t x = span(i, l).middle; x < span(i, l).end; x++) {
            const int j = items[x].inner.first;
            forest.take(items[x].item, forest.reduce(heads[j] == i ? RA : LA, i, j, l, heads[j], j));
        }
        span(i, l).two = forest.end();
    }

  public:
    // Derive all items; returns [0,n+1]. Throws as Memory::allocate does, or signals::Raised.
    Item derive(Forest &forest, const int *heads, int words) {
        n = words;
        dependents.find(heads, n);
        spans = memory.allocate((size_t)(n + 2) * (n + 2));
        items.clear();
        for (int i = n; i >= 0; i--) {
            span(i, i + 1) = Span{Forest::ONE, 0, 0, 0};
            outside.clear();
            for (int l = i + 2; l <= n + 1; l++) {
                if (heads[l - 1] < i || heads[l - 1] > l)
                    outside.push_back(l - 1);
                outside.erase(std::remove_if(outside.begin(), outside.end(), [&](int word) { return heads[word] == l; }), outside.end());
                watch.pass(20 + outside.size());
                fill(forest, heads, i, l);
            }
        }
        return span(0, n + 1).two;
    }

    size_t bytes_needed() const { return memory.bytes() + items.size() * sizeof(Inside); }
    void release() {
        memory.release();
        ::release(items);
    }
};

}  // namespace one_tree
