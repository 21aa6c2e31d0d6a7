# Custom functions as nodes of MXNet's graph, recorded and differentiated from Julia code. Needs libmxnet.

using PyBridge.PythonCall: Py, PyException, pybuiltins, pyconvert, pydel!, pyimport, pylist, pywith

module Layers
using PyBridge

mutable struct Sigmoid <: CustomFunction
    y
    Sigmoid() = new()
end
PyBridge.forward(f::Sigmoid, x) = (f.y = @. 1 / (1 + exp(-x)))
PyBridge.backward(f::Sigmoid, Δ) = @. Δ * f.y * (1 - f.y)
@registerfunc Sigmoid

mutable struct Affine <: CustomFunction
    factor
    Affine(; factor = 1) = new(factor)
end
PyBridge.forward(f::Affine, x, shift) = eltype(x)(f.factor) .* x .+ eltype(x)(shift)
PyBridge.backward(f::Affine, Δ) = (eltype(Δ)(f.factor) .* Δ, nothing)
@registerfunc Affine

struct Both <: CustomFunction end
PyBridge.forward(::Both, a, b) = (a .+ b, a .* b)
PyBridge.backward(::Both, Δ1, Δ2) = (Δ1 .+ 3 .* Δ2, Δ1 .+ 2 .* Δ2)
@registerfunc Both

struct Refuses <: CustomFunction end
PyBridge.forward(::Refuses, x) = throw(DomainError(first(x), "not today"))
@registerfunc Refuses
end

const mx = pyimport("mxnet")
const pb = pyimport("pybridge")

nd(values...) = mx.nd.array(pylist(values))
values_of(x) = pyconvert(Vector{Float64}, x.reshape(-1).asnumpy().tolist())
sigmoid(x) = 1 / (1 + exp(-x))

"Let libmxnet finish and Julia forget: what is in the tables after that is alive."
function settle()
    GC.gc()
    GC.gc()   # once for Python's objects, again for what they held
    mx.nd.waitall()
    PB.release_entry()
    return (PB.node_count(), PB.root_count())
end

"Have the tables come down to these counts?  libmxnet frees arrays on threads of its own."
settled(counts) = timedwait(() -> settle() == counts, 20.0) === :ok

record(f) = pywith(_ -> f(), pb.record())

@testset "a registered function, called in Julia on an NDArray, records a node with right gradients" begin
    x = nd(-1.0, 0.0, 2.0)
    pb.attach_grad(x)
    nodes = settle()[1]
    y = record(() -> Layers.Sigmoid(x))
    @test y isa Py
    @test values_of(y) ≈ sigmoid.([-1.0, 0.0, 2.0]) rtol = 1e-6
    @test settle()[1] == nodes + 1
    y.backward()
    @test values_of(x.grad) ≈ [sigmoid(v) * (1 - sigmoid(v)) for v in (-1.0, 0.0, 2.0)] rtol = 1e-6
end

@testset "its result is an mx.np array for an mx.np array" begin
    y = Layers.Sigmoid(mx.np.array(pylist((0.0, 0.0))))
    @test pyconvert(Bool, pybuiltins.isinstance(y, mx.np.ndarray))
    @test values_of(y) == [0.5, 0.5]
end

@testset "constants and keywords go along" begin
    x = nd(1.0, 2.0)
    pb.attach_grad(x)
    y = record(() -> Layers.Affine(x, 5; factor = 3))
    @test values_of(y) == [8.0, 11.0]
    y.backward()
    @test values_of(x.grad) == [3.0, 3.0]
    @test Layers.Affine(factor = 2).factor == 2   # the constructor is still there
end

@testset "several arguments and results" begin
    a, b = nd(2.0), nd(3.0)
    pb.attach_grad(a), pb.attach_grad(b)
    total, product = record(() -> Layers.Both(a, b))
    @test values_of(total) == [5.0] && values_of(product) == [6.0]
    pb.backward(pylist([total, product]))
    @test values_of(a.grad) == [4.0] && values_of(b.grad) == [3.0]
end

@testset "native operators and registered functions chain" begin
    x = nd(0.5)
    pb.attach_grad(x)
    y = record(() -> Layers.Sigmoid(2 * Layers.Sigmoid(x)))
    y.backward()
    s = sigmoid(0.5)
    outer = sigmoid(2s)
    @test values_of(x.grad) ≈ [outer * (1 - outer) * 2 * s * (1 - s)] rtol = 1e-5
end

# no gradients here: what becomes of results
call(f, xs...) = pb.function(f, pullback = true)(xs...)
const BUFFER = [0f0, 0f0]

