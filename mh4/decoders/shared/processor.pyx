"""The processor, for the choice among the variants in which a wheel has the decoders (see setup.py)."""

cdef extern from *:
    """
    #if defined(MH4_VARIANTS)
    enum { HAS_VARIANTS = 1 };
    static int runs_avx2() { return __builtin_cpu_supports("avx2"); }
    static int runs_avx512() {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
            && __builtin_cpu_supports("avx512vl");
    }
    #else
    enum { HAS_VARIANTS = 0 };
    static int runs_avx2() { return 0; }
    static int runs_avx512() { return 0; }
    #endif
    """
    enum:
        HAS_VARIANTS
    bint runs_avx2()
    bint runs_avx512()


def variants() -> list[str]:
    """The variants that this processor and its operating system can run, the fastest first.

    Empty for a build for one processor, as `make setup` makes it.
    """
    runs = {"avx512": runs_avx512(), "avx2": runs_avx2(), "baseline": HAS_VARIANTS}
    return [variant for variant in runs if runs[variant]]
