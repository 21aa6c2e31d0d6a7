# Functions written in Julia as nodes of the graph: `@registerfunc` and `mx.@custom`, against closed forms.

const mx = PB.mx

module Functions
using PyBridge
const mx = PyBridge.mx
const SEEN = Any[]

# ---- registered: plain arrays, and NDArrays

mutable struct Sigmoid <: CustomFunction
    y
    Sigmoid() = new()
end
function PyBridge.forward(f::Sigmoid, x)
    push!(SEEN, typeof(x))
    return f.y = @. 1 / (1 + exp(-x))
end
PyBridge.backward(f::Sigmoid, Δ) = (push!(SEEN, typeof(Δ)); @. Δ * f.y * (1 - f.y))
@registerfunc Sigmoid

mutable struct Cube <: CustomFunction
    x
    factor
    Cube(; factor = 1) = new(nothing, factor)
end
PyBridge.argkind(::Type{Cube}) = :ndarray
function PyBridge.forward(f::Cube, x)
    push!(SEEN, typeof(x))
    f.x = x
    return x .^ 3 .* f.factor
end
PyBridge.backward(f::Cube, Δ) = (push!(SEEN, typeof(Δ)); 3 .* f.x .^ 2 .* Δ .* f.factor)
@registerfunc Cube

struct Both <: CustomFunction end
PyBridge.forward(::Both, a, b) = (a .+ b, a .- b)
PyBridge.backward(::Both, Δ1, Δ2) = (Δ1 .+ Δ2, Δ1 .- Δ2)
@registerfunc Both

# ---- made by @custom

mutable struct Swish
    σ
    y
    Swish() = new()
end
mx.@custom swish(x) = Swish()
function mx.forward(f::Swish, x)
    push!(SEEN, typeof(x))
    f.σ = mx.sigmoid.(x)
    return f.y = x .* f.σ
end
mx.backward!(f::Swish, Δ) = (push!(SEEN, typeof(Δ)); (f.y .+ f.σ .* (1 .- f.y)) .* Δ)

mutable struct Product
    xs
    Product() = new()
end
mx.@custom function product(x, y)
    return Product()
end
mx.forward(f::Product, x, y) = (f.xs = (x, y); x .* y)
mx.backward!(f::Product, Δ) = (Δ .* f.xs[2], Δ .* f.xs[1])

mutable struct SumAndProduct
    xs
    SumAndProduct() = new()
end
mx.@custom sum_and_product(x::mx.NDArray{T}, y::mx.NDArray{T}) where {T<:AbstractFloat} = SumAndProduct()
mx.forward(f::SumAndProduct, x, y) = (f.xs = (x, y); (x .+ y, x .* y))
mx.backward!(f::SumAndProduct, Δs, Δp) = (Δs .+ Δp .* f.xs[2], Δs .+ Δp .* f.xs[1])

struct Power
    p
    scale
    x::Ref{Any}
end
mx.@custom power(p, x, scale = 1; shift = 0, factor) = Power(p + shift, scale * factor, Ref{Any}())
mx.forward(f::Power, p, x, scale) = (f.x[] = x; x .^ f.p .* f.scale)
mx.backward!(f::Power, Δ) = (nothing, f.p .* f.x[] .^ (f.p - 1) .* f.scale .* Δ, nothing)

struct Weighted
    weights
end
mx.@custom function weighted(xs...; weights = 1:length(xs))
    length(xs) == length(weights) || throw(DimensionMismatch("weights"))
    return Weighted(collect(weights))
end
mx.forward(f::Weighted, xs...) = reduce((a, b) -> a .+ b, [w .* x for (w, x) in zip(f.weights, xs)])
mx.backward!(f::Weighted, Δ) = Tuple(w .* Δ for w in f.weights)

mutable struct Halved
    size
    Halved() = new()
end
mx.@custom halved(x) = Halved()
mx.argkind(::Type{Halved}) = :array
mx.forward(f::Halved, x) = (push!(SEEN, typeof(x)); f.size = size(x); [sum(x) / 2])
mx.backward!(f::Halved, Δ) = (push!(SEEN, typeof(Δ)); fill(Δ[1] / 2, f.size))

"The fourth power: the square of a square, both by `product`; its gradient by autograd inside of the backward."
mutable struct Fourth
    x
    Fourth() = new()
end
mx.@custom fourth(x) = Fourth()
function mx.forward(f::Fourth, x)
    f.x = x
    y = product(x, x)
    return product(y, y)
end
function mx.backward!(f::Fourth, Δ)
    x = copy(f.x, mx.cpu())
    mx.attach_grad!(x)
    y = mx.record() do
        s = product(x, x)
        product(s, s)
    end
    mx.backward!(y, Δ)
    return mx.getgrad(x)
