// Drawing arc-hybrid derivations in proportion to the exponential of their scores; each costs O(n^2) time at most.
#pragma once
#include "inside_outside.hpp"
#include "random_choices.hpp"

namespace marginals {

template <class N> class SampledMH3 : public Sampler<MH3<N>> {
    typedef MH3<N> Base;
    typedef typename N::Value Value;
    using Base::n;
    using Base::row;

    struct Item {  // [i,l]
        int i, l;
    };
    std::vector<Item> agenda;
    Choice<N> choice;

    bool draw(Random &random, int *heads) override {
        agenda.assign(1, Item{0, n + 1});
        while (!agenda.empty()) {
            const int i = agenda.back().i, l = agenda.back().l;
            agenda.pop_back();
            if (l == i + 1)
                continue;
            this->watch.pass(20 * (l - i));
            choice.start();
            for (int j = i + 1; j < l; j++) {
                const Value u = row(this->t2, i)[j] * row(this->shift, j)[i];
                choice.add(u * row(this->before, j)[l]);
                choice.add(u * (l > n ? row(this->arc, j)[i] : this->from(i, j)) * row(this->after, j)[l]);
            }
            const int chosen = choice.draw(random);
            if (chosen < 0)
                return false;
            const int j = i + 1 + chosen / 2;
            heads[j] = chosen % 2 ? i : l;
            agenda.push_back({i, j});
            agenda.push_back({j, l});
        }
        return true;
    }
};

}  // namespace marginals
