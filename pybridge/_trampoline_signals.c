/* Julia's profiler stops the process with SIGUSR1 at every sample and expects a thread of its own to be the only one that
 * can take it.  Threads of libmxnet, and Python's main thread, can: by default that would end the process. */
#define _GNU_SOURCE
#include "_trampoline.h"

#ifdef __linux__
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static void pass_on(int number, siginfo_t *info, void *context) {
    /* Blocked in this thread from here on, so that the next one is asked, and Julia's in the end.  With `info` as it came:
     * Julia tells a sample from a wish of the user's by it. */
    sigaddset(&((ucontext_t *)context)->uc_sigmask, number);
    syscall(SYS_rt_sigqueueinfo, getpid(), number, info);
}

/* Let SIGUSR1 reach Julia, unless somebody handles it already. */
EXPORT void pb_pass_on_profiling(void) {
    struct sigaction now_set, passing = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    if (sigaction(SIGUSR1, NULL, &now_set) || now_set.sa_flags & SA_SIGINFO || now_set.sa_handler != SIG_DFL) return;
    sigemptyset(&passing.sa_mask);
    sigaction(SIGUSR1, &passing, NULL);
}
#else
EXPORT void pb_pass_on_profiling(void) {} /* Julia suspends threads by other means there */
#endif
