# An exception cannot leave a C-callable entry. It is kept here until Python has fetched it.

const FAILURE = Ref{Any}(nothing)

_keep_failure(exception, trace) = (FAILURE[] = (exception, trace); nothing)

"The exception and backtrace of the entry that failed last, for Python; they are forgotten here."
function take_failure()
    failure = FAILURE[]
    FAILURE[] = nothing
    return failure === nothing ? (ErrorException("PyBridge: no failure is kept"), Any[]) : failure
end

"""
    PyBridge.Misuse(kind, message)

Returns the exception for a function that does not keep to its protocol. Python raises it as a `TypeError` (`:type`: what
is no array, no function), a `ValueError` (`:value`: names, lengths, shapes, element types) or a `pb.GraphError`
(`:graph`).

```jldoctest; setup = :(using PyBridge)
julia> throw(PyBridge.Misuse(:value, "Swish: the gradient of argument 1 has size (3,); expected (2,)"))
ERROR: Swish: the gradient of argument 1 has size (3,); expected (2,)
```
"""
struct Misuse <: Exception
    kind::Symbol
    message::String
end
Base.showerror(io::IO, e::Misuse) = print(io, e.message)

_type_error(parts...) = throw(Misuse(:type, string(parts...)))
_value_error(parts...) = throw(Misuse(:value, string(parts...)))

"The kind and message of a `Misuse`; `nothing` for any other exception."
misuse(e::Misuse) = (String(e.kind), e.message)
misuse(_) = nothing
