/* The part of OpenSSL that Usher calls, and what of it are macros there. */
#ifndef USHER_COPENSSL_H
#define USHER_COPENSSL_H
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
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
static inline long usher_SSL_add1_chain_cert(SSL *ssl, X509 *certificate) {
    return SSL_add1_chain_cert(ssl, certificate);
}
static inline EVP_PKEY *usher_EVP_EC_gen(const char *curve) { return EVP_EC_gen(curve); }
static inline int usher_sk_X509_num(const STACK_OF(X509) * stack) { return sk_X509_num(stack); }
static inline X509 *usher_sk_X509_value(const STACK_OF(X509) * stack, int index) {
    return sk_X509_value(stack, index);
}
static const uint64_t usher_SSL_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
static const uint64_t usher_SSL_OP_NO_COMPRESSION = SSL_OP_NO_COMPRESSION;
static const uint64_t usher_SSL_OP_CIPHER_SERVER_PREFERENCE = SSL_OP_CIPHER_SERVER_PREFERENCE;
static const uint64_t usher_SSL_OP_PRIORITIZE_CHACHA = SSL_OP_PRIORITIZE_CHACHA;
static inline int usher_ERR_GET_LIB(unsigned long code) { return ERR_GET_LIB(code); }
static inline int usher_ERR_GET_REASON(unsigned long code) { return ERR_GET_REASON(code); }
static inline long usher_SSL_CTX_add1_extra_chain_cert(SSL_CTX *context, X509 *certificate) {
    if (!X509_up_ref(certificate)) return 0;
    if (SSL_CTX_add_extra_chain_cert(context, certificate)) return 1;
    X509_free(certificate);
    return 0;
}
/* The MAC of session tickets, HMAC-SHA-256 (SSL_CTX_set_tlsext_ticket_key_evp_cb(3)). */
static inline int usher_set_ticket_mac(EVP_MAC_CTX *context, const void *key, size_t count) {
    OSSL_PARAM parameters[3] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)key, count),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA256", 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_CTX_set_params(context, parameters);
}
static inline void usher_BIO_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void usher_BIO_clear_retry_flags(BIO *bio) { BIO_clear_retry_flags(bio); }
static const unsigned long usher_XN_FLAG_LDAP = XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB;
static inline void usher_OPENSSL_free(void *memory) { OPENSSL_free(memory); }
static inline long usher_BIO_get_mem_data(BIO *memory, char **data) { return BIO_get_mem_data(memory, data); }
static inline int usher_sk_GENERAL_NAME_num(const STACK_OF(GENERAL_NAME) * names) { return sk_GENERAL_NAME_num(names); }
static inline GENERAL_NAME *usher_sk_GENERAL_NAME_value(const STACK_OF(GENERAL_NAME) * names, int index) {
    return sk_GENERAL_NAME_value(names, index);
}
static inline int usher_sk_GENERAL_SUBTREE_num(const STACK_OF(GENERAL_SUBTREE) * all) {
    return sk_GENERAL_SUBTREE_num(all);
}
static inline GENERAL_SUBTREE *usher_sk_GENERAL_SUBTREE_value(const STACK_OF(GENERAL_SUBTREE) * all, int index) {
    return sk_GENERAL_SUBTREE_value(all, index);
}
static const int usher_ERR_R_UNSUPPORTED = ERR_R_UNSUPPORTED;
/* Bags of certificates (PKCS12_add_cert(3)). The list of a bag's attributes can only be reached as one that is not to be
   changed; a bag that has a name has a list, which is its own. */
static inline int usher_add_bag_attribute(PKCS12_SAFEBAG *bag, X509_ATTRIBUTE *attribute) {
    STACK_OF(X509_ATTRIBUTE) *all = (STACK_OF(X509_ATTRIBUTE) *)PKCS12_SAFEBAG_get0_attrs(bag);
    return all != NULL && sk_X509_ATTRIBUTE_push(all, attribute) > 0;
}
static inline void usher_sk_PKCS12_SAFEBAG_free(STACK_OF(PKCS12_SAFEBAG) * bags) {
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
}
static inline void usher_sk_PKCS7_free(STACK_OF(PKCS7) * safes) { sk_PKCS7_pop_free(safes, PKCS7_free); }
static inline long usher_SSL_CTX_set_max_cert_list(SSL_CTX *context, long count) {
    return SSL_CTX_set_max_cert_list(context, count);
}
#endif
