# What `pb.function` made ready: the target, resolved again at each call when it was given by name.

mutable struct Prepared
    target::Any               # a value, or the path of symbols to it from Main
    name::String
    pullback::Bool
    python::Bool              # layout="python"
    keywords::Any             # NamedTuple of the defaults
    ad::Any                   # the AD module to ask, its path from Main, or nothing
    fields::Vector{Vector{Symbol}}   # of a struct: where the parameters are that follow its inputs
    checked::Any              # what the target was last, found fit
    make::Any                 # makes an instance of it, if it is a type
end

struct Unchecked end

"Makes instances of `T`. A call of the type itself is looked up anew each time, which takes microseconds."
struct Maker{T} end
(::Maker{T})() where {T} = T()

const PREPARED = Dict{Int,Prepared}()
const LAST_PREPARED = Ref(0)

"""
    prepare(target, name, pullback, python, keywords[, ad, fields]) -> number

Make `target` ready to be called; the number stands for it from then on. A string names it, or the AD module, from `Main`.
`fields` are dotted names of array fields of `target`, which follow its inputs as arguments.
"""
function prepare(target, name, pullback::Bool, python::Bool, keywords, ad = nothing, fields = ())
    paths = [map(Symbol, split(String(f), '.')) for f in fields]
    p = Prepared(_path(target), String(name), pullback, python, _named(keywords), _path(ad), paths, Unchecked(), nothing)
    target isa AbstractString || checked_target(p)   # a name may be defined later
    PREPARED[LAST_PREPARED[] += 1] = p
    return LAST_PREPARED[]
end

"The way to a name from `Main`."
struct Path
    parts::Vector{Symbol}
end

_path(target) = target
_path(name::AbstractString) = Path(map(Symbol, split(name, '.')))

"What messages call a target."
target_name(target) = first(string(target), 60)

"No call of the prepared function will come any more."
forget(number::Integer) = (delete!(PREPARED, Int(number)); nothing)

_named(keywords) = (; (pyconvert(Symbol, k) => pyconvert(Any, v) for (k, v) in pairs(keywords))...)

resolve(p::Prepared) = p.target isa Path ? _lookup(p.target.parts, p.name) : p.target

"The target, found fit for being called."
function checked_target(p::Prepared)
    target = resolve(p)
    if target !== p.checked
        _check(p, target)
        p.make = target isa Type ? Maker{target}() : nothing
        p.checked = target
    end
    return target
end

# From 1.12 on a binding is seen as of the world that the caller runs in.
@static if VERSION >= v"1.12-"
    _binding(m::Module, name::Symbol) = Base.invokelatest(getfield, m, name)
else
    _binding(m::Module, name::Symbol) = getfield(m, name)
end

function _lookup(path, name)
    at = Main
    for part in path
        at isa Module && isdefined(at, part) || _value_error(name, ": there is no ", part, " in ", at)
        at = _binding(at, part)
    end
    return at
end

function _check(p::Prepared, target)
    p.pullback && return nothing
    if target isa CustomFunction
        _type_error(p.name, " is an instance: give its type, ", typeof(target), "; each call makes a fresh one")
    elseif target isa Type && target <: CustomFunction
        kind = argkind(target)
        kind in (:array, :ndarray) || _value_error(p.name, ": argkind is ", repr(kind), "; expected :array or :ndarray")
        kind === :ndarray && p.python && _value_error(p.name, ": argkind :ndarray has Julia's order of dimensions; layout=\"python\" needs :array")
    elseif p.ad === nothing && !_has_rule(target)
        _no_gradient(p, target)
    end
    return nothing
end

"The array `x` as the custom function `f` (an instance, or its type) wants it; as anything else does."
argument(p::Prepared, f, x::Array) = _wants_ndarrays(f) ? as_ndarray(x) : _laid_out(x, p.python)

_wants_ndarrays(f) = false
_wants_ndarrays(f::CustomFunction) = _wants_ndarrays(typeof(f))
_wants_ndarrays(T::Type{<:CustomFunction}) = _known(() -> Base.invokelatest(argkind, T) === :ndarray, Tuple{typeof(argkind),T})

"The `mx.NDArray` over the memory of a Julia array."
function as_ndarray end

"Wait for what still reads an argument whose memory is about to go."
done_with(x) = nothing

"A result or a gradient without what is MXNet's around it: the memory of an `mx.NDArray`."
plain(y) = y

"Positional arguments and keywords of one call that holds more than arrays; set by `stage`, taken by the entry."
const STAGED = Ref{Any}(nothing)

"""
    stage(arguments, keywords)

Hand over the constants and keywords of the call that follows. `arguments` has a `Slot` where an array goes.
"""
function stage(arguments, keywords)
    STAGED[] = (Any[pyconvert(Any, a) for a in arguments], _named(keywords))
    return nothing
end

struct Slot end

function _take_staged()
    staged = STAGED[]
    STAGED[] = nothing
    return staged
end
