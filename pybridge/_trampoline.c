/* What libmxnet's own threads run.
 *
 * libmxnet calls a custom node's backward from worker threads of its own.  Neither Julia nor Python may run
 * there, so the callback below only describes the arrays it was given, queues a request, and waits until the
 * owner thread (the one in which Julia was initialised) has served it.  Calls that can bring such callbacks
 * about are made by persistent helper threads, while the owner takes requests out of the queue ("pumps").
 *
 * What libmxnet's threads and the helpers run never takes the GIL. The pump and the deallocator of Julia values run on
 * threads of Python and say so. The pump is C, because Python runs signal handlers between any two of its own
 * instructions: a Ctrl-C there would leave requests behind that nobody answers.
 */
#include "_trampoline.h"

static seat *free_seats;
static call *calls;
static atomic_long next_node = 1;
static int forking;
static atomic_int orphaned; /* in a forked child: a callback came, and there is no Julia for it */
static double timeout_seconds = 60;
static const double GRACE_SECONDS = 1; /* an owner that is about to attend is waited for */

EXPORT void pb_set_timeout(double seconds) { timeout_seconds = seconds; }

/* ---- what libmxnet calls ------------------------------------------------------------------------------------ */

/* The other thread's call that this node's backward belongs to; NULL if it is the owner's.  With mu held. */
static call *call_of(const node *nd) {
    for (call *c = calls; c; c = c->next)
        if (pthread_equal(c->thread, nd->recorder)) return c;
    return owner_jobs ? NULL : calls;
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

static void await_answer(request *r) {
    double queued_at = now();
    pthread_mutex_lock(&mu);
    if (r->node) r->call = call_of(r->node);
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

static int on_backward(int n_ograds, int n_igrads, void **handles, const int *reqs, int is_train, void *state) {
    node *nd = state;
    int n = n_ograds + n_igrads, np = with_np_shape(), bad = 0;
    int64_t *block = must(calloc(HEADER + (size_t)n * WORDS, sizeof *block));
    block[H_NODE] = nd->id;
    block[H_DEPTH] = nd->depth;
    block[H_FUNCTION] = nd->function;
    block[H_FLAGS] = is_train ? FLAG_TRAINING : 0;
    block[H_INPUTS] = n_ograds;
    block[H_OUTPUTS] = n_igrads;
    request r = {.block = block, .node = nd};
    for (int i = 0; i < n; i++) {
        int64_t *a = block + HEADER + i * WORDS;
        int reason = describe(handles[i], a);
        if (i >= n_ograds) a[A_REQ] = reqs[i - n_ograds];
        r.bytes += a[A_BYTES];
        if (reason && !(i >= n_ograds && a[A_REQ] == 0)) bad = 1;
    }
    restore_np_shape(np);

    block[H_STATUS] = bad;
    if (pb_is_owner() && !forked)
        r.outcome = serve_here(block);
    else
        await_answer(&r);
    if (r.outcome)
        for (int i = n_ograds; i < n; i++) fill_failed(block + HEADER + i * WORDS);
    for (int i = 0; i < n; i++) mx.free(handles[i]);
    free(block);
    /* Success in any case: libmxnet's error slot for custom operators is global, another could take the blame. */
    if (forked) atomic_store(&orphaned, 1);
    return 1;
}

static int on_delete(void *state) {
    node *nd = state;
    int wake = 0;
    pthread_mutex_lock(&mu);
    if (nd->holding) {
        nd->dead = 1;
        nd = NULL;
    } else {
        if (!forked) push(&dead_nodes, nd->id);
        atomic_fetch_sub(&live_nodes, 1);
        if (nd->served_in == backward_number) served_nodes--;
        wake = settling;
    }
    pthread_mutex_unlock(&mu);
    if (wake) pthread_cond_broadcast(&to_owner);
    free(nd);
    return 1;
}

static int (*callbacks[2])(void) = {(int (*)(void))(void *)on_backward, (int (*)(void))(void *)on_delete};

/* Make the arrays `outputs` the results of node `id`, in the graph that is being recorded. */
static int record_node(int64_t id, int64_t function, int n_inputs, handle_t *inputs, int n_outputs, handle_t *outputs) {
    node *nd = must(calloc(1, sizeof *nd));
    nd->id = id;
    nd->function = function;
    nd->recorder = pthread_self();
    nd->depth = pb_is_owner() ? serving : 0;
    nd->holding = 1;
    nd->contexts[0] = nd->contexts[1] = nd;
    nd->callbacks = (callback_list){2, callbacks, nd->contexts};
    atomic_fetch_add(&live_nodes, 1);
    int rc = mx.record(n_inputs, inputs, n_outputs, outputs, &nd->callbacks);
    pthread_mutex_lock(&mu);
    int gone = nd->dead || rc;
    nd->holding = 0;
    if (gone) {
        push(&dead_nodes, id);
        atomic_fetch_sub(&live_nodes, 1);
    }
    pthread_mutex_unlock(&mu);
    if (gone) free(nd);
    return rc;
}

/* Open a call: describe its arrays; if this thread records, give it a node and turn recording off meanwhile. */
EXPORT int pb_open_call(int64_t *block, handle_t *handles, int count) {
    int bad = pb_describe(block, handles, count, 0), ignored;
    if (bad) return bad;
    if (block[H_FLAGS] & FLAG_RECORDING) {
        block[H_NODE] = atomic_fetch_add(&next_node, 1);
        mx.set_recording(0, &ignored);
    }
    return 0;
}

/* Close it: recording is as it was; the results become those of the node (`failed`: there are none). */
EXPORT int pb_close_call(int64_t *block, handle_t *handles, int failed) {
    int ignored;
    if (block[H_FLAGS] & FLAG_RECORDING) mx.set_recording(1, &ignored);
    if (failed) { /* an interrupt can come after Julia has returned: what it made is given up */
        pb_release_block(block);
        for (int64_t i = 0; i < block[H_OUTPUTS]; i++)
            mx.free((handle_t)(intptr_t)block[HEADER + (block[H_INPUTS] + i) * WORDS + A_HANDLE]);
        block[H_OUTPUTS] = 0;
        if (block[H_NODE]) {
            pthread_mutex_lock(&mu);
            push(&dead_nodes, block[H_NODE]);
            pthread_mutex_unlock(&mu);
        }
    }
    if (failed || !block[H_NODE]) return 0;
    handle_t results[MAXRESULTS];
    for (int64_t i = 0; i < block[H_OUTPUTS]; i++)
        results[i] = (handle_t)(intptr_t)block[HEADER + (block[H_INPUTS] + i) * WORDS + A_HANDLE];
    return record_node(block[H_NODE], block[H_FUNCTION], (int)block[H_INPUTS], handles, (int)block[H_OUTPUTS], results);
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
    block[H_NODE] = -number;
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
}

static void after_fork_in_parent(void) {
    pthread_mutex_lock(&mu);
    forking = 0;
    pthread_mutex_unlock(&mu);
}

static void after_fork_in_child(void) {
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

/* Has a callback come to a forked child since this was asked last? */
EXPORT int pb_orphaned(void) { return atomic_exchange(&orphaned, 0); }

/* ---- the module --------------------------------------------------------------------------------------------- */

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_trampoline",
    "What libmxnet's own threads run: queues and condition variables. Its functions are plain C symbols.", -1,
    NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__trampoline(void) {
    static int once;
    if (!once) {
        once = 1;
        new_cond(&to_owner);
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    }
    return PyModule_Create(&module);
}
