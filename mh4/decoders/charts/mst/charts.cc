// The charts of maximum spanning trees, compiled for each variant.
#include "contraction.hpp"
#include "matrix_tree.hpp"
#include "sum_charts.hpp"

namespace VARIANT {

template <class N> using Sums = marginals::AllSums<N, marginals::MST, marginals::SampledMST>;
extern const Factories factories;
const Factories factories = {
    nullptr, make<mst::Contraction>, make<Sums<marginals::Doubles>>, ONCE(make<Sums<marginals::Extendeds>>),
};

}  // namespace VARIANT
