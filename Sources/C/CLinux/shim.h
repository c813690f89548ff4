/* Linux's calls that Swift cannot make because they take any number of arguments. Declared here, as in CLibevent's shim,
   so that no libc header comes along. */
#ifndef USHER_CLINUX_H
#define USHER_CLINUX_H

int prctl(int option, ...);

/* PR_SET_DUMPABLE (prctl(2)): no core file, and no other process of the same user may look into this one. */
static inline int usher_set_dumpable(int is_dumpable) { return prctl(4, (long)is_dumpable, 0L, 0L, 0L); }
/* sem_clockwait(3), which glibc declares for GNU sources only. */
int usher_sem_clockwait(void *, int, const void *) __asm__("sem_clockwait");

/* What a child process becomes before it runs its program. */
struct usher_child {
    const char *program, *folder;
    char *const *arguments, *const *environment;
    /* its descriptors 0, 1 and 2, and 3 */
    int input, output, connection;
    /* -1: Usher's own */
    long user, group;
    /* RLIMIT_DATA in bytes; 0 for none */
    unsigned long memory;
};

int usher_pipe2(int *, int) __asm__("pipe2");
int usher_fork(void) __asm__("fork");
int usher_dup2(int, int) __asm__("dup2");
int usher_fcntl(int, int, ...) __asm__("fcntl");
int usher_chdir(const char *) __asm__("chdir");
int usher_setsid(void) __asm__("setsid");
int usher_setgroups(unsigned long, const unsigned *) __asm__("setgroups");
int usher_setgid(unsigned) __asm__("setgid");
int usher_setuid(unsigned) __asm__("setuid");
int usher_setrlimit(int, const unsigned long *) __asm__("setrlimit64");
int usher_sigprocmask(int, const void *, void *) __asm__("sigprocmask");
void *usher_signal(int, void *) __asm__("signal");
int usher_execve(const char *, char *const *, char *const *) __asm__("execve");
long usher_write(int, const void *, unsigned long) __asm__("write");
void usher_exit(int) __asm__("_exit") __attribute__((noreturn));
long usher_syscall(long, ...) __asm__("syscall");

static inline void usher_child_fails(const char *words) {
    unsigned long count = 0;
    while (words[count]) count++;
    usher_write(2, words, count);
    usher_exit(127);
}

/* Starts a program in a session of its own. It ends with the thread that started it, gains no privileges, writes no core file, and
   has no other descriptors. What fails in the child is its last line. */
static inline int usher_start(const struct usher_child *child) {
    int id = usher_fork();
    if (id != 0) return id;
    /* above those that the program gets; F_DUPFD_CLOEXEC is 1030 */
    int input = usher_fcntl(child->input, 1030, 10), output = usher_fcntl(child->output, 1030, 10),
        connection = usher_fcntl(child->connection, 1030, 10);
    usher_dup2(input, 0);
    usher_dup2(output, 1);
    usher_dup2(output, 2);
    usher_dup2(connection, 3);
    usher_syscall(436, 4U, ~0U, 0U); /* close_range */
    usher_setsid();
    const unsigned long none[16] = {0}, files[2] = {1024, 1024}, memory[2] = {child->memory, child->memory};
    for (int number = 1; number < 32; number++) usher_signal(number, (void *)0);
    usher_sigprocmask(2, none, (void *)0); /* SIG_SETMASK */
    usher_setrlimit(4, none);              /* RLIMIT_CORE */
    usher_setrlimit(7, files);             /* RLIMIT_NOFILE */
    if (child->memory && usher_setrlimit(2, memory)) usher_child_fails("usher: the memory cannot be limited\n");
    if (child->group >= 0 && (usher_setgroups(0, (void *)0) || usher_setgid((unsigned)child->group)))
        usher_child_fails("usher: the group cannot be changed\n");
    if (child->user >= 0 && usher_setuid((unsigned)child->user)) usher_child_fails("usher: the user cannot be changed\n");
    prctl(38, 1L, 0L, 0L, 0L); /* PR_SET_NO_NEW_PRIVS */
    prctl(1, 9L);              /* PR_SET_PDEATHSIG, which a change of the user clears */
    if (usher_chdir(child->folder)) usher_child_fails("usher: the folder of the configuration cannot be entered\n");
    usher_execve(child->program, child->arguments, child->environment);
    usher_child_fails("usher: the program cannot be run\n");
    return 0;
}
#endif
