// The memory of a chart, kept from one sentence to the next. It uses large pages if the system has them, since values
// that are read together lie far apart.
#pragma once
#include "signals.hpp"  // first, as it includes Python.h

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <vector>

enum {
    LARGE_MEMORY = 1 << 26,  // bytes; before an allocation of this size or more, we check that there is enough memory
    KEEP = 1 << 28,          // bytes that a thread keeps between calls
};

// Call take(), which takes up so many bytes, if memory.require in Python allows it. False if it has raised an exception,
// which is then set. A lock is held from one to the other: otherwise several threads could look first and take more later
// than there is. Waiting for it releases the GIL.
template <class Take> static inline bool take_if_allowed(size_t bytes, Take take) {
    PyObject* const module = PyImport_ImportModule("mh4.decoders.memory");
    PyObject* const lock = module ? PyObject_GetAttrString(module, "taking") : nullptr;
    PyObject* const held = lock ? PyObject_CallMethod(lock, "acquire", nullptr) : nullptr;
    PyObject* const allowed = held ? PyObject_CallMethod(module, "require", "n", (Py_ssize_t)bytes) : nullptr;
    if (allowed) take();
    if (held) {
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        Py_XDECREF(PyObject_CallMethod(lock, "release", nullptr));
        PyErr_Restore(type, value, traceback);
    }
    for (PyObject* object : {allowed, held, lock, module}) Py_XDECREF(object);
    return allowed;
}

// Call take(), which takes up so many bytes, if this process may use them. Otherwise throw signals::Raised, with the
// exception of memory.require; in a subinterpreter, throw std::bad_alloc.
template <class Take> static inline void require(size_t bytes, Take take) {
    if (bytes < LARGE_MEMORY) return take();
    if (signals::in_subinterpreter()) {
        PyThreadState* const state = PyThreadState_New(signals::interpreter);
        if (!state) throw std::bad_alloc();
        PyEval_RestoreThread(state);
        const bool allowed = take_if_allowed(bytes, take);
        PyThreadState_Clear(state);
        PyThreadState_DeleteCurrent();
        if (!allowed) throw std::bad_alloc();
        return;
    }
    const PyGILState_STATE state = PyGILState_Ensure();
    const bool allowed = take_if_allowed(bytes, take);
    PyGILState_Release(state);
    if (!allowed) throw signals::Raised();
}

// Make room for more values at the end of a vector. Throws as `require` does, or std::bad_alloc.
template <class Value> static inline void make_room(std::vector<Value>& values, size_t more) {
    const size_t size = values.size() + more;
    if (size <= values.capacity()) return;
    const size_t capacity = std::max(size, values.capacity() * 3 / 2);
    require(capacity * sizeof(Value), [] {});
    values.reserve(capacity);
}

// Free the memory of a vector, and what is in it, if it is too large to keep.
template <class Value> static inline void release(std::vector<Value>& values) {
    if (values.capacity() * sizeof(Value) > KEEP) std::vector<Value>().swap(values);
}

// The arrays of a chart are laid out twice: once to find out how much memory they need, and again when it has been allocated.
//
//     memory.start();
//     arrange();          // table = memory.take(size); ...
//     memory.allocate();
//     arrange();
//
// A single array is table = memory.allocate(size).
template <class Value> class Memory {
    enum { ALIGNMENT = 64, LARGE_PAGE = 1 << 21 };  // bytes; a vector register has 64 at most
    enum { VECTOR = ALIGNMENT / sizeof(Value) };

    Value* values = nullptr;
    size_t capacity = 0, taken = 0;  // in Values
    size_t mapped = 0;               // bytes that come from mmap

  public:
    Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { clear(); }

    void start() { taken = 0; }

    // The next array, aligned to vectors; NULL if it is beyond what has been allocated.
    Value* take(size_t size) {
        const size_t first = taken;
        taken += (size + VECTOR - 1) / VECTOR * VECTOR;
        return taken <= capacity ? values + first : nullptr;
    }

    void take_all(std::initializer_list<Value**> arrays, size_t size) {
        for (Value** array : arrays) *array = take(size);
    }

    // What the arrays taken since the start occupy.
    size_t bytes() const { return taken * sizeof(Value); }

    // Make room for the arrays taken since the start, and start again. New memory is set to 0, since charts read
    // padding to which nothing has been written. Throws as `require` does, or std::bad_alloc.
    void allocate() {
        if (taken > capacity) {
            clear();
            void* memory = nullptr;
            require(bytes(), [&] {
                if (bytes() >= LARGE_PAGE)
                    memory = map((bytes() + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
                else if (posix_memalign(&memory, ALIGNMENT, bytes()))
                    memory = nullptr;
            });
            if (!memory) throw std::bad_alloc();
            values = static_cast<Value*>(memory);
            if (!mapped) std::fill_n(values, taken, Value());
            capacity = taken;
        }
        start();
    }
    Value* allocate(size_t size) {
        start();
        take(size);
        allocate();
        return take(size);
    }

    // Free the memory if it is too large to keep, and start again.
    void release() {
        if (capacity * sizeof(Value) > KEEP) clear();
        start();
    }

  private:
    void clear() {
        if (mapped)
            munmap(values, mapped);
        else
            free(values);
        values = nullptr;
        capacity = mapped = 0;
    }
    // Memory from the system is 0 already. If it is large, it is taken up now; otherwise when it is used. NULL if there is none.
    char* map(size_t size) {
        void* memory = mmap(nullptr, size + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return nullptr;
        char* first = static_cast<char*>(memory);
        const size_t before = (LARGE_PAGE - (size_t)first % LARGE_PAGE) % LARGE_PAGE;
        if (before > 0) munmap(first, before);
        munmap(first + before + size, LARGE_PAGE - before);
#ifdef MADV_HUGEPAGE
        madvise(first + before, size, MADV_HUGEPAGE);
#endif
#ifdef MADV_POPULATE_WRITE  // since Linux 5.14
        if (size >= LARGE_MEMORY) madvise(first + before, size, MADV_POPULATE_WRITE);
#endif
        mapped = size;
        return first + before;
    }
};
