// Preloaded by test_failing_disk.py: lets calls of the file system fail on demand, in one folder.

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char* call = "";    // the call that fails: write, fsync (of a file), rename, or sync (of a folder)
static const char* folder = "";  // the folder in which it fails
static int number = 0;           // its errno
static long left = 0;            // calls before the first failure; all later calls fail, too
static long refused = 0;

extern "C" void refuse(const char* of_call, const char* in_folder, int with_error, long after) {
    call = of_call;
    folder = in_folder;
    number = with_error;
    left = after;
    refused = 0;
}

extern "C" long number_refused() { return refused; }

static bool fails(const char* which, const char* path) {
    if (strcmp(which, call) || strncmp(path, folder, strlen(folder)) || left-- > 0) return false;
    errno = number;
    refused++;
    return true;
}

static bool fails(const char* which, int descriptor) {
    int before = errno;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = before;
    if (length < 0) return false;
    path[length] = 0;
    return fails(which, path);
}

template <typename Function>
static Function real(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

extern "C" ssize_t write(int descriptor, const void* data, size_t size) {
    static auto next = real<ssize_t (*)(int, const void*, size_t)>("write");
    if (fails("write", descriptor)) return -1;
    return next(descriptor, data, size);
}

extern "C" int fsync(int descriptor) {
    static auto next = real<int (*)(int)>("fsync");
    struct stat status;
    bool is_folder = !fstat(descriptor, &status) && S_ISDIR(status.st_mode);
    return fails(is_folder ? "sync" : "fsync", descriptor) ? -1 : next(descriptor);
}

extern "C" int rename(const char* from, const char* to) noexcept {
    static auto next = real<int (*)(const char*, const char*)>("rename");
    return fails("rename", to) ? -1 : next(from, to);
}
