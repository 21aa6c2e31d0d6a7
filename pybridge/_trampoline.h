/* What the files of the trampoline share.
 *
 * One module, lowest file first: `_trampoline_state.c` has what there is once, `_trampoline_arrays.c` describes and
 * keeps arrays, `_trampoline_shared.c` counts who holds those of both languages, `_trampoline_values.c` frees Julia
 * values where they may be freed, `_trampoline_helpers.c` has threads that make calls for the owner,
 * `_trampoline_signals.c` passes a signal of Julia's on, `_trampoline_pump.c` serves on the owner meanwhile,
 * `_trampoline_requests.c` is how others ask the owner, `_trampoline_nodes.c` is what libmxnet's own threads run,
 * `_trampoline_operators.c` makes Julia functions operators of symbolic graphs, `_trampoline_hooks.c` tells Python
 * of operators that run, `_trampoline.c` makes Julia functions nodes of the autograd tape. Each uses only those
 * before it.
 *
 * One mutex, `mu`, guards every list.  No call into libmxnet, Python or Julia is made while it is held: libmxnet may
 * call back (delete) from inside any of its functions.
 */
#ifndef PYBRIDGE_TRAMPOLINE_H
#define PYBRIDGE_TRAMPOLINE_H

#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default"))) /* what ctypes calls; all else is hidden */

/* ---- libmxnet, as far as it is used here -------------------------------------------------------------------- */

typedef void *handle_t;

typedef struct {
    int num_callbacks;
    int (**callbacks)(void);
    void **contexts;
} callback_list;

