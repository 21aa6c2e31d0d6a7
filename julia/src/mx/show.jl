# How arrays are shown.

Base.show(io::IO, x::NDArray) = print(IOContext(io, :typeinfo => Any), "NDArray(", try_get_shared(x, sync = :read), ")")

Base.summary(io::IO, x::NDArray{T,N}) where {T,N} =
    print(io, N == 1 ? "$(length(x))-element" : join(size(x), "×"), " NDArray{$T,$N} @ ", context(x))

function Base.show(io::IO, ::MIME"text/plain", x::NDArray)
    summary(io, x)
    isempty(x) && return nothing
    println(io, ":")
    Base.print_array(io, try_get_shared(x, sync = :read))
    return nothing
end
