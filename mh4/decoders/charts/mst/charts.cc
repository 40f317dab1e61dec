// The charts of maximum spanning trees, compiled for each variant.
#include "contraction.hpp"
#include "factories.hpp"
#include "matrix_tree.hpp"

const Factories VARIANT::factories = {
    nullptr,  // no search
    make<mst::Contraction>,
    make<marginals::AllSums<marginals::Doubles, marginals::MST, marginals::SampledMST>>,
    ONCE(make<marginals::AllSums<marginals::Extendeds, marginals::MST, marginals::SampledMST>>),
};