end

mutable struct Cubes
    factor
    x
    Cubes(factor) = new(factor)
end
mx.@customfunc Cubes
mx.forward(f::Cubes, x) = (f.x = copy(x); f.factor .* x .^ 3)
mx.backward!(f::Cubes, Δ) = 3f.factor .* f.x .^ 2 .* Δ

struct Failure <: Exception
    at::Symbol
    value::Any
end
mutable struct Fragile
    at
end
mx.@custom fragile(x; at = :nowhere) = Fragile(at)
mx.forward(f::Fragile, x) = f.at === :forward ? throw(Failure(:forward, x)) : 2 .* x
mx.backward!(f::Fragile, Δ) = f.at === :backward ? throw(Failure(:backward, 7)) : f.at === :many ? (Δ, Δ) : 2 .* Δ

mutable struct FragileArrays <: CustomFunction
    at
    FragileArrays(; at = :nowhere) = new(at)
end
PyBridge.forward(f::FragileArrays, x) = f.at === :forward ? throw(Failure(:forward, 1)) : 2 .* x
PyBridge.backward(f::FragileArrays, Δ) = f.at === :backward ? throw(Failure(:backward, 7)) : 2 .* Δ
@registerfunc FragileArrays

"Says in which mode forward and backward run."
struct Modes end
mx.@custom modes(x) = Modes()
mx.forward(::Modes, x) = (push!(SEEN, (mx.is_recording(), mx.is_training())); 1 .* x)
mx.backward!(::Modes, Δ) = Δ
end

const F = Functions
const A = [1.0 2.0; -3.0 0.5]
const B = [0.25 -1.0; 2.0 4.0]

sigmoid(x) = 1 / (1 + exp(-x))
swish(x) = x * sigmoid(x)
dswish(x) = swish(x) + sigmoid(x) * (1 - swish(x))

"The value of `f` at arrays, and their gradients for `Δs` (or ones) as those of the results."
function differentiated(f, arrays...; Δs = nothing)
    xs = map(mx.NDArray, arrays)
    foreach(mx.attach_grad!, xs)
    y = mx.record(() -> f(xs...))
    several = y isa Tuple
    heads = collect(mx.NDArray, several ? y : (y,))
    mx.backward!(heads, Δs === nothing ? nothing : map(Δ -> Δ === nothing ? nothing : mx.NDArray(Δ), collect(Any, Δs)))
    value = several ? map(copy, y) : copy(y)
    return value, map(x -> copy(mx.getgrad(x)), xs)...
end

seen(f) = (empty!(F.SEEN); f(); copy(F.SEEN))

# ---- @registerfunc ---------------------------------------------------------------------------------------------

@testset "registered functions of arrays" begin
    y, g = differentiated(F.Sigmoid, A)
    @test y ≈ sigmoid.(A) && g ≈ sigmoid.(A) .* (1 .- sigmoid.(A))
    y, g = differentiated(F.Sigmoid, A; Δs = (B,))
    @test g ≈ B .* sigmoid.(A) .* (1 .- sigmoid.(A))
    types = seen(() -> differentiated(F.Sigmoid, A))
    @test length(types) == 2 && all(T -> T <: AbstractMatrix{Float64}, types)
    @test F.Sigmoid(mx.NDArray(A)) isa mx.NDArray{Float64,2}
end

@testset "registered functions of NDArrays" begin
    y, g = differentiated(F.Cube, A)
    @test y ≈ A .^ 3 && g ≈ 3 .* A .^ 2
    y, g = differentiated(x -> F.Cube(x; factor = 2), A)
    @test y ≈ 2 .* A .^ 3 && g ≈ 6 .* A .^ 2
    @test seen(() -> differentiated(F.Cube, A)) == [mx.NDArray{Float64,2}, mx.NDArray{Float64,2}]
end

@testset "registered functions of several arrays" begin
    (s, d), ga, gb = differentiated(F.Both, A, B)
    @test s == A .+ B && d == A .- B && ga == fill(2, 2, 2) && gb == zeros(2, 2)
    _, ga, gb = differentiated(F.Both, A, B; Δs = (A, B))
    @test ga ≈ A .+ B && gb ≈ A .- B
    _, ga, gb = differentiated((a, b) -> F.Both(a, b)[2], A, B)
    @test ga == ones(2, 2) && gb == -ones(2, 2)
end

# ---- @custom ---------------------------------------------------------------------------------------------------

@testset "one argument" begin
    y, g = differentiated(F.swish, A)
    @test y ≈ swish.(A) && g ≈ dswish.(A)
    _, g = differentiated(F.swish, A; Δs = (B,))
    @test g ≈ B .* dswish.(A)
    @test seen(() -> differentiated(F.swish, A)) == [mx.NDArray{Float64,2}, mx.NDArray{Float64,2}]
    y = F.swish(mx.NDArray(Float32[1 2 3]))
    @test y isa mx.NDArray{Float32,2} && copy(y) ≈ swish.(Float32[1 2 3])
