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
 *
 * One mutex, `mu`, guards every list here.  No call into libmxnet, Python or Julia is made while it is held:
 * libmxnet may call back (delete) from inside any of its functions.
 */
#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- libmxnet, as far as it is used here ------------------------------------------------------------- */

typedef void *handle_t;

typedef struct {
    int num_callbacks;
    int (**callbacks)(void);
    void **contexts;
} callback_list;

/* Function addresses, in the order of `_libmxnet.TRAMPOLINE_CALLS`. */
static struct {
    int (*free)(handle_t);
    int (*detach)(handle_t, handle_t *);
    int (*data)(handle_t, void **);
    int (*shape)(handle_t, int *, const int64_t **);
    int (*dtype)(handle_t, int *);
    int (*storage)(handle_t, int *);
    int (*context)(handle_t, int *, int *);
    int (*create)(const int64_t *, int, int, int, int, int, handle_t *);
    int (*wait_to_read)(handle_t);
    int (*wait_to_write)(handle_t);
    int (*wait_all)(void);
    int (*from_dlpack)(void *, bool, handle_t *);
    int (*is_recording)(bool *);
    int (*is_training)(bool *);
    int (*set_recording)(int, int *);
    int (*set_training)(int, int *);
    int (*is_np_shape)(int *);
    int (*set_np_shape)(int, int *);
    int (*set_bulk)(int, int *);
    int (*record)(int, handle_t *, int, handle_t *, callback_list *);
    int (*seed)(int);
    const char *(*last_error)(void);
} mx;

EXPORT void pb_link(void **addresses, int count) {
    if ((size_t)count * sizeof(void *) == sizeof mx) memcpy(&mx, addresses, sizeof mx);
}

EXPORT int pb_link_count(void) { return (int)(sizeof mx / sizeof(void *)); }

/* ---- the block: memory that C, Python and Julia all see ------------------------------------------------
 * A header of HEADER words, then one descriptor of WORDS words per array.  Mirrored in julia/src/block.jl. */

enum { HEADER = 16, WORDS = 24, MAXDIM = 16, MAXRESULTS = 64 };
enum { H_FUNCTION, H_NODE, H_FLAGS, H_INPUTS, H_OUTPUTS, H_STAGED, H_SEVERAL, H_STATUS, H_ROOM, H_CALL, H_DEPTH };
enum { A_HANDLE, A_DATA, A_DTYPE, A_NDIM, A_REQ, A_PIN, A_BYTES, A_CONTEXT, A_DIMS };
enum { FLAG_TRAINING = 1, FLAG_RECORDING = 2, FLAG_NUMPY = 4, FLAG_NP_SHAPE = 8 };

/* float32, float64, float16, uint8, int32, int8, int64, bool */
static const int item_size[] = {4, 8, 2, 1, 4, 1, 8, 1};
enum { KNOWN_DTYPES = 8 };

static atomic_long pinned_bytes, copied_bytes;

EXPORT long pb_pinned_bytes(void) { return atomic_load(&pinned_bytes); }
EXPORT long pb_copied_bytes(void) { return atomic_load(&copied_bytes); }
EXPORT void pb_count_copy(long bytes) { atomic_fetch_add(&copied_bytes, bytes); }

/* ---- state -------------------------------------------------------------------------------------------- */

enum { QUEUED, TAKEN, ANSWERED };
enum { OK, FAILED, UNSERVED, TIMED_OUT, FORKED, INTERRUPTED };

/* A backward of another thread than the owner that is under way. */
typedef struct call {
    struct call *next;
    pthread_t thread;
    int begun_served; /* the owner was attending when it began */
    int outcome;
    int64_t function; /* the function whose request failed with that outcome */
    int64_t tid;  /* libmxnet's thread that waited */
} call;

typedef struct request {
    struct request *next;
    int state, outcome;
    struct pump *pump; /* which one took it */
    call *call;
    int64_t *block;
    struct node *node;
    int64_t bytes; /* of its arrays */
    struct seat *seat;
} request;

/* What a waiting thread of libmxnet sleeps on. Never freed, so it can be woken after `mu` was given back: woken with
 * `mu` held, it would run into it and sleep again at once. */
typedef struct seat {
    struct seat *next;
    pthread_cond_t answered;
} seat;

typedef struct node {
    int64_t id, function;
    long served_in; /* the owner's backward that served it last */
    int depth;      /* how deep in served callbacks it was recorded */
    pthread_t recorder;
    int holding, dead; /* while MXCustomFunctionRecord runs */
    callback_list callbacks; /* libmxnet keeps the address */
    void *contexts[2];
} node;

