/* The frames and the compressed fields of HTTP/2 (Debian: libnghttp2-14, to build: libnghttp2-dev). */
#ifndef USHER_CNGHTTP2_H
#define USHER_CNGHTTP2_H
#include <nghttp2/nghttp2.h>
#endif
