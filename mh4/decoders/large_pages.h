// Memory for large tables, on large pages if the system has them, since values that are read together lie far apart.
#pragma once
#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

// Aligned memory that is not initialized, to be freed by free(); NULL if there is not enough.
static inline void *large_pages(size_t bytes) {
    const size_t vector = 64, page = 1 << 21, alignment = bytes < page ? vector : page;
    const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void *memory;
    if (posix_memalign(&memory, alignment, rounded))
        return NULL;
#ifdef MADV_HUGEPAGE
    if (alignment == page)
        madvise(memory, rounded, MADV_HUGEPAGE);
#endif
    return memory;
}
