# autograd: gradient buffers, modes, and gradients against closed forms.

const mx = PB.mx

const A = [1.0 2.0; -3.0 0.5]

"The gradient of `f` at a copy of `a`, with `Δ` as the gradient of its result."
function gradient(f, a, Δ = nothing; kw...)
    x = mx.NDArray(a)
    buffer = mx.attach_grad!(x)
    y = mx.record(() -> f(x))
    all(iszero, copy(buffer)) || error("the gradient was there before backward!")
    Δ === nothing ? mx.backward!(y; kw...) : mx.backward!(y, mx.NDArray(Δ); kw...)
    return copy(mx.getgrad(x))
end

flags() = (mx.is_recording(), mx.is_training())

# ---- buffers ---------------------------------------------------------------------------------------------------

@testset "attach_grad! and getgrad" begin
    @test mx.getgrad(mx.zeros(3)) === nothing
    for T in (Float32, Float64, Int64)
        x = mx.NDArray(T[1 2 3; 4 5 6])
        g = mx.attach_grad!(x)
        @test g isa mx.NDArray{T,2} && size(g) == (2, 3) && all(iszero, copy(g))
        g[:] = 7
        @test copy(mx.getgrad(x)) == fill(7, 2, 3)
        @test copy(x) == [1 2 3; 4 5 6]
    end
    x = mx.ones(2)
    mx.attach_grad!(x)[:] = 5
    @test copy(mx.attach_grad!(x)) == [0, 0] == copy(mx.getgrad(x))     # anew
    @test_throws ArgumentError mx.attach_grad!(x, :sometimes)
    @test_throws ArgumentError mx.attach_grad!(x, :Write)
end

@testset "mark_variables! takes buffers of one's own" begin
    x, y, gx, gy = mx.NDArray([1.0, 2.0]), mx.NDArray([3.0, 4.0]), mx.zeros(Float64, 2), mx.ones(Float64, 2)
    @test mx.mark_variables!([x, y], [gx, gy], [:write, :add]) === nothing
    for _ in 1:2
        z = mx.record(() -> x .* y)
        mx.backward!(z)
    end
    @test copy(gx) == [3, 4] && copy(gy) == [1, 1] + 2 * [1, 2]
    gx[:] = 42
    @test copy(mx.getgrad(x)) == [42, 42]

    mx.mark_variables!(x, gx)                       # one, :write
    mx.backward!(mx.record(() -> 5 .* x))
    @test copy(gx) == [5, 5]
    mx.mark_variables!([x, y], [gx, gy], :add)      # one request for all
    mx.backward!(mx.record(() -> x .* y))
    @test copy(gx) == [5, 5] + [3, 4] && copy(gy) == [3, 5] + [1, 2]
    mx.mark_variables!([x, y], [gx, gy], :nop)
    @test_throws mx.MXError mx.backward!(mx.record(() -> x .* y))       # libmxnet: nothing here requires a gradient
    @test copy(gx) == [8, 9] && copy(gy) == [4, 7]
    mx.mark_variables!([x, y], [gx, gy])
    mx.backward!(mx.record(() -> x .* y))
    @test copy(gx) == [3, 4] && copy(gy) == [1, 2]
end

@testset "mark_variables! refuses what does not fit" begin
    x, y, z = mx.zeros(4), mx.zeros(4), mx.zeros(4)
    @test_throws ArgumentError mx.mark_variables!(x, y, :magic)
    @test_throws ArgumentError mx.mark_variables!([x], [y], :magic)
    @test_throws ArgumentError mx.mark_variables!([x], [y], [:magic])
    @test_throws ArgumentError mx.mark_variables!([x], [y, z])
    @test_throws ArgumentError mx.mark_variables!([x, y], [z])
    @test_throws ArgumentError mx.mark_variables!([x], [y], [:write, :nop])
    @test_throws ArgumentError mx.mark_variables!([x, y], [z, z], [:write])
    @test mx.getgrad(x) === nothing
end

# ---- modes -----------------------------------------------------------------------------------------------------

