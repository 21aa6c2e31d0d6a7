/* Julia functions as operators of symbolic graphs: libmxnet's custom operators, under the one name "pybridge".
 *
 * libmxnet asks for names, shapes and types on the thread that composes or calls a graph, and runs forward and backward
 * on threads of its own.  All of it is passed on to the owner; nothing here knows Python or Julia.
 */
#include "_trampoline.h"

/* Of libmxnet's headers: which callback is which, and what an array handed to one is for. */
enum { PROP_DELETE, PROP_ARGUMENTS, PROP_OUTPUTS, PROP_AUX, PROP_SHAPES, PROP_DEPENDENCIES, PROP_CREATE, PROP_TYPES, PROPS };
enum { TAG_INPUT, TAG_OUTPUT, TAG_INPUT_GRADIENT, TAG_OUTPUT_GRADIENT, TAG_AUX };

/* An operator in a symbol.  The owner fills what is below `id`; the names are its own, and live as long as the operator. */
typedef struct {
    int64_t id;
    int64_t function, n_args, n_outs, n_aux;
    char **args, **outs, **aux;
    void *contexts[PROPS];
    int *dependencies;
} operator;

static list dead_operators;
static atomic_long next_operator = 1, created;

EXPORT long pb_dead_operators(int64_t *out, long room) { return pop(&dead_operators, out, room); }

/* How many states of operators have been made: what binds a graph and adds to them has a Julia function in it. */
EXPORT long pb_created_states(void) { return atomic_load(&created); }

/* ---- questions ---------------------------------------------------------------------------------------------- */

static int64_t *new_question(int kind, int64_t id, int arrays) {
    int64_t *block = must(calloc(HEADER + (size_t)arrays * WORDS, sizeof *block));
    block[H_KIND] = kind;
    block[H_NODE] = id;
    block[H_INPUTS] = arrays;
    return block;
}

/* A helper asks the owner, which raises what goes wrong.  Other threads are Python's own and answer themselves; what goes
 * wrong is kept for the error text of the call that they are making, which is about to fail. */
static int ask(int64_t *block) {
    request r = {.block = block};
    block[H_DEPTH] = helper_depth();
    if (is_helper()) {
        await_answer(&r);
    } else {
        block[H_DIRECT] = (int64_t)(uintptr_t)pthread_self();
        r.outcome = answer_here(block);
    }
    return r.outcome == OK;
}

static int on_names(operator *op, char ***names, int which) {
    *names = which == PROP_ARGUMENTS ? op->args : which == PROP_OUTPUTS ? op->outs : op->aux;
    return 1;
}

static int on_arguments(char ***names, void *op) { return on_names(op, names, PROP_ARGUMENTS); }
static int on_outputs(char ***names, void *op) { return on_names(op, names, PROP_OUTPUTS); }
static int on_aux(char ***names, void *op) { return on_names(op, names, PROP_AUX); }

/* The backward may look at arguments and results: libmxnet keeps them, where they are, until it has run. */
static int on_dependencies(const int *out_grad, const int *in_data, const int *out_data, int *count, int **all, void *own) {
    operator *op = own;
    int n = 0;
    if (!op->dependencies)
        op->dependencies = must(calloc((size_t)(op->n_args + 2 * op->n_outs + 1), sizeof *op->dependencies));
    for (int64_t i = 0; i < op->n_outs; i++) op->dependencies[n++] = out_grad[i];
    for (int64_t i = 0; i < op->n_args; i++) op->dependencies[n++] = in_data[i];
    for (int64_t i = 0; i < op->n_outs; i++) op->dependencies[n++] = out_data[i];
    *count = n;
    *all = op->dependencies;
    return 1;
}

/* Arrays come as arguments, results, auxiliary states; of the results nothing is known, and libmxnet hands the shapes of
 * auxiliary states where those of results will be. */
static int on_shapes(int count, int *ndims, int **shapes, void *own) {
    operator *op = own;
    static _Thread_local int *words;
    int64_t *block = new_question(K_SHAPES, op->id, count);
    for (int i = 0; i < count; i++) {
        int from = i < op->n_args ? i : i - (int)op->n_outs;
        int64_t *a = block + HEADER + i * WORDS;
        a[A_NDIM] = i < op->n_args || i >= op->n_args + op->n_outs ? ndims[from] : -1;
        for (int64_t k = 0; k < a[A_NDIM] && k < MAXDIM; k++) a[A_DIMS + k] = shapes[from][k];
    }
    int known = ask(block);
    if (known) {
        words = must(realloc(words, sizeof *words * (size_t)(count + 1) * MAXDIM)); /* until this thread asks again */
        for (int i = 0; i < count; i++) {
            const int64_t *a = block + HEADER + i * WORDS;
            ndims[i] = (int)a[A_NDIM];
            shapes[i] = words + i * MAXDIM;
            for (int k = 0; k < ndims[i]; k++) shapes[i][k] = (int)a[A_DIMS + k];
        }
    }
    free(block);
    return known;
}

