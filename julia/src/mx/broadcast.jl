# Dots: each is one operator, at once.

"The style of every broadcast that an NDArray takes part in."
struct NDArrayStyle <: Base.Broadcast.BroadcastStyle end

Base.Broadcast.BroadcastStyle(::Type{<:NDArray}) = NDArrayStyle()
Base.Broadcast.BroadcastStyle(style::NDArrayStyle, ::Base.Broadcast.AbstractArrayStyle) = style
Base.Broadcast.broadcastable(x::NDArray) = x

Base.Broadcast.broadcasted(::NDArrayStyle, f, arguments...) = _dot(f, map(_argument, arguments)...)

# What Base has put off or packed up.
_argument(x) = x
_argument(x::Base.RefValue) = x[]
_argument(x::Base.Broadcast.Broadcasted) = Base.Broadcast.materialize(x)

"""
What `f.(arguments...)` is for a function that is not listed here. One of this module is called with the whole arrays, and so
is one that wants NDArrays; any other with arrays whose operations are dots, too: `f(v) = v * v` is not a product of matrices.
"""
function _dot(f, arguments...)
    _is_ours(f, arguments) && return f(arguments...)
    dotted = map(_dotted, arguments)
    applicable(f, dotted...) && return _undotted(f(dotted...))
    applicable(f, arguments...) && return f(arguments...)
    throw(ArgumentError(string(
        "dotted ", f, " has no method for ", join(map(a -> a isa NDArray ? "NDArray" : string(typeof(a)), arguments), ", ", " and "),
        ": dots with an NDArray call functions of NDArrays (NDArray(a) makes one of a Julia array)")))
end

_is_ours(f, arguments) =
    applicable(f, arguments...) && which(f, Tuple{map(typeof, arguments)...}).module === @__MODULE__

_dot(::typeof(σ), x::NDArray) = σ(x)
_dot(::typeof(relu), x::NDArray) = relu(x)

_dot(::typeof(+), x::NDArray, y::NDArray) = _one(op"broadcast_add", (x, y))
_dot(::typeof(-), x::NDArray, y::NDArray) = _one(op"broadcast_sub", (x, y))
_dot(::typeof(*), x::NDArray, y::NDArray) = _one(op"broadcast_mul", (x, y))
_dot(::typeof(/), x::NDArray, y::NDArray) = _one(op"broadcast_div", (x, y))
_dot(::typeof(/), s::Real, x::NDArray) = _with_scalar(op"_rdiv_scalar", x, s)

_dot(::Union{typeof(%),typeof(mod)}, x::NDArray, y::NDArray) = _one(op"broadcast_mod", (x, y))
_dot(::Union{typeof(%),typeof(mod)}, s::Real, x::NDArray) = _with_scalar(op"_rmod_scalar", x, s)

_dot(::typeof(^), x::NDArray, y::NDArray) = _one(op"broadcast_power", (x, y))
_dot(::typeof(^), x::NDArray, s::Real) = _with_scalar(op"_power_scalar", x, s)
_dot(::typeof(^), s::Real, x::NDArray) = _with_scalar(op"_rpower_scalar", x, s)
_dot(::typeof(^), ::Irrational{:ℯ}, x::NDArray) = exp(x)
Base.Broadcast.broadcasted(::typeof(Base.literal_pow), ::typeof(^), x::NDArray, ::Val{s}) where {s} = _dot(^, x, s)

_dot(::typeof(max), x::NDArray, y::NDArray) = _one(op"broadcast_maximum", (x, y))
_dot(::typeof(max), x::NDArray, s::Real) = _with_scalar(op"_maximum_scalar", x, s)
_dot(::typeof(max), s::Real, x::NDArray) = _with_scalar(op"_maximum_scalar", x, s)
_dot(::typeof(min), x::NDArray, y::NDArray) = _one(op"broadcast_minimum", (x, y))
_dot(::typeof(min), x::NDArray, s::Real) = _with_scalar(op"_minimum_scalar", x, s)
_dot(::typeof(min), s::Real, x::NDArray) = _with_scalar(op"_minimum_scalar", x, s)

_dot(::typeof(hypot), x::NDArray, y::NDArray) = _one(op"broadcast_hypot", (x, y))
_dot(::typeof(hypot), x::NDArray, s::Real) = _with_scalar(op"_hypot_scalar", x, s)
_dot(::typeof(hypot), s::Real, x::NDArray) = _with_scalar(op"_hypot_scalar", x, s)

# `@. x + y + z` is one call of three arguments.
_dot(f::Union{typeof(+),typeof(*),typeof(max),typeof(min)}, x, y, z, more...) = _dot(f, _dot(f, x, y), z, more...)

"`Float64.(x)`: the elements as another type."
_dot(::Type{T}, x::NDArray) where {T<:DType} = _one(op"Cast", (x,), ["dtype"], [_dtype_name(T)])

# ---- inside a dotted function ----------------------------------------------------------------------------------

"An array inside a function that is dotted: its operations are dots."
struct Dotted
    x::NDArray
end

_dotted(x) = x
_dotted(x::NDArray) = Dotted(x)
_undotted(y) = y
_undotted(y::Dotted) = y.x

for f in (:+, :-, :*, :/, :^, :%, :mod, :max, :min, :hypot, :(==), :(!=), :<, :<=, :>, :>=)
    @eval begin
        Base.$f(x::Dotted, y::Dotted) = Dotted(_dot($f, x.x, y.x))
        Base.$f(x::Dotted, y::Union{NDArray,Real}) = Dotted(_dot($f, x.x, y))
        Base.$f(x::Union{NDArray,Real}, y::Dotted) = Dotted(_dot($f, x, y.x))
    end
end

for f in (:+, :-, map(first, ELEMENTWISE)..., :deg2rad, :rad2deg)
    @eval Base.$f(x::Dotted) = Dotted(_dot($f, x.x))
end

for f in (:σ, :relu)
    @eval $f(x::Dotted) = Dotted($f(x.x))
end

Base.literal_pow(::typeof(^), x::Dotted, ::Val{s}) where {s} = Dotted(_dot(^, x.x, s))
Base.Broadcast.broadcastable(x::Dotted) = x.x

# ---- x .= y ----------------------------------------------------------------------------------------------------

Base.Broadcast.materialize!(x::NDArray, y::Base.Broadcast.Broadcasted) = _assign!(x, Base.Broadcast.materialize(y))
Base.Broadcast.materialize!(x::NDArray, y) = _assign!(x, y)

_assign!(x::NDArray, y::Real) = _fill!(x, y)
_assign!(x::NDArray, y::AbstractArray) = _assign!(x, NDArray(eltype(x), y))
function _assign!(x::NDArray, y::NDArray)
    y === x && return x
    return copy!(x, size(x) == size(y) ? y : broadcast_to(y, size(x)))
end
