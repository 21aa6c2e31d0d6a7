# Files of arrays, in the format of Python's `mx.nd.save`.

const SAVE = Waiting(:MXNDArraySave)
const LOAD = Waiting(:MXNDArrayLoad)

"""
    save(file, x::NDArray)
    save(file, xs::AbstractVector)
    save(file, named::AbstractDict)

Write arrays to a file, which [`load`](@ref) and Python's `mx.nd.load` read.
"""
save(file::AbstractString, x::NDArray) = save(file, [x])
save(file::AbstractString, xs::VecOfNDArray) = _save(String(file), xs, NO_STRINGS)
save(file::AbstractString, named::AbstractDict{<:Union{Symbol,AbstractString},<:NDArray}) =
    _save(String(file), NDArray[values(named)...], String[string(name) for name in keys(named)])

function _save(file::String, xs, names::Vector{String})
    handles, strings = _handles(xs), _c_strings(names)
    keep = (file, xs, names, handles, strings)
    GC.@preserve keep begin
        at = isempty(names) ? Ptr{Ptr{UInt8}}(C_NULL) : pointer(strings)
        _may_wait(SAVE, keep, pointer(file), length(handles), pointer(handles), at)
    end
    return nothing
end

"""
    load(file, NDArray) -> Vector{NDArray} or Dict{Symbol,NDArray}

Read the arrays of a file that [`save`](@ref) or Python's `mx.nd.save` has written: a dictionary if they have names.

```julia
using PyBridge: mx
file = tempname()
mx.save(file, Dict(:w => mx.ones(2, 3)))
size(mx.load(file, mx.NDArray)[:w]) == (2, 3)
```
"""
function load(file::AbstractString, ::Type{<:NDArray})
    path = String(file)
    n, n_names = Ref{Cuint}(0), Ref{Cuint}(0)
    handles, names = Ref{Ptr{Ptr{Cvoid}}}(C_NULL), Ref{Ptr{Ptr{UInt8}}}(C_NULL)
    keep = (path, n, n_names, handles, names)
    GC.@preserve keep _may_wait(LOAD, keep, pointer(path), _at(n), _at(handles), _at(n_names), _at(names))
    xs = _owning(Ptr{Cvoid}[unsafe_load(handles[], i) for i in 1:n[]])
    n_names[] == 0 && return xs
    return Dict{Symbol,NDArray}(Symbol(unsafe_string(unsafe_load(names[], i))) => xs[i] for i in 1:n[])
end

_at(x::Ref{T}) where {T} = Ptr{Cvoid}(Base.unsafe_convert(Ptr{T}, x))
