# Arithmetic of arrays of one size, and with numbers. Results have the array's element type: numbers are converted to it, and
# for integers that cuts their fraction off.

const SCALAR = ["scalar"]

_with_scalar(op::Operator, x::NDArray{T,N}, s::Real) where {T,N} = _one(op, (x,), SCALAR, [_number(s)])::NDArray{T,N}
_with_scalar(op::Operator, x::NDArray{Bool}, s::Real) = _one(op, (x,), SCALAR, [_number(s)])  # of integers or of floats
_with_scalar!(op::Operator, x::NDArray, s::Real) = (invoke!((x,), op, (x,), SCALAR, [_number(s)]); x)

_same(op::Operator, x::NDArray{T,N}, y::NDArray) where {T,N} = _one(op, (x, y))::NDArray{T,N}

Base.:+(x::NDArray) = x
Base.:+(x::NDArray, y::NDArray) = _same(op"elemwise_add", x, y)
Base.:+(x::NDArray, s::Real) = _with_scalar(op"_plus_scalar", x, s)
Base.:+(s::Real, x::NDArray) = _with_scalar(op"_plus_scalar", x, s)

Base.:-(x::NDArray) = _with_scalar(op"_mul_scalar", x, -1)
Base.:-(x::NDArray, y::NDArray) = _same(op"elemwise_sub", x, y)
Base.:-(x::NDArray, s::Real) = _with_scalar(op"_minus_scalar", x, s)
Base.:-(s::Real, x::NDArray) = _with_scalar(op"_rminus_scalar", x, s)

"""
    x * y

Matrix product of NDArrays; of an NDArray and a number, the products of all elements with it.
"""
Base.:*(x::NDArray, y::NDArray) = dot(x, y)
Base.:*(x::NDArray, s::Real) = _with_scalar(op"_mul_scalar", x, s)
Base.:*(s::Real, x::NDArray) = _with_scalar(op"_mul_scalar", x, s)

Base.:/(x::NDArray, s::Real) = _with_scalar(op"_div_scalar", x, _divisor(x, s))

# Divided by what has no integer part, integers end the process.
_divisor(::NDArray, s::Real) = s
function _divisor(::NDArray{T}, s::Real) where {T<:Integer}
    abs(s) < 1 && throw(AssertionError("Integer divided by zero"))
    return s
end

"""
    x % y

Remainders of `x` divided by a number, with the sign of the number. `x .% y` is the same of two arrays.
"""
Base.:%(x::NDArray, s::Real) = _with_scalar(op"_mod_scalar", x, s)
Base.mod(x::NDArray, s::Real) = x % s

# ---- in place --------------------------------------------------------------------------------------------------

_into!(op::Operator, x::NDArray, y::NDArray) = (invoke!((x,), op, (x, y)); x)

"""
    add_to!(x::NDArray, ys...) -> x

Add numbers, or arrays that fit its size, to `x`.

```julia
using PyBridge: mx
x = mx.ones(3)
mx.add_to!(x, x, 10)
copy(x) == [12, 12, 12]
```
"""
function add_to!(x::NDArray, ys::NDArrayOrReal...)
    _check_writable(x)
    foreach(y -> _add!(x, y), ys)
    return x
end
_add!(x, y::NDArray) = _into!(op"broadcast_add", x, y)
_add!(x, s::Real) = _with_scalar!(op"_plus_scalar", x, s)

"""
    sub_from!(x::NDArray, y) -> x

Subtract a number, or an array that fits its size, from `x`.
"""
sub_from!(x::NDArray, y::NDArray) = _into!(op"broadcast_sub", x, y)
sub_from!(x::NDArray, s::Real) = _with_scalar!(op"_minus_scalar", x, s)

"""
    mul_to!(x::NDArray, y) -> x

Multiply the elements of `x` with a number, or with those of an array that fits its size.
"""
mul_to!(x::NDArray, y::NDArray) = _into!(op"broadcast_mul", x, y)
mul_to!(x::NDArray, s::Real) = _with_scalar!(op"_mul_scalar", x, s)

"""
    div_from!(x::NDArray, y) -> x

Divide the elements of `x` by a number, or by those of an array that fits its size.
"""
div_from!(x::NDArray, y::NDArray) = _into!(op"broadcast_div", x, y)
div_from!(x::NDArray, s::Real) = _with_scalar!(op"_div_scalar", x, _divisor(x, s))

"""
    rdiv_from!(s::Real, x::NDArray) -> x

Divide `s` by the elements of `x`, into `x`.
"""
rdiv_from!(s::Real, x::NDArray) = _with_scalar!(op"_rdiv_scalar", x, s)

"""
    mod_from!(x::NDArray, y) -> x

Replace the elements of `x` by their remainders, divided by a number or by those of an array that fits its size.
"""
mod_from!(x::NDArray, y::NDArray) = _into!(op"broadcast_mod", x, y)
mod_from!(x::NDArray, s::Real) = _with_scalar!(op"_mod_scalar", x, s)

"""
    rmod_from!(s::Real, x::NDArray) -> x

Replace the elements of `x` by the remainders of `s` divided by them.
"""
rmod_from!(s::Real, x::NDArray) = _with_scalar!(op"_rmod_scalar", x, s)

# ---- between bounds --------------------------------------------------------------------------------------------

const BOUNDS = ["a_min", "a_max"]

Base.clamp(x::NDArray{T,N}, low::Real, high::Real) where {T,N} =
    _one(op"clip", (x,), BOUNDS, [_number(low), _number(high)])::NDArray{T,N}
Base.clamp!(x::NDArray, low::Real, high::Real) = (invoke!((x,), op"clip", (x,), BOUNDS, [_number(low), _number(high)]); x)
