# The old half of `pybridge migrate --verify`: included in Main before an old script, and not part of the package.
#
# It runs a script piece by piece, says after each one what the script's names hold, and keeps on a tape what Julia's
# random generators gave, so that Python can be given the same.

module PyBridgeVerify

import Printf
import Random
using PyBridge: mx

const TAPE_KINDS = Dict(:uniform => 0x01, :normal => 0x02, :whole => 0x03, :index => 0x04, :permutation => 0x05,
    :range => 0x06)
const tape_kinds = UInt8[]
const tape_values = Float64[]

function _record(kind, values)
    for v in values
        push!(tape_kinds, TAPE_KINDS[kind])
        push!(tape_values, v)
    end
    return values
end

"What random numbers of these arguments are: of a distribution, whole numbers, or one of several values."
function _of_what(kind, args)
    !isempty(args) && args[1] isa Random.AbstractRNG && return _of_what(kind, args[2:end])
    (isempty(args) || args[1] isa Integer) && return kind
    args[1] === Bool && return :index
    args[1] isa Type && return args[1] <: AbstractFloat ? kind : :unknown
    kind === :normal && return args[1] isa Tuple ? kind : :unknown
    args[1] isa AbstractUnitRange{<:Integer} && return :whole
    return args[1] isa Union{AbstractArray,Tuple} ? :index : :unknown
end

rand(args...) = _drawn(Base.rand, :uniform, args)
randn(args...) = _drawn(Base.randn, :normal, args)

function _drawn(draw, kind, args)
    what = _of_what(kind, args)
    what === :unknown && return draw(args...)
    if what === :whole
        range = args[findfirst(a -> a isa AbstractUnitRange, args)]
        _record(:range, (first(range), last(range)))
    end
    what === :index || return _record(what, draw(args...))
    k = findfirst(a -> a === Bool || a isa Union{AbstractArray,Tuple}, args)
    among = args[k] === Bool ? (false, true) : args[k]
    i = _record(:index, draw(args[1:k-1]..., 1:length(among), args[k+1:end]...))
    return i isa Integer ? among[i] : map(j -> among[j], i)
end

rand!(args...) = _filled(Random.rand!, :uniform, args)
randn!(args...) = _filled(Random.randn!, :normal, args)

function _filled(draw, kind, args)
    y = draw(args...)
    numbers = args[1] isa Random.AbstractRNG ? args[2:end] : args
    length(numbers) == 1 && y isa AbstractArray{<:AbstractFloat} && _record(kind, y)
    return y
end

_permutation(rng, n) = _record(:permutation, Random.randperm(rng..., n))

randperm(args...) = _permutation(args[1:end-1], args[end])

function shuffle(args...)
    x = collect(args[end])
    return reshape(x[_permutation(args[1:end-1], length(x))], size(x))
end

function shuffle!(args...)
    x = args[end]
    permute!(vec(x), _permutation(args[1:end-1], length(x)))
    return x
end

const RANDOM = (:rand, :randn, :rand!, :randn!, :randperm, :shuffle, :shuffle!)

"Where `Random.shuffle(x)` finds them, with this module's name before it."
module Qualified
module Random
using Random
import ...PyBridgeVerify: rand, randn, rand!, randn!, randperm, shuffle, shuffle!
end
end

"Every random generator begins where it always does."
function seed()
    Random.seed!(0)
    mx.seed!(0)
    return nothing
end

"Run a piece of a script as if it stood in its file at a line; its value, if it is one to look at."
function piece(text, line, file)
    task_local_storage(:SOURCE_PATH, file) do
        include_string(Main, "\n"^(line - 1) * text, file)
    end
end

const before = Set{Symbol}()
const at_lines = Ref{Any}(nothing)

"What there is in Main now is not the script's."
start() = union!(before, names(Main; all = true), names(Main; imported = true))

"Within a piece: hand on a line that has been run, with the names that are local there."
function at(line, names)
    at_lines[] === nothing || at_lines[](line, names)
    return nothing
end

"""
    everything(emit, locals)

Call `emit(path, kind, value)` for each number, array and text that the script's names hold. A path is the name, `M.x` for one
of a module, followed by `.field`, `[index]` and `{key}`, one in a line.
"""
function everything(emit, locals)
    for m in _modules(), name in names(m; all = true)
        ((m === Main && name in before) || startswith(string(name), "#") || !isdefined(m, name)) && continue
        _leaves(emit, m === Main ? string(name) : "$(nameof(m)).$name", getfield(m, name), Any[])
    end
    for (name, value) in locals
        startswith(string(name), "#") || _leaves(emit, string(name), value, Any[])
    end
    return nothing
