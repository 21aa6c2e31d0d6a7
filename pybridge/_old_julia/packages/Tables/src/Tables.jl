# Stand-in: the part of the Tables interface that PythonCall calls, for column tables
# (named tuples and dictionaries of vectors) and row tables (vectors of named tuples).
module Tables

istable(x) = istable(typeof(x))
istable(::Type) = false
istable(::Type{<:NamedTuple{<:Any,<:Tuple{Vararg{AbstractVector}}}}) = true
istable(::Type{<:AbstractVector{<:NamedTuple}}) = true
istable(::Type{<:AbstractDict{Symbol,<:AbstractVector}}) = true

columnaccess(x) = columnaccess(typeof(x))
columnaccess(::Type) = false
rowaccess(x) = rowaccess(typeof(x))
rowaccess(::Type) = false

struct Schema
    names::Vector{Symbol}
    types::Vector{Type}
    Schema(names, types) = new(collect(Symbol, names), collect(Type, types))
end

# Columns in the order in which they were given.
struct OrderedDict
    pairs::Vector{Pair{Symbol,AbstractVector}}
    OrderedDict(pairs) = new([Symbol(k) => v for (k, v) in pairs])
end

struct DictColumnTable
    schema::Schema
    values::OrderedDict
end

istable(::Type{DictColumnTable}) = true
columnaccess(::Type{DictColumnTable}) = true

columns(x::DictColumnTable) = x
columns(x::NamedTuple) = x
columns(x::AbstractDict) = DictColumnTable(
    Schema(keys(x), map(eltype, values(x))), OrderedDict(pairs(x)))
function columns(x::AbstractVector{<:NamedTuple})
    names = isempty(x) ? fieldnames(eltype(x)) : keys(first(x))
    return NamedTuple{names}(map(n -> [row[n] for row in x], names))
end
columns(x) = throw(ArgumentError("not a table: $(typeof(x))"))

columnnames(x::NamedTuple) = collect(keys(x))
columnnames(x::DictColumnTable) = x.schema.names

getcolumn(x::NamedTuple, name::Union{Symbol,Int}) = x[name]
getcolumn(x::DictColumnTable, i::Int) = x.values.pairs[i].second
function getcolumn(x::DictColumnTable, name::Symbol)
    i = findfirst(p -> p.first === name, x.values.pairs)
    i === nothing && throw(KeyError(name))
    return getcolumn(x, i)
end

struct Rows
    names::Vector{Symbol}
    rows::Vector{NamedTuple}
end

columnnames(x::Rows) = x.names
Base.iterate(x::Rows, state...) = iterate(x.rows, state...)
Base.length(x::Rows) = length(x.rows)
Base.eltype(::Type{Rows}) = NamedTuple

function rows(x)
    table = columns(x)
    names = columnnames(table)
    values = [getcolumn(table, n) for n in names]
    count = isempty(values) ? 0 : length(first(values))
    return Rows(names, [NamedTuple{Tuple(names)}(Tuple(v[i] for v in values)) for i in 1:count])
end

end
