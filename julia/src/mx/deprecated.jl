# Names that MXNet.jl's later versions still had for scripts of its earlier ones.

clip(x::NDArray, low::Real, high::Real) = clamp(x, low, high)
clip(x::NDArray; a_min::Real = 0, a_max::Real = 0) = clamp(x, a_min, a_max)
clip!(x::NDArray, low::Real, high::Real) = clamp!(x, low, high)

broadcast_plus(x::NDArray, y::NDArray) = x .+ y
broadcast_add(x::NDArray, y::NDArray) = x .+ y
broadcast_sub(x::NDArray, y::NDArray) = x .- y
broadcast_minus(x::NDArray, y::NDArray) = x .- y
broadcast_mul(x::NDArray, y::NDArray) = x .* y
broadcast_div(x::NDArray, y::NDArray) = x ./ y
broadcast_mod(x::NDArray, y::NDArray) = x .% y
broadcast_power(x::NDArray, y::NDArray) = x .^ y
broadcast_equal(x::NDArray, y::NDArray) = x .== y
broadcast_not_equal(x::NDArray, y::NDArray) = x .!= y
broadcast_greater(x::NDArray, y::NDArray) = x .> y
broadcast_greater_equal(x::NDArray, y::NDArray) = x .>= y
broadcast_lesser(x::NDArray, y::NDArray) = x .< y
broadcast_lesser_equal(x::NDArray, y::NDArray) = x .<= y
broadcast_maximum(x::NDArray, y::NDArray) = max.(x, y)
broadcast_minimum(x::NDArray, y::NDArray) = min.(x, y)
broadcast_hypot(x::NDArray, y::NDArray) = hypot.(x, y)
