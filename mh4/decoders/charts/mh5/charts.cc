// The chart of MH5, compiled for each variant.
#include "full_chart.hpp"

namespace VARIANT {

extern const Factories factories;
const Factories factories = {make<mh5::FullChart>, nullptr, nullptr, nullptr};

}  // namespace VARIANT
