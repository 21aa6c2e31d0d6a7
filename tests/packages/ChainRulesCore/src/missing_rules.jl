"""
    NotImplemented

The tangent that nobody has derived yet: see [`@not_implemented`](@ref).
"""
struct NotImplemented <: AbstractTangent
    mod::Module
    source::LineNumberNode
    info::String
end

"What is thrown where a tangent that is not implemented would have to be known."
struct NotImplementedException <: Exception
    mod::Module
    source::LineNumberNode
    info::String
end
NotImplementedException(x::NotImplemented) = NotImplementedException(x.mod, x.source, x.info)

Base.showerror(io::IO, e::NotImplementedException) =
    print(io, "derivative not implemented @ ", e.mod, " ", e.source.file, ":", e.source.line, "\n", e.info)

"""
    @not_implemented(info)

A tangent which says, where it is needed, that it is not implemented.
"""
macro not_implemented(info)
    return :(NotImplemented($__module__, $(QuoteNode(__source__)), string($(esc(info)))))
end
