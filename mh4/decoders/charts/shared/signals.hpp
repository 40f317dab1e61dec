// Respond to signals, such as Ctrl-C, while a decoder runs without the GIL. Python only records that a signal has come,
// and runs its handler when PyErr_CheckSignals is called.
#pragma once
#include <Python.h>
#include <stddef.h>

#include <cfenv>
#include <chrono>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace signals {

// The interpreter that has imported this module; only one interpreter can.
static PyInterpreterState* const interpreter = PyInterpreterState_Get();

// Whether this is a subinterpreter: PyGILState_Ensure does not support it, and it handles no signals.
static inline bool in_subinterpreter() { return interpreter != PyInterpreterState_Main(); }

// Thrown when a Python exception is set.
struct Raised {};

// Checks for signals twenty times a second. The cost cannot be measured: the clock is read about once a millisecond.
class Watch {
    typedef std::chrono::steady_clock Clock;
    enum { WORK = 1 << 20, MILLISECONDS = 50 };

    size_t done = 0;
    Clock::time_point due;

    // Only the main thread of the main interpreter runs handlers: other threads need not wait for the GIL.
    static bool can_handle() {
        if (in_subinterpreter()) return false;
#if defined(__linux__)
        return syscall(SYS_gettid) == getpid();
#else
        return true;
#endif
    }

    __attribute__((noinline, cold)) int ask() {
        done = 0;
        const Clock::time_point now = Clock::now();
        if (now < due) return 0;
        due = now + std::chrono::milliseconds(MILLISECONDS);
        if (!can_handle()) return 0;
        std::fexcept_t flags;  // overflow and underflow so far, which handlers may change
        std::fegetexceptflag(&flags, FE_ALL_EXCEPT);
        const PyGILState_STATE state = PyGILState_Ensure();
        const int raised = PyErr_CheckSignals();
        PyGILState_Release(state);
        std::fesetexceptflag(&flags, FE_ALL_EXCEPT);
        return raised;
    }

  public:
    // To be called at least every few milliseconds, with the approximate number of instructions executed since. Returns -1 if a
    // handler has raised an exception, which is set then; otherwise 0.
    int after(size_t work) {
        done += work;
        return done < WORK ? 0 : ask();
    }

    // The same for C++: throws Raised instead of returning -1.
    void pass(size_t work) {
        if (after(work)) throw Raised();
    }
};

// A comparison for sorting large arrays that also checks for signals.
class Less {
    Watch& watch;

  public:
    explicit Less(Watch& of) : watch(of) {}
    template <class Value> bool operator()(const Value& a, const Value& b) const {
        watch.pass(4);
        return a < b;
    }
};

}  // namespace signals
