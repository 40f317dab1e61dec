// The charts of MH3, compiled for each variant.
#include "chart.hpp"
#include "inside_outside.hpp"
#include "sum_charts.hpp"

namespace VARIANT {

template <class N> using Sums = marginals::AllSums<N, marginals::MH3, marginals::SampledMH3>;
extern const Factories factories;
const Factories factories = {
    make<mh3::Chart>, nullptr, make<Sums<marginals::Doubles>>, ONCE(make<Sums<marginals::Extendeds>>),
};

}  // namespace VARIANT
