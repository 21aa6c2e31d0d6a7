# The block is a piece of memory that C, Python and Julia all see: a header of `HEADER` words, then one descriptor of
# `WORDS` words per array. Mirrored in pybridge/_trampoline.h; indices here count from 1.

const HEADER = 16
const WORDS = 24
const MAXDIM = 16

const H_FUNCTION = 1
const H_NODE = 2
const H_FLAGS = 3
const H_INPUTS = 4
const H_OUTPUTS = 5
const H_STAGED = 6
const H_SEVERAL = 7
const H_STATUS = 8
const H_ROOM = 9
const H_WRITTEN = 14        # how many of the last inputs may be written to

const FLAG_TRAINING = 1
const FLAG_RECORDING = 2
const FLAG_NUMPY = 4        # the results become mx.np arrays
const FLAG_NP_SHAPE = 8     # zero-size and zero-dimensional shapes are taken literally

const REQ_NULL = 0
const REQ_ADD = 3

"The block at an address."
struct Block
    at::Ptr{Int64}
end

Base.getindex(b::Block, i::Int) = unsafe_load(b.at, i)
Base.setindex!(b::Block, v::Integer, i::Int) = unsafe_store!(b.at, Int64(v), i)

"The descriptor of one array, at its address."
struct Descriptor
    at::Ptr{Int64}
end

descriptor(b::Block, i::Int) = Descriptor(b.at + 8 * (HEADER + (i - 1) * WORDS))

_word(d::Descriptor, i::Int) = unsafe_load(d.at, i)
_word!(d::Descriptor, i::Int, v::Integer) = unsafe_store!(d.at, Int64(v), i)

handle(d::Descriptor) = Ptr{Cvoid}(UInt(_word(d, 1)))
data(d::Descriptor) = Ptr{Cvoid}(UInt(_word(d, 2)))
code(d::Descriptor) = Int(_word(d, 3))
dims(d::Descriptor) = Int(_word(d, 4))
req(d::Descriptor) = Int(_word(d, 5))
pin(d::Descriptor) = Ptr{Cvoid}(UInt(_word(d, 6)))
bytes(d::Descriptor) = Int(_word(d, 7))
context(d::Descriptor) = _word(d, 8)
dim(d::Descriptor, i::Int) = Int(_word(d, 8 + i))

data!(d::Descriptor, p::Ptr) = _word!(d, 2, Int64(UInt(p)))
pin!(d::Descriptor, p::Ptr) = _word!(d, 6, Int64(UInt(p)))
context!(d::Descriptor, c::Integer) = _word!(d, 8, c)

"""
    shape!(d, T, size)

Describe an array of element type `T` whose *Julia* size is `size`: libmxnet's shape is the reverse.
"""
function shape!(d::Descriptor, ::Type{T}, size::Dims{N}) where {T,N}
    _word!(d, 3, dtype_code(T))
    _word!(d, 4, N)
    for i in 1:N
        _word!(d, 8 + i, size[N+1-i])
    end
    return d
end

# libmxnet's numbers of the element types
const DTYPES = (Float32, Float64, Float16, UInt8, Int32, Int8, Int64, Bool)

"""
    PyBridge.dtype_code(T)

Returns libmxnet's number of the element type `T`; an `ArgumentError` when it has none.

```jldoctest; setup = :(using PyBridge)
julia> PyBridge.dtype_code(Float32)
0

julia> PyBridge.dtype_code(Complex{Float32})
ERROR: ArgumentError: libmxnet has no element type Complex{Float32}: use one of Float32, Float64, Float16, UInt8, Int32, Int8, Int64, Bool
```
"""
function dtype_code(::Type{T}) where {T}
    i = findfirst(isequal(T), DTYPES)
    i === nothing && throw(ArgumentError("libmxnet has no element type $T: use one of $(join(DTYPES, ", "))"))
    return i - 1
end

dtype_code(::Type{Float32}) = 0
dtype_code(::Type{Float64}) = 1
