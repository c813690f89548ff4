/* The part of libevent that Usher calls, declared here on purpose: <event2/event.h> pulls in libc headers under its
   own feature macros and redefines fd_set for every Swift module that sees both. The symbols and their meaning are
   those of libevent 2.1 (event2/event.h); struct event stays opaque. */
#ifndef USHER_CLIBEVENT_H
#define USHER_CLIBEVENT_H

struct event_base;
struct event;
struct event_config;
struct usher_timeval { long tv_sec; long tv_usec; };

typedef void (*usher_event_callback)(int, short, void *);

struct event_config *event_config_new(void);
void event_config_free(struct event_config *);
int event_config_set_flag(struct event_config *, int);
struct event_base *event_base_new_with_config(const struct event_config *);
void event_base_free(struct event_base *);
int event_base_loop(struct event_base *, int);
int event_base_loopbreak(struct event_base *);
struct event *event_new(struct event_base *, int, short, usher_event_callback, void *);
int event_assign(struct event *, struct event_base *, int, short, usher_event_callback, void *);
void event_free(struct event *);
int event_add(struct event *, const struct usher_timeval *);
int event_del(struct event *);
const char *event_get_version(void);
const char *event_base_get_method(const struct event_base *);

/* System calls that glibc declares for GNU sources only, under names of our own. */
int usher_accept4(int, void *, unsigned int *, int) __asm__("accept4");
int usher_pipe2(int *, int) __asm__("pipe2");
long usher_splice(int, long long *, int, long long *, unsigned long, unsigned int) __asm__("splice");
int usher_eventfd(unsigned int, int) __asm__("eventfd");
int usher_pthread_setname(unsigned long, const char *) __asm__("pthread_setname_np");
#endif
