# autograd: MXNet.jl's port of Python's.

# ---- the mode --------------------------------------------------------------------------------------------------

function _set_recording(flag::Bool)
    before = Ref{Cint}(0)
    @mxcall(:MXAutogradSetIsRecording, (Cint, Ref{Cint}), flag, before)
    return before[] != 0
end

function _set_training(flag::Bool)
    before = Ref{Cint}(0)
    @mxcall(:MXAutogradSetIsTraining, (Cint, Ref{Cint}), flag, before)
    return before[] != 0
end

"""
    is_recording() -> Bool

Are operations recorded for differentiation, on this thread?
"""
function is_recording()
    flag = Ref(false)
    @mxcall(:MXAutogradIsRecording, (Ref{Bool},), flag)
    return flag[]
end

"""
    is_training() -> Bool

Do operators such as `Dropout` behave as in training, on this thread?
"""
function is_training()
    flag = Ref(false)
    @mxcall(:MXAutogradIsTraining, (Ref{Bool},), flag)
    return flag[]
end

"Run `f` in the mode given (`nothing`: as it is); the mode is as before afterwards."
function _in_mode(f, recording::Union{Nothing,Bool}, training::Union{Nothing,Bool})
    was_recording = recording === nothing ? nothing : _set_recording(recording)
    was_training = training === nothing ? nothing : _set_training(training)
    try
        return f()
    finally
        was_recording === nothing || _set_recording(was_recording)
        was_training === nothing || _set_training(was_training)
    end
end

"""
    record(f, train_mode = true)

Call `f()` (usually a `do` block) and record its operations for [`backward!`](@ref); returns what `f` returns. `train_mode` is
what [`is_training`](@ref) says meanwhile.
"""
record(f, train_mode::Bool = true) = _in_mode(f, true, train_mode)

"""
    pause(f, train_mode = false)

Call `f()` inside [`record`](@ref) without recording it; returns what `f` returns.
"""
pause(f, train_mode::Bool = false) = _in_mode(f, false, train_mode)

"""
    train_mode(f)

Call `f()` with operators behaving as in training; recording is as it is.
"""
train_mode(f) = _in_mode(f, nothing, true)

"""
    predict_mode(f)

Call `f()` with operators behaving as in inference; recording is as it is.
"""
predict_mode(f) = _in_mode(f, nothing, false)

# ---- gradient buffers ------------------------------------------------------------------------------------------

const GRAD_REQS = Dict(:nop => 0, :null => 0, :write => 1, :inplace => 2, :add => 3)

function _grad_req(name::Symbol)
    haskey(GRAD_REQS, name) || throw(ArgumentError("invalid grad_reqs $name: expected one of :nop, :write, :inplace, :add"))
    return Cuint(GRAD_REQS[name])
end

_grad_reqs(name::Symbol, n::Int) = Base.fill(_grad_req(name), n)

function _grad_reqs(names::AbstractVector{Symbol}, n::Int)
    length(names) == n || throw(ArgumentError("number of variables and grad_reqs not matched: $n and $(length(names))"))
    return map(_grad_req, collect(names))
end

"""
    attach_grad!(x, grad_req = :write) -> NDArray

Attach a gradient buffer to `x`, which [`backward!`](@ref) writes (`:write`), adds to (`:add`) or leaves alone (`:nop`).
Returns the buffer, zeros at first.
"""
function attach_grad!(x::NDArray, grad_req::Symbol = :write)
    _grad_req(grad_req)
    buffer = _one(ZEROS_LIKE, (x,))
    mark_variables!(x, buffer, grad_req)
    return buffer
end

const ZEROS_LIKE = Operator("zeros_like")

"""
    mark_variables!(x, gradient, grad_req = :write)
    mark_variables!(xs, gradients, grad_reqs = :write)

Make arrays variables, with gradient buffers of your own; `grad_reqs` is one of `:nop`, `:write`, `:inplace`, `:add`, or a
vector of them.
"""
mark_variables!(x::NDArray, gradient::NDArray, grad_req::Symbol = :write) = mark_variables!([x], [gradient], grad_req)

function mark_variables!(xs::VecOfNDArray, gradients::VecOfNDArray, grad_reqs = :write)
    n = length(xs)
    n == length(gradients) || throw(ArgumentError("number of variables and gradients not matched: $n and $(length(gradients))"))
    reqs = _grad_reqs(grad_reqs, n)
    variables, buffers = _handles(xs), _handles(gradients)
    GC.@preserve xs gradients @mxcall(:MXAutogradMarkVariables,
        (Cuint, Ptr{Ptr{Cvoid}}, Ptr{Cuint}, Ptr{Ptr{Cvoid}}), n, variables, reqs, buffers)
    return nothing
end

_handles(xs) = Ptr{Cvoid}[x.handle for x in xs]

"""
    getgrad(x)

Returns the gradient buffer attached to `x`, or `nothing`.
"""
function getgrad(x::NDArray)
    found = Ref{Ptr{Cvoid}}(C_NULL)
    if unsafe_load(WATCHED[]) != 0      # `x` may be an intermediate value that Python has marked
        found[] = Ptr{Cvoid}(pyconvert(UInt, _python().gradient(UInt(x.handle))))
    else
        @mxcall(:MXNDArrayGetGrad, (Ptr{Cvoid}, Ref{Ptr{Cvoid}}), x.handle, found)
    end
    return found[] == C_NULL ? nothing : NDArray(found[]; numpy = x.numpy)
end

# ---- backward --------------------------------------------------------------------------------------------------

"""
    backward!(head, head_grad = nothing; retain_graph = false, train_mode = true)
    backward!(heads, head_grads; retain_graph = false, train_mode = true)

Compute the gradients of the heads with respect to all variables in their graphs. `head_grads` are the gradients with respect
to the heads: arrays of their sizes, `nothing` for ones.

    backward!(f, Δs...)

To be defined for a custom function: see [`@custom`](@ref).
"""
backward!(head::NDArray, head_grad::Union{NDArray,Nothing} = nothing; kw...) =
    backward!([head], head_grad === nothing ? nothing : [head_grad]; kw...)

const BACKWARD = Waiting(:MXAutogradBackwardEx)

function backward!(heads::VecOfNDArray, head_grads::Union{AbstractVector,Nothing}; retain_graph::Bool = false, train_mode::Bool = true)
    outputs = _handles(heads)
    gradients = head_grads === nothing ? Ptr{Cvoid}[] : map(_head_gradient, head_grads)
    head_grads === nothing || length(gradients) == length(outputs) || throw(ArgumentError(
        "number of heads and head_grads not matched: $(length(outputs)) and $(length(gradients))"))
    keep = (heads, head_grads, outputs, gradients)
    GC.@preserve heads head_grads outputs gradients begin
        at = head_grads === nothing ? Ptr{Ptr{Cvoid}}(C_NULL) : pointer(gradients)
        if unsafe_load(LIVE_NODES[]) != 0 || unsafe_load(WATCHED[]) != 0
            _dispatched(:backward, keep, length(outputs), UInt(pointer(outputs)), UInt(at), retain_graph, train_mode)
        else
            _may_wait(BACKWARD, keep, length(outputs), pointer(outputs), at, 0, C_NULL, retain_graph, 0, train_mode, C_NULL, C_NULL)
        end
    end
    return nothing
end

_head_gradient(x::NDArray) = x.handle
_head_gradient(::Nothing) = Ptr{Cvoid}(C_NULL)
_head_gradient(x) = throw(ArgumentError("element of head_grads should be NDArray or Nothing, is a $(typeof(x))"))
