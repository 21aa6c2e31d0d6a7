/* What there is once: the lock, the queue, the owner; and the clock. */
#include "_trampoline.h"

#include <time.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t to_owner;
_Atomic(request *) queue;
request *queue_end, *taken;
int owner_jobs, settling;
long backward_number, served_nodes;
int64_t served_bytes;
atomic_long live_nodes, live_operators;
atomic_int attending;
double last_attended;
int serving;
int have_owner, closing, forked;
list dead_nodes, dead_roots;

static pthread_t owner;

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void wait_until(pthread_cond_t *c, double at) {
    struct timespec t;
#ifdef __APPLE__
    double left = at - now();
    at = left > 0 ? left : 0;
#endif
    t.tv_sec = (time_t)at;
    t.tv_nsec = (long)((at - (double)t.tv_sec) * 1e9);
#ifdef __APPLE__
    pthread_cond_timedwait_relative_np(c, &mu, &t);
#else
    pthread_cond_timedwait(c, &mu, &t);
#endif
}

void new_cond(pthread_cond_t *c) {
    pthread_condattr_t a;
    pthread_condattr_init(&a);
#ifndef __APPLE__
    pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
#endif
    pthread_cond_init(c, &a);
    pthread_condattr_destroy(&a);
}

int64_t thread_number(void) {
#ifdef __linux__
    return (int64_t)syscall(SYS_gettid);
#else
    uint64_t id = 0;
    pthread_threadid_np(NULL, &id);
    return (int64_t)id;
#endif
}

/* Without memory for a few bytes there is nothing sensible to do on a thread of libmxnet. */
void *must(void *p) {
    if (!p) abort();
    return p;
}

void push(list *l, int64_t item) {
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->items = must(realloc(l->items, l->room * sizeof *l->items));
    }
    l->items[l->count++] = item;
}

long pop(list *l, int64_t *out, long room) {
    pthread_mutex_lock(&mu);
    long n = (long)l->count < room ? (long)l->count : room;
    memcpy(out, l->items + l->count - n, (size_t)n * sizeof *out);
    l->count -= (size_t)n;
    pthread_mutex_unlock(&mu);
    return n;
}

EXPORT long pb_dead_nodes(int64_t *out, long room) { return dead_nodes.count ? pop(&dead_nodes, out, room) : 0; }
EXPORT long pb_dead_roots(int64_t *out, long room) { return dead_roots.count ? pop(&dead_roots, out, room) : 0; }
EXPORT long pb_live_nodes(void) { return atomic_load(&live_nodes); }
EXPORT atomic_long *pb_live_nodes_address(void) { return &live_nodes; }
EXPORT atomic_long *pb_live_operators_address(void) { return &live_operators; }
EXPORT int pb_attending(void) { return atomic_load(&attending); }

EXPORT void pb_set_owner(void) { /* called on it */
    owner = pthread_self();
    have_owner = 1;
}

EXPORT int *pb_serving(void) { return &serving; }

EXPORT int pb_is_owner(void) { return have_owner && pthread_equal(owner, pthread_self()); }

void note_outcome(request *r, int outcome) {
    r->outcome = outcome;
    if (r->call && !r->call->outcome) {
        r->call->outcome = outcome;
        r->call->function = r->block[H_FUNCTION];
        r->call->tid = thread_number();
    }
}
