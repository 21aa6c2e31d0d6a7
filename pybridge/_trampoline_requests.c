/* Requests: what libmxnet's own threads (and other threads of Python) ask of the owner, and wait for. */
#include "_trampoline.h"

static seat *free_seats;
static call *calls;
static int forking;
static atomic_int orphaned; /* in a forked child: a callback came, and there is no Julia for it */
static double timeout_seconds = 60;
static const double GRACE_SECONDS = 1; /* an owner that is about to attend is waited for */

EXPORT void pb_set_timeout(double seconds) { timeout_seconds = seconds; }

/* ---- asking, and waiting for the answer --------------------------------------------------------------------- */

/* The other thread's call that a callback of this node belongs to; NULL if it is the owner's (as a helper's question,
 * without a node, is).  With mu held. */
static call *call_of(const node *nd) {
    for (call *c = calls; c && nd; c = c->next)
        if (pthread_equal(c->thread, nd->recorder)) return c;
    return owner_jobs || !nd ? NULL : calls;
}

static void take_seat(request *r) { /* with mu held */
    r->seat = free_seats;
    if (r->seat) {
        free_seats = r->seat->next;
    } else {
        r->seat = must(calloc(1, sizeof *r->seat));
        new_cond(&r->seat->answered);
    }
}

static void leave_seat(request *r) { /* with mu held */
    r->seat->next = free_seats;
    free_seats = r->seat;
}

static void unlink_request(request *r) {
    request *before = NULL;
    for (request *q = queue; q; before = q, q = q->next)
        if (q == r) {
            if (before) before->next = r->next; else queue = r->next;
            if (queue_end == r) queue_end = before;
            break;
        }
    r->next = NULL;
}

void await_answer(request *r) {
    double queued_at = now();
    pthread_mutex_lock(&mu);
    if (!r->call) r->call = call_of(r->node);
    if ((closing && !atomic_load(&attending)) || forked || !have_owner) {
        note_outcome(r, FAILED);
    } else if (forking) {
        note_outcome(r, FORKED);
    } else {
        take_seat(r);
        if (queue_end) queue_end->next = r; else queue = r;
        queue_end = r;
        pthread_mutex_unlock(&mu);
        pthread_cond_broadcast(&to_owner);
        pthread_mutex_lock(&mu);
        while (r->state != ANSWERED) {
            wait_until(&r->seat->answered, now() + 0.1);
            double at = now();
            if (r->state == QUEUED && (forking || (closing && !atomic_load(&attending)))) {
                unlink_request(r);
                note_outcome(r, forking ? FORKED : FAILED);
                break;
            }
            if (r->state != QUEUED || atomic_load(&attending)) last_attended = at;
            if (last_attended > queued_at && r->call) r->call->begun_served = 1;
            double waited = at - (last_attended > queued_at ? last_attended : queued_at);
            int unserved = r->call && !r->call->begun_served;
            double limit = unserved ? GRACE_SECONDS : timeout_seconds;
            if (limit > 0 && waited > limit) {
                unlink_request(r);
                note_outcome(r, unserved ? UNSERVED : TIMED_OUT);
                break;
            }
        }
        leave_seat(r);
    }
    pthread_mutex_unlock(&mu);
}

/* ---- calls of other threads than the owner ------------------------------------------------------------------ */

EXPORT call *pb_begin_call(void) {
    call *c = must(calloc(1, sizeof *c));
    c->thread = pthread_self();
    pthread_mutex_lock(&mu);
    c->begun_served = atomic_load(&attending) > 0;
    c->next = calls;
    calls = c;
    pthread_mutex_unlock(&mu);
    return c;
}

EXPORT int pb_end_call(call *c, int64_t *function, int64_t *tid) {
    pthread_mutex_lock(&mu);
    for (call **p = &calls; *p; p = &(*p)->next)
        if (*p == c) {
            *p = c->next;
            break;
        }
    for (request *r = queue; r; r = r->next)
        if (r->call == c) r->call = NULL;
    for (request *r = taken; r; r = r->next)
        if (r->call == c) r->call = NULL;
    pthread_mutex_unlock(&mu);
    int outcome = c->outcome;
    *function = c->function;
    *tid = c->tid;
    free(c);
    return outcome;
}

/* Another thread has work number `number` done on the owner; called without the GIL. Returns the outcome. */
EXPORT int pb_run_on_owner(int64_t number, int64_t *tid) {
    int64_t block[HEADER] = {0};
    call c = {.thread = pthread_self(), .begun_served = atomic_load(&attending) > 0};
    request r = {.block = block, .call = &c};
    block[H_KIND] = K_WORK;
    block[H_NODE] = number;
    block[H_FLAGS] = pb_is_training() ? FLAG_TRAINING : 0;
    await_answer(&r);
    *tid = thread_number();
    return r.outcome;
}

/* ---- the end, and forks ------------------------------------------------------------------------------------- */

EXPORT void pb_shutdown(void) {
    pthread_mutex_lock(&mu);
    closing = 1;
    for (request *r = queue; r; r = r->next) pthread_cond_signal(&r->seat->answered);
    pthread_mutex_unlock(&mu);
}

/* libmxnet's own handler joins its threads before a fork, and those need `mu` to end what they do: it is never held
 * across the handlers, whatever their order. */
static void before_fork(void) {
    pthread_mutex_lock(&mu);
    forking = 1;
    for (request *r = queue; r; r = r->next) pthread_cond_signal(&r->seat->answered);
    pthread_mutex_unlock(&mu);
    hold_shared();
}

static void after_fork_in_parent(void) {
    release_shared();
    pthread_mutex_lock(&mu);
    forking = 0;
    pthread_mutex_unlock(&mu);
}

static void after_fork_in_child(void) {
    release_shared();
    pthread_mutex_init(&mu, NULL);
    new_cond(&to_owner);
    queue = queue_end = taken = NULL;
    calls = NULL;
    forget_helpers();
    dead_nodes = dead_roots = (list){0}; /* not freed: the fork may have come in the middle of growing one */
    forget_values();
    free_seats = NULL;
    forking = 0;
    atomic_store(&attending, 0);
    forked = have_owner;
}

void watch_forks(void) { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

void note_orphan(void) { atomic_store(&orphaned, 1); }

/* Has a callback come to a forked child since this was asked last? */
EXPORT int pb_orphaned(void) { return atomic_exchange(&orphaned, 0); }
