# Results of a forward become NDArrays, described in the block. Everything is checked before the first is made.

"Do `a` and `b` share a byte of memory?  Both are dense."
function _overlap(a::Array, b::Array)
    (isempty(a) || isempty(b)) && return false
    pa, pb = UInt(pointer(a)), UInt(pointer(b))
    return pa < pb + sizeof(b) && pb < pa + sizeof(a)
end

"""
    result(p, i, y, inputs) -> Array

The array over which result number `i` of a forward becomes an NDArray: `y` itself where its memory will do, and is not
that of one of the `inputs`. A [`PyBridge.Misuse`](@ref) if `y` is neither an array nor a number.
"""
function result(p::Prepared, i::Int, y, inputs)
    if y isa Number
        dtype_of_result(p, i, typeof(y))
        return fill(y)
    end
    y isa AbstractArray ||
        _type_error(p.name, ": forward returned a ", typeof(y), " as result ", i, "; expected an array, a number or a tuple of them")
    dtype_of_result(p, i, eltype(y))
    a = dense(y, p.python)
    (a === nothing || any(x -> _overlap(a, x), inputs)) && return packed(y, p.python)
    # A buffer that is used again has overwritten what was returned before: too late for a copy, so it is said.
    is_rooted(a) && !_let_go(a) && _value_error(
        p.name, ": forward returned, as result ", i, ", an array that an earlier result still lies over. What forward ",
        "returns is MXNet's from then on: return a fresh array, or a copy of the buffer")
    return a
end

"libmxnet's older arrays read a shape with a zero in it, or none at all, as unknown."
function _check_shape(b::Block, p::Prepared, i::Int, size)
    length(size) > MAXDIM &&
        _value_error(p.name, ": result ", i, " of forward has ", length(size), " dimensions; at most ", MAXDIM, " are possible")
    (isempty(size) || 0 in size) && b[H_FLAGS] & (FLAG_NUMPY | FLAG_NP_SHAPE) == 0 &&
        _value_error(p.name, ": result ", i, " of forward has size ", size, ", which mx.nd arrays cannot have: use mx.np arrays, or mx.util.np_shape()")
    return nothing
end

function dtype_of_result(p::Prepared, i::Int, T)
    T in DTYPES ||
        _value_error(p.name, ": result ", i, " of forward has element type ", T, "; libmxnet has ", join(DTYPES, ", "))
    return nothing
end

"The results `ys` of a forward, as NDArrays described from descriptor `at + 1` on."
function adopt_results!(b::Block, p::Prepared, ys, inputs)
    isempty(ys) && _value_error(p.name, ": forward returned an empty tuple; expected at least one array")
    _check_room(b, p, length(ys))
    seen = Any[inputs...]
    arrays = Any[]
    for (i, given) in enumerate(ys)
        y = plain(given)
        # An NDArray can be what a custom function called inside has returned: that one keeps its memory.
        a = y !== given && is_rooted(y) ? packed(y, p.python) : result(p, i, y, seen)
        push!(arrays, (y isa Number && b[H_FLAGS] & FLAG_NUMPY == 0) ? reshape(a, 1) : a)
        push!(seen, a)
    end
    foreach(i -> _check_shape(b, p, i, size(arrays[i])), 1:length(arrays))
    n = Int(b[H_INPUTS])
    b[H_OUTPUTS] = 0
    for (i, a) in enumerate(arrays)
        adopt!(_blank(b, n + i), a)
        b[H_OUTPUTS] = i
    end
    return nothing
end

_check_room(b::Block, p::Prepared, n::Int) =
    n <= b[H_ROOM] || _value_error(p.name, ": forward has ", n, " results; at most ", b[H_ROOM], " are possible")

function _blank(b::Block, i::Int)
    d = descriptor(b, i)
    context!(d, Int64(1) << 32)
    pin!(d, C_NULL)
    return d
end

_specs(p::Prepared, spec::Tuple{Tuple,Type}) = (spec,)
_specs(p::Prepared, spec::Tuple{Vararg{Tuple{Tuple,Type}}}) = spec
_specs(p::Prepared, spec) = _value_error(p.name, ": outputspec returned ", repr(spec), "; expected (size, eltype) or a tuple of such pairs")

"A tuple of arrays of libmxnet for `forward!` to write, as views in Julia's order."
function create_results!(b::Block, p::Prepared, spec)
    specs = _specs(p, spec)
    _check_room(b, p, length(specs))
    isempty(specs) && _value_error(p.name, ": outputspec names no result; expected (size, eltype) or a tuple of such pairs")
    for (i, (size, T)) in enumerate(specs)
        size isa Tuple{Vararg{Integer}} && all(n -> n >= 0, size) || _value_error(
            p.name, ": outputspec gives result ", i, " the size ", repr(size), "; expected whole numbers, none of them negative")
        dtype_of_result(p, i, T)
        _check_shape(b, p, i, size)
    end
    b[H_OUTPUTS] = 0
    return map(s -> _create_result!(b, p, s[1], s[2]), specs)
end

function _create_result!(b::Block, p::Prepared, size::Tuple, ::Type{T}) where {T}
    i = b[H_OUTPUTS] += 1
    d = _blank(b, Int(b[H_INPUTS] + i))
    shape!(d, T, Dims(p.python ? reverse(size) : size))
    try
        create!(d)
    catch
        b[H_OUTPUTS] = i - 1
        rethrow()
    end
    return pinned(d)
end

"Free what a forward that failed half-way had made."
function free_results!(b::Block)
    n = Int(b[H_INPUTS])
    for i in 1:Int(b[H_OUTPUTS])
        ccall(C_FREE[], Cvoid, (Ptr{Cvoid},), handle(descriptor(b, n + i)))
    end
    b[H_OUTPUTS] = 0
    return nothing
end
