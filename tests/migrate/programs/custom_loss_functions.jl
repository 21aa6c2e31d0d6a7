module CustomLossFunctions

using PyBridge

huber(r, δ) = abs(r) <= δ ? r^2 / 2 : δ * (abs(r) - δ / 2)

"""
    Huber(; δ = 1.0)

Quadratic near zero, linear beyond `δ`.
"""
mutable struct Huber <: CustomFunction
  δ; r
  Huber(; δ=1.0) = new(δ)
end

# the value, kept for the way back
forward(f::Huber, ŷ, y) = (f.r = ŷ .- y; huber.(f.r, f.δ))

# bounded by δ, so that an outlier pulls no harder than its neighbours
backward(f::Huber, Δ) = (g = Δ .* clamp.(f.r, -f.δ, f.δ); (g, -g))

# An NDArray keeps its element type in arithmetic with numbers, where an array would widen it.
narrowed(like, y) = y
narrowed(like, ys::Tuple) = map(y -> narrowed(like, y), ys)
function narrowed(like, y::AbstractArray)
    T = eltype(first(x for x in like if x isa AbstractArray))
    eltype(y) === T ? y : convert(Array{T}, y)
end

PyBridge.forward(f::Huber, xs...) = narrowed(xs, forward(f, xs...))
PyBridge.backward(f::Huber, Δs...) = narrowed(Δs, backward(f, Δs...))

end
