// The charts of MH4, compiled for each variant.
#include "full_chart.hpp"
#include "inside_outside.hpp"
#include "sum_charts.hpp"
#include "one_tree.hpp"

namespace VARIANT {

template <class N> using Sums = marginals::AllSums<N, marginals::MH4, marginals::SampledMH4, marginals::MH4Tree>;
extern const Factories factories;
const Factories factories = {
    make<mh4::FullChart>, make<one_tree::TreeSearch<one_tree::MH4Items>>, nullptr, make<Sums<marginals::Doubles>>,
    ONCE(make<Sums<marginals::Extendeds>>),
};

}  // namespace VARIANT
