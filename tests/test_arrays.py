"""One buffer, two languages: pointers, values, lifetimes, waiting and refusals of asjulia and asndarray."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from measures import address

JULIA_NAMES = {
    "float16": "Float16",
    "float32": "Float32",
    "float64": "Float64",
    "int8": "Int8",
    "int32": "Int32",
    "int64": "Int64",
    "uint8": "UInt8",
    "bool": "Bool",
}
SHAPES = [(5,), (2, 3), (2, 3, 4), (2, 1, 3, 2), (2, 3, 1, 2, 2), (1, 2, 3, 1, 2, 2)]


@pytest.fixture
def numpy_shapes(mx: ModuleType) -> Iterator[Any]:
    with mx.util.np_shape(True), mx.util.np_array(True):
        yield mx.np


def counting(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    values = np.arange(int(np.prod(shape))).reshape(shape)
    return (values % 2 if dtype == "bool" else values).astype(dtype)


def floats(layers: Any, a: Any) -> np.ndarray:
    """The values of a Julia array in memory order."""
    return np.array(layers.floats(a), dtype="float64")


# --- asjulia ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("writable", [False, True])
@pytest.mark.parametrize("dtype", JULIA_NAMES)
def test_asjulia_has_the_pointer_values_and_element_type_of_the_ndarray(pb, layers, front, dtype, writable):
    values = counting((2, 3), dtype)
    x = front.array(values, dtype=dtype)
    a = pb.asjulia(x, writable=writable)
    assert layers.address(a) == address(x)
    assert str(pb.jl.eltype(a)) == JULIA_NAMES[dtype]
    assert tuple(pb.jl.size(a)) == (3, 2)
    np.testing.assert_array_equal(floats(layers, a), values.ravel().astype("float64"))


@pytest.mark.parametrize("dtype", JULIA_NAMES)
def test_a_write_in_julia_is_read_in_python_for_every_dtype(pb, layers, front, dtype):
    x = front.array(counting((2, 3), dtype) * 0, dtype=dtype)
    layers.put(pb.asjulia(x, writable=True), 1, 3, 2)
    np.testing.assert_array_equal(x.asnumpy(), np.array([[0, 0, 0], [0, 0, 1]], dtype=dtype))


@pytest.mark.parametrize("writable", [False, True])
def test_a_write_in_python_is_read_in_julia(pb, layers, front, writable):
    x = front.zeros((2, 3))
    a = pb.asjulia(x, writable=writable)
    x[1, 0] = 7
    x.wait_to_read()
    assert layers.item(a, 1, 2) == 7
    assert floats(layers, a).sum() == 7


@pytest.mark.parametrize("writable", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=len)
def test_layout_julia_reverses_the_indices(pb, layers, front, shape, writable):
    values = counting(shape, "float64")
    x = front.array(values, dtype="float64")
    a = pb.asjulia(x, writable=writable, layout="julia")
    assert tuple(pb.jl.size(a)) == shape[::-1]
    for index in np.ndindex(*shape):
        assert layers.item(a, *(i + 1 for i in reversed(index))) == values[index]


@pytest.mark.parametrize("writable", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=len)
def test_layout_python_keeps_the_indices_without_a_copy(pb, layers, front, shape, writable):
    values = counting(shape, "float64")
    x = front.array(values, dtype="float64")
    a = pb.asjulia(x, writable=writable, layout="python")
    assert tuple(pb.jl.size(a)) == shape
    assert layers.address(a) == address(x)
    for index in np.ndindex(*shape):
        assert layers.item(a, *(i + 1 for i in index)) == values[index]


def test_a_write_through_layout_python_lands_at_the_same_index(pb, layers, front):
    x = front.zeros((2, 3, 4))
    layers.put(pb.asjulia(x, writable=True, layout="python"), 9, 2, 1, 3)
    expected = np.zeros((2, 3, 4))
    expected[1, 0, 2] = 9
    np.testing.assert_array_equal(x.asnumpy(), expected)


def test_a_writable_view_is_a_plain_julia_array(pb, mx, layers):
    assert pb.jl.isa(pb.asjulia(mx.nd.zeros((2, 3)), writable=True), pb.jl.Array)
    assert pb.jl.isa(pb.asjulia(mx.nd.zeros((2, 3))), pb.jl.AbstractArray)


def test_views_are_read_only_unless_asked_otherwise(pb, mx, layers):
    x = mx.nd.array([[1.0, 2.0], [3.0, 4.0]])
    a = pb.asjulia(x)
    for i in range(1, layers.nwrites(a) + 1):
        with pytest.raises(pb.JuliaError):
            layers.attempt(a, i)
    np.testing.assert_array_equal(x.asnumpy(), [[1, 2], [3, 4]])


def test_layout_python_is_read_only_too(pb, mx, layers):
    x = mx.nd.array([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(pb.JuliaError):
        layers.put(pb.asjulia(x, layout="python"), 9.0, 1, 1)
    np.testing.assert_array_equal(x.asnumpy(), [[1, 2], [3, 4]])


def test_a_read_only_view_cannot_be_written_from_python(pb, mx):
    x = mx.nd.array([1.0, 2.0])
    a = pb.asjulia(x)
    with pytest.raises(Exception, match=r"(?i)read.?only|setindex|assign"):
        a[0] = 9.0
    array = np.asarray(a)
    if array.flags.writeable:  # then it is a copy
        array[0] = 9.0
    np.testing.assert_array_equal(x.asnumpy(), [1, 2])


def test_a_slice_of_an_ndarray_crosses_with_its_own_offset(pb, mx, layers):
    x = mx.nd.arange(12).reshape((4, 3))
    part = x[1:3]
    a = pb.asjulia(part, writable=True)
    assert layers.address(a) == address(x) + 3 * 4
    assert tuple(pb.jl.size(a)) == (3, 2)
    layers.fillwith(a, -1)
    np.testing.assert_array_equal(x.asnumpy(), [[0, 1, 2], [-1] * 3, [-1] * 3, [9, 10, 11]])


def test_zero_size_arrays_become_julia_arrays_of_that_size(pb, layers, numpy_shapes):
    for shape in [(0,), (0, 3), (2, 0, 4)]:
        x = numpy_shapes.zeros(shape)
        assert tuple(pb.jl.size(pb.asjulia(x))) == shape[::-1]
        assert tuple(pb.jl.size(pb.asjulia(x, layout="python"))) == shape
        assert tuple(pb.jl.size(pb.asjulia(x, writable=True))) == shape[::-1]


def test_zero_dimensional_arrays_become_zero_dimensional_julia_arrays(pb, layers, numpy_shapes):
    x = numpy_shapes.array(2.5)
    assert x.shape == ()
    for layout in ("julia", "python"):
        a = pb.asjulia(x, writable=True, layout=layout)
        assert pb.jl.ndims(a) == 0
        assert layers.address(a) == address(x)
        assert floats(layers, a) == [2.5]
    layers.fillwith(pb.asjulia(x, writable=True), 4)
    assert float(x) == 4


# --- asndarray --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("np_array", [False, True])
@pytest.mark.parametrize("dtype", JULIA_NAMES)
def test_asndarray_has_the_pointer_values_and_dtype_of_the_julia_array(pb, mx, layers, dtype, np_array):
    if dtype == "bool":
        a = pb.jl.seval("Bool[0 1; 1 1; 0 1]")
        expected = [[0, 1, 0], [1, 1, 1]]
    else:
        a = layers.matrix(pb.jl.seval(JULIA_NAMES[dtype]), 3, 2)
        expected = [[0, 1, 2], [3, 4, 5]]
    x = pb.asndarray(a, np=np_array)
    assert address(x) == layers.address(a)
    assert x.shape == (2, 3)
    assert np.dtype(x.dtype) == np.dtype(dtype)
    assert type(x) is (mx.np.ndarray if np_array else mx.nd.NDArray)
    np.testing.assert_array_equal(x.asnumpy(), np.array(expected, dtype=dtype))


@pytest.mark.parametrize("shape", SHAPES, ids=len)
def test_asndarray_reverses_the_size(pb, layers, shape):
    a = layers.matrix(pb.jl.Float32, *shape[::-1])
    x = pb.asndarray(a)
    np.testing.assert_array_equal(x.asnumpy(), counting(shape, "float32"))


def test_writes_cross_an_imported_array_both_ways(pb, mx, layers):
    a = pb.jl.zeros(pb.jl.Float64, 3, 2)
    x = pb.asndarray(a)
    layers.put(a, 5, 3, 1)
    np.testing.assert_array_equal(x.asnumpy(), [[0, 0, 5], [0, 0, 0]])
    x[1, 0] = 8
    x.wait_to_read()
    assert layers.item(a, 1, 2) == 8


def test_an_imported_array_can_be_computed_with_and_differentiated(pb, mx):
    x = pb.asndarray(pb.jl.seval("Float64[1, 2, 3]"))
    pb.attach_grad(x)
    with pb.record():
        y = mx.nd.square(x)
    pb.backward(y)
    np.testing.assert_array_equal(y.asnumpy(), [1, 4, 9])
    np.testing.assert_array_equal(pb.getgrad(x).asnumpy(), [2, 4, 6])


def test_zero_size_and_zero_dimensional_julia_arrays_become_np_arrays(pb, numpy_shapes):
    assert pb.asndarray(pb.jl.seval("zeros(Float32, 3, 0)"), np=True).shape == (0, 3)
    scalar = pb.asndarray(pb.jl.seval("fill(2.5)"), np=True)
    assert scalar.shape == ()
    assert float(scalar) == 2.5


@pytest.mark.parametrize("code", ["zeros(Float32, 3, 0)", "fill(2.5)"])
def test_zero_size_and_zero_dimensional_arrays_that_mx_nd_cannot_have_are_refused_with_the_way_out(pb, code):
    with pytest.raises(ValueError, match=r"np_shape|set_np|np=True|mx\.np"):
        pb.asndarray(pb.jl.seval(code))


def test_a_round_trip_keeps_the_pointer(pb, mx, layers):
    a = pb.jl.seval("Float32[1 2; 3 4]")
    assert layers.address(pb.asjulia(pb.asndarray(a))) == layers.address(a)
    x = mx.nd.array([[1, 2], [3, 4]])
    assert address(pb.asndarray(pb.asjulia(x, writable=True))) == address(x)


# --- waiting for the engine -------------------------------------------------------------------------------


def slow_product(mx: ModuleType, last: Any) -> Any:
    """A product that ends in ``last``, behind a fifth of a second of work."""
    eye = mx.nd.eye(last.shape[0])
    product = eye
    for _ in range(6):
        product = mx.nd.dot(product, eye)
    return mx.nd.dot(product, last)


def test_reading_waits_for_pending_writes(pb, mx, layers):
    ones = mx.nd.ones((1200, 1200))
    ones.wait_to_read()
    for _ in range(3):
        pending = slow_product(mx, ones)
        assert floats(layers, pb.asjulia(pending)).sum() == 1200 * 1200


def test_writing_waits_for_pending_reads_and_writes(pb, mx, layers):
    x = mx.nd.ones((1200, 1200))
    x.wait_to_read()
    for _ in range(3):
        product = slow_product(mx, x)  # still has to read x
        layers.fillwith(pb.asjulia(x, writable=True), 5)
        np.testing.assert_array_equal(product.asnumpy(), 1)
        x[:] = slow_product(mx, mx.nd.ones((1200, 1200)))  # still has to write x
        a = pb.asjulia(x, writable=True)
        layers.fillwith(a, 5)
        mx.nd.waitall()
        np.testing.assert_array_equal(x.asnumpy(), 5)
        x[:] = 1


# --- lifetimes --------------------------------------------------------------------------------------------


def overwrite_free_memory(pb: ModuleType, mx: ModuleType, shape: tuple[int, ...]) -> None:
    """What was freed by mistake is taken again by others, and overwritten."""
    gc.collect()
    pb.jl.GC.gc()
    mx.nd.waitall()
    for value in range(-40, 0):
        mx.nd.full(shape, value, dtype="float64").wait_to_read()
        pb.jl.fill(float(value), *shape)


@pytest.mark.parametrize("layout", ["julia", "python"])
@pytest.mark.parametrize("writable", [False, True])
def test_a_julia_view_keeps_the_memory_of_a_dropped_ndarray(pb, mx, layers, front, writable, layout):
    values = np.arange(600.0).reshape(20, 30)
    a = pb.asjulia(front.array(values, dtype="float64"), writable=writable, layout=layout)
    overwrite_free_memory(pb, mx, (20, 30))
    np.testing.assert_array_equal(floats(layers, a).sum(), values.sum())
    assert layers.item(a, 1, 1) == 0
    assert layers.item(a, *((30, 20) if layout == "julia" else (20, 30))) == 599


def test_a_view_that_only_julia_knows_keeps_the_memory(pb, mx, layers):
    layers.forget()
    pb.jl.push_b(layers.KEPT, pb.asjulia(mx.nd.array(np.arange(600.0), dtype="float64")))
    overwrite_free_memory(pb, mx, (600,))
    np.testing.assert_array_equal(np.array(layers.kept(1)), np.arange(600.0))
    layers.forget()


def test_an_ndarray_keeps_the_memory_of_a_dropped_julia_array(pb, mx, layers):
    x = pb.asndarray(layers.matrix(pb.jl.Float64, 30, 20))
    overwrite_free_memory(pb, mx, (20, 30))
    np.testing.assert_array_equal(x.asnumpy(), np.arange(600.0).reshape(20, 30))


def test_a_result_that_depends_on_an_imported_array_keeps_it_until_computed(pb, mx, layers):
    n = 1200
    product = slow_product(mx, pb.asndarray(pb.jl.ones(pb.jl.Float32, n, n)))
    overwrite_free_memory(pb, mx, (n,))
    np.testing.assert_array_equal(product.asnumpy(), 1)


def test_a_julia_array_is_freed_after_its_last_ndarray(pb, mx, layers):
    before = layers.alive()
    x = pb.asndarray(layers.counted_array(1000))
    part = x[10:20]
    del x
    gc.collect()
    mx.nd.waitall()
    pb.jl.GC.gc()
    assert layers.alive() == before + 1
    np.testing.assert_array_equal(part.asnumpy(), 0)
    del part
    for _ in range(20):
        gc.collect()
        mx.nd.waitall()
        pb.asndarray(pb.jl.zeros(2))  # a call of pybridge on the owner lets go of what libmxnet has freed
        pb.jl.GC.gc()
        if layers.alive() == before:
            break
    assert layers.alive() == before


@pytest.mark.parametrize("how", ["resize!(v, 10^6)", "push!(v, 1f0)", "append!(v, zeros(Float32, 10^6))"])
def test_a_julia_vector_under_an_ndarray_cannot_be_moved(pb, how):
    v = pb.jl.seval("collect(Float32, 1:10)")
    where = pb.jl.seval("v -> Int(pointer(v))")
    a, before = pb.asndarray(v), where(v)
    with contextlib.suppress(pb.JuliaError):  # refused, or done elsewhere
        pb.jl.seval(f"v -> ({how}; nothing)")(v)
    assert where(v) == before or a.asnumpy().tolist() == list(range(1, 11))
    assert a.shape == (10,)


# --- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("thing", [[1.0, 2.0], np.ones(3), None, "x", 3.0], ids=lambda v: type(v).__name__)
def test_asjulia_refuses_what_is_no_ndarray(pb, thing):
    with pytest.raises(TypeError, match=r"NDArray") as info:
        pb.asjulia(thing)
    assert type(thing).__name__ in str(info.value)


@pytest.mark.parametrize("thing", [[1.0, 2.0], None, "x", 3.0], ids=lambda v: type(v).__name__)
def test_asndarray_refuses_what_is_no_julia_array(pb, thing):
    with pytest.raises(TypeError, match=r"(?i)julia.*array"):
        pb.asndarray(thing)


def test_asndarray_refuses_a_julia_value_that_is_no_array(pb):
    with pytest.raises(TypeError, match=r"Dict"):
        pb.asndarray(pb.jl.Dict())


@pytest.mark.parametrize("name", ["Complex", "Int16", "UInt32", "String", "Any"])
def test_asndarray_refuses_element_types_that_libmxnet_does_not_have(pb, name):
    with pytest.raises((TypeError, ValueError), match=name):
        pb.asndarray(pb.jl.seval(f"Vector{{{name}{'{Float64}' * (name == 'Complex')}}}(undef, 3)"))


@pytest.mark.parametrize("code", ["view(zeros(4, 4), 1:2:4, :)", "zeros(3, 2)'"])
def test_asndarray_refuses_arrays_whose_memory_it_cannot_share_rather_than_copying(pb, code):
    with pytest.raises((TypeError, ValueError), match=r"(?i)copy|collect|Array\("):
        pb.asndarray(pb.jl.seval(code))


def test_an_unknown_layout_is_refused_with_the_known_ones(pb, mx):
    with pytest.raises(ValueError, match=r"(?s)(julia.*python|python.*julia)"):
        pb.asjulia(mx.nd.ones((2, 2)), layout="fortran")


@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_sparse_arrays_are_refused_with_the_way_out(pb, mx, stype):
    with pytest.raises((TypeError, ValueError), match=r"sparse.*tostype\(.default.\)"):
        pb.asjulia(mx.nd.ones((2, 2)).tostype(stype))


def test_arrays_on_a_gpu_are_refused_with_the_way_out(pb, mx):
    # Allocation delayed for ever: an array on a GPU that this build of libmxnet does not have.
    handle = mx.nd.ndarray._new_alloc_handle((2, 3), mx.gpu(0), True, np.float32)
    with pytest.raises((TypeError, ValueError), match=r"(?is)gpu.*(as_in_context|as_in_ctx|copyto)"):
        pb.asjulia(mx.nd.NDArray(handle))
