// Preloaded by test_memory.py to make allocations of C++ fail. Python and numpy allocate by other functions.

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

#include <atomic>
#include <new>

static std::atomic<long> left(-1);  // the number of allocations before the first that fails; if negative, none fails
static std::atomic<long> refused(0);

static bool fails() {
    long now = left;
    while (now > 0 && !left.compare_exchange_weak(now, now - 1)) {
    }
    if (now != 0) return false;
    refused++;
    return true;
}

extern "C" void fail_after(long allocations) {
    left = allocations;
    refused = 0;
}

extern "C" long number_refused() { return refused; }

void* operator new(size_t size) {
    void* memory = fails() ? nullptr : malloc(size ? size : 1);
    if (!memory) throw std::bad_alloc();
    return memory;
}

void operator delete(void* memory) noexcept { free(memory); }
void operator delete(void* memory, size_t) noexcept { free(memory); }

extern "C" int posix_memalign(void** memory, size_t alignment, size_t size) {
    typedef int (*Function)(void**, size_t, size_t);
    static Function real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "posix_memalign"));
    return fails() ? ENOMEM : real(memory, alignment, size);
}
