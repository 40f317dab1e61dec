/* Wheels are compiled with this header (tools/package.py). Thanks to it, wheels that were compiled with newer libraries
   run with those of manylinux_2_28: glibc 2.28 and the libstdc++ of GCC 8. */

/* These functions changed in glibc 2.29 only in how they report errors, which nothing here uses. */
#ifdef __x86_64__
__asm__(".symver exp,exp@GLIBC_2.2.5");
__asm__(".symver log,log@GLIBC_2.2.5");
__asm__(".symver pow,pow@GLIBC_2.2.5");
#endif

#ifdef __cplusplus
#include <new>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0 /* templates are compiled, not taken from libstdc++ */
extern "C" {
__attribute__((weak, visibility("hidden"))) char __libc_single_threaded; /* 0: there may be several threads */
}
namespace std {
[[noreturn]] __attribute__((weak, visibility("hidden"))) void __throw_bad_array_new_length() { throw bad_array_new_length(); }
[[noreturn]] void __throw_ios_failure(const char *);
[[noreturn]] __attribute__((weak, visibility("hidden"))) void __throw_ios_failure(const char *what, int) {
    __throw_ios_failure(what);
}
} // namespace std
#endif
