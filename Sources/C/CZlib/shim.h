/* The part of zlib that Usher calls (Debian: zlib1g, to build: zlib1g-dev). What zlib has as macros is called here. */
#ifndef USHER_CZLIB_H
#define USHER_CZLIB_H
#define ZLIB_CONST
#include <zlib.h>

static inline int usher_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}
static inline int usher_deflate_init(z_stream *stream, int level, int window_bits) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}
#endif
