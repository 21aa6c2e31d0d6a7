# Shapes and types of what has not been computed yet: parameters, and the results of operators in symbolic graphs.

"""
    PyBridge.paramshapes(layer, inputsize...)

Returns the sizes of the parameters of `layer` for inputs of these sizes: a named tuple from parameter names to sizes, for a
block whose parameters have unknown dimensions (`pb.gluon.JuliaBlock(…, params={"weight": (5, 0)})`). `layer` is an instance of
the custom function, or the function or struct itself; sizes are in the order in which `forward` sees its arguments. There
is no method by itself.

```jldoctest; setup = :(using PyBridge)
julia> struct Affine <: CustomFunction end

julia> PyBridge.paramshapes(::Affine, x) = (weight = (x[1], 5), bias = (5,));

julia> PyBridge.paramshapes(Affine(), (3, 32))
(weight = (3, 5), bias = (5,))
```
"""
function paramshapes end

_sizes(shapes, python::Bool) = map(s -> python ? Tuple(s) : reverse(Tuple(s)), Tuple(shapes))

"What stands for the function of `p` in `paramshapes` and `outputspec`."
function _layer(p::Prepared, target)
    target isa Type && target <: CustomFunction || return target
    return Base.invokelatest(target; p.keywords...)
end

"""
    parameter_shapes(number, shapes, names, declared)

The shapes, in libmxnet's order, of parameters `names` for inputs of these `shapes`. In `declared` -1 is an unknown dimension,
`nothing` an unknown shape.
"""
function parameter_shapes(number::Integer, shapes, names, declared)
    p = PREPARED[Int(number)]
    known(d) = d !== nothing && all(n -> n >= 0, d)
    given = map(d -> d === nothing ? nothing : Tuple(map(Int, d)), collect(Any, declared))
    all(known, given) && return given
    layer = _layer(p, checked_target(p))
    sizes = _sizes(map(s -> map(Int, s), shapes), p.python)
    isempty(methods(paramshapes, Tuple{typeof(layer),map(typeof, sizes)...})) && _value_error(
        p.name, ": the shape of parameter ", first(names[i] for i in 1:length(given) if !known(given[i])), " is not known: give it, ",
        "or define PyBridge.paramshapes(::", typeof(layer), ", inputsize...) for ", length(sizes), " input(s)")
    said = Base.invokelatest(paramshapes, layer, sizes...)
    said isa NamedTuple || _type_error(p.name, ": paramshapes returned a ", typeof(said), "; expected a named tuple of sizes")
    return Any[_merged(p, String(name), d, said) for (name, d) in zip(names, given)]
end

function _merged(p::Prepared, name, declared, said)
    haskey(said, Symbol(name)) || (declared !== nothing && all(n -> n >= 0, declared) && return declared)
    haskey(said, Symbol(name)) || _value_error(p.name, ": paramshapes says nothing of parameter ", name, "; it names ", keys(said))
    size = said[Symbol(name)]
    size isa Tuple{Vararg{Integer}} || _type_error(p.name, ": paramshapes gives ", name, " the size ", repr(size), "; expected a tuple of integers")
    all(n -> n > 0, size) || _value_error(p.name, ": paramshapes gives ", name, " the size ", size, "; expected positive numbers")
    shape = p.python ? size : reverse(size)
    declared === nothing || (length(declared) == length(shape) && all(i -> declared[i] in (-1, shape[i]), 1:length(shape))) ||
        _value_error(p.name, ": paramshapes gives ", name, " the shape ", shape, " (in Python's order), but it was declared as ", declared)
    return shape
end

"""
    result_specs(number, shapes, candidates, numpy)

Shapes (in libmxnet's order) and element types (as libmxnet's numbers) of the results for arguments of these shapes, and of
the first of the `candidates`, lists of element types, for which the function works.

They are what `outputspec` says. A function that has none is run on made-up values. A number is an array without dimensions if
`numpy`, else one of one element.
"""
function result_specs(number::Integer, shapes, candidates, numpy::Bool)
    p = PREPARED[Int(number)]
    target = checked_target(p)
    sizes = map(s -> reverse(Tuple(map(Int, s))), Tuple(shapes))
    described(codes, make) = begin
        xs = map((s, c) -> make(DTYPES[c+1], s), sizes, Tuple(codes))
        specs = _specs_for(p, target, map(x -> argument(p, target, x), xs), numpy ? () : (1,))
        return Any[(p.python ? Tuple(s) : reverse(Tuple(s)), dtype_code(T)) for (s, T) in specs]
    end
    for codes in candidates, make in (_uneven, ones)
        try
            return described(codes, make)
        catch exception
            _of_made_up_arguments(exception) || rethrow()
        end
    end
    return described(first(candidates), _uneven)   # which throws
end

# What a function throws that is made for other element types, or for whole numbers.
_of_made_up_arguments(e) = e isa Union{MethodError,TypeError,InexactError,BoundsError,DomainError,mx.MXError}

function _specs_for(p::Prepared, target, arguments, scalar)
    call = begin_call(p, target, p.keywords, arguments)
    if call isa CustomFunction && (_has_inplace(forward!, call, arguments) || _has_outputspec(call, arguments))
        return _specs(p, Base.invokelatest(outputspec, call, arguments...))
    end
    return _probed(p, call, arguments, scalar)
end

_has_outputspec(f, xs) = which(outputspec, Tuple{typeof(f),map(typeof, xs)...}) !== which(outputspec, Tuple{Any,Vararg{Any}})

# Between 1/2 and 3/2, and of no pattern: nothing is divided by zero, no matrix is singular.
_uneven(::Type{T}, size::Dims) where {T<:AbstractFloat} = T[1 + sin(12.0 * i) / 2 for i in LinearIndices(size)]
_uneven(::Type{T}, size::Dims) where {T} = ones(T, size)

function _probed(p::Prepared, call, arguments, scalar)
    rng = copy(Random.default_rng())
    training, TRAINING[] = TRAINING[], 0
    try
        y = run_call(p, call, arguments, p.keywords, false)[1]
        return map(r -> r isa Number ? (scalar, typeof(r)) : _spec(p, r), map(plain, y isa Tuple ? y : (y,)))
    finally
        TRAINING[] = training
        copy!(Random.default_rng(), rng)
    end
end

_spec(p::Prepared, r::Number) = ((1,), typeof(r))
_spec(p::Prepared, r::AbstractArray) = (size(r), eltype(r))
_spec(p::Prepared, r) = _type_error(p.name, ": forward returned a ", typeof(r), "; expected an array, a number or a tuple of them")

# ---- randomness ------------------------------------------------------------------------------------------------

"`mx.random.seed` holds for Julia, too."
seed!(n::Integer) = (Random.seed!(abs(Int(n))); nothing)
