// The charts are compiled for several kinds of processors (setup.py), each time in a namespace VARIANT of its own.
#pragma once

#ifndef VARIANT
#define VARIANT baseline
#endif

// The number of floats in a vector register.
#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif

// ONCE(x): x in the baseline, nullptr in other variants. For code that no processor makes faster.
#define IS_baseline 1
#define JOINED(a, b) a##b
#define IS(variant) JOINED(IS_, variant)
#if IS(VARIANT)
#define ONCE(...) __VA_ARGS__
#else
#define ONCE(...) nullptr
#endif
