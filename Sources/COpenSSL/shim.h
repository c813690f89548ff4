/* The part of OpenSSL that Usher calls, and what of it are macros there. */
#ifndef USHER_COPENSSL_H
#define USHER_COPENSSL_H
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

static inline long usher_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
    return SSL_CTX_set_min_proto_version(context, version);
}
static inline long usher_SSL_set_min_proto_version(SSL *ssl, int version) {
    return SSL_set_min_proto_version(ssl, version);
}
static inline long usher_SSL_CTX_set_mode(SSL_CTX *context, long mode) { return SSL_CTX_set_mode(context, mode); }
static inline long usher_SSL_CTX_set_session_cache_mode(SSL_CTX *context, long mode) {
    return SSL_CTX_set_session_cache_mode(context, mode);
}
static inline long usher_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
    return SSL_set_tlsext_host_name(ssl, name);
}
static inline long usher_SSL_CTX_set1_groups_list(SSL_CTX *context, const char *list) {
    return SSL_CTX_set1_groups_list(context, list);
}
static inline long usher_SSL_CTX_set0_chain(SSL_CTX *context, STACK_OF(X509) * chain) {
    return SSL_CTX_set0_chain(context, chain);
}
static inline long usher_SSL_set1_chain(SSL *ssl, STACK_OF(X509) * chain) { return SSL_set1_chain(ssl, chain); }
static inline EVP_PKEY *usher_EVP_EC_gen(const char *curve) { return EVP_EC_gen(curve); }
static inline void usher_BIO_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void usher_BIO_clear_retry_flags(BIO *bio) { BIO_clear_retry_flags(bio); }
#endif
