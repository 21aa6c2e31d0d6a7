# All operators of libmxnet, as callable constants of this module: `mx.FullyConnected(x, w, b, num_hidden = 3)`.
#
# Their names are bound when the bridge links. What libmxnet says of an operator (arguments, types, documentation) is asked
# for when it is first called or looked up.

"One argument of an operator, as libmxnet describes it."
struct Argument
    name::String
    type::String
    text::String
end

"What libmxnet says of an operator. Arrays are named apart from parameters; `counted` is the parameter that counts them."
struct Description
    text::String
    arrays::Vector{Argument}
    parameters::Vector{Argument}
    counted::String
end

_is_array(type) = startswith(type, "NDArray") || startswith(type, "Symbol") || startswith(type, "ndarray")

_strings(at::Ptr{Cstring}, n) = String[unsafe_string(unsafe_load(at, i)) for i in 1:n]

function _describe(op::Operator)
    name, text, count = Ref{Cstring}(C_NULL), Ref{Cstring}(C_NULL), Ref{Cuint}(0)
    names, types, texts = Ref{Ptr{Cstring}}(C_NULL), Ref{Ptr{Cstring}}(C_NULL), Ref{Ptr{Cstring}}(C_NULL)
    counted, result = Ref{Cstring}(C_NULL), Ref{Cstring}(C_NULL)
    @mxcall(:MXSymbolGetAtomicSymbolInfo,
        (Ptr{Cvoid}, Ref{Cstring}, Ref{Cstring}, Ref{Cuint}, Ref{Ptr{Cstring}}, Ref{Ptr{Cstring}}, Ref{Ptr{Cstring}}, Ref{Cstring}, Ref{Cstring}),
        _handle(op), name, text, count, names, types, texts, counted, result)
    n = Int(count[])
    arguments = map(Argument, _strings(names[], n), _strings(types[], n), _strings(texts[], n))
    of_arrays = map(a -> _is_array(a.type), arguments)
    return Description(unsafe_string(text[]), arguments[of_arrays], arguments[.!of_arrays], unsafe_string(counted[]))
end

const DESCRIBED = IdDict{Operator,Description}()

description(op::Operator) = get!(() -> _describe(op), DESCRIBED, op)

"The parameter that says how many arrays an operator is given; empty if their number is fixed."
function _counted(op::Operator)
    op.counted === nothing && (op.counted = description(op).counted)
    return op.counted::String
end

# ---- parameters ------------------------------------------------------------------------------------------------

"""
    parameter(value) -> String

A value as libmxnet reads it. Tuples of integers are sizes in Julia's order of dimensions, and reversed.
"""
parameter(value) = string(value)
parameter(value::AbstractString) = String(value)
parameter(::Nothing) = "None"
parameter(value::Union{AbstractFloat,AbstractIrrational,Rational}) = _number(value)
parameter(::Type{T}) where {T<:DType} = lowercase(string(T))
parameter(value::Context) = "$(lowercase(string(value.device_type)))($(value.device_id))"
parameter(value::Tuple{Vararg{Union{Integer,Nothing}}}) = _listed("(", reverse(value), length(value) == 1 ? ",)" : ")")
parameter(value::Tuple) = _listed("(", value, length(value) == 1 ? ",)" : ")")
parameter(value::AbstractVector) = _listed("[", value, "]")

_listed(left, values, right) = string(left, join(map(parameter, values), ", "), right)

# ---- calls -----------------------------------------------------------------------------------------------------

(op::Operator)(::Type{<:NDArray}, xs::NDArray...; kw...) = op(xs...; kw...)

function (op::Operator)(xs::NDArray...; kw...)
    isempty(kw) && isempty(_counted(op)) && return _results(invoke(op, xs))
    return _called(op, xs, kw)
end

function _called(op::Operator, xs, kw)
    out, arrays, keys, values = nothing, Dict{String,NDArray}(), String[], String[]
    for (name, value) in kw
        if name === :out
            out = value
        elseif value isa NDArray
            arrays[String(name)] = value
        else
            push!(keys, String(name))
            push!(values, parameter(value))
        end
    end
    inputs = isempty(arrays) ? xs : (xs..., _in_order(op, length(xs), arrays)...)
    counted = _counted(op)
    if !isempty(counted) && !(counted in keys)
        push!(keys, counted)
        push!(values, string(length(inputs)))
    end
    _check_parameters(op, keys)
    out === nothing && return _results(invoke(op, inputs, keys, values))
    invoke!(_outputs(op, out), op, inputs, keys, values)
    return out
end

