# NDArrays as Julia arrays over the same memory.

"""
    try_get_shared(x::NDArray; sync = :nop) -> Array

Returns the Julia array over the memory of `x`, or on a GPU a copy. `sync` says what to wait for before: `:read` for what
writes `x`, `:write` also for what reads it, `:nop` for nothing.

```julia
using PyBridge: mx
x = mx.zeros(2)
mx.try_get_shared(x, sync = :write)[1] = 3
copy(x) == [3, 0]
```
"""
function try_get_shared(x::NDArray; sync::Symbol = :nop)
    _on_cpu(x) || return copy(x)
    sync === :read && return _memory(x)
    sync === :write && return _memory(x, true)
    return _memory_now(x)
end

"""
    is_shared(a::Array, x::NDArray) -> Bool

Does `a` lie over the memory of `x`?
"""
is_shared(::Any, ::NDArray) = false
is_shared(a::Array{T}, x::NDArray{T}) where {T} =
    length(a) == length(x) && _on_cpu(x) && pointer(a) == pointer(_memory_now(x))

"""
    @nd_as_jl ro = (x, ...) rw = (y, ...) begin
        ...
    end

Evaluate a block in which the variables named are Julia arrays ([`try_get_shared`](@ref)): those of `ro` to be read, those of
`rw` to be written, which reaches the NDArrays. Its value is `nothing`.

```julia
using PyBridge: mx
x, y = mx.ones(2, 3), mx.zeros(2, 3)
mx.@nd_as_jl ro = x rw = y begin
    y[:, 1] = 2 .* x[:, 1]
end
copy(y) == [2 0 0; 2 0 0]
```
"""
macro nd_as_jl(parts...)
    isempty(parts) && throw(ArgumentError("@nd_as_jl: expected a block"))
    block = parts[end]
    Meta.isexpr(block, :block) || throw(ArgumentError("@nd_as_jl: expected a block (begin ... end) at the end, got $block"))
    read, written = Symbol[], Symbol[]
    for part in parts[1:end-1]
        Meta.isexpr(part, :(=), 2) && part.args[1] in (:ro, :rw) ||
            throw(ArgumentError("@nd_as_jl: expected ro = (x, ...) or rw = (x, ...), got $part"))
        append!(part.args[1] === :ro ? read : written, _captures(part.args[2]))
    end
    originals = [gensym(name) for name in written]
    keep = [:($original = $_written($(esc(name)))) for (original, name) in zip(originals, written)]
    views = [
        [:($(esc(name)) = $try_get_shared($(esc(name)), sync = :read)) for name in read]
        [:($(esc(name)) = $try_get_shared($(esc(name)), sync = :write)) for name in written]
    ]
    back = [:($_put_back!($original, $(esc(name)))) for (original, name) in zip(originals, written)]
    return quote
        $(keep...)
        $(Expr(:let, Expr(:block, views...), Expr(:block, esc(block), back...)))
        nothing
    end
end

_captures(name::Symbol) = [name]
function _captures(names)
    Meta.isexpr(names, (:tuple, :vect)) && all(n -> n isa Symbol, names.args) ||
        throw(ArgumentError("@nd_as_jl: expected a variable or a tuple of variables, got $names"))
    return Vector{Symbol}(names.args)
end

_written(x::NDArray) = (_check_writable(x); x)

_put_back!(x::NDArray, a) = is_shared(a, x) ? x : copy!(x, a)
