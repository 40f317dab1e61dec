// The chart of the MH5 decoder, in O(n^5) time and O(n^4) memory. items.hpp has the layout and the order of the items;
// transitions.hpp and arcs.hpp have the recurrence, without and with scores of arcs.
//
// Node 0 can only be the first node of an item. As in MH4, a derivation with a single root has no arc from 0 before its
// last transition, RA from [0,j,n+1].
#pragma once
#include "arcs.hpp"
#include "transitions.hpp"

namespace VARIANT::mh5 {

class Chart final : public BestDerivation {
    Transitions transitions;
    Arcs arcs;
    Items* items = &transitions;  // transitions or arcs

  public:
    void prepare() override {
        items = scores.arcs_and_cost ? static_cast<Items*>(&arcs) : &transitions;
        items->scores = scores;
        items->prepare();
    }
    size_t bytes_needed() const override { return items->bytes_needed(); }
    void allocate() override { items->allocate(); }
    bool fill() override { return items->fill(); }
    void trace() override {
        items->trace();
        codes.swap(items->codes);
    }
    void release() override {
        transitions.release();
        arcs.release();
    }
};

}  // namespace VARIANT::mh5
