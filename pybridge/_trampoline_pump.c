/* The pump: the owner serves requests while a helper makes its call. Called by Python on the owner, with the GIL held. */
#include "_trampoline.h"

static PyObject *serve; /* Python's part of serving a request: (block, create_graph) -> outcome */
static int64_t inside;  /* the function that Julia runs now; written by Julia */

EXPORT int64_t *pb_inside(void) { return &inside; }

EXPORT void pb_serve_with(PyObject *server) {
    Py_INCREF(server);
    serve = server;
}

/* ---- taking requests and answering them --------------------------------------------------------------------- */

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
    if (!r->call && r->block[H_KIND] == K_BACKWARD && r->node->served_in != backward_number) {
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

/* How long a backward that may be over waits for another callback before it waits for the whole engine. */
static const double QUIET_SECONDS = 200e-6;
static const int64_t LARGE_BYTES = 16L << 20;

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
    int looked_out = 0;
    while (!(r = take(p))) {
        if (j && atomic_load(&j->done)) {
            if (!settle || settled()) break;
            if (!settling) {
                settling = 1;
                until = now() + QUIET_SECONDS;
            }
        }
        if (now() >= until) break;
        if (!looked_out) {
            looked_out = 1;
            pthread_mutex_unlock(&mu);
            double end = now() + LOOKOUT;
            while (!atomic_load(&queue) && !(j && atomic_load(&j->done)) && now() < end) sched_yield();
            pthread_mutex_lock(&mu);
            continue;
        }
        double patient_until = p->since + PATIENCE_SECONDS;
        wait_until(&to_owner, queue && patient_until < until ? patient_until : until);
    }
    last_attended = now();
    settling = 0;
    intptr_t done = !(j && atomic_load(&j->done)) ? TICKED : !settle || settled() ? DONE : now() >= until ? QUIET : TICKED;
    pthread_mutex_unlock(&mu);
    return r ? r->block : (int64_t *)done;
}

/* ---- pumping ------------------------------------------------------------------------------------------------ */

enum { TICK = 50 }; /* milliseconds after which Python may handle signals */

EXPORT int pb_pumping(void) { return pumps != NULL; }

PyObject *take_raised(void) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace) PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return value;
}

static void keep_failure(pump *p) {
    PyObject *value = take_raised();
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

/* In a call that no helper made: it takes the GIL back. */
int serve_here(int64_t *block) {
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

/* A question of a thread of Python, answered there. */
int answer_here(int64_t *block) {
    PyGILState_STATE gil = PyGILState_Ensure();
    int recording = 0, ignored, outcome = FAILED;
    mx.set_recording(0, &recording);
    PyObject *result = PyObject_CallFunction(serve, "Li", (long long)(intptr_t)block, 0);
    mx.set_recording(recording, &ignored);
    if (result) {
        outcome = (int)PyLong_AsLong(result);
        Py_DECREF(result);
    } else {
        PyErr_WriteUnraisable(serve);
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
    job *j = start(fn, 1, 0, count, args);
    if (j) {
        intptr_t state = run_pump(&p, j, serving == 0, NULL, TICK);
        size_t results = result_count(j);
        *code = finish(j);
        if (state == QUIET) {
            int first = *code;
            char *text = take_job_error();
            /* Other nodes are alive, so none can tell from their number: wait for the whole engine. */
            void *wait_all;
            memcpy(&wait_all, &mx.wait_all, sizeof wait_all);
            j = start(wait_all, 0, 0, 0, NULL);
            if (j) {
                run_pump(&p, j, 0, NULL, TICK);
                *code = finish(j);
            }
            if (first) {
                give_job_error(text);
                *code = first;
            } else {
                free(text);
            }
        }
        if (p.failure) free_results(results); /* nobody will take them */
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

/* A helper makes a call that can block, while the owner pumps on. When `until` (if it is not None) returns true first,
 * the helper is left where it is (`code` becomes -2): what the arguments point into must then live on.  `results`,
 * `settle`: see job. */
EXPORT PyObject *pb_blocking(int *code, PyObject *until, void *fn, int results, int settle, int count,
                             const uintptr_t *args) {
    pump p = {0};
    enter_pump(&p);
    job *j = start(fn, results, settle, count, args);
    if (!j) {
        PyErr_SetString(PyExc_RuntimeError, "pybridge: no thread could be started to make the call");
        keep_failure(&p);
    } else if (run_pump(&p, j, 0, until == Py_None ? NULL : until, TICK) == DONE) {
        size_t made = result_count(j);
        *code = finish(j);
        if (p.failure || *code) free_results(made); /* nobody will take them */
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
