# What a backward returns: checked, and written into the arrays that libmxnet asks for.

const gradient_name = "G"

"Run the backward of a node whose pullback (or instance) is `f`; returns nothing, the gradients are in `targets`."
function backward(f, deltas, targets; slots = collect(1:length(targets)), arguments = length(targets), python = false,
                  pullback = true, reqs = map(_ -> 1, targets), status = 0)
    id = -1
    p = prepared(name = gradient_name, pullback = pullback, python = python)
    saved = pullback ? PB.Pullback(:own, f, Nothing, p.fields) : f
    PB.add_node!(id, PB.Node(p, saved, slots, arguments, 0))
    try
        with_block(deltas, targets; reqs = reqs) do b
            b[PB.H_NODE], b[PB.H_STATUS] = id, status
            PB.run_backward(b)
        end
    finally
        PB.drop_node(id)
    end
end

const WRITE, ADD, NULL = 1, PB.REQ_ADD, PB.REQ_NULL
stale(size...) = fill(-99.0, size...)

@testset "a gradient is written: $name" for (name, back) in (
    "an array" => Δ -> 2 .* Δ,
    "a 1-tuple" => Δ -> (2 .* Δ,),
    "integers as floats" => Δ -> float([2, 4]),
    "a range" => Δ -> 2.0:2.0:4.0,
    "a view" => Δ -> view([0.0, 2.0, 4.0], 2:3),
    "a read-only array" => Δ -> PB.ReadOnlyArray([2.0, 4.0]),
)
    t = stale(2)
    backward(back, ([1.0, 2.0],), (t,))
    @test t == [2.0, 4.0]
end

@testset "requests are honoured" begin
    t = (stale(2), [10.0, 20.0], stale(2))
    backward(Δ -> (Δ, Δ, Δ), ([1.0, 2.0],), t; reqs = (WRITE, ADD, NULL))
    @test t == ([1.0, 2.0], [11.0, 22.0], stale(2))
    inplace = stale(2)
    backward(identity, ([1.0, 2.0],), (inplace,); reqs = (2,))   # kWriteInplace
    @test inplace == [1.0, 2.0]
end

@testset "nothing is zero" begin
    t = (stale(2), [10.0, 20.0], stale(2))
    backward(Δ -> (nothing, nothing, nothing), ([1.0, 2.0],), t; reqs = (WRITE, ADD, NULL))
    @test t == ([0.0, 0.0], [10.0, 20.0], stale(2))
    single = stale(2)
    backward(Δ -> nothing, ([1.0, 2.0],), (single,))
    @test single == [0.0, 0.0]
    whole = [7]
    backward(Δ -> nothing, ([1],), (whole,))
    @test whole == [0]
end

@testset "constants have their place among the gradients" begin
    t = (stale(1), stale(1))
    for constant in (nothing, "anything", [1, 2, 3], 4.0)
        backward(Δ -> (constant, Δ, constant, 3Δ), ([1.0],), t; slots = [2, 4], arguments = 4)
        @test t == ([1.0], [3.0])
    end
end

@testset "several head gradients arrive in order" begin
    t = stale(1)
    backward((Δ1, Δ2, Δ3) -> Δ1 .+ 10 .* Δ2 .+ 100 .* Δ3, ([1.0], [2.0], [3.0]), (t,))
    @test t == [321.0]
end

@testset "a gradient that is not asked for is not looked at" begin
    t = (stale(1), stale(1))
    backward(Δ -> (Δ, "no gradient at all"), ([1.0],), t; reqs = (WRITE, NULL))
    @test t == ([1.0], stale(1))
end

@testset "a number is the gradient of an array of one element" begin
    for size in ((1,), (1, 1), ())
        t = fill(-99.0, size)
        backward(Δ -> 3.0, ([1.0],), (t,))
        @test t == fill(3.0, size)
    end
    t32 = Float32[-99]
    backward(Δ -> 3f0, ([1.0],), (t32,))
    @test t32 == [3f0]
end

@testset "the wrong number of gradients is told" begin
    for (back, n) in ((Δ -> Δ, 1), (Δ -> (Δ,), 1), (Δ -> (), 0), (Δ -> (Δ, Δ, Δ), 3), (Δ -> nothing, 1))
        t = (stale(1), stale(1))
        @test misused(() -> backward(back, ([1.0],), t), :value, gradient_name, "$n gradient", "expected 2", "nothing for a constant")
        @test t == (stale(1), stale(1))
    end
