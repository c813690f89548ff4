/* Linux's calls that Swift cannot make because they take any number of arguments. Declared here, as in CLibevent's shim,
   so that no libc header comes along. */
#ifndef USHER_CLINUX_H
#define USHER_CLINUX_H

int prctl(int option, ...);

/* PR_SET_DUMPABLE (prctl(2)): no core file, and no other process of the same user may look into this one. */
static inline int usher_set_dumpable(int is_dumpable) { return prctl(4, (long)is_dumpable, 0L, 0L, 0L); }
/* sem_clockwait(3), which glibc declares for GNU sources only. */
int usher_sem_clockwait(void *, int, const void *) __asm__("sem_clockwait");
#endif
