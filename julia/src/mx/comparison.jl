# Comparisons: arrays of ones and zeros, of the element type of what is compared.

_dot(::typeof(==), x::NDArray, y::NDArray) = _one(op"broadcast_equal", (x, y))
_dot(::typeof(!=), x::NDArray, y::NDArray) = _one(op"broadcast_not_equal", (x, y))
_dot(::typeof(>), x::NDArray, y::NDArray) = _one(op"broadcast_greater", (x, y))
_dot(::typeof(>=), x::NDArray, y::NDArray) = _one(op"broadcast_greater_equal", (x, y))
_dot(::typeof(<), x::NDArray, y::NDArray) = _one(op"broadcast_lesser", (x, y))
_dot(::typeof(<=), x::NDArray, y::NDArray) = _one(op"broadcast_lesser_equal", (x, y))

_dot(::typeof(==), x::NDArray, s::Real) = _with_scalar(op"_equal_scalar", x, s)
_dot(::typeof(!=), x::NDArray, s::Real) = _with_scalar(op"_not_equal_scalar", x, s)
_dot(::typeof(>), x::NDArray, s::Real) = _with_scalar(op"_greater_scalar", x, s)
_dot(::typeof(>=), x::NDArray, s::Real) = _with_scalar(op"_greater_equal_scalar", x, s)
_dot(::typeof(<), x::NDArray, s::Real) = _with_scalar(op"_lesser_scalar", x, s)
_dot(::typeof(<=), x::NDArray, s::Real) = _with_scalar(op"_lesser_equal_scalar", x, s)

_dot(::typeof(==), s::Real, x::NDArray) = _dot(==, x, s)
_dot(::typeof(!=), s::Real, x::NDArray) = _dot(!=, x, s)
_dot(::typeof(>), s::Real, x::NDArray) = _dot(<, x, s)
_dot(::typeof(>=), s::Real, x::NDArray) = _dot(<=, x, s)
_dot(::typeof(<), s::Real, x::NDArray) = _dot(>, x, s)
_dot(::typeof(<=), s::Real, x::NDArray) = _dot(>=, x, s)