typedef struct job {
    struct job *next;
    uintptr_t (*fn)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                    uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    uintptr_t args[12];
    /* Which arguments get pointers to a thread's own storage. 1: 8 and 9 (MXAutogradBackwardEx); above: 4, and this one
     * (operators); 0: none. */
    int results;
    void *given; /* of a call of operators: the outputs that the caller gave, if any */
    bool recording, training;
    int np_shape, bulk;
    atomic_int done;
    int rc;
    char *error;
    handle_t *handles;
    int *stypes;
} job;

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t to_owner;
static request *queue, *queue_end, *taken;
static seat *free_seats;
static call *calls;
static struct helper *idle_helpers;
static int owner_jobs, settling;
static long backward_number, served_nodes; /* the owner's last backward, and the live nodes that it has served */
static int64_t served_bytes;               /* the size of their arrays */
static atomic_long live_nodes, next_node = 1;
static pthread_t owner;
static int have_owner;
static atomic_int attending; /* depth of pumps on the owner's stack */
static double last_attended; /* when it last did; with mu held */
static int closing, forking, forked;
static atomic_int orphaned; /* in a forked child: a callback came, and there is no Julia for it */
static double timeout_seconds = 60;
static const double GRACE_SECONDS = 1; /* an owner that is about to attend is waited for */

typedef struct {
    int64_t *items;
    size_t count, room;
} list;
static list dead_nodes, dead_roots;
static PyObject **dead_values;
static size_t dead_value_count, dead_value_room;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* How long a backward that may be over waits for another callback before it waits for the whole engine. */
static const double QUIET_SECONDS = 200e-6;
static const int64_t LARGE_BYTES = 16L << 20;

static void wait_until(pthread_cond_t *c, double at) { /* with mu held; `at` as told by now() */
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

static void new_cond(pthread_cond_t *c) {
    pthread_condattr_t a;
    pthread_condattr_init(&a);
#ifndef __APPLE__
    pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
#endif
    pthread_cond_init(c, &a);
    pthread_condattr_destroy(&a);
}

static int64_t thread_number(void) {
#ifdef __linux__
    return (int64_t)syscall(SYS_gettid);
#else
    uint64_t id = 0;
    pthread_threadid_np(NULL, &id);
    return (int64_t)id;
#endif
}

/* An allocation of a few bytes that fails leaves nothing sensible to do on a thread of libmxnet. */
static void *must(void *p) {
    if (!p) abort();
    return p;
}

static void push(list *l, int64_t item) { /* with mu held */
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->items = must(realloc(l->items, l->room * sizeof *l->items));
    }
    l->items[l->count++] = item;
}

