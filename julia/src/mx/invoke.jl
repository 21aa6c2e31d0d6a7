# One imperative call of an operator.

"""
    Operator(name)

An operator of libmxnet, by its registered name.
"""
mutable struct Operator <: Function
    name::Symbol
    handle::Ptr{Cvoid}
    counted::Union{Nothing,String}      # the parameter that counts its arrays, once it is known
end
Operator(name::Union{Symbol,AbstractString}) = Operator(Symbol(name), C_NULL, nothing)

"An operator of libmxnet, made where the code that calls it is."
macro op_str(name)
    return Operator(name)
end

function _handle(op::Operator)
    if op.handle == C_NULL
        found = Ref{Ptr{Cvoid}}(C_NULL)
        @mxcall(:NNGetOpHandle, (Cstring, Ref{Ptr{Cvoid}}), String(op.name), found)
        op.handle = found[]
    end
    return op.handle
end

const INVOKE = Waiting(:MXImperativeInvokeEx)
const CUSTOM = Operator("Custom")   # what can have a Julia function behind it
const NO_STRINGS = String[]

_c_strings(strings) = Ptr{UInt8}[pointer(s) for s in strings]

"""
    invoke(op, inputs, keys, values) -> Vector of handles

Call `op` on arrays with parameters as strings. The handles are the caller's.
"""
function invoke(op::Operator, inputs::Tuple{Vararg{NDArray}}, keys::Vector{String} = NO_STRINGS, values::Vector{String} = NO_STRINGS)
    n, made = Ref{Cint}(0), Ref{Ptr{Ptr{Cvoid}}}(C_NULL)
    _invoke(op, inputs, keys, values, n, made)
    return Ptr{Cvoid}[unsafe_load(made[], i) for i in 1:n[]]
end

"Call `op` and write the results into the arrays `outs`."
function invoke!(outs::Tuple{Vararg{NDArray}}, op::Operator, inputs::Tuple{Vararg{NDArray}}, keys::Vector{String} = NO_STRINGS, values::Vector{String} = NO_STRINGS)
    foreach(_check_writable, outs)
    handles = Ptr{Cvoid}[x.handle for x in outs]
    n, made = Ref{Cint}(length(outs)), Ref{Ptr{Ptr{Cvoid}}}(pointer(handles))
    GC.@preserve handles outs _invoke(op, inputs, keys, values, n, made)
    return outs
end

function _check_writable(x::NDArray)
    x.writable || throw(AssertionError("this NDArray isn't writable"))
    return nothing
end

function _invoke(op::Operator, inputs, keys, values, n, made)
    handles, stypes = Ptr{Cvoid}[x.handle for x in inputs], Ref{Ptr{Cint}}(C_NULL)
    key_strings, value_strings = _c_strings(keys), _c_strings(values)
    keep = (handles, inputs, keys, values, key_strings, value_strings, n, made, stypes)
    GC.@preserve handles inputs keys values key_strings value_strings n made stypes begin
        words = (
            _handle(op), length(handles), pointer(handles), Base.unsafe_convert(Ptr{Cint}, n),
            Ptr{Cvoid}(Base.unsafe_convert(Ptr{Ptr{Ptr{Cvoid}}}, made)), length(keys), pointer(key_strings), pointer(value_strings),
            Ptr{Cvoid}(Base.unsafe_convert(Ptr{Ptr{Cint}}, stypes)))
        if op.handle == _handle(CUSTOM)
            _dispatched(:invoke, keep, map(w -> _word(w), words)...)
        else
            _may_wait(INVOKE, keep, words...)
        end
    end
    return nothing
end

"The one result of `op`."
_one(op::Operator, inputs::Tuple{Vararg{NDArray}}, keys::Vector{String} = NO_STRINGS, values::Vector{String} = NO_STRINGS) =
    NDArray(invoke(op, inputs, keys, values)[1])
