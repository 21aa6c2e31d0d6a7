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

static int on_backward(int n_ograds, int n_igrads, void **handles, const int *reqs, int is_train, void *state) {
    run_node(state, K_BACKWARD, n_ograds, handles, 0, n_igrads, handles + n_ograds, reqs, is_train);
    for (int i = 0; i < n_ograds + n_igrads; i++) mx.free(handles[i]);
    /* Success in any case: libmxnet's error slot for custom operators is global, another could take the blame. */
    return 1;
}

static int (*callbacks[])(void) = {(int (*)(void))(void *)on_backward, (int (*)(void))(void *)on_delete};

/* Make the arrays `outputs` the results of node `id`, in the graph that is being recorded. */
static int record_node(int64_t id, int64_t function, int n_inputs, handle_t *inputs, int n_outputs, handle_t *outputs) {
    node *nd = new_node(function);
    nd->id = id;
    nd->holding = 1;
    nd->callbacks = (callback_list){2, callbacks, nd->contexts};
    int rc = mx.record(n_inputs, inputs, n_outputs, outputs, &nd->callbacks);
    pthread_mutex_lock(&mu);
    int gone = nd->dead || rc;
    nd->holding = 0;
    pthread_mutex_unlock(&mu);
    if (gone) node_gone(nd);
    return rc;
}

/* Open a call: describe its arrays, of which the last `written` may be written to; if this thread records, give it a node
 * and turn recording off meanwhile. */
EXPORT int pb_open_call(int64_t *block, handle_t *handles, int count, int written) {
    int bad = pb_describe(block, handles, count, written), ignored;
    if (bad) return bad;
    block[H_WRITTEN] = written;
    if (block[H_FLAGS] & FLAG_RECORDING) {
        block[H_NODE] = new_node_number();
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
        watch_forks();
    }
    return PyModule_Create(&module);
}
