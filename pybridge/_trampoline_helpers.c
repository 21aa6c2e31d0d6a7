/* Helpers: threads that make the calls which can bring callbacks about, or block, while the owner pumps. They run neither
 * Python nor Julia. */
#include "_trampoline.h"

#include <signal.h>

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

/* Results lie in this thread's own storage, which its next call overwrites: that can come before the
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

/* The results of operators are waited for, so that the callbacks they depend on have come when the job is done. */
static int wait_for_results(job *j) {
    size_t n = (size_t) * (int *)j->args[3];
    const handle_t *results = j->given ? j->given : j->handles;
    int failed = 0;
    for (size_t i = 0; i < n; i++)
        if (mx.wait_to_read(results[i]) && !failed++) j->error = error_text();
    return failed ? -1 : 0;
}

static void run(job *j) {
    int ignored;
    uintptr_t *a = j->args;
    adopt_state(j);
    if (j->results > 1) j->given = *(void **)a[4];
    j->rc = (int)j->fn(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
    if (j->rc) j->error = error_text();
    if (j->results > 1 && !j->rc && !j->given) copy_results(j, (size_t) * (int *)a[3], 4, j->results);
    mx.set_bulk(0, &ignored); /* pushes what this thread still holds back in a bulk */
    if (j->settle && !j->rc) j->rc = wait_for_results(j);
    if (j->results == 1 && !j->rc && a[3] && a[8]) copy_results(j, (uint32_t)a[3], 8, 9);
}

/* libmxnet's temporary memory belongs to a thread, and operators that wait hold it.  What a served callback does must
 * never wait for the memory of the backward that waits for the callback: each depth of serving has helpers of its own. */
typedef struct helper {
    struct helper *next;
    int depth;
    _Atomic(job *) job;
    pthread_cond_t called;
} helper;

static helper *idle_helpers;
static _Thread_local int own_depth = -1;

int helper_depth(void) { return own_depth < 0 ? 0 : own_depth; }

int is_helper(void) { return own_depth >= 0; }

static void *help(void *own) {
    helper *h = own;
    own_depth = h->depth;
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
        double until = now() + LOOKOUT;
        while (!atomic_load(&h->job) && now() < until) sched_yield();
        pthread_mutex_lock(&mu);
        while (!h->job) pthread_cond_wait(&h->called, &mu);
        pthread_mutex_unlock(&mu);
    }
    return NULL;
}

void forget_helpers(void) { idle_helpers = NULL; }

static helper *idle_helper(int depth) { /* with mu held */
    for (helper **p = &idle_helpers; *p; p = &(*p)->next)
        if ((*p)->depth == depth) {
            helper *h = *p;
            *p = h->next;
            return h;
        }
    return NULL;
}

void abandon(const job *j) {
    (void)j;
    pthread_mutex_lock(&mu);
    owner_jobs--;
    atomic_fetch_sub(&attending, 1);
    last_attended = now();
    pthread_mutex_unlock(&mu);
}

job *start(void *fn, int results, int settle, int count, const uintptr_t *args) {
    job *j = must(calloc(1, sizeof *j));
    int ignored;
    memcpy(&j->fn, &fn, sizeof fn);
    memcpy(j->args, args, (size_t)count * sizeof *args);
    j->results = results == 1 && count != 10 ? 0 : results;
    j->settle = settle;
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

char *take_job_error(void) {
    char *text = finished_error;
    finished_error = NULL;
    return text;
}

void give_job_error(char *text) {
    free(finished_error);
    finished_error = text;
}

/* The caller reads the result handles after `finish` returns, as it reads libmxnet's: valid until the next. */
static handle_t *last_handles;
static int *last_stypes;

int finish(job *j) {
    int rc = j->rc;
    abandon(j);
    if (j->handles) {
        free(last_handles);
        free(last_stypes);
        last_handles = j->handles;
        last_stypes = j->stypes;
    }
    give_job_error(j->error);
    free(j);
    return rc;
}

void free_results(size_t count) {
    for (size_t i = 0; i < count; i++) mx.free(last_handles[i]);
}

size_t result_count(const job *j) { /* those that libmxnet made for its caller */
    return !j->handles ? 0 : j->results == 1 ? (uint32_t)j->args[3] : (size_t) * (int *)j->args[3];
}