end

@testset "several arguments and results" begin
    y, ga, gb = differentiated(F.product, A, B)
    @test y == A .* B && ga == B && gb == A
    (s, p), ga, gb = differentiated(F.sum_and_product, A, B)
    @test s == A .+ B && p == A .* B && ga == 1 .+ B && gb == 1 .+ A
    _, ga, gb = differentiated(F.sum_and_product, A, B; Δs = (nothing, A))
    @test ga == 1 .+ A .* B && gb == 1 .+ A .* A
    _, ga, gb = differentiated((a, b) -> F.sum_and_product(a, b)[1], A, B)
    @test ga == ones(2, 2) && gb == ones(2, 2)
    @test_throws MethodError F.sum_and_product(mx.NDArray([1]), mx.NDArray([1]))
    @test_throws MethodError F.sum_and_product(mx.NDArray([1.0]), mx.NDArray([1f0]))
end

@testset "one array given twice" begin
    y, g = differentiated(x -> F.product(x, x), A)
    @test y == A .^ 2 && g == 2A
end

@testset "constants, defaults and keywords" begin
    y, g = differentiated(x -> F.power(3, x; factor = 1), A)
    @test y ≈ A .^ 3 && g ≈ 3 .* A .^ 2
    y, g = differentiated(x -> F.power(3, x, 10; factor = 2, shift = -1), A)
    @test y ≈ 20 .* A .^ 2 && g ≈ 40 .* A
    @test_throws UndefKeywordError F.power(3, mx.NDArray(A))
    @test_throws ArgumentError F.power(3, 4; factor = 1)        # no array
end

@testset "any number of arguments" begin
    y, g = differentiated(F.weighted, A)
    @test y == A && g == ones(2, 2)
    y, ga, gb, gc = differentiated(F.weighted, A, B, A .+ B)
    @test y ≈ A .+ 2B .+ 3 .* (A .+ B) && (ga, gb, gc) == (ones(2, 2), fill(2, 2, 2), fill(3, 2, 2))
    y, ga, gb = differentiated((a, b) -> F.weighted(a, b; weights = (-1, 0.5)), A, B)
    @test y == B ./ 2 .- A && (ga, gb) == (-ones(2, 2), fill(0.5, 2, 2))
    @test_throws DimensionMismatch F.weighted(mx.NDArray(A); weights = 1:3)
end

@testset "plain arrays, with argkind :array" begin
    y, g = differentiated(F.halved, A)
    @test y == [sum(A) / 2] && g == fill(0.5, 2, 2)
    _, g = differentiated(F.halved, A; Δs = ([4.0],))
    @test g == fill(2, 2, 2)
    types = seen(() -> differentiated(F.halved, A))
    @test types[1] <: AbstractMatrix{Float64} && types[2] <: AbstractVector{Float64}
    @test mx.argkind(F.Halved) === :array && mx.argkind(F.Swish) === :ndarray
end

@testset "instances as functions, with @customfunc" begin
    first, second = F.Cubes(2), F.Cubes(1)
    y, g = differentiated(x -> second(first(x)), A)
    @test y ≈ 8 .* A .^ 9 && g ≈ 72 .* A .^ 8
    @test first.x == A && second.x ≈ 2 .* A .^ 3
    @test_throws ArgumentError first(1.0)
    y, g = differentiated(F.Cubes(0.5), Float32.(A))
    @test eltype(y) == eltype(g) == Float32 && y ≈ A .^ 3 ./ 2 && g ≈ 1.5 .* A .^ 2
end

@testset "one in another" begin
    y, g = differentiated(F.fourth, A)
    @test y ≈ A .^ 4 && g ≈ 4 .* A .^ 3
    _, g = differentiated(x -> F.fourth(F.swish(x)), A; Δs = (B,))
    @test g ≈ B .* 4 .* swish.(A) .^ 3 .* dswish.(A)
end

@testset "among operators, and more than once" begin
    y, ga, gb = differentiated(A, B) do a, b
        s = F.swish(a * b)
        F.product(s, exp.(a)) .+ F.Sigmoid(2 .* s)
    end
    s, ds = swish.(A * B), dswish.(A * B)
    σ = sigmoid.(2s)
    ∂s = exp.(A) .+ 2 .* σ .* (1 .- σ)
    @test y ≈ s .* exp.(A) .+ σ
    @test ga ≈ (∂s .* ds) * B' .+ s .* exp.(A) && gb ≈ A' * (∂s .* ds)
    _, g = differentiated(x -> F.swish(F.swish(F.swish(x))), A)
    @test g ≈ dswish.(swish.(swish.(A))) .* dswish.(swish.(A)) .* dswish.(A)
