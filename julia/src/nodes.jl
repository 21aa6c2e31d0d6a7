# Live nodes of the graph: what their backward needs, until libmxnet deletes them.

struct Node
    prepared::Prepared
    f::Any                 # the instance, or a `Pullback`
    slots::Vector{Int}     # positions of the arrays among the arguments
    arguments::Int         # number of arguments
    bytes::Int             # memory that the node pins
end

const NODES = Dict{Int,Node}()
const NODE_BYTES = Ref(0)  # memory that live nodes pin

function add_node!(id::Int, node::Node)
    drop_node(id)   # an operator's last forward
    NODES[id] = node
    NODE_BYTES[] += node.bytes
    return nothing
end

function drop_node(id::Integer)
    node = pop!(NODES, Int(id), nothing)
    node === nothing || (NODE_BYTES[] -= node.bytes)
    return nothing
end

# Pins that no live node holds are given back when Julia collects the views that hold them. Julia's collector does not
# see that memory, so it is called here when much of it waits.
const PATIENCE = 32 * 2^20
const KEPT = Ref(0)             # what the last collection left: held by the user, or old
const KEPT_BY_FULL = Ref(0)     # what the last full one left: held by the user

function collect_pins()
    waiting() = _pinned() - NODE_BYTES[]
    KEPT[] = min(KEPT[], waiting())
    KEPT_BY_FULL[] = min(KEPT_BY_FULL[], KEPT[])
    waiting() > KEPT[] + PATIENCE || return nothing
    GC.gc(false)
    if waiting() > KEPT_BY_FULL[] + max(PATIENCE, KEPT_BY_FULL[] ÷ 2)
        GC.gc(true)
        KEPT_BY_FULL[] = waiting()
    end
    KEPT[] = waiting()
    KEPT_BY_FULL[] = min(KEPT_BY_FULL[], KEPT[])
    return nothing
end

# ---- backward --------------------------------------------------------------------------------------------------

function run_backward(b::Block)
    node = get(NODES, Int(b[H_NODE]), nothing)
    node === nothing && throw(Misuse(:graph, "backward: the saved values of a Julia function are gone"))
    p = node.prepared
    nin, nout = Int(b[H_INPUTS]), Int(b[H_OUTPUTS])
    b[H_STATUS] == 0 || _value_error(p.name, ": a gradient has a storage or element type that cannot be shared with Julia")
    shared = ntuple(i -> array(descriptor(b, i)), nin)
    given = map(a -> CHECK[] ? copy(a) : a, shared)
    deltas = map(a -> argument(p, node.f, a), given)
    targets = Any[req(descriptor(b, nin + j)) == REQ_NULL ? nothing : array(descriptor(b, nin + j)) for j in 1:nout]
    try
        _run_backward(b, node, deltas, targets)
    finally
        foreach(done_with, deltas)
    end
    if CHECK[]
        for (i, d) in enumerate(given)
            _identical(d, shared[i]) || _value_error(p.name, ": backward wrote to its argument Δ number ", i, ", which is libmxnet's")
            eltype(d) <: AbstractFloat && fill!(d, NaN)   # who kept it sees that it was not theirs
        end
    end
    return nothing
end

function _run_backward(b::Block, node::Node, deltas, targets)
    if node.f isa Pullback
        _write_gradients(b, node, node.f(deltas, node.arguments), targets)
    elseif _has_inplace(backward!, node.f, deltas)
        _backward_inplace(b, node, deltas, targets)
    else
        _has_backward(node.f) || _no_gradient(node.prepared, Forward(node.f))
        _write_gradients(b, node, Base.invokelatest(backward, node.f, deltas...), targets)
    end
    return nothing
end

"Are `a` and `b` the same, bit by bit?  (`hash` looks at some elements of a large array only.)"
_identical(a, b) = all(i -> a[i] === b[i], eachindex(a, b))

function _backward_inplace(b::Block, node::Node, deltas, targets)
    p = node.prepared
    nin = Int(b[H_INPUTS])
    grads = Any[nothing for _ in 1:node.arguments]
    for (j, t) in enumerate(targets)
        t === nothing && continue
        own = req(descriptor(b, nin + j)) == REQ_ADD ? similar(t) : t
        grads[node.slots[j]] = _laid_out(own, p.python)
    end
    Base.invokelatest(backward!, Tuple(grads), node.f, deltas...)
    for (j, t) in enumerate(targets)
        t === nothing && continue
        req(descriptor(b, nin + j)) == REQ_ADD && _store!(t, _laid_out(grads[node.slots[j]], p.python), true)
    end
    return nothing
