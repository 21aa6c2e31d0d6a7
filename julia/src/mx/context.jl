# Devices.

export Context, context, cpu, gpu, num_gpus, gpu_memory_info

@enum CONTEXT_TYPE CPU = 1 GPU = 2 CPU_PINNED = 3 CPU_SHARED = 5
Base.convert(::Type{CONTEXT_TYPE}, x::Integer) = CONTEXT_TYPE(x)

"""
    Context(device_type, device_id = 0)

A device: `mx.CPU`, `mx.GPU`, `mx.CPU_PINNED` or its number, and which of them.

```julia
using PyBridge: mx
mx.Context(mx.CPU) == mx.cpu() == mx.Context(1, 0)
```
"""
struct Context
    device_type::CONTEXT_TYPE
    device_id::Int

    Context(device_type::CONTEXT_TYPE, device_id::Integer = 0) = new(device_type, device_id)
end
Context(device_type::Integer, device_id::Integer = 0) = Context(CONTEXT_TYPE(device_type), device_id)

Base.show(io::IO, c::Context) = print(io, lowercase(string(c.device_type)), c.device_id)

"""
    cpu(id = 0) -> Context
"""
cpu(id::Integer = 0) = Context(CPU, id)

"""
    gpu(id = 0) -> Context
"""
gpu(id::Integer = 0) = Context(GPU, id)

"""
    cpu_pinned(id = 0) -> Context

Memory of the CPU that is locked, for faster transfers to GPUs.
"""
cpu_pinned(id::Integer = 0) = Context(CPU_PINNED, id)

# ---- the current context ---------------------------------------------------------------------------------------

const CURRENT = Ref(Context(CPU, 0))

"""
    current_context() -> Context

Returns where arrays are made when nothing else is said: `cpu0`, unless [`@context`](@ref) says otherwise.
"""
current_context() = CURRENT[]

function _within_context(f, c::Context)
    before = CURRENT[]
    CURRENT[] = c
    try
        return f()
    finally
        CURRENT[] = before
    end
end

"""
    @context device_type [device_id] expression

Evaluate the expression with another [`current_context`](@ref); its value is the expression's.

```julia
using PyBridge: mx
mx.@context mx.CPU 1 begin
    mx.context(mx.zeros(2, 3))     # cpu1
end
```
"""
macro context(device_type, arguments...)
    return _context_call(esc(device_type), arguments...)
end

"""
    @cpu [device_id] expression

Short for `@context mx.CPU [device_id] expression`.
"""
macro cpu(arguments...)
    return _context_call(CPU, arguments...)
end

"""
    @gpu [device_id] expression

Short for `@context mx.GPU [device_id] expression`.
"""
macro gpu(arguments...)
    return _context_call(GPU, arguments...)
end

_context_call(device_type, expression) = _context_call(device_type, 0, expression)
_context_call(device_type, device_id, expression) =
    :(_within_context(() -> $(esc(expression)), Context($device_type, $(esc(device_id)))))

# ---- what libmxnet says of devices -----------------------------------------------------------------------------

"""
    context(x::NDArray) -> Context

Returns where `x` lies.
"""
function context(x::NDArray)
    device_type, device_id = Ref{Cint}(0), Ref{Cint}(0)
    @mxcall(:MXNDArrayGetContext, (Ptr{Cvoid}, Ref{Cint}, Ref{Cint}), x.handle, device_type, device_id)
    return Context(device_type[], device_id[])
end

"Can Julia reach the memory of `x`?"
_on_cpu(x::NDArray) = context(x).device_type !== GPU

"""
    num_gpus() -> Int
"""
function num_gpus()
    n = Ref{Cint}(0)
    @mxcall(:MXGetGPUCount, (Ref{Cint},), n)
    return Int(n[])
end

"""
    gpu_memory_info(device_id = 0) -> (free, total)

Returns the numbers of bytes of a GPU's memory; throws an [`MXError`](@ref) where there is none.
"""
function gpu_memory_info(device_id::Integer = 0)
    free, total = Ref{UInt64}(0), Ref{UInt64}(0)
    @mxcall(:MXGetGPUMemoryInformation64, (Cint, Ref{UInt64}, Ref{UInt64}), device_id, free, total)
    return free[], total[]
end

"""
    empty_cache(context = current_context()) -> Context

Give memory that libmxnet keeps for later arrays on a device back to the system.
"""
function empty_cache(c::Context = current_context())
    @mxcall(:MXStorageEmptyCache, (Cint, Cint), Int(c.device_type), c.device_id)
    return c
end
