// The charts of MH4, compiled for each variant.
#include "factories.hpp"
#include "first_found.hpp"
#include "inside_outside.hpp"

const Factories VARIANT::factories = {
    make<mh4::Chart>,
    nullptr,  // no best_tree
    make<marginals::AllSums<marginals::Doubles, marginals::MH4, marginals::SampledMH4>>,
    ONCE(make<marginals::AllSums<marginals::Extendeds, marginals::MH4, marginals::SampledMH4>>),
    ONCE(make<mh4::FirstFound>),
};
