// The chart of MH_k, compiled for each variant.
#include "chart.hpp"
#include "factories.hpp"

const Factories VARIANT::factories = {nullptr, make<mhk::Chart>};  // no search
