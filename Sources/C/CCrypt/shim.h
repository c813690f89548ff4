/* The part of libcrypt that Usher calls (Debian: libcrypt1, to build: libcrypt-dev). Declared here, as in CLibevent's
   shim, so that no libc header comes along. crypt_rn is crypt_r for a buffer whose size is said: a library with other
   ideas of it fails instead of writing past the end, and failure is a null pointer instead of a special text. */
#ifndef USHER_CCRYPT_H
#define USHER_CCRYPT_H

char *crypt_rn(const char *phrase, const char *setting, void *data, int size);

/* sizeof(struct crypt_data) of libxcrypt 4. */
enum { usher_crypt_data_size = 32768 };
#endif
