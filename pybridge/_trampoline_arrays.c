/* Arrays of libmxnet: described, kept alive by a second handle, made, and laid over memory of Julia. */
#include "_trampoline.h"

#include <math.h>

struct libmxnet mx;

EXPORT void pb_link(void **addresses, int count) {
    if ((size_t)count * sizeof(void *) == sizeof mx) memcpy(&mx, addresses, sizeof mx);
}

EXPORT int pb_link_count(void) { return (int)(sizeof mx / sizeof(void *)); }

/* float32, float64, float16, uint8, int32, int8, int64, bool */
static const int item_size[] = {4, 8, 2, 1, 4, 1, 8, 1};
enum { KNOWN_DTYPES = 8 };

static atomic_long pinned_bytes, copied_bytes;

EXPORT long pb_pinned_bytes(void) { return atomic_load(&pinned_bytes); }
EXPORT long pb_copied_bytes(void) { return atomic_load(&copied_bytes); }
EXPORT void pb_count_copy(long bytes) { atomic_fetch_add(&copied_bytes, bytes); }

/* ---- views of what is libmxnet's ---------------------------------------------------------------------------- */

static int64_t byte_count(const int64_t *a) {
    int64_t n = a[A_DTYPE] < KNOWN_DTYPES ? item_size[a[A_DTYPE]] : 0;
    for (int64_t i = 0; i < a[A_NDIM]; i++) n *= a[A_DIMS + i];
    return n;
}

enum { BAD_CALL = 1, BAD_STORAGE, BAD_CONTEXT, BAD_DTYPE, BAD_NDIM };

int describe(handle_t h, int64_t *a) {
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

int with_np_shape(void) {
    int before = 1, ignored;
    mx.is_np_shape(&before);
    if (!before) mx.set_np_shape(1, &ignored);
    return before;
}

void restore_np_shape(int before) {
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

/* Describe and pin `count` arrays into `block`; returns 0, or 8 * index + reason.  For the last `written` of them reads
 * that are still under way are waited for as well as writes. */
EXPORT int pb_describe(int64_t *block, handle_t *handles, int count, int written) {
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
        bad = (i >= count - written ? mx.wait_to_write : mx.wait_to_read)(handles[i]) ? BAD_CALL : describe(handles[i], a);
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

/* ---- NDArrays over what is not ------------------------------------------------------------------------------ */

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

/* ---- gradients that there are none of ----------------------------------------------------------------------- */

void fill_failed(const int64_t *a) {
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