@testset "modes say what they are, return the value, and go back" begin
    @test flags() == (false, false)
    @test mx.record(flags) == (true, true)
    @test mx.record(flags, true) == (true, true)
    @test mx.record(flags, false) == (true, false)
    @test mx.pause(flags) == (false, false)
    @test mx.pause(flags, true) == (false, true)
    @test mx.train_mode(flags) == (false, true)
    @test mx.predict_mode(flags) == (false, false)
    @test flags() == (false, false)
    mx.record() do
        @test mx.pause(flags) == (false, false) && flags() == (true, true)
        @test mx.pause(flags, true) == (false, true) && flags() == (true, true)
        @test mx.predict_mode(flags) == (true, false) && flags() == (true, true)
        @test mx.record(flags, false) == (true, false) && flags() == (true, true)
    end
    mx.record(false) do
        @test mx.train_mode(flags) == (true, true) && flags() == (true, false)
        @test mx.record(flags) == (true, true) && flags() == (true, false)
    end
    mx.train_mode() do
        @test mx.record(flags, false) == (true, false) && flags() == (false, true)
    end
    @test flags() == (false, false)
end

@testset "modes go back after an exception: $mode" for (mode, inside) in (
    mx.record => (true, true), (f -> mx.record(f, false)) => (true, false), mx.pause => (false, false),
    (f -> mx.pause(f, true)) => (false, true), mx.train_mode => (false, true), mx.predict_mode => (false, false),
)
    @test_throws DomainError mode(() -> throw(flags() == inside ? DomainError(1) : ErrorException("in another mode")))
    @test flags() == (false, false)
    mx.record(false) do
        @test_throws DomainError mode(() -> throw(DomainError(1)))
        @test flags() == (true, false)
    end
    mx.train_mode() do
        @test_throws DomainError mode(() -> throw(DomainError(1)))
        @test flags() == (false, true)
    end
end

@testset "Python sees the same modes" begin
    autograd = PB.mx.PythonCall.pyimport("mxnet.autograd")
    python() = (PB.mx.PythonCall.pyconvert(Bool, autograd.is_recording()), PB.mx.PythonCall.pyconvert(Bool, autograd.is_training()))
    @test mx.record(python) == (true, true) && mx.record(python, false) == (true, false)
    @test mx.pause(python) == (false, false) && mx.train_mode(python) == (false, true) && python() == (false, false)
end

@testset "what is paused is a constant" begin
    x = mx.NDArray(A)
    ∇ = mx.attach_grad!(x)
    y = mx.record() do
        c = mx.pause(() -> mx.square(x))
        x .* c
    end
    mx.backward!(y)
    @test copy(y) == A .^ 3 && copy(∇) == A .^ 2
    @test gradient(x -> x .* mx.BlockGrad(x), A) == A
end

@testset "what is not recorded has no backward" begin
    x = mx.NDArray(A)
    mx.attach_grad!(x)
    @test_throws mx.MXError mx.backward!(mx.square(x))
    @test_throws mx.MXError mx.backward!(mx.pause(() -> mx.square(x)))
    @test_throws mx.MXError mx.backward!(mx.ones(2))
end

@testset "Dropout drops in training only" begin
    x = mx.ones(100, 100)
    kept(y) = count(!iszero, copy(y))
    mx.seed!(1)
    @test copy(mx.Dropout(x, p = 0.5)) == ones(100, 100)
    @test copy(mx.predict_mode(() -> mx.Dropout(x, p = 0.5))) == ones(100, 100)
    @test copy(mx.record(() -> mx.Dropout(x, p = 0.5), false)) == ones(100, 100)
    for mode in (mx.train_mode, mx.record, f -> mx.pause(f, true))
        y = copy(mode(() -> mx.Dropout(x, p = 0.5)))
        @test 4500 < count(!iszero, y) < 5500 && all(v -> v == 0 || v == 2, y)
    end
    mx.attach_grad!(x)
    y = mx.record(() -> mx.Dropout(x, p = 0.25))
    mx.backward!(y)
    @test copy(mx.getgrad(x)) == copy(y)
    @test 7000 < kept(y) < 8000
end


# ---- backward! -------------------------------------------------------------------------------------------------

