# Calls of libmxnet's C functions.
#
# Most neither wait nor bring callbacks about, and are plain calls (`@mxcall`). The others (`_may_wait`) give the GIL back
# meanwhile; inside a served callback, and wherever Julia functions could be called back, Python's side of the dispatch
# makes them, as it makes Python's own.

const LIBMXNET = Ref{Ptr{Cvoid}}(C_NULL)
const LIVE_NODES = Ref{Ptr{Clong}}(C_NULL)      # Julia functions in recorded graphs
const SERVING = Ref{Ptr{Cint}}(C_NULL)          # depth of served callbacks on the owner
const WATCHED = Ref{Ptr{Cint}}(C_NULL)          # does anything of Python's stand around a backward?
const DISPATCH = Ref{Any}(nothing)              # pybridge._dispatch.from_julia

abstract type AbstractMXError <: Exception end

"""
    MXError(msg)

What libmxnet reports when a call of it fails.
"""
struct MXError <: AbstractMXError
    msg::String
end
Base.showerror(io::IO, e::MXError) = print(io, e.msg)

function link!(path, live_nodes, serving, watched, dispatch)
    LIBMXNET[] = Libdl.dlopen(String(path), Libdl.RTLD_LAZY | Libdl.RTLD_LOCAL)
    LIVE_NODES[], SERVING[], WATCHED[] = Ptr{Clong}(UInt(live_nodes)), Ptr{Cint}(UInt(serving)), Ptr{Cint}(UInt(watched))
    DISPATCH[] = dispatch
    _accept_arrays()
    _bind_operators()
    return nothing
end

_linked() = LIBMXNET[] != C_NULL

function _address(name::Symbol)
    _linked() || throw(MXError("mx.$name: no libmxnet here: mx runs inside pybridge (pybridge run script.jl, or import pybridge in Python)"))
    return Libdl.dlsym(LIBMXNET[], name)
end

_address(site::Ref{Ptr{Cvoid}}, name::Symbol) = (at = site[]; at == C_NULL ? (site[] = _address(name)) : at)

"""
    @mxcall(:MXSomething, (types...), arguments...)

Call one of libmxnet's functions that neither waits nor brings callbacks about; an `MXError` if it fails.
"""
macro mxcall(name, types, arguments...)
    site = Ref{Ptr{Cvoid}}(C_NULL)
    return :(_check(ccall(_address($site, $name), Cint, $(esc(types)), $(map(esc, arguments)...))))
end

_check(code::Cint) = code == 0 ? nothing : throw(MXError(_last_error()))

_last_error() = unsafe_string(ccall(PyBridge.C_LAST_ERROR[], Cstring, ()))

"Names of calls and their addresses, for those that may wait."
mutable struct Waiting
    name::Symbol
    at::Ptr{Cvoid}
end
Waiting(name::Symbol) = Waiting(name, C_NULL)

_word(x::Integer) = x % UInt
_word(x::Ptr) = UInt(x)

const Words = NTuple{12,UInt}

_served() = unsafe_load(SERVING[]) != 0

"""
    _may_wait(call, keep, words...)

Make a call of libmxnet that may wait. `keep` is whatever the words point into.
"""
function _may_wait(call::Waiting, keep, arguments::Vararg{Any,N}) where {N}
    call.at == C_NULL && (call.at = _address(call.name))
    words = Ref{Words}(ntuple(i -> i <= N ? _word(arguments[i]) : zero(UInt), Val(12)))
    GC.@preserve words keep begin
        at = Ptr{UInt}(Base.unsafe_convert(Ptr{Words}, words))
        _served() && return _dispatched(:wait, (words, keep), String(call.name), UInt(at), N)
        return _check(ccall(PyBridge.C_RELEASED[], Cint, (Ptr{Cvoid}, Ptr{UInt}), call.at, at))
    end
end

# What a call that was given up may still write to, until the backward that it waited for is over.
const ABANDONED = Any[]
const ABANDONED_AT_MOST = 64

"Python's side of the dispatch. Only the thread that started Julia may enter Python."
function _python()
    Threads.threadid() == 1 || throw(MXError(
        "mx: this call needs Python, which Julia's other threads must not enter: make it on the first one, outside of Threads.@spawn and Threads.@threads"))
    return DISPATCH[]
end

"Have Python's side of the dispatch make a call. What goes wrong in Julia meanwhile comes out as it was thrown."
function _dispatched(what::Symbol, keep, arguments...)
    python = _python()
    try
        getproperty(python, what)(arguments...)
        return nothing
    catch exception
        push!(ABANDONED, keep)
        length(ABANDONED) > ABANDONED_AT_MOST && popfirst!(ABANDONED)
        exception isa PythonCall.PyException || rethrow()
        throw(_own_failure(exception))
    end
end

function _own_failure(exception)
    kind, what = _python().explain(exception.v)
    kind = pyconvert(String, kind)
    kind == "julia" && return pyconvert(Any, what)
    kind == "libmxnet" && return MXError(pyconvert(String, what))
    return exception
end
