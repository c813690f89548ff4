/* The part of Zstandard that Usher calls (Debian: libzstd1, to build: libzstd-dev). */
#ifndef USHER_CZSTD_H
#define USHER_CZSTD_H
#include <zstd.h>
#include <zstd_errors.h>
#endif
