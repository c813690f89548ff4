// Loaded before the C library: counts the heap allocations of a program into the file that ALLOCATIONS names, 24 bytes:
// the count, how many of the next allocations to show on standard error with their backtraces, and the bytes in use.
// cc -shared -fPIC -O2 -o allocations.so allocations.c -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct shared {
    _Atomic unsigned long count;
    _Atomic long shown;
    _Atomic long live;
};

static struct shared *shared;
static _Thread_local int is_inside;

// What glibc calls its own, so that nothing has to be looked up while the program starts.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

__attribute__((constructor)) static void open_shared(void) {
    const char *path = getenv("ALLOCATIONS");
    if (!path) return;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void *found = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (found == MAP_FAILED) return;
    // the first backtrace loads a library, which allocates
    void *frame[1];
    backtrace(frame, 1);
    shared = found;
}

static void count(void) {
    if (!shared || is_inside) return;
    atomic_fetch_add_explicit(&shared->count, 1, memory_order_relaxed);
    if (atomic_load_explicit(&shared->shown, memory_order_relaxed) <= 0) return;
    is_inside = 1;
    if (atomic_fetch_sub(&shared->shown, 1) > 0) {
        void *frames[24];
        int depth = backtrace(frames, 24);
        backtrace_symbols_fd(frames, depth, 2);
        (void)!write(2, "--\n", 3);
    }
    is_inside = 0;
}

// Gives what it is given, whose bytes are in use from here on.
static void *held(void *made) {
    if (shared && made) atomic_fetch_add_explicit(&shared->live, (long)malloc_usable_size(made), memory_order_relaxed);
    return made;
}

static void released(void *old) {
    if (shared && old) atomic_fetch_sub_explicit(&shared->live, (long)malloc_usable_size(old), memory_order_relaxed);
}

void *malloc(size_t size) {
    count();
    return held(__libc_malloc(size));
}

void *calloc(size_t number, size_t size) {
    count();
    return held(__libc_calloc(number, size));
}

void *realloc(void *old, size_t size) {
    count();
    long before = old ? (long)malloc_usable_size(old) : 0;
    void *made = __libc_realloc(old, size);
    if (shared && (made || size == 0)) atomic_fetch_sub_explicit(&shared->live, before, memory_order_relaxed);
    return held(made);
}

void *memalign(size_t alignment, size_t size) {
    count();
    return held(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size) {
    count();
    return held(__libc_memalign(alignment, size));
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    count();
    void *found = held(__libc_memalign(alignment, size));
    if (!found) return 12;
    *out = found;
    return 0;
}

void free(void *old) {
    released(old);
    __libc_free(old);
}