static int on_types(int count, int *types, void *own) {
    operator *op = own;
    int64_t *block = new_question(K_TYPES, op->id, count);
    for (int i = 0; i < count; i++) block[HEADER + i * WORDS + A_DTYPE] = types[i];
    int known = ask(block);
    for (int i = 0; known && i < count; i++) types[i] = (int)block[HEADER + i * WORDS + A_DTYPE];
    free(block);
    return known;
}

static int on_operator_delete(void *own) { /* on any thread */
    operator *op = own;
    pthread_mutex_lock(&mu);
    if (!forked) push(&dead_operators, op->id);
    pthread_mutex_unlock(&mu);
    atomic_fetch_sub(&live_operators, 1);
    free(op->dependencies);
    free(op);
    return 1;
}

/* ---- running ------------------------------------------------------------------------------------------------ */

static handle_t *pick(int count, handle_t *arrays, const int *tags, int first, int second, int *found) {
    handle_t *picked = must(calloc((size_t)count + 1, sizeof *picked));
    *found = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < count; i++)
            if (tags[i] == (pass ? second : first)) picked[(*found)++] = arrays[i];
    return picked;
}

static int on_forward(int count, void **arrays, int *tags, const int *reqs, const int is_train, void *state) {
    int n_in, n_out, n_aux = 0;
    for (int i = 0; i < count; i++) n_aux += tags[i] == TAG_AUX;
    handle_t *in = pick(count, arrays, tags, TAG_INPUT, TAG_AUX, &n_in);
    handle_t *out = pick(count, arrays, tags, TAG_OUTPUT, -1, &n_out);
    run_node(state, K_FORWARD, n_in, in, n_aux, n_out, out, reqs, is_train);
    /* Only the handles: they do not own the memory, which the graph keeps until the backward has run (on_dependencies). */
    for (int i = 0; i < count; i++) mx.free(arrays[i]);
    free(in);
    free(out);
    return 1;
}

static int on_backward(int count, void **arrays, int *tags, const int *reqs, const int is_train, void *state) {
    int n_in, n_out;
    handle_t *in = pick(count, arrays, tags, TAG_OUTPUT_GRADIENT, -1, &n_in);
    handle_t *out = pick(count, arrays, tags, TAG_INPUT_GRADIENT, -1, &n_out);
    run_node(state, K_BACKWARD, n_in, in, 0, n_out, out, reqs, is_train);
    for (int i = 0; i < count; i++) mx.free(arrays[i]);
    free(in);
    free(out);
    return 1;
}

typedef int (*callback)(void);

static callback running[] = {(callback)(void *)on_delete, (callback)(void *)on_forward, (callback)(void *)on_backward};

static int on_create(const char *context, int count, int **shapes, const int *ndims, const int *dtypes,
                     callback_list *state, void *own) {
    (void)context, (void)count, (void)shapes, (void)ndims, (void)dtypes;
    operator *op = own;
    node *nd = new_node(op->function);
    nd->id = new_node_number();
    atomic_fetch_add(&created, 1);
    *state = (callback_list){3, running, nd->contexts};
    return 1;
}

static callback asking[PROPS] = {
    (callback)(void *)on_operator_delete, (callback)(void *)on_arguments, (callback)(void *)on_outputs,
    (callback)(void *)on_aux,             (callback)(void *)on_shapes,    (callback)(void *)on_dependencies,
    (callback)(void *)on_create,          (callback)(void *)on_types};

/* libmxnet makes an operator "pybridge" with these attributes (registered by `_libmxnet_trampoline`). */
EXPORT int pb_new_operator(const char *name, int count, const char **keys, const char **values, callback_list *made) {
    (void)name;
    operator *op = must(calloc(1, sizeof *op));
    op->id = atomic_fetch_add(&next_operator, 1);
    int64_t *block = new_question(K_CREATE, op->id, 1);
    int64_t *a = block + HEADER;
    a[0] = (int64_t)(intptr_t)keys;
    a[1] = (int64_t)(intptr_t)values;
    a[2] = count;
    a[3] = (int64_t)(intptr_t)&op->function;
    /* Before the answer: libmxnet calls the first callback, delete, of an operator that could not be made, too. */
    for (int i = 0; i < PROPS; i++) op->contexts[i] = op;
    *made = (callback_list){PROPS, asking, op->contexts};
    atomic_fetch_add(&live_operators, 1);
    int known = ask(block);
    free(block);
    return known;
}
