/* The part of c-ares that Usher calls (Debian: libc-ares2, to build: libc-ares-dev). Declared here, as in CLibevent's
   shim, because <ares.h> pulls in libc's network headers. The symbols, the layouts and their meaning are those of
   c-ares 1.18 (ares.h), which later versions keep; a channel stays opaque, and a socket's address is a struct sockaddr. */
#ifndef USHER_CARES_H
#define USHER_CARES_H

struct ares_channeldata;
typedef struct ares_channeldata *ares_channel;

enum usher_ares_status {
    ARES_SUCCESS = 0,
    ARES_ENODATA = 1,
    ARES_EFORMERR = 2,
    ARES_ESERVFAIL = 3,
    ARES_ENOTFOUND = 4,
    ARES_ENOTIMP = 5,
    ARES_EREFUSED = 6,
    ARES_EBADNAME = 8,
    ARES_EBADRESP = 10,
    ARES_ECONNREFUSED = 11,
    ARES_ETIMEOUT = 12,
    ARES_ENOMEM = 15,
    ARES_EDESTRUCTION = 16,
    ARES_ECANCELLED = 24
};

enum usher_ares_flag { ARES_FLAG_NOALIASES = 1 << 6, ARES_FLAG_NOCHECKRESP = 1 << 7 };

enum usher_ares_option {
    ARES_OPT_FLAGS = 1 << 0,
    ARES_OPT_TRIES = 1 << 2,
    ARES_OPT_LOOKUPS = 1 << 8,
    ARES_OPT_SOCK_STATE_CB = 1 << 9,
    ARES_OPT_TIMEOUTMS = 1 << 13,
    ARES_OPT_RESOLVCONF = 1 << 17
};

enum { ARES_LIB_INIT_ALL = 1, ARES_AI_NOSORT = 1 << 7 };

typedef void (*usher_ares_socket_callback)(void *data, int descriptor, int readable, int writable);

struct ares_options {
    int flags;
    int timeout;
    int tries;
    int ndots;
    unsigned short udp_port;
    unsigned short tcp_port;
    int socket_send_buffer_size;
    int socket_receive_buffer_size;
    void *servers;
    int nservers;
    char **domains;
    int ndomains;
    char *lookups;
    usher_ares_socket_callback sock_state_cb;
    void *sock_state_cb_data;
    void *sortlist;
    int nsort;
    int ednspsz;
    char *resolvconf_path;
};

struct ares_addrinfo_hints {
    int ai_flags;
    int ai_family;
    int ai_socktype;
    int ai_protocol;
};

struct ares_addrinfo_node {
    int ai_ttl;
    int ai_flags;
    int ai_family;
    int ai_socktype;
    int ai_protocol;
    unsigned int ai_addrlen;
    void *ai_addr;
    struct ares_addrinfo_node *ai_next;
};

struct ares_addrinfo_cname {
    int ttl;
    char *alias;
    char *name;
    struct ares_addrinfo_cname *next;
};

struct ares_addrinfo {
    struct ares_addrinfo_cname *cnames;
    struct ares_addrinfo_node *nodes;
    char *name;
};

/* The beginning of it: only the list is followed here. */
struct ares_addr_port_node {
    struct ares_addr_port_node *next;
};

typedef void (*usher_ares_answer_callback)(void *data, int status, int timeouts, struct ares_addrinfo *);

int ares_library_init(int flags);
const char *ares_version(int *);
const char *ares_strerror(int);
int ares_init_options(ares_channel *, struct ares_options *, int mask);
void ares_destroy(ares_channel);
int ares_set_servers_ports_csv(ares_channel, const char *);
int ares_get_servers_ports(ares_channel, struct ares_addr_port_node **);
void ares_free_data(void *);
void ares_getaddrinfo(
    ares_channel, const char *name, const char *service, const struct ares_addrinfo_hints *, usher_ares_answer_callback,
    void *data);
void ares_freeaddrinfo(struct ares_addrinfo *);
void ares_process_fd(ares_channel, int readable, int writable);
#endif
