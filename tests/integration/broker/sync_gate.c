// Stands between a broker and its disk (LD_PRELOAD). While the file named by SYNC_GATE is there,
// fsync and fdatasync wait if it is empty, and fail with EIO if it is not.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int gated(const char *name, int fd) {
    const char *gate = getenv("SYNC_GATE");
    struct stat found;
    while (gate && stat(gate, &found) == 0) {
        if (found.st_size > 0) {
            errno = EIO;
            return -1;
        }
        usleep(2000);
    }
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    return real(fd);
}

int fdatasync(int fd) { return gated("fdatasync", fd); }
int fsync(int fd) { return gated("fsync", fd); }