@testset "gradients of $name" for (name, f, right) in (
    ("the array itself", x -> x, one.(A)),
    ("+x", x -> +x, one.(A)), ("-x", x -> -x, .-one.(A)),
    ("x .+ 42", x -> x .+ 42, one.(A)), ("42 .+ x", x -> 42 .+ x, one.(A)),
    ("x .- 42", x -> x .- 42, one.(A)), ("42 .- x", x -> 42 .- x, .-one.(A)),
    ("2x .* x", x -> 2x .* x, 4A), ("x * 2 .* x", x -> x * 2 .* x, 4A),
    ("x ./ 2", x -> x ./ 2, 0.5 .* one.(A)), ("2 ./ x", x -> 2 ./ x, -2 ./ A .^ 2),
    ("x .^ 3", x -> x .^ 3, 3 .* A .^ 2), ("x .+ x", x -> x .+ x, 2 .* one.(A)),
    ("square(x)", mx.square, 2A), ("exp.(x)", x -> exp.(x), exp.(A)), ("sin.(x)", x -> sin.(x), cos.(A)),
    ("tanh.(x)", x -> tanh.(x), 1 .- tanh.(A) .^ 2), ("abs.(x)", x -> abs.(x), sign.(A)),
    ("sigmoid", x -> mx.sigmoid.(x), (s -> s * (1 - s)).(1 ./ (1 .+ exp.(-A)))), ("relu", x -> mx.relu.(x), Float64.(A .> 0)),
    ("log.(x .^ 2)", x -> log.(x .^ 2), 2 ./ A),
    ("sum", sum, one.(A)), ("mean", x -> mx.mean(x), 0.25 .* one.(A)), ("sum of a dimension", x -> 3 .* sum(x, dims = 1), 3 .* one.(A)),
    ("maximum", maximum, [0 1; 0 0]), ("a row", x -> mx.slice_axis(mx.square(x); axis = 1, [:begin => 0, :end => 1]...), 2 .* A .* [1 1; 0 0]),
    ("prod", prod, prod(A) ./ A), ("norm", x -> mx.norm(x), A ./ norm(A)),
    ("transpose", x -> transpose(x) * mx.NDArray([1.0 0.0; 0.0 2.0]), [1 1; 2 2]),
    ("a matrix product", x -> x * x, (one.(A) * A' + A' * one.(A))),
    ("reshape", x -> reshape(x, 4) .* mx.NDArray([1.0, 2.0, 3.0, 4.0]), reshape([1.0, 2, 3, 4], 2, 2)),
    ("both halves of a concatenation", x -> hcat(2x, 3x), 5 .* one.(A)),
    ("some outputs of several", x -> mx.SliceChannel(x, num_outputs = 2, axis = 0)[2], [0 1; 0 1]),
)
    @test gradient(f, A) ≈ right
end

@testset "one head, with a gradient and without" begin
    Δ = [0.2 0.4; 0.0 0.1]
    @test gradient(mx.square, A, Δ) == 2 .* A .* Δ
    x = mx.NDArray(A)
    ∇ = mx.attach_grad!(x)
    mx.backward!(mx.record(() -> mx.square(x)), nothing)
    @test copy(∇) == 2A
    mx.backward!([mx.record(() -> mx.square(x))], nothing)
    @test copy(∇) == 2A
    @test mx.backward!(mx.record(() -> mx.square(x))) === nothing
end

@testset "several heads" begin
    x = mx.NDArray(A)
    ∇ = mx.attach_grad!(x)
    Δ1, Δ2 = [0.01 0.02; 1.0 1.0], [1.0 1.0; 0.1 0.2]
    heads() = mx.record(() -> mx.NDArray[mx.square(x), 3 .* x, exp.(x)])
    mx.backward!(heads(), [nothing, mx.NDArray(Δ1), mx.NDArray(Δ2)])
    @test copy(∇) ≈ 2A .+ 3 .* Δ1 .+ exp.(A) .* Δ2
    mx.backward!(heads(), nothing)
    @test copy(∇) ≈ 2A .+ 3 .+ exp.(A)
    mx.backward!(heads(), [nothing, nothing, nothing])
    @test copy(∇) ≈ 2A .+ 3 .+ exp.(A)
    mx.backward!(heads()[1:2], [mx.NDArray(Δ1), mx.NDArray(Δ2)])
    @test copy(∇) ≈ 2A .* Δ1 .+ 3 .* Δ2
    mx.backward!(heads()[1:1], Any[mx.NDArray(Δ1)])
    @test copy(∇) ≈ 2A .* Δ1
    y = mx.record(() -> mx.SliceChannel(mx.square(x), num_outputs = 2, axis = 1, squeeze_axis = true))
    mx.backward!(y, [nothing, mx.NDArray([10.0, 100.0])])
    @test copy(∇) == 2A .* [1 1; 10 100]
