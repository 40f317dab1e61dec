// The charts of MH3, compiled for each variant.
#include "chart.hpp"
#include "factories.hpp"
#include "inside_outside.hpp"

const Factories VARIANT::factories = {
    make<mh3::Chart>,
    nullptr,  // no best_tree
    make<marginals::AllSums<marginals::Doubles, marginals::MH3, marginals::SampledMH3>>,
    ONCE(make<marginals::AllSums<marginals::Extendeds, marginals::MH3, marginals::SampledMH3>>),
};