static long pop(list *l, int64_t *out, long room) {
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
EXPORT int pb_attending(void) { return atomic_load(&attending); }

EXPORT void pb_set_timeout(double seconds) { timeout_seconds = seconds; }

static PyObject *serve; /* Python's part of serving a request: (block, create_graph) -> outcome */
static int serving;     /* depth of requests being served on the owner */
static int64_t inside;  /* the function that Julia runs now; written by Julia */

EXPORT void pb_set_owner(PyObject *server) { /* with the GIL held */
    Py_INCREF(server);
    serve = server;
    owner = pthread_self();
    have_owner = 1;
}

EXPORT int *pb_serving(void) { return &serving; }
EXPORT int64_t *pb_inside(void) { return &inside; }

EXPORT int pb_is_owner(void) { return have_owner && pthread_equal(owner, pthread_self()); }

/* ---- arrays ------------------------------------------------------------------------------------------- */

static int64_t byte_count(const int64_t *a) {
    int64_t n = a[A_DTYPE] < KNOWN_DTYPES ? item_size[a[A_DTYPE]] : 0;
    for (int64_t i = 0; i < a[A_NDIM]; i++) n *= a[A_DIMS + i];
    return n;
}

enum { BAD_CALL = 1, BAD_STORAGE, BAD_CONTEXT, BAD_DTYPE, BAD_NDIM };

static int describe(handle_t h, int64_t *a) {
    int dtype, ndim, storage, device, id;
    const int64_t *dims;
    void *data = NULL;
    if (mx.storage(h, &storage)) return BAD_CALL;
    if (storage != 0) return BAD_STORAGE;
    if (mx.context(h, &device, &id)) return BAD_CALL;
    a[A_CONTEXT] = ((int64_t)device << 32) | (uint32_t)id;
    if (device == 2) return BAD_CONTEXT;
    if (mx.dtype(h, &dtype) || mx.shape(h, &ndim, &dims)) return BAD_CALL;
    a[A_HANDLE] = (int64_t)(intptr_t)h;
    a[A_DTYPE] = dtype;
    a[A_NDIM] = ndim;
    if (dtype < 0 || dtype >= KNOWN_DTYPES) return BAD_DTYPE;
    if (ndim < 0 || ndim > MAXDIM) return BAD_NDIM;
    int64_t items = 1;
    for (int i = 0; i < ndim; i++) {
        a[A_DIMS + i] = dims[i];
        if (dims[i] < 0) return BAD_NDIM;
        items *= dims[i];
    }
    a[A_BYTES] = items * item_size[dtype];
    if (items && mx.data(h, &data)) return BAD_CALL;
    a[A_DATA] = (int64_t)(intptr_t)data;
    a[A_PIN] = 0;
    return 0;
}

/* A second handle on the same memory.  Detached: a plain copy would hold the autograd entry, and a node that
 * saved its own input or output would then keep itself alive. */
EXPORT handle_t pb_pin(handle_t h, long bytes) {
    handle_t pin = NULL;
    if (mx.detach(h, &pin)) return NULL;
    atomic_fetch_add(&pinned_bytes, bytes);
    return pin;
}

/* Called by Julia's finalizers, on any thread. */
EXPORT void pb_unpin(handle_t pin, long bytes) {
    atomic_fetch_sub(&pinned_bytes, bytes);
    if (!closing && !forked) mx.free(pin); /* after shutdown the engine is no longer there to free it */
}

static int with_np_shape(void) {
    int before = 1, ignored;
    mx.is_np_shape(&before);
    if (!before) mx.set_np_shape(1, &ignored);
    return before;
}

static void restore_np_shape(int before) {
    int ignored;
    if (!before) mx.set_np_shape(0, &ignored);
}

EXPORT void pb_release_block(int64_t *block) {
    for (int64_t i = 0; i < block[H_INPUTS]; i++) {
        int64_t *a = block + HEADER + i * WORDS;
        if (a[A_PIN]) pb_unpin((handle_t)(intptr_t)a[A_PIN], a[A_BYTES]);
        a[A_PIN] = 0;
    }
}

/* Describe and pin `count` arrays into `block`; returns 0, or 8 * index + reason.  `writing`: wait for reads
 * as well as writes that are still under way. */
EXPORT int pb_describe(int64_t *block, handle_t *handles, int count, int writing) {
    bool recording = false, training = false;
    int np = with_np_shape(), bad = 0, i = 0;
    mx.is_recording(&recording);
    mx.is_training(&training);
    block[H_FLAGS] = (block[H_FLAGS] & FLAG_NUMPY) | (training ? FLAG_TRAINING : 0) |
                     (recording ? FLAG_RECORDING : 0) | (np ? FLAG_NP_SHAPE : 0);
    block[H_INPUTS] = 0;
    for (; i < count && !bad; i++) {
        int64_t *a = block + HEADER + i * WORDS;
        a[A_PIN] = 0;
        block[H_INPUTS] = i + 1;
        /* Wait first: until its writer has run, an array may have no memory yet or get another layout (oneDNN), and
         * asking for its data is a race with the thread that allocates it. */
        bad = (writing ? mx.wait_to_write : mx.wait_to_read)(handles[i]) ? BAD_CALL : describe(handles[i], a);
        if (!bad) a[A_PIN] = (int64_t)(intptr_t)pb_pin(handles[i], (long)a[A_BYTES]);
        if (!bad && !a[A_PIN]) bad = BAD_CALL;
    }
    if (bad) pb_release_block(block);
    restore_np_shape(np);
    return bad ? 8 * (i - 1) + bad : 0;
}

/* A new array in libmxnet's memory, described (and pinned) in `a`, whose dtype, context, ndim and dims are
 * filled in. */
EXPORT int pb_create(int64_t *a) {
    handle_t h = NULL;
    void *data = NULL;
    int np = with_np_shape();
    int rc = mx.create(a + A_DIMS, (int)a[A_NDIM], (int)(a[A_CONTEXT] >> 32), (int)(uint32_t)a[A_CONTEXT], 0,
                       (int)a[A_DTYPE], &h);
    restore_np_shape(np);
    if (rc) return rc;
    a[A_BYTES] = byte_count(a);
    if (a[A_BYTES] && (rc = mx.data(h, &data))) {
        mx.free(h);
        return rc;
    }
    a[A_HANDLE] = (int64_t)(intptr_t)h;
    a[A_DATA] = (int64_t)(intptr_t)data;
    a[A_PIN] = (int64_t)(intptr_t)pb_pin(h, (long)a[A_BYTES]);
    return 0;
}

/* DLPack's structures, version 0.x */
typedef struct {
    void *data;
    struct {
        int type, id;
    } ctx;
    int ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *);
} dl_managed;

typedef struct {
    dl_managed managed;
    int64_t root;
    int64_t shape[MAXDIM];
} adopted;

static void release_adopted(dl_managed *m) { /* libmxnet, on any thread */
    adopted *a = m->context;
    pthread_mutex_lock(&mu);
    if (!forked) push(&dead_roots, a->root);
    pthread_mutex_unlock(&mu);
    free(a);
}