end

@testset "a node outlives collections, and adds where asked" begin
    x = mx.NDArray(A)
    ∇ = mx.attach_grad!(x, :add)
    for i in 1:3
        y = mx.record(() -> F.swish(x))
        GC.gc()
        mx.backward!(y)
        @test copy(∇) ≈ i .* dswish.(A)
    end
    y = mx.record(() -> F.swish(x))
    mx.backward!(y; retain_graph = true)
    mx.backward!(y)
    @test copy(∇) ≈ 5 .* dswish.(A)
end

@testset "memory that libmxnet uses again is taken for nobody's result" begin
    x, roots = mx.NDArray(A), PB.root_count()
    ∇ = mx.attach_grad!(x)
    for f in (F.swish, F.Sigmoid, x -> F.fourth(x)), _ in 1:40
        mx.backward!(mx.record(() -> f(2 .* x)))
    end
    @test copy(∇) ≈ 64 .* A .^ 3
    mx.waitall()
    for _ in 1:100      # libmxnet lets go of arrays on threads of its own, in its own time
        GC.gc()
        PB._release()
        PB.root_count() <= roots && break
        Libc.systemsleep(0.01)
    end
    @test PB.root_count() <= roots
end

@testset "unrecorded calls leave no graph" begin
    x = mx.NDArray(A)
    mx.attach_grad!(x)
    for y in (F.swish(x), mx.pause(() -> F.swish(x)), mx.record(() -> mx.pause(() -> F.swish(x))))
        @test copy(y) ≈ swish.(A)
        @test_throws mx.MXError mx.backward!(y)
    end
end

@testset "forward runs unrecorded, in the caller's training mode" begin
    x = mx.NDArray(A)
    mx.attach_grad!(x)
    @test seen(() -> mx.record(() -> F.modes(x))) == [(false, true)]
    @test seen(() -> mx.record(() -> F.modes(x), false)) == [(false, false)]
    @test seen(() -> F.modes(x)) == [(false, false)]
    @test (mx.is_recording(), mx.is_training()) == (false, false)
end

# ---- exceptions ------------------------------------------------------------------------------------------------

@testset "an exception in forward arrives as itself: $f" for f in (F.fragile, F.FragileArrays)
    x = mx.NDArray(A)
    ∇ = mx.attach_grad!(x)
    e = thrown(() -> mx.record(() -> f(x; at = :forward)))
    @test e isa F.Failure && e.at === :forward
    @test (mx.is_recording(), mx.is_training()) == (false, false)
    mx.backward!(mx.record(() -> f(x)))
    @test copy(∇) == fill(2, 2, 2)
end

@testset "an exception in backward arrives as itself: $f" for f in (F.fragile, F.FragileArrays)
    x = mx.NDArray(A)
    ∇ = mx.attach_grad!(x)
    y = mx.record(() -> 3 .* f(2 .* x; at = :backward))
    e = thrown(() -> mx.backward!(y))
    @test e isa F.Failure && e.at === :backward && e.value === 7
    for _ in 1:2
        mx.backward!(mx.record(() -> f(x)))
        @test copy(∇) == fill(2, 2, 2)
    end
    @test copy(y) == 12A
end

@testset "an exception in one that is inside another arrives too" begin
    x = mx.NDArray(A)
    mx.attach_grad!(x)
    @test thrown(() -> mx.record(() -> F.swish(F.fragile(x; at = :forward)))) isa F.Failure
    y = mx.record(() -> F.swish(F.fragile(x; at = :backward)))
    @test thrown(() -> mx.backward!(y)) isa F.Failure
end

@testset "a wrong number of gradients is refused" begin
    x = mx.NDArray(A)
    mx.attach_grad!(x)
    y = mx.record(() -> F.fragile(x; at = :many))
    @test thrown(() -> mx.backward!(y)) isa Exception
    mx.backward!(mx.record(() -> F.fragile(x)))
    @test copy(mx.getgrad(x)) == fill(2, 2, 2)
end

# ---- the macro -------------------------------------------------------------------------------------------------

@testset "@custom wants a function definition: $definition" for definition in (
    :(3), :(x), :(x = 3), :(f(x)), :(x -> x), :(f(::Int) = 3),
)
    e = thrown(() -> macroexpand(@__MODULE__, :($mx.@custom $definition)))
    e isa LoadError && (e = e.error)
    @test e isa ArgumentError && occursin("@custom", e.msg)
end

@testset "the function's name is in messages" begin
    @test occursin("power", sprint(showerror, thrown(() -> F.power(3, 4; factor = 1))))
end
