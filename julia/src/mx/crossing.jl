# One array in two languages: a Python NDArray and an `mx.NDArray` with the same handle. Each side frees what it holds, and
# the trampoline frees the array itself with the last of them.

"One more holder; returns whether it is the first besides the one there was."
_share(handle::Ptr{Cvoid}) = ccall(PyBridge.C_SHARE[], Cint, (Ptr{Cvoid},), handle) != 0

"The `mx.NDArray` that is the Python NDArray with this handle."
function shared_array(handle::Integer, numpy::Bool)
    at = Ptr{Cvoid}(UInt(handle))
    # When Python drops it, Julia alone may be keeping its memory: counted once, however often it comes.
    first = _share(at)
    return NDArray(at; numpy = numpy, owned = first)
end

function _from_python(::Type, x::Py)
    handle, numpy = _python().described(x)
    PythonCall.pyis(handle, PythonCall.pybuiltins.None) && return PythonCall.pyconvert_unconverted()   # sparse: stays Python's
    return PythonCall.pyconvert_return(shared_array(pyconvert(UInt, handle), pyconvert(Bool, numpy)))
end

_accept_arrays() = PythonCall.pyconvert_add_rule(
    "mxnet.ndarray.ndarray:NDArray", NDArray, _from_python, PythonCall.PYCONVERT_PRIORITY_WRAP)

"The Python NDArray that is `x`."
function PythonCall.Py(x::NDArray)
    _share(x.handle)
    return _python().array(UInt(x.handle), x.numpy)
end

PythonCall.ispy(::NDArray) = false
