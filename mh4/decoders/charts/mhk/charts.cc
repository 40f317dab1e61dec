// The chart of MH_k, compiled for each variant.
#include "chart.hpp"

namespace VARIANT {

extern const Factories factories;
const Factories factories = {nullptr, make<mhk::Chart>, nullptr, nullptr};

}  // namespace VARIANT
