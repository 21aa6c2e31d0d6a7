# What Zygote's documentation says of explicit gradients.

using ChainRulesCore, LinearAlgebra, Statistics
using Zygote

struct Point
    x::Float64
    y::Float64
end
plus(a, b) = Point(a.x + b.x, a.y + b.y)
dist(p) = sqrt(p.x^2 + p.y^2)

struct Linear
    W::Matrix{Float64}
    b::Vector{Float64}
    name::String
end
(l::Linear)(x) = l.W * x .+ l.b

function pow(x, n)
    r = 1
    for i in 1:n
        r *= x
    end
    return r
end
pow2(x, n) = n <= 0 ? 1 : x * pow2(x, n - 1)

const W, X = [1.0 2.0 3.0; 4.0 5.0 6.0], [1.0, 2.0, 3.0]

"Central differences of the number f(x)."
function slopes(f, x, h = 1e-6)
    moved(i, by) = (y = copy(x); y[i] += by; y)
    return [(f(moved(i, h)) - f(moved(i, -h))) / 2h for i in CartesianIndices(x)]
end

@testset "the documentation's examples give what it says" begin
    @test gradient(x -> 3x^2 + 2x + 1, 5) == (32.0,)
    @test gradient((a, b) -> a * b, 2, 3) == (3.0, 2.0)
    @test gradient(W -> sum(W * X), W)[1] == [1.0 2.0 3.0; 1.0 2.0 3.0]
    @test gradient(x -> pow(x, 3), 5) == (75.0,) == gradient(x -> pow2(x, 3), 5)
    @test gradient(*, 2.0, 3.0, 5.0) == (15.0, 10.0, 6.0)
    @test gradient(x -> sum(abs2, x), [7.0, 11.0, 13.0]) == ([14.0, 22.0, 26.0],)
    @test gradient((x, y, d) -> (p = size(x, d); sum(x .^ p .+ y)), [7, 11], 0, 1) == ([14.0, 22.0], 2.0, nothing)
    @test withgradient(/, 1, 2) == (val = 0.5, grad = (0.5, -0.25))
    @test withgradient(x -> (z = 1 ./ x; (sum(z), z)), [1, 2, 4]) ==
        (val = (1.75, [1.0, 0.5, 0.25]), grad = ([-1.0, -0.25, -0.0625],))
    @test withgradient((x, y) -> (div = x / y, mul = x * y), 3.0, 4.0) ==
        (val = (div = 0.75, mul = 12.0), grad = (0.25, -0.1875))
end

