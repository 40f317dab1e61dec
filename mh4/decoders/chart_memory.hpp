// The memory of a chart, kept from one sentence to the next. It is on large pages if the system has them, since values that are
// read together lie far apart.
#pragma once
#include <stddef.h>
#include <stdlib.h>

#include <algorithm>
#include <new>
#if defined(__linux__)
#include <sys/mman.h>
#endif

// The arrays of a chart are laid out twice: once to find out how much memory they need, and again when it has been allocated.
//
//     memory.start();
//     arrange();          // table = memory.take(size); ...
//     memory.allocate();
//     arrange();
template <class Value> class Memory {
    enum { ALIGNMENT = 64, LARGE_PAGE = 1 << 21 };  // bytes; a vector register has 64 at most
    enum { VECTOR = ALIGNMENT / sizeof(Value) };

    Value *values = nullptr;
    size_t capacity = 0, taken = 0;  // in Values

  public:
    Memory() = default;
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory() { free(values); }

    void start() { taken = 0; }

    // The next array, aligned to vectors; NULL if it is beyond what has been allocated.
    Value *take(size_t size) {
        const size_t first = taken;
        taken += (size + VECTOR - 1) / VECTOR * VECTOR;
        return taken <= capacity ? values + first : nullptr;
    }

    // What the arrays taken since the start occupy.
    size_t bytes() const { return taken * sizeof(Value); }

    // Make room for the arrays taken since the start, and start again. New memory is 0, since padding is read that nothing has
    // been written to. Throws std::bad_alloc.
    void allocate() {
        if (taken > capacity) {
            release(0);
            const size_t alignment = bytes() < LARGE_PAGE ? ALIGNMENT : LARGE_PAGE;
            const size_t rounded = (bytes() + alignment - 1) / alignment * alignment;
            void *memory;
            if (posix_memalign(&memory, alignment, rounded))
                throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
            if (alignment == LARGE_PAGE)
                madvise(memory, rounded, MADV_HUGEPAGE);
#endif
            values = static_cast<Value *>(memory);
            std::fill_n(values, taken, Value());
            capacity = taken;
        }
        start();
    }

    // Free the memory if it is more than a number of bytes.
    void release(size_t kept) {
        if (capacity * sizeof(Value) > kept) {
            free(values);
            values = nullptr;
            capacity = 0;
        }
    }
};
