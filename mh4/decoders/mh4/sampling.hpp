// Drawing MH4 derivations in proportion to the exponential of their scores; each costs O(n^2) time at most.
//
// Only those derivations are drawn that the chart counts, and so each transition sequence in proportion: what an item [i,l],
// d[i,j,l] or t[i,j,l] is a sum of is at the top of inside_outside.hpp.
#pragma once
#include "inside_outside.hpp"
#include "random_choices.hpp"

namespace marginals {

template <class N> class SampledMH4 : public Sampler<MH4<N>> {
    typedef MH4<N> Base;
    typedef typename N::Value Value;
    using Base::n;
    using Base::row;
    using Base::row3;

    enum Kind { TWO, LINKED, THREE };  // [i,l], d[i,j,l], t[i,j,l]
    struct Item {
        Kind kind;
        int i, j, l;
    };
    struct Term {          // of a sum: two items, the second not if l is 0, and the arc that is made, if any
        Item first, second;
        int head, dependent;
    };
    std::vector<Item> agenda;
    std::vector<Term> terms;
    Choice<N> choice;

    static Item two(int i, int l) { return Item{TWO, i, 0, l}; }

    void add(const Value &weight, Item first, Item second, int head = 0, int dependent = 0) {
        if (!N::is_zero(weight)) {
            choice.add(weight);
            terms.push_back(Term{first, second, head, dependent});
        }
    }

    Value u(int i, int j) const { return row(this->u2_to, j)[i]; }
    Value d(int i, int j, int l) const { return row3(this->d3, i, j)[l]; }
    Value t(int i, int j, int l) const { return row3(this->t3, i, j)[l]; }

    // The weight of a reduce with s1, s0, b0 = j, k, l, where the stack has i below
    Value reduce(int code, int i, int j, int k, int l) const {
        const Value weight = row(this->on_s1s0[code], k)[j] * row(this->on_s0b0[code], k)[l];
        if (code == LA2)
            return weight * row(this->arc, j)[l];
        if (code == RAp || code == RA2)
            return this->forbidden(i) ? Value() : weight * row(this->arc, code == RAp ? j : k)[i];
        return weight;
    }

    // [i,l] by the last word j between
    void terms_of_two(int i, int l) {
        const Item none = Item{};
        for (int j = i + 1; j < l; j++) {
            const Item item = Item{THREE, i, j, l};
            const Value all = d(i, j, l) + u(i, j) * row(this->t2, j)[l];
            add(all * (row(this->on_s1s0[LA], j)[i] * row(this->on_s0b0[LA], j)[l]), item, none, l, j);
            if (l > n || !this->forbidden(i))
                add(all * (row(this->on_s1s0[RA], j)[i] * row(this->on_s0b0[RA], j)[l]), item, none, i, j);
        }
    }

    // d[i,m,l] by the node that the last Link removed, on either side of m
    void terms_of_linked(int i, int m, int l) {
        for (int k = m + 1; k < l; k++) {
            const Value left = d(i, m, k) * row(this->shift, k)[m] * row(this->t2, k)[l];
            for (int code : {RA, LA, RA2})
                add(left * reduce(code, i, m, k, l), Item{LINKED, i, m, k}, two(k, l), code == RA ? m : code == LA ? l : i, k);
            add(u(i, m) * t(m, k, l) * reduce(RA2, i, m, k, l), two(i, m), Item{THREE, m, k, l}, i, k);
        }
        for (int j = i + 1; j < m; j++) {
            const Value left = d(i, j, m) * row(this->shift, m)[j] * row(this->t2, m)[l], right = u(i, j) * t(j, m, l);
            for (int code : {LAp, RAp, LA2}) {
                const Value weight = reduce(code, i, j, m, l);
                const int head = code == LAp ? m : code == RAp ? i : l;
                add(left * weight, Item{LINKED, i, j, m}, two(m, l), head, j);
                add(right * weight, two(i, j), Item{THREE, j, m, l}, head, j);
            }
        }
    }

    void terms_of_three(int i, int j, int l) {
        add(d(i, j, l), Item{LINKED, i, j, l}, Item{});
        add(u(i, j) * row(this->t2, j)[l], two(i, j), two(j, l));
    }

    bool draw(Random &random, int *heads) override {
        agenda.assign(1, two(0, n + 1));
        while (!agenda.empty()) {
            const Item item = agenda.back();
            agenda.pop_back();
            if (item.kind == TWO && item.l == item.i + 1)
                continue;
            this->watch.pass(100 * (item.l - item.i));
            choice.start();
            terms.clear();
            if (item.kind == TWO)
                terms_of_two(item.i, item.l);
            else if (item.kind == LINKED)
                terms_of_linked(item.i, item.j, item.l);
            else
                terms_of_three(item.i, item.j, item.l);
            const int chosen = choice.draw(random);
            if (chosen < 0)
                return false;
            const Term &term = terms[chosen];
            if (term.dependent)
                heads[term.dependent] = term.head;
            agenda.push_back(term.first);
            if (term.second.l)
                agenda.push_back(term.second);
        }
        return true;
    }
};

}  // namespace marginals
