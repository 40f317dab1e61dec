// The variants of the charts in a module, the slowest first. Code of avx2 or avx512 may only run if that is chosen.
#pragma once
#include "interface.hpp"

#define HIDDEN __attribute__((visibility("hidden")))  // from other modules, which have their own factories

namespace baseline {
extern const Factories factories HIDDEN;
}
#if defined(__x86_64__)
namespace avx2 {
extern const Factories factories HIDDEN;
}
namespace avx512 {
extern const Factories factories HIDDEN;
}
static const Factories* const VARIANTS[] = {&baseline::factories, &avx2::factories, &avx512::factories};
#else
static const Factories* const VARIANTS[] = {&baseline::factories};
#endif