/* An NDArray over foreign memory; `root` comes back through pb_dead_roots when the last NDArray over it dies. */
EXPORT int pb_adopt(int64_t *a, int64_t root) {
    static const uint8_t code[] = {2, 2, 2, 1, 0, 0, 0, 1}, bits[] = {32, 64, 16, 8, 32, 8, 64, 1};
    adopted *d = must(calloc(1, sizeof *d));
    dl_tensor *t = &d->managed.tensor;
    d->root = root;
    memcpy(d->shape, a + A_DIMS, sizeof(int64_t) * (size_t)a[A_NDIM]);
    t->data = (void *)(intptr_t)a[A_DATA];
    t->ctx.type = 1;
    t->ndim = (int)a[A_NDIM];
    t->dtype.code = code[a[A_DTYPE]];
    t->dtype.bits = bits[a[A_DTYPE]];
    t->dtype.lanes = 1;
    t->shape = d->shape;
    d->managed.context = d;
    d->managed.deleter = release_adopted;
    handle_t h = NULL;
    int np = with_np_shape();
    int rc = mx.from_dlpack(&d->managed, false, &h);
    restore_np_shape(np);
    if (rc) {
        free(d);
        return rc;
    }
    a[A_HANDLE] = (int64_t)(intptr_t)h;
    a[A_BYTES] = byte_count(a);
    return 0;
}

EXPORT void pb_free(handle_t h) { mx.free(h); }

EXPORT const char *pb_last_error(void) { return mx.last_error(); }

/* Is libmxnet training, as seen from this thread?  (PyBridge.is_training outside a call.) */
EXPORT int pb_is_training(void) {
    bool t = false;
    mx.is_training(&t);
    return t;
}

/* ---- what libmxnet calls ------------------------------------------------------------------------------- */

static void fill_failed(const int64_t *a) {
    void *p = (void *)(intptr_t)a[A_DATA];
    int64_t n = byte_count(a);
    if (!p || !n || a[A_REQ] == 0 || a[A_REQ] == 3) return;
    switch (a[A_DTYPE]) {
    case 0:
        for (int64_t i = 0; i < n / 4; i++) ((float *)p)[i] = NAN;
        break;
    case 1:
        for (int64_t i = 0; i < n / 8; i++) ((double *)p)[i] = NAN;
        break;
    case 2:
        for (int64_t i = 0; i < n / 2; i++) ((uint16_t *)p)[i] = 0x7e00;
        break;
    default:
        memset(p, 0, (size_t)n);
    }
}

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

