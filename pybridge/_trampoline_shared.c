/* Arrays that both languages hold by the same handle, and the calls of libmxnet that Julia makes itself.
 *
 * A copy of a handle misses a later `attach_grad`, so an array crosses the border as the handle it is. Each side frees
 * what it holds, as ever; the last one does it really. */
#include "_trampoline.h"

#include <dlfcn.h>

/* How many more frees than one a handle is to see. A table with open addressing: few arrays are shared at a time. */
typedef struct {
    handle_t handle;
    long extra;
} entry;

static pthread_mutex_t shared_mu = PTHREAD_MUTEX_INITIALIZER; /* nothing else is done while it is held */
static entry *table;
static size_t room, used;
static atomic_long shared; /* how many are in the table; read without the lock */

static size_t home(handle_t h) { return (size_t)(((uintptr_t)h >> 4) * 0x9e3779b97f4a7c15u) & (room - 1); }

static entry *find(handle_t h) { /* its entry, or the empty one where it belongs */
    size_t i = home(h);
    while (table[i].handle && table[i].handle != h) i = (i + 1) & (room - 1);
    return &table[i];
}

static void grow(void) {
    entry *old = table;
    size_t n = room;
    room = n ? 2 * n : 64;
    table = must(calloc(room, sizeof *table));
    for (size_t i = 0; i < n; i++)
        if (old[i].handle) *find(old[i].handle) = old[i];
    free(old);
}

static void forget(entry *e) { /* those behind it move up, so that they are still found */
    size_t gap = (size_t)(e - table), i = gap;
    for (;;) {
        i = (i + 1) & (room - 1);
        if (!table[i].handle) break;
        if (((i - home(table[i].handle)) & (room - 1)) >= ((i - gap) & (room - 1))) {
            table[gap] = table[i];
            gap = i;
        }
    }
    table[gap] = (entry){0};
    used--;
}

/* One more holder of an array; returns whether it is the first besides the one there was. */
EXPORT int pb_share(handle_t h) {
    pthread_mutex_lock(&shared_mu);
    if (2 * (used + 1) > room) grow();
    entry *e = find(h);
    int first = !e->handle;
    if (first) {
        e->handle = h;
        used++;
    }
    e->extra++;
    atomic_store(&shared, (long)used);
    pthread_mutex_unlock(&shared_mu);
    return first;
}

/* A fork must not find the table half-written. No thread of libmxnet needs this lock, so that it can be held while
 * libmxnet's own handlers wait for them. */
void hold_shared(void) { pthread_mutex_lock(&shared_mu); }
void release_shared(void) { pthread_mutex_unlock(&shared_mu); }

/* One holder less. Called by Python's NDArrays and by Julia's finalizers, on any thread. */
EXPORT int pb_free_array(handle_t h) {
    if (atomic_load(&shared)) {
        int held = 0;
        pthread_mutex_lock(&shared_mu);
        entry *e = find(h);
        if (e->handle) {
            held = 1;
            if (!--e->extra) forget(e);
        }
        atomic_store(&shared, (long)used);
        pthread_mutex_unlock(&shared_mu);
        if (held) return 0;
    }
    return mx.free(h);
}

/* The same for Julia's finalizers: after shutdown the engine is no longer there to free anything. */
EXPORT void pb_drop_array(handle_t h) {
    if (!closing && !forked) pb_free_array(h);
}

EXPORT long pb_shared_arrays(void) { return atomic_load(&shared); }

/* ---- calls from Julia ---------------------------------------------------------------------------------------- */

static int (*holds_gil)(void); /* PyGILState_Check, which the limited API does not declare */

/* A call of libmxnet that may take long, or wait for what Python has to do on a thread of its own: with the GIL given back,
 * if this thread has it. */
EXPORT int pb_released(void *fn, const uintptr_t *a) {
    int (*call)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                uintptr_t, uintptr_t);
    memcpy(&call, &fn, sizeof fn);
    if (!holds_gil) {
        void *found = dlsym(RTLD_DEFAULT, "PyGILState_Check");
        if (found) memcpy(&holds_gil, &found, sizeof found);
    }
    PyThreadState *state = holds_gil && holds_gil() ? PyEval_SaveThread() : NULL;
    int rc = call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
    if (state) PyEval_RestoreThread(state);
    return rc;
}
