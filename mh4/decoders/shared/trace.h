// What all traces share, which read the best derivation off a chart.
#pragma once
#include <stdexcept>

// No way to an item was found though the item has a score. This cannot be, and is an error so that, if it is, the trace ends.
[[noreturn]] static inline void lost() {
    throw std::logic_error("the trace found no way to an item of the chart: this is a mistake in the decoder, please report it");
}
