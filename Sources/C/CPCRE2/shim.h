/* The part of PCRE2 that Usher calls, over bytes, and the thread's own pointer that it needs beside it. */
#ifndef USHER_CPCRE2_H
#define USHER_CPCRE2_H
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <pthread.h>

/* pthread_key_create(3), pthread_getspecific(3): here, so that whoever matches needs nothing else of the system. */
static inline int usher_make_thread_key(unsigned *key, void (*end)(void *)) { return pthread_key_create(key, end); }
static inline void *usher_thread_value(unsigned key) { return pthread_getspecific(key); }
static inline int usher_set_thread_value(unsigned key, const void *value) { return pthread_setspecific(key, value); }

/* The work of one match: a step for each item of the expression that is tried, with what such a step may cost beside it,
   and one for each byte passed over. */
struct usher_step_counter {
    size_t work, allowance, cost, last;
};
/* Called before every item (pcre2callout(3)). Here, for it is called a hundred thousand times in the worst match. */
static inline int usher_count_step(pcre2_callout_block *block, void *data) {
    struct usher_step_counter *counter = data;
    size_t position = block->current_position;
    counter->work += 1 + counter->cost;
    if (position > counter->last) counter->work += position - counter->last;
    counter->last = position;
    return counter->work > counter->allowance ? PCRE2_ERROR_CALLOUT : 0;
}
static inline int usher_count_steps(pcre2_match_context *context, struct usher_step_counter *counter) {
    return pcre2_set_callout(context, usher_count_step, counter);
}
#endif