end

"Main and the modules that the script has defined in it and in one another."
function _modules(found = Module[Main])
    m = found[end]
    for name in names(m; all = true)
        ((m === Main && name in before) || !isdefined(m, name)) && continue
        inner = getfield(m, name)
        inner isa Module && parentmodule(inner) === m && !(inner in found) && _modules(push!(found, inner))
    end
    return found
end

const MOST_ITEMS = 1000
const DEEPEST = 8

function _leaves(emit, path, x, above)
    length(above) < DEEPEST && !any(y -> y === x, above) || return
    _leaf(emit, path, x, push!(copy(above), x))
    return nothing
end

_leaf(emit, path, x::mx.NDArray, above) = emit(path, "NDArray", x)
_leaf(emit, path, x::Union{Bool,Base.BitInteger,Base.IEEEFloat}, above) = emit(path, "number", fill(x))
_leaf(emit, path, x::Union{BigInt,UInt64,Int128,UInt128}, above) =
    typemin(Int64) <= x <= typemax(Int64) ? emit(path, "number", fill(Int64(x))) : emit(path, "whole", string(x))
_leaf(emit, path, x::Complex, above) = emit(path, "number", fill(ComplexF64(x)))
_leaf(emit, path, x::Real, above) = emit(path, "number", fill(Float64(x)))
_leaf(emit, path, x::Union{AbstractString,Symbol,AbstractChar}, above) = emit(path, "text", nothing)    # not compared
_leaf(emit, path, x::Union{Nothing,Missing}, above) = emit(path, "none", nothing)
_leaf(emit, path, x::AbstractArray{<:Union{Bool,Base.BitInteger,Base.IEEEFloat}}, above) = emit(path, "array", x isa Array ? x : collect(x))
_leaf(emit, path, x::AbstractArray{<:Complex{<:Base.IEEEFloat}}, above) = emit(path, "array", collect(x))
_leaf(emit, path, x::AbstractArray{<:Complex{<:Integer}}, above) = emit(path, "array", ComplexF64.(x))
_leaf(emit, path, x::Union{Function,Type,Module,Regex,IO,Task,Ptr,Random.AbstractRNG}, above) = nothing

function _leaf(emit, path, x::Union{Tuple,AbstractArray,Pair}, above)
    isempty(x) && return emit(path, "list", Float64[])
    if x isa Array && !all(i -> isassigned(x, i), eachindex(x))
        x = Any[isassigned(x, i) ? x[i] : nothing for i in eachindex(x)]
    end
    all(i -> i isa Union{Bool,Base.BitInteger,Base.IEEEFloat}, x) && return emit(path, "list", [promote(x...)...])
    emit("$path\nlength", "number", fill(length(x)))
    for (i, item) in enumerate(Iterators.take(x, MOST_ITEMS))
        _leaves(emit, "$path\n[$i]", item, above)
    end
end

function _leaf(emit, path, x::Union{AbstractDict,NamedTuple}, above)
    emit("$path\nlength", "number", fill(length(x)))
    for (key, value) in Iterators.take(pairs(x), MOST_ITEMS)
        _leaves(emit, "$path\n{$(_text(key))}", value, above)
    end
end

# A set's items in an order that does not depend on the language; those that have none count only.
function _leaf(emit, path, x::AbstractSet, above)
    ordered = all(i -> i isa Real && !isnan(i), x)
    _leaf(emit, path, ordered ? sort!(collect(x)) : fill(nothing, length(x)), above)
end

function _text(key)
    s = string(key)
    return isvalid(s) ? s : repr(s)
end
_text(key::Base.IEEEFloat) = Printf.@sprintf("%.17g", key)
_text(key::Tuple) = "(" * join(map(_text, key), ", ") * ")"

# Of other values, those of the script's own types are looked into.
function _leaf(emit, path, x, above)
    T = typeof(x)
    parentmodule(T) in _modules() || return
    for name in fieldnames(T)
        isdefined(x, name) && _leaves(emit, "$path\n.$name", getfield(x, name), above)
    end
end

"A number that a name of Main holds, in place of the one that it held; constants stay."
function replace(name, value)
    s = Symbol(name)
    isdefined(Main, s) && !isconst(Main, s) || return nothing
    Core.eval(Main, :($s = $(convert(typeof(getfield(Main, s)), value))))
    return nothing
end

"In Main and the modules of the script, random functions are these, but for names that the script gives to things of its own."
replace_random(taken) =
    for name in RANDOM
        string(name) in taken || Core.eval(Main, :(import .PyBridgeVerify: $name))
    end

end
