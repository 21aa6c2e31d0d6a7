# Symbols: what autograd has recorded, to be looked at. They are not computed with here.

export SymbolicNode

"""
    SymbolicNode

A graph of operators. [`symbol`](@ref) gives that of a recorded array; it can be printed, listed and saved.
"""
mutable struct SymbolicNode
    handle::Ptr{Cvoid}
    SymbolicNode(handle::Ptr{Cvoid}) = finalizer(_drop, new(handle))
end

const SYMBOL_FREE = Ref{Ptr{Cvoid}}(C_NULL)

# Finalizers call C only.
_drop(s::SymbolicNode) = (ccall(SYMBOL_FREE[], Cint, (Ptr{Cvoid},), s.handle); nothing)

function _symbol(handle::Ptr{Cvoid})
    SYMBOL_FREE[] == C_NULL && (SYMBOL_FREE[] = _address(:MXSymbolFree))
    return SymbolicNode(handle)
end

"""
    symbol(x::NDArray) -> SymbolicNode

The recorded history of `x`. An `MXError` if there is none.
"""
function symbol(x::NDArray)
    found = Ref{Ptr{Cvoid}}(C_NULL)
    @mxcall(:MXAutogradGetSymbol, (Ptr{Cvoid}, Ref{Ptr{Cvoid}}), x.handle, found)
    return _symbol(found[])
end

for (name, routine) in (
    (:list_arguments, :MXSymbolListArguments), (:list_outputs, :MXSymbolListOutputs),
    (:list_auxiliary_states, :MXSymbolListAuxiliaryStates))
    @eval function $name(s::SymbolicNode)
        n, names = Ref{Cuint}(0), Ref{Ptr{Cstring}}(C_NULL)
        @mxcall($(QuoteNode(routine)), (Ptr{Cvoid}, Ref{Cuint}, Ref{Ptr{Cstring}}), s.handle, n, names)
        return map(Symbol, _strings(names[], Int(n[])))
    end
end

@doc """
    list_arguments(s) -> Vector{Symbol}

The names of the variables that `s` is computed from.
""" list_arguments

@doc """
    list_outputs(s) -> Vector{Symbol}

The names of the results of `s`.
""" list_outputs

@doc """
    list_auxiliary_states(s) -> Vector{Symbol}

The names of the states that operators of `s` change, such as running means.
""" list_auxiliary_states

"""
    get_internals(s) -> SymbolicNode

Every result inside `s`, as a symbol with many outputs; index it to get one.
"""
function get_internals(s::SymbolicNode)
    found = Ref{Ptr{Cvoid}}(C_NULL)
    @mxcall(:MXSymbolGetInternals, (Ptr{Cvoid}, Ref{Ptr{Cvoid}}), s.handle, found)
    return _symbol(found[])
end

"""
    get_children(s) -> SymbolicNode or nothing

The inputs of the last operator of `s`; `nothing` if it is a variable.
"""
function get_children(s::SymbolicNode)
    found = Ref{Ptr{Cvoid}}(C_NULL)
    @mxcall(:MXSymbolGetChildren, (Ptr{Cvoid}, Ref{Ptr{Cvoid}}), s.handle, found)
    children = _symbol(found[])
    return length(children) == 0 ? nothing : children
end

"""
    get_name(s) -> Symbol or String

The name of `s`; of a group of several, a text that says which.
"""
function get_name(s::SymbolicNode)
    name, success = Ref{Cstring}(C_NULL), Ref{Cint}(0)
    @mxcall(:MXSymbolGetName, (Ptr{Cvoid}, Ref{Cstring}, Ref{Cint}), s.handle, name, success)
    return success[] == 0 ? "Ptr{Nothing} of $(length(list_outputs(s))) outputs" : Symbol(unsafe_string(name[]))
end

Base.length(s::SymbolicNode) = length(list_outputs(s))
Base.lastindex(s::SymbolicNode) = length(s)

function Base.getindex(s::SymbolicNode, i::Integer)
    1 <= i <= length(s) || throw(BoundsError(list_outputs(s), i))
    found = Ref{Ptr{Cvoid}}(C_NULL)
    @mxcall(:MXSymbolGetOutput, (Ptr{Cvoid}, Cuint, Ref{Ptr{Cvoid}}), s.handle, i - 1, found)
    return _symbol(found[])
end

function Base.getindex(s::SymbolicNode, name::Symbol)
    i = findfirst(isequal(name), list_outputs(s))
    i === nothing && throw(KeyError(name))
    return s[i]
end

"""
    to_json(s) -> String

The graph as MXNet saves it.
"""
function to_json(s::SymbolicNode)
    text = Ref{Cstring}(C_NULL)
    @mxcall(:MXSymbolSaveToJSON, (Ptr{Cvoid}, Ref{Cstring}), s.handle, text)
    return unsafe_string(text[])
end

"""
    print(s)

The graph as text, operator by operator.
"""
function Base.print(io::IO, s::SymbolicNode)
    text = Ref{Cstring}(C_NULL)
    @mxcall(:MXSymbolPrint, (Ptr{Cvoid}, Ref{Cstring}), s.handle, text)
    print(io, unsafe_string(text[]))
end

Base.show(io::IO, s::SymbolicNode) = print(io, "SymbolicNode ", get_name(s))

"""
    save(file, s::SymbolicNode)

Write the graph to a file, as MXNet does.
"""
function save(file::AbstractString, s::SymbolicNode)
    @mxcall(:MXSymbolSaveToFile, (Ptr{Cvoid}, Cstring), s.handle, file)
    return nothing
end

"""
    load(file, SymbolicNode) -> SymbolicNode

Read a graph from a file.
"""
function load(file::AbstractString, ::Type{SymbolicNode})
    found = Ref{Ptr{Cvoid}}(C_NULL)
    @mxcall(:MXSymbolCreateFromFile, (Cstring, Ref{Ptr{Cvoid}}), file, found)
    return _symbol(found[])
end
