// The charts of 1-Endpoint-Crossing trees, compiled for each variant.
#include "factories.hpp"
#include "inside_outside.hpp"

const Factories VARIANT::factories = {
    nullptr,  // no search
    make<oneec::Chart>,
    make<oneec::sums::AllSums<marginals::Doubles>>,
    ONCE(make<oneec::sums::AllSums<marginals::Extendeds>>),
};
