// Preloaded by test_durability.py: logs to the file $SYNCING which files are written, synced, renamed, made, deleted.

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

template <typename Function>
static Function real(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

static void record(const char* what, const char* path, const char* other = "") {
    static const char* log = getenv("SYNCING");
    if (!log) return;
    char line[3 * PATH_MAX];
    int length = snprintf(line, sizeof line, "%s\t%s\t%s\n", what, path, other);
    int file = open(log, O_WRONLY | O_APPEND | O_CLOEXEC);
    syscall(SYS_write, file, line, length);
    close(file);
}

static void record(const char* what, int descriptor) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length > 0 && path[0] == '/') {
        path[length] = 0;
        record(what, path);
    }
}

extern "C" ssize_t write(int descriptor, const void* data, size_t size) {
    static auto next = real<ssize_t (*)(int, const void*, size_t)>("write");
    ssize_t written = next(descriptor, data, size);
    if (written > 0) record("write", descriptor);
    return written;
}

extern "C" int fsync(int descriptor) {
    static auto next = real<int (*)(int)>("fsync");
    int failed = next(descriptor);
    if (!failed) record("sync", descriptor);
    return failed;
}

extern "C" int rename(const char* from, const char* to) noexcept {
    static auto next = real<int (*)(const char*, const char*)>("rename");
    int failed = next(from, to);
    if (!failed) record("rename", from, to);
    return failed;
}

extern "C" int mkdir(const char* path, mode_t mode) noexcept {
    static auto next = real<int (*)(const char*, mode_t)>("mkdir");
    int failed = next(path, mode);
    if (!failed) record("mkdir", path);
    return failed;
}

extern "C" int unlink(const char* path) noexcept {
    static auto next = real<int (*)(const char*)>("unlink");
    int failed = next(path);
    if (!failed) record("unlink", path);
    return failed;
}
