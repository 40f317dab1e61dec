// The charts of 1-Endpoint-Crossing trees, compiled for each variant.
#include "inside_outside.hpp"
#include "trace.hpp"

namespace VARIANT {

extern const Factories factories;
const Factories factories = {
    nullptr, make<oneec::Chart>, make<oneec::sums::AllSums<marginals::Doubles>>,
    ONCE(make<oneec::sums::AllSums<marginals::Extendeds>>),
};

}  // namespace VARIANT
