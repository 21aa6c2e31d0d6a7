/* The hook of cached operators that are watched: from libmxnet to a function of Python with as little as can be between
 * them, for it is called for every operator.  libmxnet calls it on the thread that makes the call, which is one of Python's
 * (who hears of it is known there), or a helper (then the owner is asked to call it again). */
#include "_trampoline.h"

static PyObject *no_arguments, *handle_type; /* (), ctypes.c_void_p */
static PyObject *plain_type;                 /* mx.nd.NDArray, which has slots and nothing else */
static PyObject *make_sparse;                /* what makes an array of a handle, whatever its storage */
static PyObject *from_helper;                /* Python's way to the owner: (node, operator, address of the array) */
static char *own;                            /* part of the names of nodes that are nobody's concern */
static PyObject *handle_name, *writable_name;

/* Of the call that this thread makes. */
static _Thread_local PyObject *heard;   /* called with node, operator and array */
static _Thread_local PyObject *kind;    /* the class of dense arrays */
static _Thread_local PyObject *failure; /* the first; of the rest of the call nobody hears */

EXPORT void pb_hooks_with(PyObject *pointer, PyObject *plain, PyObject *sparse, PyObject *helped, const char *part) {
    Py_INCREF(handle_type = pointer);
    Py_INCREF(plain_type = plain);
    Py_INCREF(make_sparse = sparse);
    Py_INCREF(from_helper = helped);
    own = must(strdup(part));
    no_arguments = must(PyTuple_New(0));
    handle_name = must(PyUnicode_InternFromString("handle"));
    writable_name = must(PyUnicode_InternFromString("writable"));
}

/* An NDArray without a handle. Most callbacks keep none, and one that goes on need not be freed: that is a __del__ in
 * Python. */
static PyObject *spare;

static PyObject *dense_array(PyObject *handle) { /* what its __init__ does */
    PyObject *array = kind == plain_type ? spare : NULL;
    if (array)
        spare = NULL;
    else
        array = ((newfunc)PyType_GetSlot((PyTypeObject *)kind, Py_tp_new))((PyTypeObject *)kind, no_arguments, NULL);
    if (!array) return NULL;
    PyObject_SetAttr(array, handle_name, handle); /* slots of its own: cannot fail */
    PyObject_SetAttr(array, writable_name, Py_True);
    return array;
}

/* The array that owns `h`; NULL: that is still the caller's to free. */
static PyObject *new_array(handle_t h) {
    int storage = 0;
    mx.storage(h, &storage);
    PyObject *address = PyLong_FromVoidPtr(h), *array = NULL;
    PyObject *handle = address ? PyObject_CallFunctionObjArgs(handle_type, address, NULL) : NULL;
    if (handle) array = storage > 0 ? PyObject_CallFunctionObjArgs(make_sparse, handle, NULL) : dense_array(handle);
    Py_XDECREF(address);
    Py_XDECREF(handle);
    return array;
}

static void drop_array(PyObject *array, handle_t h) {
    if (!spare && Py_REFCNT(array) == 1 && (PyObject *)Py_TYPE(array) == plain_type) {
        PyObject_SetAttr(array, handle_name, Py_None);
        pb_free_array(h); /* Julia may hold it, too */
        spare = array;
    } else {
        Py_DECREF(array);
    }
}

static void tell(const char *node, const char *operator, handle_t h) { /* with the GIL held */
    PyObject *array = new_array(h), *name = NULL, *type = NULL, *result = NULL;
    if (!array) mx.free(h);
    if (array && (name = PyUnicode_FromString(node)) && (type = PyUnicode_FromString(operator)))
        result = PyObject_CallFunctionObjArgs(heard, name, type, array, NULL);
    if (!result) failure = take_raised();
    Py_XDECREF(result);
    Py_XDECREF(type);
    Py_XDECREF(name);
    if (array) drop_array(array, h);
}

EXPORT void pb_on_operator(const char *node, const char *operator, handle_t array) {
    int helped = !heard && is_helper();
    if ((!heard && !helped) || failure || strstr(node, own)) {
        mx.free(array);
        return;
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    if (helped) {
        PyObject *result = PyObject_CallFunction(from_helper, "yyL", node, operator, (long long)(intptr_t)array);
        if (!result) PyErr_WriteUnraisable(from_helper);
        Py_XDECREF(result);
    } else {
        tell(node, operator, array);
    }
    PyGILState_Release(gil);
}

/* From now on `who` hears of the operators of the call that this thread makes. */
EXPORT void pb_listen(PyObject *who, PyObject *dense) {
    Py_INCREF(heard = who);
    Py_INCREF(kind = dense);
}

/* The call is over: what was raised, or None. */
EXPORT PyObject *pb_heard(void) {
    PyObject *first = failure;
    Py_CLEAR(heard);
    Py_CLEAR(kind);
    failure = NULL;
    if (first) return first;
    Py_INCREF(Py_None);
    return Py_None;
}
