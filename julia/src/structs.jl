# Structs whose array fields are parameters: which they are, and the same struct over other arrays.

"Can MXNet hold `x` as a parameter?"
_is_parameter(x) = x isa Array && eltype(x) <: AbstractFloat && eltype(x) in DTYPES

_has_parts(x) = isstructtype(typeof(x)) && !(x isa Union{AbstractArray,AbstractDict,AbstractString,Symbol,Module,Type,Py})

"""
    parameter_fields(layer) -> Vector{Pair{String,Array}}

The arrays of floating-point numbers among the fields of `layer` and of the structs, tuples and named tuples in it, by dotted
name, in the order of the fields.
"""
function parameter_fields(layer)
    found = Pair{String,Array}[]
    _collect_fields!(found, layer, "", Any[])
    return found
end

function _collect_fields!(found, x, prefix, above)
    any(a -> a === x, above) && ismutable(x) && _value_error("JuliaBlock: ", typeof(above[1]), " holds itself, in ", prefix)
    for i in 1:nfields(x)
        isdefined(x, i) || continue
        value, name = getfield(x, i), string(prefix, fieldname(typeof(x), i))
        if _is_parameter(value)
            same = findfirst(p -> p.second === value || _overlap(p.second, value), found)
            same === nothing || _value_error(
                "JuliaBlock: the fields ", found[same].first, " and ", name, " of ", typeof(x), " are one array, or lie over one. Parameters ",
                "that are shared within a struct would come apart: write the layer as a function of it")
            push!(found, name => value)
        elseif _has_parts(value)
            _collect_fields!(found, value, name * ".", Any[above..., x])
        end
    end
    return nothing
end

"`layer` with the arrays `values` in the places of its `paths`."
rebuilt(layer, paths, values) = _rebuilt(layer, paths, values, 1)

function _rebuilt(x, paths, values, depth)
    parts = ntuple(nfields(x)) do i
        name = Symbol(fieldname(typeof(x), i))
        mine = findall(path -> path[depth] === name, paths)
        isempty(mine) && return getfield(x, i)
        length(paths[mine[1]]) == depth && return values[mine[1]]
        return _rebuilt(getfield(x, i), paths[mine], values[mine], depth + 1)
    end
    return _constructed(x, parts)
end

_constructed(::Tuple, parts) = parts
_constructed(x::NamedTuple, parts) = NamedTuple{keys(x)}(parts)

# A struct is made without its constructors, which may do anything (Flux's initialise); only where the arrays are of
# another type than before, say after a cast, are its type parameters found anew by the default one.
function _constructed(x::T, parts) where {T}
    all(i -> parts[i] isa fieldtype(T, i), 1:length(parts)) && return _new(T, parts)
    return getfield(parentmodule(T), nameof(T))(parts...)
end

@generated _new(::Type{T}, parts::Tuple) where {T} =
    Expr(:new, :T, (:(getfield(parts, $i)) for i in 1:length(parts.parameters))...)

"What a tangent of a struct says of the field at `path`; `nothing` for zero."
function _tangent_at(tangent, path)
    for name in path
        tangent = plain_tangent(tangent)
        tangent === nothing && return nothing
        key = tangent isa Tuple ? parse(Int, String(name)) : name
        tangent isa Tuple || haskey(tangent, key) || return nothing
        tangent = tangent[key]
    end
    return plain_tangent(tangent)
end
