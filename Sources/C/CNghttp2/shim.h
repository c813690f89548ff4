/* The frames and the compressed fields of HTTP/2 (Debian: libnghttp2-14, to build: libnghttp2-dev). */
#ifndef USHER_CNGHTTP2_H
#define USHER_CNGHTTP2_H
#include <nghttp2/nghttp2.h>
#include <sys/mman.h>
#include <unistd.h>

/* Pages of memory, which can be emptied where they stand (mmap(2), madvise(2)). */
static inline size_t usher_page_size(void) {
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : 4096;
}
static inline void *usher_pages_take(size_t count) {
    void *pages = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}
static inline void usher_pages_give_back(void *pages, size_t count) { munmap(pages, count); }
/* Zeros are what is read there afterwards. */
static inline void usher_pages_empty(void *pages, size_t count) { madvise(pages, count, MADV_DONTNEED); }
#endif
