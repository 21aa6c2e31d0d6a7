# The same small operations from Julia: each function makes `n` of them and waits for the last; returns seconds for one.

module Imperative

using PyBridge
const mx = PyBridge.mx

function timed(f, n)
    GC.gc(false)
    begun = time_ns()
    for _ in 1:n
        f()
    end
    mx.waitall()
    return (time_ns() - begun) / n / 1e9
end

const X = Ref{Any}()
const Y = Ref{Any}()

function prepare()
    X[], Y[] = mx.NDArray(rand(Float32, 16)), mx.NDArray(rand(Float32, 16))
    mx.attach_grad!(X[])
    return nothing
end

square(x, y) = mx.square(x)
add(x, y) = x .+ y

function differentiated(x, y)
    z = mx.record(() -> mx.square(x))
    mx.backward!(z)
    return nothing
end

function chain(x, y)
    z = mx.record() do
        z = x
        for _ in 1:50
            z = (z .+ y) .* y
        end
        z
    end
    mx.backward!(z)
    return nothing
end

run(f, n) = ((x, y) = (X[], Y[]); timed(() -> f(x, y), n))

# What libmxnet's own C functions take, with nothing around them.

const INVOKE = Ref{Ptr{Cvoid}}(C_NULL)
const FREE = Ref{Ptr{Cvoid}}(C_NULL)
const BACKWARD = Ref{Ptr{Cvoid}}(C_NULL)

function bare_invoke(op, handles, n, made, stypes)
    ccall(INVOKE[], Cint,
        (Ptr{Cvoid}, Cint, Ptr{Ptr{Cvoid}}, Ref{Cint}, Ref{Ptr{Ptr{Cvoid}}}, Cint, Ptr{Cvoid}, Ptr{Cvoid}, Ref{Ptr{Cint}}),
        op, length(handles), handles, n, made, 0, C_NULL, C_NULL, stypes)
    return unsafe_load(made[])
end

free(handle) = ccall(FREE[], Cint, (Ptr{Cvoid},), handle)

function bare(op::String, handles, backward::Bool, repeats)
    INVOKE[], FREE[], BACKWARD[] = mx._address(:MXImperativeInvokeEx), mx._address(:MXNDArrayFree), mx._address(:MXAutogradBackwardEx)
    handle = mx._handle(mx.Operator(op))
    n, made, stypes, head = Ref{Cint}(0), Ref{Ptr{Ptr{Cvoid}}}(C_NULL), Ref{Ptr{Cint}}(C_NULL), [C_NULL]
    step() = begin
        n[], made[] = 0, C_NULL
        y = bare_invoke(handle, handles, n, made, stypes)
        if backward
            head[1] = y
            ccall(BACKWARD[], Cint,
                (Cuint, Ptr{Ptr{Cvoid}}, Ptr{Cvoid}, Cuint, Ptr{Cvoid}, Cint, Cint, Cint, Ptr{Cvoid}, Ptr{Cvoid}),
                1, head, C_NULL, 0, C_NULL, 0, 0, 1, C_NULL, C_NULL)
        end
        free(y)
    end
    recorded() = mx.record(step)
    return timed(backward ? recorded : step, repeats)
end

bare_square(n) = bare("square", [X[].handle], false, n)
bare_add(n) = bare("elemwise_add", [X[].handle, Y[].handle], false, n)
bare_differentiated(n) = bare("square", [X[].handle], true, n)

end
