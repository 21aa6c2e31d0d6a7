# What Python calls: two C-callable entries for the hot path, and small functions that go through juliacall.

function run_forward(b::Block)
    staged = b[H_STAGED] == 0 ? nothing : _take_staged()
    p = PREPARED[b[H_FUNCTION]]
    target = resolve(p)
    p.target isa Tuple{Vararg{Symbol}} && _check(p, target)
    n = Int(b[H_INPUTS])
    xs = Any[pinned(descriptor(b, i)) for i in 1:n]
    before = CHECK[] ? map(hash, xs) : ()
    arguments, slots = _arguments(p, xs, staged)
    keywords = staged === nothing ? p.keywords : merge(p.keywords, staged[2])
    held = 0
    for i in 1:n
        held += bytes(descriptor(b, i))
    end
    run = p.pullback ? _pullback : _custom
    saved, pinned_results = run(b, p, target, xs, arguments, keywords)
    for i in eachindex(before)
        hash(xs[i]) == before[i] ||
            _value_error(p.name, ": forward wrote to its argument ", slots[i], "; inputs share libmxnet's memory and must not be changed")
    end
    if b[H_NODE] != 0
        add_node!(Int(b[H_NODE]), Node(p, saved, slots, length(arguments), held + pinned_results))
    end
    return nothing
end

function _arguments(p::Prepared, xs, staged)
    laid = Any[_laid_out(x, p.python) for x in xs]
    staged === nothing && return laid, collect(1:length(xs))
    arguments = copy(staged[1])
    slots = findall(a -> a isa Slot, arguments)
    arguments[slots] = laid
    return arguments, slots
end

_construct(target, keywords) =
    isempty(keywords) ? Base.invokelatest(target) : Base.invokelatest(target; keywords...)

function _adopt_value!(b::Block, p::Prepared, y, xs)
    b[H_SEVERAL] = y isa Tuple
    adopt_results!(b, p, y isa Tuple ? y : (y,), xs)
end

"Run a custom function; returns what its backward needs and how many bytes its results pin."
function _custom(b::Block, p::Prepared, target, xs, arguments, keywords)
    f = _construct(target, keywords)
    if _has_inplace(forward!, f, Tuple(arguments))
        outs, several = create_results!(b, p, Base.invokelatest(outputspec, f, arguments...))
        laid = map(o -> _laid_out(o, p.python), outs)
        b[H_SEVERAL] = several
        Base.invokelatest(forward!, several ? Tuple(laid) : laid[1], f, arguments...)
        return f, sum(sizeof, outs)
    end
    y = Base.invokelatest(forward, f, arguments...)
    _adopt_value!(b, p, y, xs)
    return f, 0
end

function _pullback(b::Block, p::Prepared, target, xs, arguments, keywords)
    made = isempty(keywords) ? Base.invokelatest(target, arguments...) : Base.invokelatest(target, arguments...; keywords...)
    made isa Tuple{Any,Any} ||
        _type_error(p.name, ": with pullback=True a function returns (y, back); this one returned a ", typeof(made))
    y, back = made
    _adopt_value!(b, p, y, xs)
    return back, 0
end

"Run one entry: the mode of its call is visible in `is_training`, a failure is kept for Python."
function _enter(run, at::Ptr{Int64})
    b = Block(at)
    training = TRAINING[]
    TRAINING[] = b[H_FLAGS] & FLAG_TRAINING
    try
        run(b)
        return Cint(0)
    catch exception
        _keep_failure(exception, catch_backtrace())
        return Cint(1)
    finally
        TRAINING[] = training
    end
end

function forward_entry(at::Ptr{Int64})
    status = _enter(run_forward, at)
    status == 0 || free_results!(Block(at))
    return status
end

backward_entry(at::Ptr{Int64}) = _enter(run_backward, at)

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
function release_entry()
    try
        _each_dead(drop_node, C_DEAD_NODES[])
        _each_dead(release_root, C_DEAD_ROOTS[])
        collect_pins()
        return Cint(0)
    catch exception
        _keep_failure(exception, catch_backtrace())
        return Cint(1)
    end
end

"Addresses of the C-callable entries: forward and backward `int (int64 *block)`, release `int (void)`."
entries() = (
    UInt(@cfunction(forward_entry, Cint, (Ptr{Int64},))),
    UInt(@cfunction(backward_entry, Cint, (Ptr{Int64},))),
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
