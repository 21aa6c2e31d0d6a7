# C functions of the trampoline, by address. Set once by `link!`, from Python, before anything else is called.

const C_UNPIN = Ref{Ptr{Cvoid}}(C_NULL)
const C_CREATE = Ref{Ptr{Cvoid}}(C_NULL)
const C_ADOPT = Ref{Ptr{Cvoid}}(C_NULL)
const C_FREE = Ref{Ptr{Cvoid}}(C_NULL)
const C_COUNT_COPY = Ref{Ptr{Cvoid}}(C_NULL)
const C_PINNED = Ref{Ptr{Cvoid}}(C_NULL)
const C_IS_TRAINING = Ref{Ptr{Cvoid}}(C_NULL)
const C_LAST_ERROR = Ref{Ptr{Cvoid}}(C_NULL)
const C_DEAD_NODES = Ref{Ptr{Cvoid}}(C_NULL)
const C_DEAD_ROOTS = Ref{Ptr{Cvoid}}(C_NULL)
const C_OPEN_CALL = Ref{Ptr{Cvoid}}(C_NULL)
const C_CLOSE_CALL = Ref{Ptr{Cvoid}}(C_NULL)
const C_SHARE = Ref{Ptr{Cvoid}}(C_NULL)
const C_DROP_ARRAY = Ref{Ptr{Cvoid}}(C_NULL)
const C_RELEASED = Ref{Ptr{Cvoid}}(C_NULL)

const INSIDE = Ref{Ptr{Int64}}(C_NULL)   # where the number of the function that runs is written

const CHECK = Ref(false)   # PYBRIDGE_CHECK=1: find out functions that write to their inputs

function link!(addresses, check::Bool)
    links = (
        C_UNPIN, C_CREATE, C_ADOPT, C_FREE, C_COUNT_COPY, C_PINNED, C_IS_TRAINING, C_LAST_ERROR, C_DEAD_NODES, C_DEAD_ROOTS,
        C_OPEN_CALL, C_CLOSE_CALL, C_SHARE, C_DROP_ARRAY, C_RELEASED, INSIDE
    )
    length(addresses) == length(links) || error("link!: $(length(addresses)) addresses for $(length(links)) functions")
    for (link, address) in zip(links, addresses)
        link[] = convert(eltype(link), Ptr{Cvoid}(UInt(address)))
    end
    CHECK[] = check
    return nothing
end

_pinned() = Int(ccall(C_PINNED[], Clong, ()))
_count_copy(n::Integer) = ccall(C_COUNT_COPY[], Cvoid, (Clong,), n)
_libmxnet_error() = ErrorException(unsafe_string(ccall(C_LAST_ERROR[], Cstring, ())))
