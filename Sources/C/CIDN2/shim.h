/* The part of libidn2 that Usher calls (Debian: libidn2-0, to build: libidn2-dev). Declared here, as in CLibevent's shim,
   so that no libc header comes along. */
#ifndef USHER_CIDN2_H
#define USHER_CIDN2_H

int idn2_lookup_u8(const unsigned char *source, unsigned char **name, int flags);
const char *idn2_strerror(int code);
void idn2_free(void *pointer);

enum {
    usher_idn2_ok = 0,
    /* IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL: IDNA 2008 by UTS #46, where the sharp s and its like keep themselves */
    usher_idn2_flags = 1 | 8
};
#endif
