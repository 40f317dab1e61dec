// Preloaded by test_durability.py and test_failing_disk.py: logs calls of the file system, or lets them fail.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

// Add a call to the file $SYNCING, if there is one.
static void record(const char* what, const char* path, const char* other = "") {
    static const char* log = getenv("SYNCING");
    if (!log) return;
    char line[3 * PATH_MAX];
    int length = snprintf(line, sizeof line, "%s\t%s\t%s\n", what, path, other);
    int file = open(log, O_WRONLY | O_APPEND | O_CLOEXEC);
    syscall(SYS_write, file, line, length);
    close(file);
}

// The path of an open file or folder.
struct Path {
    char text[PATH_MAX];

    explicit Path(int descriptor) {
        int before = errno;
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        ssize_t length = readlink(link, text, sizeof text - 1);
        text[length < 0 ? 0 : length] = 0;
        errno = before;
    }
};

template <typename Function> static Function real(const char* name) { return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name)); }

extern "C" ssize_t write(int descriptor, const void* data, size_t size) {
    static auto next = real<ssize_t (*)(int, const void*, size_t)>("write");
    Path path(descriptor);
    if (fails("write", path.text)) return -1;
    ssize_t written = next(descriptor, data, size);
    if (written > 0) record("write", path.text);
    return written;
}

extern "C" int fsync(int descriptor) {
    static auto next = real<int (*)(int)>("fsync");
    Path path(descriptor);
    struct stat status;
    bool is_folder = !fstat(descriptor, &status) && S_ISDIR(status.st_mode);
    if (fails(is_folder ? "sync" : "fsync", path.text)) return -1;
    int failed = next(descriptor);
    if (!failed) record("sync", path.text);
    return failed;
}

extern "C" int rename(const char* from, const char* to) noexcept {
    static auto next = real<int (*)(const char*, const char*)>("rename");
    if (fails("rename", to)) return -1;
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