@testset "an argument that is returned is copied, wherever its memory is" begin
    x = nd(1.0, 2.0)
    doubled = call(x -> (2 .* x, identity), x)   # over Julia's memory
    for y in (call(x -> (x, identity), x), call(x -> (x, identity), doubled), call(x -> (vec(x), identity), doubled))
        before = values_of(y)
        y.__imul__(10)
        @test before in ([1.0, 2.0], [2.0, 4.0]) && values_of(y) == 10 .* before
    end
    @test values_of(x) == [1.0, 2.0] && values_of(doubled) == [2.0, 4.0]
end

@testset "a buffer that an earlier result lies over is refused" begin
    fill_buffer(x) = (BUFFER .= x; (BUFFER, identity))
    first_result = call(fill_buffer, nd(1.0, 2.0))
    e = thrown(() -> call(fill_buffer, nd(3.0, 4.0)))
    @test e isa PyException && occursin("earlier result", sprint(showerror, e)) && occursin("fresh", sprint(showerror, e))
    @test values_of(call(x -> (copy(BUFFER), identity), nd(1.0))) == [3.0, 4.0]
    @test values_of(first_result) == [3.0, 4.0]   # what the refusal is about
end

@testset "errors come out in Julia" begin
    e = thrown(() -> Layers.Refuses(nd(1.0)))
    @test occursin("not today", sprint(showerror, e))
    e = thrown(() -> Layers.Sigmoid(mx))
    @test e isa PyException && occursin("NDArray", sprint(showerror, e))
    # nothing of it stays behind
    @test PB.FAILURE[] === nothing && PB.STAGED[] === nothing
end

# Functions of their own, so that no frame holds what they have dropped.
@noinline recorded(x, n) = Any[record(() -> Layers.Sigmoid(x)) for _ in 1:n]
@noinline differentiate_last!(ys) = (pop!(ys).backward(); nothing)
@noinline drop!(ys) = foreach(pydel!, splice!(ys, 1:length(ys)))

@testset "nodes and roots are in the tables while they live and not after" begin
    x = nd(1.0, 2.0)
    pb.attach_grad(x)
    before = settle()
    ys = recorded(x, 5)
    @test settle() == before .+ 5
    differentiate_last!(ys)   # its graph goes with its backward
    @test settled(before .+ 4)
    drop!(ys)
    @test settled(before)
    drop!(recorded(x, 1))     # never differentiated
    @test settled(before)
    zs = Any[pb.asndarray([1.0, 2.0, 3.0])]
    @test settle() == before .+ (0, 1)
    drop!(zs)
    @test settled(before)
    zs = Any[Layers.Sigmoid(x)]   # outside record
    @test settle() == before .+ (0, 1)
    drop!(zs)
    @test settled(before)
end

@testset "a failed forward leaves nothing in the tables" begin
    before = settle()
    for wrong in (x -> (copy(x), "text"), x -> ([1f0, 2f0], zeros(Float32, 0)))
        f = pb.function(x -> (wrong(x), identity), pullback = true)
        @test_throws Exception f(nd(1.0))
    end
    @test settled(before)
end

@testset "the memory of an adopted array stays where it is when the array grows" begin
    a = collect(1f0:100_000f0)
    z = pb.asndarray(a)
    try
        resize!(a, 10^7)
    catch   # Julia may refuse to resize an array that shares its memory
    end
    GC.gc()
    rubbish = [fill(-1f0, 100_000) for _ in 1:20]
    @test values_of(z) == 1:100_000
    @test length(rubbish) == 20
end

"The Julia value in a Python wrapper, which is dropped."
function unwrapped(wrapper::Py)
    value = pyconvert(Any, wrapper)
    pydel!(wrapper)
    return value
end

# Functions of their own again.
@noinline first_element(held) = first(held[])
@noinline function hold!(held, make)
    x = mx.nd.ones(pylist((1000, 1000)))
    held[] = make(unwrapped(pb.asjulia(x, writable = true)))
    pydel!(x)
    return nothing
end

@testset "what was made of a view holds the NDArray's memory: $name" for (name, make) in (
    "itself" => identity,
    "vec" => vec,
    "reshape" => a -> reshape(a, 2, :),
    "view" => a -> view(a, 1:2, :),
    "adjoint" => a -> a',
    "reinterpret" => a -> reinterpret(Int32, a),
)
    settle()
    pinned = PB._pinned()
    held = Ref{Any}()
    hold!(held, make)
    settle()
    @test PB._pinned() == pinned + 4_000_000
    @test first_element(held) in (1f0, reinterpret(Int32, 1f0))
    held[] = nothing
    settle()
    @test PB._pinned() == pinned
end
