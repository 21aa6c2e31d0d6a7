"""
    Dense(in => out, σ = identity; bias = true, init = glorot_uniform)
    Dense(W::AbstractMatrix, bias = true, σ = identity)

`σ.(W * x .+ bias)`, one column for each sample. `W` is of size `(out, in)`; without a bias, `bias` is `false`.
"""
struct Dense{F,M<:AbstractMatrix,B}
    weight::M
    bias::B
    σ::F
    Dense(W::M, bias = true, σ::F = identity) where {M<:AbstractMatrix,F} =
        (b = create_bias(W, bias, size(W, 1)); new{F,M,typeof(b)}(W, b, σ))
end

Dense((in, out)::Pair{<:Integer,<:Integer}, σ = identity; bias = true, init = glorot_uniform) =
    Dense(init(out, in), bias, σ)

create_bias(weights, bias::Bool, n) = bias ? fill!(similar(weights, n), 0) : false
function create_bias(weights, bias::AbstractArray, n)
    size(bias) == (n,) || throw(DimensionMismatch("expected bias of size $((n,)), got size $(size(bias))"))
    return bias
end

@layer Dense

function (a::Dense)(x::AbstractVecOrMat)
    size(x, 1) == size(a.weight, 2) || throw(DimensionMismatch(
        "layer Dense expects size(input, 1) == $(size(a.weight, 2)), but got $(size(x, 1))"))
    return a.σ.(a.weight * x .+ a.bias)
end
(a::Dense)(x::AbstractArray) = reshape(a(reshape(x, size(x, 1), :)), :, size(x)[2:end]...)

Base.show(io::IO, a::Dense) = print(io, "Dense(", size(a.weight, 2), " => ", size(a.weight, 1),
    a.σ === identity ? "" : ", $(a.σ)", a.bias === false ? "; bias=false" : "", ")")

"""
    Scale(size..., σ = identity; bias = true)

`σ.(scale .* x .+ bias)`, elementwise.
"""
struct Scale{F,A<:AbstractArray,B}
    scale::A
    bias::B
    σ::F
    Scale(scale::A, bias = true, σ::F = identity) where {A<:AbstractArray,F} =
        (b = bias isa Bool ? (bias ? zero(scale) : false) : bias; new{F,A,typeof(b)}(scale, b, σ))
end
Scale(n::Integer, σ = identity; bias = true) = Scale(ones(Float32, n), bias, σ)

@layer Scale

(a::Scale)(x::AbstractArray) = a.σ.(a.scale .* x .+ a.bias)

"""
    Chain(layers...)
    Chain(name = layer, ...)

One layer after the other. Layers are found by number or by name.
"""
struct Chain{T}
    layers::T
end
Chain(layers...) = Chain(layers)
Chain(; layers...) = Chain((; layers...))

@layer Chain

(c::Chain)(x) = applied(Tuple(c.layers), x)
applied(::Tuple{}, x) = x
applied(layers::Tuple, x) = applied(Base.tail(layers), Base.first(layers)(x))

Base.getindex(c::Chain, i::Union{Integer,Symbol}) = c.layers[i]
Base.getindex(c::Chain{<:Tuple}, i::AbstractVector) = Chain(c.layers[i])
Base.length(c::Chain) = length(c.layers)
Base.iterate(c::Chain, state...) = iterate(c.layers, state...)
Base.show(io::IO, c::Chain) = (print(io, "Chain("); join(io, c.layers, ", "); print(io, ")"))

"""
    SkipConnection(layer, connection)

`connection(layer(x), x)`.
"""
struct SkipConnection{T,F}
    layers::T
    connection::F
end

@layer SkipConnection

(s::SkipConnection)(x) = s.connection(s.layers(x), x)
