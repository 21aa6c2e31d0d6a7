/* Nodes: what stands for a Julia call in a graph of libmxnet, and how a callback of one is run. */
#include "_trampoline.h"

static atomic_long next_node = 1;

int64_t new_node_number(void) { return atomic_fetch_add(&next_node, 1); }

node *new_node(int64_t function) {
    node *nd = must(calloc(1, sizeof *nd));
    nd->function = function;
    nd->recorder = pthread_self();
    nd->depth = pb_is_owner() ? serving : helper_depth();
    nd->contexts[0] = nd->contexts[1] = nd->contexts[2] = nd;
    atomic_fetch_add(&live_nodes, 1);
    return nd;
}

void node_gone(node *nd) {
    pthread_mutex_lock(&mu);
    if (!forked) push(&dead_nodes, nd->id);
    atomic_fetch_sub(&live_nodes, 1);
    if (nd->served_in == backward_number) served_nodes--;
    int wake = settling;
    pthread_mutex_unlock(&mu);
    if (wake) pthread_cond_broadcast(&to_owner);
    free(nd);
}

int on_delete(void *state) { /* on any thread */
    node *nd = state;
    pthread_mutex_lock(&mu);
    int holding = nd->holding;
    if (holding) nd->dead = 1;
    pthread_mutex_unlock(&mu);
    if (!holding) node_gone(nd);
    return 1;
}

int run_node(node *nd, int kind, int n_in, handle_t *in, int n_written, int n_out, handle_t *out, const int *reqs,
             int is_train) {
    int n = n_in + n_out, np = with_np_shape(), bad = 0;
    int64_t *block = must(calloc(HEADER + (size_t)n * WORDS, sizeof *block));
    block[H_KIND] = kind;
    block[H_NODE] = nd->id;
    block[H_DEPTH] = nd->depth;
    block[H_FUNCTION] = nd->function;
    block[H_FLAGS] = (is_train ? FLAG_TRAINING : 0) | FLAG_NP_SHAPE;
    block[H_INPUTS] = n_in;
    block[H_OUTPUTS] = n_out;
    block[H_WRITTEN] = n_written;
    request r = {.block = block, .node = nd};
    for (int i = 0; i < n; i++) {
        int64_t *a = block + HEADER + i * WORDS;
        int reason = describe(i < n_in ? in[i] : out[i - n_in], a);
        if (i >= n_in) a[A_REQ] = reqs[i - n_in];
        r.bytes += a[A_BYTES];
        if (reason && !(i >= n_in && a[A_REQ] == 0)) bad = 1;
    }
    restore_np_shape(np);

    block[H_STATUS] = bad;
    if (pb_is_owner() && !forked)
        r.outcome = serve_here(block);
    else
        await_answer(&r);
    if (r.outcome)
        for (int i = n_in; i < n; i++) fill_failed(block + HEADER + i * WORDS);
    free(block);
    if (forked) note_orphan();
    return r.outcome;
}
