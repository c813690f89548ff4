/* The part of Brotli that Usher calls (Debian: libbrotli1, to build: libbrotli-dev). */
#ifndef USHER_CBROTLI_H
#define USHER_CBROTLI_H
#include <brotli/decode.h>
#include <brotli/encode.h>
#endif