end

@testset "a gradient that does not fit is told, and none is written: $name" for (name, wrong, kind, words) in (
    ("size", zeros(3), :value, ("(3,)", "(2,)")),
    ("size, of as many elements", zeros(2, 1), :value, ("(2, 1)", "(2,)")),
    ("size, a scalar", fill(1.0), :value, ("()", "(2,)")),
    ("Float32 for Float64", Float32[1, 2], :value, ("Float32", "Float64")),
    ("integers", [1, 2], :value, ("Int64", "Float64")),
    ("Any", Any[1.0, 2.0], :value, ("Any", "Float64")),
    ("a number", 3.0, :type, ("Float64", "(2,)")),
    ("text", "text", :type, ("String", "(2,)")),
    ("a nested tuple", ([1.0, 2.0],), :type, ("Tuple",)),
    ("missing", missing, :type, ("Missing",)),
)
    for request in (WRITE, ADD)
        t = (stale(2), stale(2))
        @test misused(() -> backward(Δ -> (Δ, wrong), ([1.0, 2.0],), t; reqs = (WRITE, request)), kind,
            "$gradient_name: the gradient of argument 2", words...)
        @test t == (stale(2), stale(2))
    end
end

@testset "a Float64 gradient of a Float32 argument is refused, one of a number too" begin
    t = Float32[-99]
    @test misused(() -> backward(Δ -> 2.0 .* Δ, (Float32[1],), (t,)), :value, "Float64", "Float32")
    @test misused(() -> backward(Δ -> 2.0, (Float32[1],), (t,)), :value, "Float64", "Float32")
    backward(Δ -> 2f0 .* Δ, (Float32[1],), (t,))
    @test t == [2f0]
end

@testset "the argument is counted with the constants" begin
    @test misused(() -> backward(Δ -> (nothing, zeros(7)), ([1.0],), (stale(1),); slots = [2], arguments = 2), :value, "argument 2")
end

@testset "with layout=\"python\" sizes are those of the NDArrays" begin
    Δ = reshape(collect(1.0:6.0), 2, 3)
    t = stale(2, 3)
    backward(d -> (@test(size(d) == (3, 2)); 2 .* d), (Δ,), (t,); python = true)
    @test t == 2Δ
    t = stale(2, 3)
    backward(d -> collect(d), (Δ,), (t,); python = true, reqs = (WRITE,))
    @test t == Δ
    t = copy(Δ)
    backward(identity, (Δ,), (t,); python = true, reqs = (ADD,))
    @test t == 2Δ
    @test misused(() -> backward(d -> zeros(2, 3), (Δ,), (stale(2, 3),); python = true), :value, "(2, 3)", "expected (3, 2)")
end

@testset "a gradient that lies in the memory of another is read before that is written" begin
    a, b = [1.0, 2.0, 3.0], stale(3)
    backward(Δ -> (10 .* Δ, a), ([1.0, 1.0, 1.0],), (a, b))
    @test a == [10.0, 10.0, 10.0] && b == [1.0, 2.0, 3.0]
    a, b = [1.0, 2.0, 3.0], stale(3)
    backward(Δ -> (10 .* Δ, view(a, 3:-1:1)), ([1.0, 1.0, 1.0],), (a, b))
    @test b == [3.0, 2.0, 1.0]
    a, b = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    backward(Δ -> (b, a), ([1.0],), (a, b))
    @test (a, b) == ([4.0, 5.0, 6.0], [1.0, 2.0, 3.0])
    a, b = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    backward(Δ -> (b, a), ([1.0],), (a, b); reqs = (ADD, ADD))
    @test (a, b) == ([5.0, 7.0, 9.0], [5.0, 7.0, 9.0])
    # Δ may be returned for several arguments
    a, b, Δ = stale(2), stale(2), [1.0, 2.0]
    backward(d -> (d, d), (Δ,), (a, b))
    @test a == b == Δ == [1.0, 2.0]
    # and may lie where the gradient goes
    Δ = [1.0, 2.0, 3.0]
    backward(d -> view(d, 3:-1:1), (Δ,), (Δ,))
    @test Δ == [3.0, 2.0, 1.0]
end

mutable struct InPlace <: CustomFunction
    seen
    run
end
InPlace(run) = InPlace(nothing, run)
PB.backward!(grads, f::InPlace, Δs...) = (f.seen = map(g -> g === nothing ? nothing : size(g), grads); f.run(grads, Δs...); nothing)