@testset "the gradient of a struct is a named tuple, with nothing where there is none" begin
    g = gradient(a -> dist(plus(a, Point(3, 4))), Point(1, 2))[1]
    @test g.x ≈ 0.5547001962252291 && g.y ≈ 0.8320502943378437
    l = Linear(W, [1.0, 2.0], "a name")
    y, back = pullback((l, x) -> l(x), l, X)
    @test y == W * X + [1, 2]
    @test back([1.0, 10.0]) == ((W = [1.0 2.0 3.0; 10.0 20.0 30.0], b = [1.0, 10.0], name = nothing), W' * [1, 10])
    @test gradient(l -> sum(l.b), l)[1] == (W = nothing, b = [1.0, 1.0], name = nothing)
    @test gradient(t -> t.a * t.b[2], (a = 2.0, b = (1.0, 3.0))) == ((a = 3.0, b = (nothing, 2.0)),)
end

@testset "nothing stands for zero" begin
    @test gradient(x -> 1.0, [1.0, 2.0]) == (nothing,)
    @test gradient((x, y) -> sum(x), [1.0, 2.0], [1.0]) == ([1.0, 1.0], nothing)
    y, back = pullback((x, y) -> (2 .* x, sum(y)), Float32[1, 2], Float32[3])
    @test back((Float32[1, 1], 2f0)) == (Float32[2, 2], Float32[2])
    @test back((nothing, 2f0)) == (nothing, Float32[2]) && back(nothing) == (nothing, nothing)
end

@testset "back may be called again, and gives the same" begin
    y, back = pullback(x -> x .^ 2, [1.0, 2.0])
    @test back([1.0, 1.0]) == ([2.0, 4.0],) == back([1.0, 1.0]) && back([0.0, 1.0]) == ([0.0, 4.0],)
end

@testset "closures, keyword arguments and control flow are looked through" begin
    c = 3.0
    f = x -> c * x
    @test gradient(x -> f(f(x)), 2.0) == (9.0,)
    @test gradient((x, k) -> sum(v -> k * v, x), [1.0, 2.0], 3.0) == ([3.0, 3.0], 3.0)
    @test gradient((x; k = 2.0) -> k * sum(x; dims = 1)[1], [1.0, 2.0]) == ([2.0, 2.0],)
    @test gradient(x -> (s = 0.0; for v in x; s += v^2; end; s), [1.0, 2.0]) == ([2.0, 4.0],)
    @test gradient((xs...) -> sum(xs), 1.0, 2.0) == (1.0, 1.0)
    @test gradient(x -> Zygote.ignore(() -> x) * x, 3.0) == (3.0,)
end

@testset "gradients keep the element type" begin
    for g in gradient((a, b) -> mean(tanh.(a .* b) ./ 2), Float32[1 2; 3 4], Float32[1 2])
        @test eltype(g) == Float32
    end
    @test gradient(x -> 2.0 * x, 1f0) === (2f0,)
end

@testset "rules of ChainRulesCore are used where they are defined" begin
    ChainRulesCore.rrule(l::Linear, x) =
        (l.W * x, Δ -> (Tangent{Linear}(b = @thunk(7 .* Δ)), InplaceableThunk(d -> d .+= 1, @thunk(8 .* x))))
    l = Linear(W, [1.0, 2.0], "a name")
    g = Base.invokelatest(gradient, (l, x) -> sum(l(x)), l, X)
    @test g == ((W = nothing, b = [7.0, 7.0], name = nothing), 8 .* X)
end

softmax(x; dims = 1) = (e = exp.(x .- maximum(x; dims = dims)); e ./ sum(e; dims = dims))

@testset "gradients of arrays are those of finite differences: $name" for (name, f) in (
    "softmax" => x -> sum(softmax(x) .* [1 2; 3 5]),
    "matrix products" => x -> sum((x' * x) * x .* x),
    "means and variances" => x -> sum((x .- mean(x; dims = 1)) .^ 2 ./ (1 .+ mean(abs2.(x); dims = 2))),
    "views of shape" => x -> sum(sin.(reshape(x, 4)) .* vec(permutedims(x))),
    "indices" => x -> sum(x[[1, 1, 2], 2]) * x[2, 1] + sum(x[:, 1] .^ 3),
    "concatenation" => x -> sum(vcat(x, 2x)[2:3, :] .* hcat(x, x)[:, 2:3]),
    "branches by element" => x -> sum(ifelse.(x .> 0.5, x .^ 2, 0.1 .* x) .+ max.(x, 0.35) .+ clamp.(x, 0, 1)),
    "map" => x -> sum(map(v -> v * exp(-v), x)),
    "norm and dot" => x -> norm(x) + dot(x, cos.(x)) / (1 + sum(abs, x)),
)
    x = [0.3 -0.7; 1.2 0.4]
    @test gradient(f, x)[1] ≈ slopes(f, x) rtol = 1e-7
end

@testset "what it cannot do is an error" begin
    @test_throws ErrorException("Mutating arrays is not supported") gradient(x -> (x[1] = 2.0; sum(x)), [1.0, 2.0])
    said(f) = try; f(); "nothing"; catch e; sprint(showerror, e); end
    @test occursin("Output should be scalar", said(() -> gradient(identity, [1.0, 2.0])))
    @test occursin("try/catch", said(() -> gradient(x -> (try; x; catch; 0.0; end), 1.0)))
end
