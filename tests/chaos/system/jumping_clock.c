// A wall clock that can be set (LD_PRELOAD): CLOCK_OFFSET names a file of eight bytes, the
// nanoseconds by which it is ahead of the true one. A write there is a jump, at once.
//
// Waits until a moment of this clock are turned into waits until the true one: the kernel does not
// jump. Moments of the monotonic clock, which stays as it is, are told by their size.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define LONGEST_UPTIME 1000000000LL

static const volatile int64_t none = 0;
static const volatile int64_t *ahead = &none;
static int (*true_time)(clockid_t, struct timespec *);

__attribute__((constructor)) static void open_clock(void) {
    true_time = dlsym(RTLD_NEXT, "clock_gettime");
    const char *name = getenv("CLOCK_OFFSET");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *seen = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    if (seen != MAP_FAILED) ahead = seen;
    close(file);
}

static struct timespec moved(const struct timespec *moment, int64_t by) {
    int64_t nanoseconds = moment->tv_sec * SECOND + moment->tv_nsec + by;
    return (struct timespec){nanoseconds / SECOND, nanoseconds % SECOND};
}

static struct timespec true_moment(const struct timespec *moment) {
    return moment->tv_sec < LONGEST_UPTIME ? *moment : moved(moment, -*ahead);
}

static void *real(const char *name, const char *version) {
    void *found = dlvsym(RTLD_NEXT, name, version);
    return found ? found : dlsym(RTLD_NEXT, name);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (!true_time) open_clock();
    int failed = true_time(clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        *now = moved(now, *ahead);
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec moment;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &moment);
    *now = (struct timeval){moment.tv_sec, moment.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *at) {
    struct timespec moment;
    clock_gettime(CLOCK_REALTIME, &moment);
    if (at) *at = moment.tv_sec;
    return moment.tv_sec;
}

int timespec_get(struct timespec *now, int base) {
    clock_gettime(CLOCK_REALTIME, now);
    return base;
}

int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
                           const struct timespec *restrict until) {
    static int (*wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (!wait) wait = real("pthread_cond_timedwait", "GLIBC_2.3.2");
    struct timespec moment = true_moment(until);
    return wait(c, m, &moment);
}

int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict until) {
    static int (*wait)(cnd_t *, mtx_t *, const struct timespec *);
    if (!wait) wait = dlsym(RTLD_NEXT, "cnd_timedwait");
    struct timespec moment = true_moment(until);
    return wait(c, m, &moment);
}

int sem_timedwait(sem_t *restrict s, const struct timespec *restrict until) {
    static int (*wait)(sem_t *, const struct timespec *);
    if (!wait) wait = real("sem_timedwait", "GLIBC_2.34");
    struct timespec moment = true_moment(until);
    return wait(s, &moment);
}