static void note_outcome(request *r, int outcome) { /* with mu held */
    r->outcome = outcome;
    if (r->call && !r->call->outcome) {
        r->call->outcome = outcome;
        r->call->function = r->block[H_FUNCTION];
        r->call->tid = thread_number();
    }
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

static int serve_here(int64_t *block);

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

/* ---- helpers: threads that make the calls which can bring callbacks about ------------------------------ */

static char *error_text(void) {
    const char *text = mx.last_error();
    return must(strdup(text ? text : ""));
}

static atomic_int seed, seeding = 1; /* the seed that the user gave last, and how often one was given */

EXPORT void pb_seed(int given) {
    atomic_store(&seed, given);
    atomic_fetch_add(&seeding, 1);
}

/* Random numbers are a thread's own in libmxnet: what a helper draws follows the user's seed, too, but is never what
 * another thread draws. */
static void adopt_seed(int depth) {
    static _Thread_local int seeded;
    int current = atomic_load(&seeding);
    if (seeded == current) return;
    seeded = current;
    mx.seed((int)((unsigned)atomic_load(&seed) + 0x9e3779b9u * (unsigned)(depth + 1)));
}

static void adopt_state(const job *j) {
    int ignored, np = 0;
    mx.set_recording(j->recording, &ignored);
    mx.set_training(j->training, &ignored);
    mx.is_np_shape(&np);
    if (np != j->np_shape) mx.set_np_shape(j->np_shape, &ignored);
    mx.set_bulk(j->bulk, &ignored);
}

/* The results of operators lie in this thread's own storage, which its next call overwrites: that can come before the
 * caller looks at them, when its pump serves another callback meanwhile. */
static void copy_results(job *j, size_t n, int handles_at, int stypes_at) {
    handle_t **handles = (handle_t **)j->args[handles_at];
    int **stypes = (int **)j->args[stypes_at];
    j->handles = must(malloc((n ? n : 1) * sizeof(handle_t)));
    memcpy(j->handles, *handles, n * sizeof(handle_t));
    *handles = j->handles;
    if (!stypes) return;
    j->stypes = must(malloc((n ? n : 1) * sizeof(int)));
    memcpy(j->stypes, *stypes, n * sizeof(int));
    *stypes = j->stypes;
}

static void run(job *j) {
    int ignored;
    uintptr_t *a = j->args;
    adopt_state(j);
    if (j->results > 1) j->given = *(void **)a[4];
    j->rc = (int)j->fn(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
    if (j->rc) j->error = error_text();
    if (j->results > 1 && !j->rc && !j->given) copy_results(j, (size_t) * (int *)a[3], 4, j->results);
    if (j->results == 1 && !j->rc && a[3] && a[8]) {
        /* The results lie in this thread's own storage, which its next call overwrites. */
        size_t n = (uint32_t)a[3];
        j->handles = must(malloc(n * sizeof(handle_t)));
        memcpy(j->handles, *(handle_t **)a[8], n * sizeof(handle_t));
        *(handle_t **)a[8] = j->handles;
        if (a[9]) {
            j->stypes = must(malloc(n * sizeof(int)));
            memcpy(j->stypes, *(int **)a[9], n * sizeof(int));
            *(int **)a[9] = j->stypes;
        }
    }
    mx.set_bulk(0, &ignored); /* pushes what this thread still holds back in a bulk */
}

/* libmxnet's temporary memory belongs to a thread, and operators that wait hold it.  What a served callback does must
 * never wait for the memory of the backward that waits for the callback: each depth of serving has helpers of its own. */
typedef struct helper {
    struct helper *next;
    int depth;
    job *job;
    pthread_cond_t called;
} helper;

static void *help(void *own) {
    helper *h = own;
    for (;;) {
        adopt_seed(h->depth);
        run(h->job);
        pthread_mutex_lock(&mu);
        atomic_store(&h->job->done, 1);
        h->job = NULL;
        h->next = idle_helpers;
        idle_helpers = h;
        pthread_mutex_unlock(&mu);
        pthread_cond_broadcast(&to_owner);
        pthread_mutex_lock(&mu);
        while (!h->job) pthread_cond_wait(&h->called, &mu);
        pthread_mutex_unlock(&mu);
    }
    return NULL;
}

static helper *idle_helper(int depth) { /* with mu held */
    for (helper **p = &idle_helpers; *p; p = &(*p)->next)
        if ((*p)->depth == depth) {
            helper *h = *p;
            *p = h->next;
            return h;
        }
    return NULL;
}

/* The owner no longer waits for this job. */
static void abandon(const job *j) {
    (void)j;
    pthread_mutex_lock(&mu);
    owner_jobs--;
    atomic_fetch_sub(&attending, 1);
    last_attended = now();
    pthread_mutex_unlock(&mu);
}

/* Have a helper call `fn`; NULL if no thread could be started. */
static job *start(void *fn, int results, int count, const uintptr_t *args) {
    job *j = must(calloc(1, sizeof *j));
    int ignored;
    memcpy(&j->fn, &fn, sizeof fn);
    memcpy(j->args, args, (size_t)count * sizeof *args);
    j->results = results == 1 && count != 10 ? 0 : results;
    mx.is_recording(&j->recording);
    mx.is_training(&j->training);
    mx.is_np_shape(&j->np_shape);
    mx.set_bulk(0, &j->bulk); /* pushes what the caller held back: the helper's work depends on it */
    mx.set_bulk(j->bulk, &ignored);
    pthread_mutex_lock(&mu);
    owner_jobs++;
    atomic_fetch_add(&attending, 1); /* it will pump for this job */
    if (results == 1) backward_number++, served_nodes = 0, served_bytes = 0;
    helper *h = idle_helper(serving);
    if (h) h->job = j;
    pthread_mutex_unlock(&mu);
    if (h) {
        pthread_cond_signal(&h->called);
    } else {
        h = must(calloc(1, sizeof *h));
        h->depth = serving;
        h->job = j;
        new_cond(&h->called);
        pthread_t t;
        pthread_attr_t a;
        pthread_attr_init(&a);
        pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
        sigset_t all, before;
        sigfillset(&all); /* signals are the main thread's */
        pthread_sigmask(SIG_SETMASK, &all, &before);
        int rc = pthread_create(&t, &a, help, h);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_attr_destroy(&a);
        if (rc) {
            abandon(j);
            pthread_cond_destroy(&h->called);
            free(h);
            free(j);
            return NULL;
        }
    }
    return j;
}

static char *finished_error; /* the text of the job that was finished last, if it failed */

EXPORT const char *pb_job_error(void) { return finished_error; }

/* Take leave of a job that is done; returns its code. */
static int finish(job *j) {
    int rc = j->rc;
    abandon(j);
    /* The caller reads the result handles after this returns, as it reads libmxnet's: valid until the next. */
    static handle_t *last_handles;
    static int *last_stypes;
    if (j->handles) {
        free(last_handles);
        free(last_stypes);
        last_handles = j->handles;
        last_stypes = j->stypes;
    }
    free(finished_error);
    finished_error = j->error;
    free(j);
    return rc;
}

/* ---- the owner's side ----------------------------------------------------------------------------------- */

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

typedef struct pump {
    struct pump *outer;
    PyObject *failure; /* the first; the rest of the call is answered, but not run */
    int create_graph;
    int depth;     /* of served callbacks, when it was entered */
    int serves;    /* other threads, and nothing else */
    double since;  /* when it was entered, or last served what is not its own */
} pump;

static pump *pumps; /* the owner's stack of them */

/* With mu held; afterwards `r`, which lies on the waiter's stack, may be gone. Returns the seat to be woken. */
static seat *answer(request *r, int outcome) {
    if (!r->call && r->node && r->node->served_in != backward_number) {
        r->node->served_in = backward_number;
        served_nodes++;
        served_bytes += r->bytes;
    }
    r->next = NULL;
    r->outcome = outcome;
    r->state = ANSWERED;
    return r->seat;
}

static void answer_taken(const pump *by, int outcome) { /* a pump has taken one request at the most */
    seat *woken_seat = NULL;
    pthread_mutex_lock(&mu);
    for (request **p = &taken; *p; p = &(*p)->next)
        if ((*p)->pump == by) {
            request *r = *p;
            *p = r->next;
            if (outcome == INTERRUPTED) note_outcome(r, outcome);
            woken_seat = answer(r, outcome);
            break;
        }
    pthread_mutex_unlock(&mu);
    if (woken_seat) pthread_cond_signal(&woken_seat->answered);
}

/* Has the owner's backward served every node that is alive?  Then no callback of it can come any more, whatever
 * native work the engine still has.  Large gradients are waited for, so that their memory is free when it returns. */
static int settled(void) { /* with mu held */
    return served_nodes == atomic_load(&live_nodes) && served_bytes < LARGE_BYTES;
}

/* A pump inside a callback serves what its own call brought about.  Requests of the backwards around it are left to
 * their pumps: served here, each could nest the next, until a stack is full.  Only when nothing of its own came for a
 * while are they served after all, because the threads that wait for them may be those that its own call needs. */
static const double PATIENCE_SECONDS = 20e-3;

static int is_own(const pump *p, const request *r) {
    return !p->depth || p->serves || (!r->call && r->block[H_DEPTH] >= p->depth);
}

static request *take(pump *p) { /* with mu held */
    request *before = NULL, *r = queue;
    while (r && !is_own(p, r)) before = r, r = r->next;
    if (!r && queue && now() >= p->since + PATIENCE_SECONDS) {
        before = NULL, r = queue;
        p->since = now();
    }
    if (!r) return NULL;
    if (before) before->next = r->next; else queue = r->next;
    if (queue_end == r) queue_end = before;
    r->state = TAKEN;
    r->pump = p;
    r->next = taken;
    taken = r;
    r->block[H_CALL] = (int64_t)(intptr_t)r->call;
    return r;
}

enum { TICKED, DONE, QUIET };

/* Answer the request that this pump took last (`outcome` < 0: there is none), then wait for the next one.
 * Returns its block; DONE when `j` is done (and, with `settle`, nothing can come of it any more); QUIET when (`settle`)
 * it is done and nothing has come for a while; TICKED after `ms` milliseconds. Called without the GIL. */
static int64_t *next_request(pump *p, job *j, int ms, int outcome, int settle) {
    double until = now() + ms * 1e-3;
    if (outcome >= 0) answer_taken(p, outcome);
    pthread_mutex_lock(&mu);
    request *r;
    while (!(r = take(p))) {
        if (j && atomic_load(&j->done)) {
            if (!settle || settled()) break;
            if (!settling) {
                settling = 1;
                until = now() + QUIET_SECONDS;
            }
        }
        if (now() >= until) break;
        double patient_until = p->since + PATIENCE_SECONDS;
        wait_until(&to_owner, queue && patient_until < until ? patient_until : until);
    }
    last_attended = now();
    settling = 0;
    intptr_t done = !(j && atomic_load(&j->done)) ? TICKED : !settle || settled() ? DONE : now() >= until ? QUIET : TICKED;
    pthread_mutex_unlock(&mu);
    return r ? r->block : (int64_t *)done;
}

/* ---- the pump: called by Python on the owner, with the GIL held -------------------------------------------- */

enum { TICK = 50 }; /* milliseconds after which Python may handle signals */

EXPORT int pb_pumping(void) { return pumps != NULL; }

static void keep_failure(pump *p) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace) PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    if (p->failure)
        Py_XDECREF(value);
    else
        p->failure = value;
}

