# Functions of one array, element by element: `f.(x)`, and `f(x)` as MXNet.jl's older versions had it.

_each(op::Operator, x::NDArray{T,N}) where {T,N} = _one(op, (x,))::NDArray{T,N}
_each(op::Operator, x::NDArray{Bool}) = _one(op, (x,))

const ELEMENTWISE = (
    (:abs, "abs"), (:sign, "sign"), (:round, "round"), (:ceil, "ceil"), (:floor, "floor"), (:trunc, "trunc"),
    (:sqrt, "sqrt"), (:cbrt, "cbrt"), (:abs2, "square"), (:inv, "reciprocal"),
    (:exp, "exp"), (:expm1, "expm1"), (:log, "log"), (:log2, "log2"), (:log10, "log10"), (:log1p, "log1p"),
    (:sin, "sin"), (:cos, "cos"), (:tan, "tan"), (:asin, "arcsin"), (:acos, "arccos"), (:atan, "arctan"),
    (:sinh, "sinh"), (:cosh, "cosh"), (:tanh, "tanh"), (:asinh, "arcsinh"), (:acosh, "arccosh"), (:atanh, "arctanh"),
)

for (name, operator) in ELEMENTWISE
    @eval Base.$name(x::NDArray) = _each($(Operator(operator)), x)
    name === :inv || @eval _dot(::typeof($name), x::NDArray) = $name(x)
end

# libmxnet's own know π to seven digits, whatever the element type.
Base.deg2rad(x::NDArray) = x * (π / 180)
Base.rad2deg(x::NDArray) = x * (180 / π)

# Base's `inv` is of matrices.
Base.inv(x::NDArray{T,2}) where {T} = _one(op"linalg_inverse", (x,))::NDArray{T,2}
_dot(::typeof(inv), x::NDArray) = _each(op"reciprocal", x)

arcsin(x::NDArray) = asin(x)
arccos(x::NDArray) = acos(x)
arctan(x::NDArray) = atan(x)
arcsinh(x::NDArray) = asinh(x)
arccosh(x::NDArray) = acosh(x)
arctanh(x::NDArray) = atanh(x)