end

function _gradients(node::Node, grads)
    grads isa Tuple || (grads = (grads,))
    length(grads) == node.arguments || _value_error(
        node.prepared.name, ": backward returned ", length(grads), length(grads) == 1 ? " gradient" : " gradients",
        "; expected ", node.arguments, ", one for each argument of forward (nothing for a constant)")
    return grads
end

"Check every gradient, then write them all."
function _write_gradients(b::Block, node::Node, returned, targets)
    p = node.prepared
    grads = _gradients(node, returned)
    nin = Int(b[H_INPUTS])
    sources = Any[]
    for (j, t) in enumerate(targets)
        g = grads[node.slots[j]]
        push!(sources, t === nothing || g === nothing ? nothing : _fitting(p, node.slots[j], g, t, _is_derived(node.f)))
    end
    if count(!isnothing, targets) > 1   # a gradient may share memory with one that is written before it
        for (j, s) in enumerate(sources)
            s isa AbstractArray && any(k -> targets[k] !== nothing && _may_share(s, targets[k]), 1:j-1) && (sources[j] = copy(s))
        end
    end
    for (j, t) in enumerate(targets)
        t === nothing && continue
        add = req(descriptor(b, nin + j)) == REQ_ADD
        s = sources[j]
        if s === nothing
            add || fill!(t, zero(eltype(t)))
        else
            _store!(t, s, add)
            _count_copy(sizeof(t))
        end
    end
    return nothing
end

_may_share(s::Array, t::Array) = _overlap(s, t)
_may_share(s::AbstractArray, t::Array) = true

"Rules and AD modules may promote; a gradient that the user wrote has the argument's element type."
_is_derived(f) = f isa Pullback && f.kind !== :own

"The gradient `g` of argument `i` in the order of `t`, libmxnet's array; an error when it does not fit."
function _fitting(p::Prepared, i::Int, g, t::Array, derived::Bool)
    expected = p.python ? reverse(size(t)) : size(t)
    g = plain(g)
    if g isa Number && length(t) == 1
        g = fill(g, expected)
    end
    g isa AbstractArray || _type_error(
        p.name, ": the gradient of argument ", i, " is a ", typeof(g), "; expected an array of size ", expected, ", or nothing")
    size(g) == expected || _value_error(
        p.name, ": the gradient of argument ", i, " has size ", size(g), "; expected ", expected, ", the size of the argument")
    derived && eltype(g) <: Real && eltype(t) <: AbstractFloat || eltype(g) == eltype(t) || _value_error(
        p.name, ": the gradient of argument ", i, " has element type ", eltype(g), "; expected ", eltype(t), ", that of the argument")
    return _laid_out(g, p.python)
end

_store!(t::Array, s::AbstractArray, add::Bool) = add ? (t .+= s) : copyto!(t, s)

# ---- what is defined -------------------------------------------------------------------------------------------

const DEFINED = IdDict{Any,Bool}()
const DEFINED_WORLD = Ref{UInt}(0)

"What `ask` says, asked once a world for each `key`."
function _known(ask, key)
    world = ccall(:jl_get_world_counter, UInt, ())
    if world != DEFINED_WORLD[]
        empty!(DEFINED)
        DEFINED_WORLD[] = world
    end
    known = get(DEFINED, key, nothing)
    known === nothing || return known::Bool
    return DEFINED[key] = ask()
end

"Has the user defined `method` (`forward!` or `backward!`) for `f` and arguments like `xs`?"
_has_inplace(method, f, xs::Tuple) = _known(Tuple{typeof(method),typeof(f),typeof(xs)}) do
    !isempty(methods(method, Tuple{Any,typeof(f),map(typeof, xs)...}))
end

"Has the user defined a backward for `f`, of either form?"
_has_backward(f) = _known(typeof(f)) do
    !isempty(methods(backward, Tuple{typeof(f),Vararg{Any}})) || !isempty(methods(backward!, Tuple{Any,typeof(f),Vararg{Any}}))
end
