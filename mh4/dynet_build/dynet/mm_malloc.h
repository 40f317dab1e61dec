// Replaces a header that only compilers for x86 have, for what DyNet uses of it: memory whose address is a multiple of
// `alignment`.

#ifndef MM_MALLOC_H
#define MM_MALLOC_H

#include <stdlib.h>

static inline void* _mm_malloc(size_t bytes, size_t alignment) {
  void* memory;
  return posix_memalign(&memory, alignment, bytes) ? NULL : memory;
}

static inline void _mm_free(void* memory) { free(memory); }

#endif