/* Function addresses, in the order of `_libmxnet_trampoline.TRAMPOLINE_CALLS`. */
extern struct libmxnet {
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

/* ---- the block: memory that C, Python and Julia all see ------------------------------------------------------
 * A header of HEADER words, then one descriptor of WORDS words per array.  Mirrored in julia/src/block.jl. */

enum { HEADER = 16, WORDS = 24, MAXDIM = 16, MAXRESULTS = 64 };
enum { H_FUNCTION, H_NODE, H_FLAGS, H_INPUTS, H_OUTPUTS, H_STAGED, H_SEVERAL,
       H_STATUS, H_ROOM, H_CALL, H_DEPTH, H_KIND, H_DIRECT, H_WRITTEN };
enum { A_HANDLE, A_DATA, A_DTYPE, A_NDIM, A_REQ, A_PIN, A_BYTES, A_CONTEXT, A_DIMS };
/* What a request is for: calls of Julia, and questions about operators of symbolic graphs. */
enum { K_BACKWARD, K_FORWARD, K_WORK, K_CREATE, K_SHAPES, K_TYPES };
enum { FLAG_TRAINING = 1, FLAG_RECORDING = 2, FLAG_NUMPY = 4, FLAG_NP_SHAPE = 8 };

/* ---- requests and nodes ------------------------------------------------------------------------------------- */

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

/* What stands for a Julia call in a graph of libmxnet: a custom function on the tape, or the state of an operator. */
typedef struct node {
    int64_t id, function;
    long served_in; /* the owner's backward that served it last */
    int depth;      /* how deep in served callbacks it was made */
    pthread_t recorder;
    int holding, dead; /* while MXCustomFunctionRecord runs */
    callback_list callbacks; /* libmxnet keeps the address */
    void *contexts[3];
} node;

typedef struct {
    int64_t *items;
    size_t count, room;
} list;

/* ---- from _trampoline_state.c ------------------------------------------------------------------------------- */

extern pthread_mutex_t mu;
extern pthread_cond_t to_owner;
extern _Atomic(request *) queue;
extern request *queue_end, *taken;
extern int owner_jobs; /* calls that helpers make for the owner */
extern int settling;   /* it waits for nodes to go */
extern long backward_number, served_nodes; /* the owner's last backward, and the live nodes that it has served */
extern int64_t served_bytes;               /* the size of their arrays */
extern atomic_long live_nodes;
extern atomic_long live_operators;    /* Julia operators in symbols */
extern atomic_int attending; /* depth of pumps on the owner's stack */
extern double last_attended; /* when it last did */
extern int serving;          /* depth of requests being served on the owner */
extern int have_owner, closing, forked;
extern list dead_nodes, dead_roots;

double now(void);                              /* seconds */
void wait_until(pthread_cond_t *c, double at); /* with mu held; `at` as told by now() */
void new_cond(pthread_cond_t *c);

/* To wake a thread that sleeps takes 10 to 50 µs.  Who will be called again soon looks out for so many seconds before it
 * sleeps, and gives way to whoever has work. */
#define LOOKOUT 200e-6
void *must(void *p);              /* an allocation of a few bytes; ends the process without memory */
void push(list *l, int64_t item); /* with mu held */
long pop(list *l, int64_t *out, long room);
int64_t thread_number(void);      /* the system's, of this thread */
void note_outcome(request *r, int outcome); /* with mu held */
EXPORT int pb_is_owner(void);

/* ---- from _trampoline_arrays.c ------------------------------------------------------------------------------ */

int describe(handle_t h, int64_t *a); /* a descriptor of `h` into `a`; 0, or why not */
void fill_failed(const int64_t *a);   /* what a gradient holds when there is none: NaN, integers 0 */
int with_np_shape(void);              /* shapes with zeros in them are shapes, until restored */
void restore_np_shape(int before);
EXPORT int pb_describe(int64_t *block, handle_t *handles, int count, int written);
EXPORT void pb_release_block(int64_t *block);
EXPORT int pb_is_training(void);

/* ---- from _trampoline_shared.c ------------------------------------------------------------------------------ */

EXPORT int pb_free_array(handle_t h);
void hold_shared(void); /* around a fork */
void release_shared(void);

/* ---- from _trampoline_helpers.c ----------------------------------------------------------------------------- */

typedef struct job {
    struct job *next;
    uintptr_t (*fn)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                    uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    uintptr_t args[12];
    /* Which arguments get pointers to a thread's own storage. 1: 8 and 9 (MXAutogradBackwardEx); above: 4, and this one
     * (operators); 0: none. */
    int results;
    int settle;  /* wait for the results of operators, too */
    void *given; /* of a call of operators: the outputs that the caller gave, if any */
    bool recording, training;
    int np_shape, bulk;
    atomic_int done;
    int rc;
    char *error;
    handle_t *handles;
    int *stypes;
} job;

/* NULL if no thread could be started */
job *start(void *fn, int results, int settle, int count, const uintptr_t *args);
int finish(job *j);         /* take leave of a job that is done; returns its code */
size_t result_count(const job *j);
void free_results(size_t count); /* of the job with results that was finished last */
void abandon(const job *j); /* the owner no longer waits for it */
char *take_job_error(void); /* of the job that was finished last; the caller's to free */
void give_job_error(char *text);
int helper_depth(void);    /* of serving, that the calling helper works for; 0 on other threads */
int is_helper(void);
void forget_helpers(void); /* in a forked child */

/* ---- from _trampoline_pump.c -------------------------------------------------------------------------------- */

PyObject *take_raised(void);     /* the exception that Python has raised, with its traceback */
int serve_here(int64_t *block);  /* a callback that arrived on the owner itself */
int answer_here(int64_t *block); /* a question that a thread of Python has */

/* ---- from _trampoline_values.c ------------------------------------------------------------------------------ */

void forget_values(void); /* in a forked child */

/* ---- from _trampoline_requests.c ---------------------------------------------------------------------------- */

void await_answer(request *r); /* ask the owner, from another thread; the outcome is in `r` */
void note_orphan(void);        /* a callback has come to a forked child */
void watch_forks(void);

/* ---- from _trampoline_nodes.c ------------------------------------------------------------------------------- */

node *new_node(int64_t function);
int64_t new_node_number(void);
void node_gone(node *nd); /* its number is for Julia to forget; frees it */
int on_delete(void *state);
/* Have the owner run `kind` of a node; outputs are as after a failure when it could not. */
int run_node(node *nd, int kind, int n_in, handle_t *in, int n_written, int n_out, handle_t *out, const int *reqs,
             int is_train);

#endif