/* The pump whose call a request belongs to.  libmxnet runs callbacks of one backward in parallel, so a pump inside a
 * callback gets requests of the outer backward too; their failures are not its own. */
static pump *pump_of(pump *p, const int64_t *block) {
    while (p->outer && p->depth > block[H_DEPTH]) p = p->outer;
    return p;
}

static int serve_one(pump *p, int64_t *block) {
    p = pump_of(p, block);
    if (p->failure && !block[H_CALL]) return FAILED;
    int recording = 0, training = 0, ignored, outcome = FAILED;
    int64_t in = inside;
    /* The flags of the backward that is served, whatever those of the owner are. */
    mx.set_recording(0, &recording);
    mx.set_training(block[H_FLAGS] & FLAG_TRAINING ? 1 : 0, &training);
    serving++;
    PyObject *result = PyObject_CallFunction(serve, "Li", (long long)(intptr_t)block, p->create_graph);
    serving--;
    inside = in;
    mx.set_recording(recording, &ignored);
    mx.set_training(training, &ignored);
    if (result) {
        outcome = (int)PyLong_AsLong(result);
        Py_DECREF(result);
    } else {
        keep_failure(p);
        if (block[H_CALL]) outcome = INTERRUPTED; /* the failure is the owner's, not that of the thread that waits */
    }
    return outcome;
}

