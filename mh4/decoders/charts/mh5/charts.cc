// The chart of MH5, compiled for each variant.
#include "chart.hpp"

namespace VARIANT {

extern const Factories factories;
const Factories factories = {make<mh5::Chart>, nullptr, nullptr, nullptr};

}  // namespace VARIANT
