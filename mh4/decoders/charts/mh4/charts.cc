// The charts of MH4, compiled for each variant.
#include "first_found.hpp"
#include "inside_outside.hpp"
#include "sum_charts.hpp"

namespace VARIANT {

template <class N> using Sums = marginals::AllSums<N, marginals::MH4, marginals::SampledMH4>;
extern const Factories factories;
const Factories factories = {
    make<mh4::Chart>, nullptr, make<Sums<marginals::Doubles>>, ONCE(make<Sums<marginals::Extendeds>>),
    ONCE(make<mh4::FirstFound>),
};

}  // namespace VARIANT
