/* The part of OpenSSL that Usher calls. */
#ifndef USHER_COPENSSL_H
#define USHER_COPENSSL_H
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#endif