/* A callback that arrived on the owner itself, in a call that no helper made: it takes the GIL back. */
static int serve_here(int64_t *block) {
    PyGILState_STATE gil = PyGILState_Ensure();
    pump own = {0};
    int outcome = serve_one(pumps ? pumps : &own, block);
    if (own.failure) { /* there is no call of ours that could raise it */
        PyErr_SetObject((PyObject *)Py_TYPE(own.failure), own.failure);
        PyErr_WriteUnraisable(serve);
        Py_DECREF(own.failure);
    }
    PyGILState_Release(gil);
    return outcome;
}

static intptr_t run_pump(pump *p, job *j, int settle, PyObject *until, int ms) {
    int outcome = -1;
    for (;;) {
        PyThreadState *state = PyEval_SaveThread();
        int64_t *came = next_request(p, j, ms, outcome, settle);
        PyEval_RestoreThread(state);
        outcome = -1;
        if (PyErr_CheckSignals()) keep_failure(p);
        if ((intptr_t)came > QUIET) {
            outcome = serve_one(p, came);
            if (j) continue;
            answer_taken(p, outcome);
            outcome = -1;
        } else if (came) {
            return (intptr_t)came;
        }
        if (!j && p->failure) return TICKED;
        if (!until) continue;
        PyObject *result = PyObject_CallObject(until, NULL);
        int over = result ? PyObject_IsTrue(result) : -1;
        Py_XDECREF(result);
        if (over < 0) keep_failure(p);
        if (over > 0) return TICKED;
    }
}

static void enter_pump(pump *p) {
    p->depth = serving;
    p->since = now();
    p->outer = pumps;
    pumps = p;
}

