// The chart of MH5, compiled for each variant.
#include "chart.hpp"
#include "factories.hpp"

const Factories VARIANT::factories = {make<mh5::Chart>};
