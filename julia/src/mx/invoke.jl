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

"One call's words, and what they point at that libmxnet writes: a single allocation."
mutable struct Frame
    words::Words
    n::Int              # results; libmxnet writes the lower half, on little-endian machines as all of its are
    made::Ptr{Ptr{Cvoid}}
    stypes::Ptr{Cint}
    Frame(n, made) = new(ntuple(_ -> zero(UInt), Val(12)), n, made, C_NULL)
end
const N_AT, MADE_AT, STYPES_AT = map(i -> Int(fieldoffset(Frame, i)), (2, 3, 4))

"""
    invoke(op, inputs, keys, values) -> Vector of handles

Call `op` on arrays with parameters as strings. The handles are the caller's.
"""
function invoke(op::Operator, inputs::Tuple{Vararg{NDArray}}, keys::Vector{String} = NO_STRINGS, values::Vector{String} = NO_STRINGS)
    frame = _invoke(Frame(0, C_NULL), op, inputs, keys, values)
    return Ptr{Cvoid}[unsafe_load(frame.made, i) for i in 1:frame.n]
end

"Call `op` and write the results into the arrays `outs`."
function invoke!(outs::Tuple{Vararg{NDArray}}, op::Operator, inputs::Tuple{Vararg{NDArray}}, keys::Vector{String} = NO_STRINGS, values::Vector{String} = NO_STRINGS)
    foreach(_check_writable, outs)
    handles = Ptr{Cvoid}[x.handle for x in outs]
    GC.@preserve handles outs _invoke(Frame(length(outs), pointer(handles)), op, inputs, keys, values, (handles, outs))
    return outs
end

function _check_writable(x::NDArray)
    x.writable || throw(AssertionError("this NDArray isn't writable"))
    return nothing
end

"The one result of `op`."
_one(op::Operator, inputs::Tuple{Vararg{NDArray}}, keys::Vector{String} = NO_STRINGS, values::Vector{String} = NO_STRINGS) =
    NDArray(unsafe_load(_invoke(Frame(0, C_NULL), op, inputs, keys, values).made))

const NO_POINTERS = Ptr{UInt8}[]

"Make the call that `frame` is for; `kept` is what it points into."
function _invoke(frame::Frame, op::Operator, inputs, keys, values, kept = nothing)
    handles = Ptr{Cvoid}[x.handle for x in inputs]
    if isempty(keys)
        GC.@preserve inputs _call(frame, op, handles, NO_POINTERS, NO_POINTERS, (inputs, kept))
    else
        GC.@preserve inputs keys values _call(frame, op, handles, _c_strings(keys), _c_strings(values), (inputs, keys, values, kept))
    end
    return frame
end

@noinline function _call(frame::Frame, op::Operator, handles, keys, values, kept)
    GC.@preserve frame handles keys values kept begin
        at = Ptr{UInt8}(pointer_from_objref(frame))
        frame.words = (
            _word(_handle(op)), _word(length(handles)), _word(pointer(handles)), _word(at + N_AT), _word(at + MADE_AT),
            _word(length(keys)), _word(pointer(keys)), _word(pointer(values)), _word(at + STYPES_AT),
            zero(UInt), zero(UInt), zero(UInt))
        if op.handle == _handle(CUSTOM)
            _dispatched(:invoke, (frame, handles, keys, values, kept), frame.words[1:9]...)
        elseif _served()
            _dispatched(:wait, (frame, handles, keys, values, kept), String(INVOKE.name), UInt(at), 9)
        else
            INVOKE.at == C_NULL && (INVOKE.at = _address(INVOKE.name))
            _check(ccall(PyBridge.C_RELEASED[], Cint, (Ptr{Cvoid}, Ptr{UInt}), INVOKE.at, Ptr{UInt}(at)))
        end
    end
    return nothing
end