@testset "backward! writes into the arrays themselves" begin
    t = (stale(2), [10.0, 20.0], stale(2))
    f = InPlace((g, Δ) -> (g[1] .= Δ; g[2] .= 2 .* Δ))
    backward(f, ([1.0, 2.0],), t; reqs = (WRITE, ADD, NULL), pullback = false)
    @test f.seen === ((2,), (2,), nothing)
    @test t == ([1.0, 2.0], [12.0, 24.0], stale(2))
    f = InPlace((g, Δ) -> (@test pointer(g[1]) == pointer(t[1])))
    backward(f, ([1.0, 2.0],), t; reqs = (WRITE, NULL, NULL), pullback = false)
end

@testset "backward! has nothing in the place of constants" begin
    t = (stale(1), stale(1))
    f = InPlace((g, Δ) -> (g[2] .= Δ; g[4] .= 3 .* Δ))
    backward(f, ([1.0],), t; slots = [2, 4], arguments = 5, pullback = false)
    @test f.seen === (nothing, (1,), nothing, (1,), nothing)
    @test t == ([1.0], [3.0])
end

@testset "backward! sees the layout of its function" begin
    t = [stale(2, 3), ones(2, 3)]
    Δ = reshape(collect(1.0:6.0), 2, 3)
    f = InPlace((g, d) -> foreach(h -> h .= d, g))
    backward(f, (Δ,), Tuple(t); pullback = false, python = true, reqs = (WRITE, ADD))
    @test f.seen === ((3, 2), (3, 2))
    @test t[1] == Δ && t[2] == 1 .+ Δ
end

@testset "a node that is gone, or gradients that Julia cannot share, are told" begin
    @test misused(() -> with_block(b -> (b[PB.H_NODE] = -12345; PB.run_backward(b)), ([1.0],)), :graph, "gone")
    @test misused(() -> backward(identity, ([1.0],), (stale(1),); status = 1), :value, gradient_name)
end

@testset "live nodes are in the table with what they pin, dead ones are not" begin
    nodes, bytes = PB.node_count(), PB.NODE_BYTES[]
    PB.add_node!(-7, PB.Node(prepared(), identity, [1], 1, 800))
    @test PB.node_count() == nodes + 1 && PB.NODE_BYTES[] == bytes + 800
    PB.drop_node(-7)
    PB.drop_node(-7)   # never mind
    @test PB.node_count() == nodes && PB.NODE_BYTES[] == bytes
end

@testset "PYBRIDGE_CHECK finds a backward that writes to Δ" begin
    checking() do
        t = stale(2)
        backward(Δ -> 2 .* Δ, ([1.0, 2.0],), (t,))
        @test t == [2.0, 4.0]
        for wrong in (Δ -> (Δ[1] = 5.0; copy(Δ)), Δ -> (Δ .= 0; [1.0, 2.0]))
            @test misused(() -> backward(wrong, ([1.0, 2.0],), (stale(2),)), :value, gradient_name, "Δ number 1")
        end
        @test misused(() -> backward((a, b) -> (b[2] = 5.0; a), ([1.0, 2.0], [1.0, 2.0]), (stale(2),)), :value, "Δ number 2")
        # every element counts, in large arrays too
        Δ = collect(1.0:20000.0)
        found = count(1:97:20000) do i
            e = try
                backward(d -> (d[i] = -1.0; copy(d)), (copy(Δ),), (similar(Δ),))
                nothing
            catch e
                e
            end
            e isa PB.Misuse
        end
        @test found == length(1:97:20000)
    end
end

@testset "PYBRIDGE_CHECK lets who kept Δ see that it was not theirs" begin
    kept = Ref{Any}()
    checking() do
        Δ, t = [1.0, 2.0], stale(2)
        backward(d -> (kept[] = d; copy(d)), (Δ,), (t,))
        @test all(isnan, kept[]) && t == [1.0, 2.0] && Δ == [1.0, 2.0]
        backward(d -> d, (Δ,), (t,))
        @test t == [1.0, 2.0]
    end
end

@testset "PYBRIDGE_CHECK changes no types" begin
    seen = Any[]
    Δ = reshape(collect(1.0:6.0), 2, 3)
    for python in (false, true), on in (false, true)
        checking(() -> backward(d -> (push!(seen, typeof(d)); copy(d)), (Δ,), (stale(2, 3),); python = python), on)
    end
    @test seen[1] === seen[2] && seen[3] === seen[4]
end