static PyObject *leave_pump(pump *p) { /* its failure, or None */
    pumps = p->outer;
    if (p->failure) return p->failure;
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *backward(int *code, int create_graph, void *fn, int count, const uintptr_t *args) {
    pump p = {.create_graph = create_graph};
    enter_pump(&p);
    job *j = start(fn, 1, count, args);
    if (j) {
        intptr_t state = run_pump(&p, j, serving == 0, NULL, TICK);
        if (p.failure && j->handles) /* nobody will take the results */
            for (uint32_t i = 0; i < (uint32_t)args[3]; i++) mx.free(j->handles[i]);
        *code = finish(j);
        if (state == QUIET) {
            int first = *code;
            char *text = finished_error;
            finished_error = NULL;
            /* Other nodes are alive, so none can tell from their number: wait for the whole engine. */
            void *wait_all;
            memcpy(&wait_all, &mx.wait_all, sizeof wait_all);
            j = start(wait_all, 0, 0, NULL);
            if (j) {
                run_pump(&p, j, 0, NULL, TICK);
                *code = finish(j);
            }
            if (first) {
                free(finished_error);
                finished_error = text;
                *code = first;
            } else {
                free(text);
            }
        }
    }
    if (!j && !p.failure) {
        PyErr_SetString(PyExc_RuntimeError, "pybridge: no thread could be started to make the call");
        keep_failure(&p);
    }
    return leave_pump(&p);
}

/* A helper makes the call of a backward, the owner serves until none of its callbacks can come any more (inside a
 * served callback: until everything is scheduled). Returns the first failure, or None; `code` is libmxnet's. */
EXPORT PyObject *pb_backward(int *code, void *fn, int count, const uintptr_t *args) {
    return backward(code, 0, fn, count, args);
}

/* The same for MXAutogradBackwardEx, with the arguments as its callers pass them. */
EXPORT PyObject *pb_backward_ex(int *code, void *fn, uint32_t n, void *heads, void *head_grads, uint32_t n_variables,
                                void *variables, int retain, int create, int train, void *grads, void *stypes) {
    const uintptr_t args[10] = {n,
                                (uintptr_t)heads,
                                (uintptr_t)head_grads,
                                n_variables,
                                (uintptr_t)variables,
                                (uintptr_t)retain,
                                (uintptr_t)create,
                                (uintptr_t)train,
                                (uintptr_t)grads,
                                (uintptr_t)stypes};
    return backward(code, create, fn, 10, args);
}

/* A helper makes a call that can block, while the owner pumps on. When `until` returns true first, the helper is left
 * where it is (`code` becomes -2): what the arguments point into must then live on. `results`: see job. */
EXPORT PyObject *pb_blocking(int *code, PyObject *until, void *fn, int results, int count, const uintptr_t *args) {
    pump p = {0};
    enter_pump(&p);
    job *j = start(fn, results, count, args);
    if (!j) {
        PyErr_SetString(PyExc_RuntimeError, "pybridge: no thread could be started to make the call");
        keep_failure(&p);
    } else if (run_pump(&p, j, 0, until, TICK) == DONE) {
        *code = finish(j);
    } else {
        *code = -2;
        abandon(j);
    }
    return leave_pump(&p);
}

/* Serve other threads until `until` returns true, or something fails. */
EXPORT PyObject *pb_serve(PyObject *until, int ms) {
    pump p = {.serves = 1};
    enter_pump(&p);
    atomic_fetch_add(&attending, 1);
    run_pump(&p, NULL, 0, until, ms);
    atomic_fetch_sub(&attending, 1);
    return leave_pump(&p);
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

/* Seconds of processor time of the whole process: a wait during which it stands still waits for itself. */
EXPORT double pb_process_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

EXPORT void pb_shutdown(void) {
    pthread_mutex_lock(&mu);
    closing = 1;
    for (request *r = queue; r; r = r->next) pthread_cond_signal(&r->seat->answered);
    pthread_mutex_unlock(&mu);
}

/* ---- fork ------------------------------------------------------------------------------------------------ */

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
    idle_helpers = NULL;
    dead_nodes = dead_roots = (list){0}; /* not freed: the fork may have come in the middle of growing one */
    dead_values = NULL;
    dead_value_count = dead_value_room = 0;
    free_seats = NULL;
    forking = 0;
    atomic_store(&attending, 0);
    forked = have_owner;
}

/* Has a callback come to a forked child since this was asked last? */
EXPORT int pb_orphaned(void) { return atomic_exchange(&orphaned, 0); }

/* ---- Julia values that die on other threads --------------------------------------------------------------- */

/* The head of CPython's type object; its layout is the same from 3.9 to 3.11 (and checked by pb_wrap_dealloc). */
typedef struct {
    PyObject base;
    Py_ssize_t size;
    const char *name;
    Py_ssize_t basic, item;
    destructor dealloc;
} type_head;

static destructor juliacall_dealloc;
static int drain_is_due; /* Python has been told; with the GIL held */

/* Freeing a juliacall value enters Julia, so the dead are kept until the owner comes by. */
static int drain_values(void *unused) { /* Python, on the main thread, with the GIL held */
    (void)unused;
    if (forked || !pb_is_owner()) return 0;
    drain_is_due = 0;
    for (;;) {
        PyObject *dead = NULL;
        pthread_mutex_lock(&mu);
        if (dead_value_count) dead = dead_values[--dead_value_count];
        pthread_mutex_unlock(&mu);
        if (!dead) return 0;
        juliacall_dealloc(dead);
    }
}

static void dealloc(PyObject *self) { /* Python, with the GIL held */
    if (forked) return; /* the child has no Julia to free it in */
    if (pb_is_owner()) {
        juliacall_dealloc(self);
        return;
    }
    pthread_mutex_lock(&mu);
    if (dead_value_count == dead_value_room) {
        dead_value_room = dead_value_room ? 2 * dead_value_room : 256;
        dead_values = must(realloc(dead_values, dead_value_room * sizeof *dead_values));
    }
    dead_values[dead_value_count++] = self;
    pthread_mutex_unlock(&mu);
    if (!drain_is_due) drain_is_due = !Py_AddPendingCall(drain_values, NULL); /* fails when its queue is full */
}

EXPORT long pb_dead_values(void) { return (long)dead_value_count; }
EXPORT void pb_drain_values(void) { drain_values(NULL); }

/* Called with the GIL held (ctypes.PyDLL). */
EXPORT int pb_wrap_dealloc(PyObject *type, const char *name) {
    type_head *head = (type_head *)type;
    if (!head->name || strcmp(head->name, name) || !head->dealloc) return -1;
    if (head->dealloc == dealloc) return 0;
    juliacall_dealloc = head->dealloc;
    head->dealloc = dealloc;
    return 0;
}

/* ---- the module -------------------------------------------------------------------------------------------- */

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