_outputs(op, out::NDArray) = (out,)
_outputs(op, out::Union{Tuple{Vararg{NDArray}},VecOfNDArray}) = Tuple(out)
_outputs(op, out) = throw(ArgumentError("$(op.name): out is a $(typeof(out)); expected an NDArray, or a tuple or vector of them"))

"Arrays given by name, as those that follow the first `n`."
function _in_order(op::Operator, n::Int, arrays)
    names = map(a -> a.name, description(op).arrays)
    places = Dict(name => i for (i, name) in enumerate(names))
    for name in keys(arrays)
        haskey(places, name) || throw(ArgumentError("$(op.name): there is no array argument $name; it takes $(join(names, ", "))"))
        places[name] > n || throw(ArgumentError("$(op.name): array $name is given twice: $n arrays are given by position"))
    end
    last = maximum(places[name] for name in keys(arrays))
    for i in n+1:last
        haskey(arrays, names[i]) || throw(ArgumentError("$(op.name): array $(names[i]) is missing before $(names[last])"))
    end
    return [arrays[names[i]] for i in n+1:last]
end

"Parameters that libmxnet takes and leaves out of its descriptions."
const UNDESCRIBED = Dict(
    :_linspace => ["num", "endpoint"], :_npi_linspace => ["num", "endpoint"], :_npi_concatenate => ["axis"],
    :_npi_cholesky => ["lower"], :_npi_norm => ["ord", "axis", "keepdims", "flag"], :_contrib_SparseEmbedding => ["deterministic"],
    :_linalg_potrf => ["lower"], :_linalg_potri => ["lower"], :linalg_potrf => ["lower"], :linalg_potri => ["lower"])

function _check_parameters(op::Operator, keys)
    op.name === :Custom && return nothing     # it takes those of the function behind it
    known = vcat(map(a -> a.name, description(op).parameters), get(UNDESCRIBED, op.name, NO_STRINGS))
    for key in keys
        key in known || startswith(key, "__") || key == op.counted || throw(ArgumentError(
            "$(op.name): there is no parameter $key" * (isempty(known) ? "; it has none" : "; it has $(join(known, ", "))")))
    end
    for a in description(op).parameters
        occursin("required", a.type) && !(a.name in keys) && throw(ArgumentError("$(op.name): parameter $(a.name) ($(a.type)) is missing"))
    end
    return nothing
end

_results(handles::Vector{Ptr{Cvoid}}) = length(handles) == 1 ? NDArray(handles[1]) : _owning(handles)

# ---- names -----------------------------------------------------------------------------------------------------

function operator_names()
    n, names = Ref{Cuint}(0), Ref{Ptr{Cstring}}(C_NULL)
    @mxcall(:MXListAllOpNames, (Ref{Cuint}, Ref{Ptr{Cstring}}), n, names)
    return _strings(names[], Int(n[]))
end

"Bind every operator that has no function of its own here."
function _bind_operators()
    constants = Expr(:block)
    for name in operator_names()
        symbol = Symbol(name)
        isdefined(@__MODULE__, symbol) || startswith(name, "_backward") || push!(constants.args, :(const $symbol = $(Operator(symbol))))
    end
    Core.eval(@__MODULE__, constants)
    return nothing
end

# Operators with the name of a function of Base that is no elementwise one are methods of that function.
for name in (:cumsum, :max, :min, :repeat, :reverse, :sort, :split)
    isdefined(Base, name) || continue
    @eval Base.$name(x::NDArray, xs::NDArray...; kw...) = $(Operator(name))(x, xs...; kw...)
end

# ---- how operators are shown -----------------------------------------------------------------------------------

Base.show(io::IO, op::Operator) = print(io, "mx.", op.name)
Base.show(io::IO, ::MIME"text/plain", op::Operator) = show(io, op)
Base.print(io::IO, op::Operator) = show(io, op)

"`?mx.FullyConnected`: made of what libmxnet says."
function Docs.getdoc(op::Operator, _)
    d = description(op)
    call = join((map(a -> a.name, d.arrays)..., (isempty(d.parameters) ? () : ("; parameters...",))...), ", ")
    lines = ["    mx.$(op.name)($(replace(call, ", ; " => "; ")))", "", d.text, ""]
    for (title, arguments) in (("Arrays", d.arrays), ("Parameters", d.parameters))
        isempty(arguments) && continue
        push!(lines, "# $title", "")
        append!(lines, ["- `$(a.name)` ($(a.type)): $(replace(a.text, r"\s+" => " "))" for a in arguments])
        push!(lines, "")
    end
    push!(lines, "libmxnet's own text: axes and shapes in it are in Python's order of dimensions. Tuples of integers given as parameters are reversed on their way.")
    return Markdown.parse(join(lines, "\n"))
end
