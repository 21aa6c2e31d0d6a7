# What Python calls: two C-callable entries for the hot path, and small functions that go through juliacall.

function run_forward(b::Block)
    _release()
    staged = b[H_STAGED] == 0 ? nothing : _take_staged()
    p = PREPARED[Int(b[H_FUNCTION])]
    target = checked_target(p)
    n = Int(b[H_INPUTS])
    xs = _inputs(b, n)
    laid = map(x -> argument(p, target, x), xs)
    if staged === nothing
        return _forward(b, p, target, xs, laid, _in_order(n), p.keywords)
    end
    arguments, given = staged
    slots = findall(a -> a isa Slot, arguments)
    arguments[slots] = collect(Any, laid)
    return _forward(b, p, target, xs, Tuple(arguments), slots, merge(p.keywords, given))
end

# Tuples, so that what follows is compiled for the types of the arguments.
function _inputs(b::Block, n::Int)
    n == 1 && return (pinned(descriptor(b, 1)),)
    n == 2 && return (pinned(descriptor(b, 1)), pinned(descriptor(b, 2)))
    n == 3 && return (pinned(descriptor(b, 1)), pinned(descriptor(b, 2)), pinned(descriptor(b, 3)))
    return ntuple(i -> pinned(descriptor(b, i)), n)
end

const IN_ORDER = [collect(1:n) for n in 1:8]
_in_order(n::Int) = n in 1:8 ? IN_ORDER[n] : collect(1:n)

function _forward(b::Block, p::Prepared, target, xs::Tuple, arguments::Tuple, slots::Vector{Int}, keywords)
    before = _before(b, xs)
    node = Int(b[H_NODE])
    held = node == 0 ? 0 : sum(map(sizeof, xs))
    call = begin_call(p, target, keywords, arguments)
    if call isa CustomFunction && _has_inplace(forward!, call, arguments)
        held += _custom_inplace(b, p, call, arguments, Base.invokelatest(outputspec, call, arguments...))::Int
        saved = call
    else
        y, saved = run_call(p, call, arguments, keywords, node != 0)
        _adopt_value!(b, p, y, xs)
    end
    _check_unwritten(p, before, xs, slots)
    node == 0 || add_node!(node, Node(p, saved, slots, length(arguments), held))
    return nothing
end

"With PYBRIDGE_CHECK: copies of the arguments that must not be written to."
_before(b::Block, xs::Tuple) = CHECK[] ? map(copy, xs[1:length(xs)-Int(b[H_WRITTEN])]) : ()

function _check_unwritten(p::Prepared, before, xs, slots)
    for i in eachindex(before)
        _identical(xs[i], before[i]) || _value_error(
            p.name, ": forward wrote to its argument ", slots[i], "; inputs share libmxnet's memory and must not be changed")
    end
    return nothing
end

function _custom_inplace(b::Block, p::Prepared, f, arguments::Tuple, spec)
    outs = create_results!(b, p, spec)
    laid = p.python ? map(_turned, outs) : outs
    several = !(spec isa Tuple{Tuple,Type})
    b[H_SEVERAL] = several
    Base.invokelatest(forward!, several ? laid : laid[1], f, arguments...)
    return sum(map(sizeof, outs))
end

_adopt_value!(b::Block, p::Prepared, y, xs) = (b[H_SEVERAL] = false; adopt_results!(b, p, (y,), xs))
_adopt_value!(b::Block, p::Prepared, y::Tuple, xs) = (b[H_SEVERAL] = true; adopt_results!(b, p, y, xs))

"Run `run`, for the call that `b` describes: its mode is visible in `is_training`."
function within(run, b::Block)
    training, inside = TRAINING[], unsafe_load(INSIDE[])
    unsafe_store!(INSIDE[], b[H_FUNCTION])
    TRAINING[] = b[H_FLAGS] & FLAG_TRAINING
    try
        return run()
    finally
        TRAINING[] = training
        unsafe_store!(INSIDE[], inside)
    end
end

"Run one entry; a failure is kept for Python."
function _enter(run, at::Ptr{Int64})
    b = Block(at)
    try
        within(() -> run(b), b)
        return Cint(0)
    catch exception
        _keep_failure(exception, catch_backtrace())
        return Cint(1)
    end
end

function forward_entry(at::Ptr{Int64})
    status = _enter(run_forward, at)
    status == 0 || free_results!(Block(at))
    return status
end

backward_entry(at::Ptr{Int64}) = _enter(run_backward, at)

operator_entry(at::Ptr{Int64}) = _enter(run_operator, at)

const DEAD = Vector{Int64}(undef, 256)

function _each_dead(forget, source::Ptr{Cvoid})
    while true
        n = ccall(source, Clong, (Ptr{Int64}, Clong), DEAD, length(DEAD))
        for i in 1:n
            forget(DEAD[i])
        end
        n < length(DEAD) && return nothing
    end
end

"Forget nodes and roots that libmxnet has let go of."
function _release()
    _each_dead(drop_node, C_DEAD_NODES[])
    _each_dead(release_root, C_DEAD_ROOTS[])
    collect_pins()
    return nothing
end

function release_entry()
    try
        _release()
        return Cint(0)
    catch exception
        _keep_failure(exception, catch_backtrace())
        return Cint(1)
    end
end

"Addresses of the C-callable entries: forward, backward and operator `int (int64 *block)`, release `int (void)`."
entries() = (
    UInt(@cfunction(forward_entry, Cint, (Ptr{Int64},))),
    UInt(@cfunction(backward_entry, Cint, (Ptr{Int64},))),
    UInt(@cfunction(operator_entry, Cint, (Ptr{Int64},))),
    UInt(@cfunction(release_entry, Cint, ())),
)

"Call `f` for Python: `(0, result)`, or `(1, nothing)` and the failure is kept."
function attempt(f, arguments...)
    try
        return (0, f(arguments...))
    catch exception
        _keep_failure(exception, catch_backtrace())
        return (1, nothing)
    end
end

node_count() = length(NODES)
root_count() = length(ROOTS)

"The view for `pb.asjulia` over the array that the block at `address` describes."
function view_at(address::Integer, writable::Bool, python::Bool)
    a = _laid_out(pinned(descriptor(Block(Ptr{Int64}(UInt(address))), 1)), python)
    return writable ? a : ReadOnlyArray(a)
end

"Describe, in the block at `address`, the NDArray over the Julia array `a` (`pb.asndarray`)."
function adopt_at(address::Integer, a, np_shape::Bool)
    d = _blank(Block(Ptr{Int64}(UInt(address))), 1)
    a isa ReadOnlyArray && _value_error("asndarray: jl_array is read-only: take pb.asjulia(x, writable=True), or copy it")
    a isa AbstractArray || _type_error("asndarray: jl_array is a ", typeof(a), "; expected a Julia array")
    eltype(a) in DTYPES || _value_error("asndarray: the element type of jl_array is ", eltype(a), "; libmxnet has ", join(DTYPES, ", "))
    ndims(a) <= MAXDIM || _value_error("asndarray: jl_array has ", ndims(a), " dimensions; at most ", MAXDIM, " are possible")
    (ndims(a) == 0 || isempty(a)) && !np_shape &&
        _value_error("asndarray: jl_array has size ", size(a), ", which mx.nd arrays cannot have: pass np=True, or use mx.util.np_shape()")
    python = a isa PermutedDimsArray
    memory = dense(a, python)
    memory === nothing && _value_error("asndarray: jl_array, a ", typeof(a), ", is not one dense block of memory in a usable order: pass copy(a) or collect(a)")
    adopt!(d, memory)
    return nothing
end