end

@testset "head gradients that do not fit are refused" begin
    x = mx.NDArray(A)
    ∇ = mx.attach_grad!(x)
    y = mx.record(() -> mx.square(x))
    @test_throws ArgumentError mx.backward!([y], [24])
    @test_throws ArgumentError mx.backward!([y], [A])
    @test_throws ArgumentError mx.backward!([y], [nothing, nothing])
    @test_throws ArgumentError mx.backward!([y, y], [mx.NDArray(A)])
    @test_throws ArgumentError mx.backward!([y], [])
    @test_throws mx.MXError mx.backward!(y, mx.zeros(Float64, 3))
    @test copy(∇) == zeros(2, 2)
    mx.backward!(y)
    @test copy(∇) == 2A
end

@testset "a graph is gone after its backward, unless it is retained" begin
    x = mx.NDArray(A)
    ∇ = mx.attach_grad!(x)
    y = mx.record(() -> mx.square(x))
    mx.backward!(y; retain_graph = true)
    ∇[:] = 0
    mx.backward!(y; retain_graph = true)
    @test copy(∇) == 2A
    mx.backward!(y)
    @test_throws mx.MXError mx.backward!(y)
    @test copy(∇) == 2A && copy(y) == A .^ 2
end

@testset "requests" begin
    x = mx.NDArray(A)
    step() = mx.backward!(mx.record(() -> mx.square(x)))
    ∇ = mx.attach_grad!(x, :add)
    step(); step(); step()
    @test copy(∇) == 6A
    ∇ = mx.attach_grad!(x, :write)
    step(); step()
    @test copy(∇) == 2A
    y = mx.NDArray([2.0, 2.0])
    for req in (:nop, :null)
        ∇ = mx.attach_grad!(x, req)
        ∇[:] = 9
        ∇y = mx.attach_grad!(y)
        mx.backward!(mx.record(() -> sum(x) .* y))
        @test copy(∇) == fill(9, 2, 2) && copy(∇y) ≈ fill(sum(A), 2)
    end
    ∇ = mx.attach_grad!(x, :inplace)
    step()
    @test copy(∇) == 2A
end

@testset "backward! in another mode" begin
    x = mx.ones(100)
    ∇ = mx.attach_grad!(x)
    mx.backward!(mx.record(() -> mx.Dropout(x, p = 0.5), false); train_mode = false)
    @test copy(∇) == ones(100)
    @test flags() == (false, false)
end

@testset "a graph with two variables" begin
    b, c = [0.5 1.5; 2.0 -1.0], 3.0
    x, y = mx.NDArray(A), mx.NDArray(b)
    gx, gy = mx.attach_grad!(x), mx.attach_grad!(y)
    z = mx.record() do
        t = x .* y
        sum(t .* t .+ c .* x)
    end
    mx.backward!(z)
    @test copy(z)[1] ≈ sum((A .* b) .^ 2 .+ c .* A)
    @test copy(gx) ≈ 2 .* A .* b .^ 2 .+ c && copy(gy) ≈ 2 .* A .^ 2 .* b
end

@testset "backward! inside record" begin
    x = mx.NDArray(A)
    ∇ = mx.attach_grad!(x)
    mx.record() do
        y = mx.square(x)
        mx.backward!(y)
        @test flags() == (true, true)
    end
    @test copy(∇) == 2A
end

@testset "a gradient step, as in a training loop" begin
    target, w = [1.0, -2.0, 0.5], mx.zeros(Float64, 3)
    ∇ = mx.attach_grad!(w)
    for _ in 1:60
        loss = mx.record(() -> sum(mx.square(w .- mx.NDArray(target))))
        mx.backward!(loss)
        mx.sgd_update(w, ∇; lr = 0.2, out = w)
    end
    @test copy(w) ≈ target
end
