/* Julia values that die on other threads than the owner. What is here runs on threads of Python, with the GIL held. */
#include "_trampoline.h"

static PyObject **dead_values;
static size_t dead_value_count, dead_value_room;

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

void forget_values(void) {
    dead_values = NULL;
    dead_value_count = dead_value_room = 0;
}
