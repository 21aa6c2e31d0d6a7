# What pb.function makes ready: targets, names, keywords, and what they are told when they will not do.

module Targets
using PyBridge
struct Good <: CustomFunction end
struct Wants <: CustomFunction end
PyBridge.argkind(::Type{Wants}) = :matrix
struct OnNDArrays <: CustomFunction end
PyBridge.argkind(::Type{OnNDArrays}) = :ndarray
struct Parametric{T} <: CustomFunction
    x::T
    Parametric{T}() where {T} = new{T}(zero(T))
end
plain(x) = x
value = 3
end

"Prepare, hand over what was prepared, and forget it."
function ready(target; name = "F", pullback = false, python = false, keywords = Dict())
    number = PB.prepare(target, name, pullback, python, keywords)
    p = PB.PREPARED[number]
    @test PB.forget(number) === nothing
    @test !haskey(PB.PREPARED, number)
    return p
end


@testset "numbers count up and are never used again" begin
    first = PB.prepare(Targets.Good, "F", false, false, Dict())
    PB.forget(first)
    second = PB.prepare(Targets.Good, "F", false, false, Dict())
    @test second == first + 1
    PB.forget(second)
    PB.forget(second)   # no error
    before = length(PB.PREPARED)
    @test_throws PB.Misuse PB.prepare(3, "F", false, false, Dict())
    @test length(PB.PREPARED) == before
end

@testset "a value is kept as it is, with its settings" begin
    p = ready(Targets.Good; name = "Targets.Good", python = true)
    @test p.target === Targets.Good && p.name == "Targets.Good" && p.python && !p.pullback
    @test PB.resolve(p) === Targets.Good
    q = ready(Targets.plain; pullback = true)
    @test PB.resolve(q) === Targets.plain && q.pullback && !q.python
    @test PB.resolve(ready(Targets.Parametric{Float32})) === Targets.Parametric{Float32}
end

@testset "keywords become a NamedTuple" begin
    @test ready(Targets.Good).keywords === NamedTuple()
    @test ready(Targets.Good; keywords = Dict("rate" => 0.5)).keywords === (rate = 0.5,)
    @test Dict(pairs(ready(Targets.Good; keywords = Dict("a" => 1, "b" => "text")).keywords)) == Dict(:a => 1, :b => "text")
end

@testset "a name is looked up in Main at each call" begin
    p = ready("Base.Iterators.take"; pullback = true)
    @test p.target.parts == [:Base, :Iterators, :take]
    @test PB.resolve(p) === Base.Iterators.take
    name = Symbol("pybridge_", rand(UInt32))
    q = ready(string(name); pullback = true)   # not defined yet: no error before the call
    @test misused(() -> PB.resolve(q), :value, "F", string(name), "Main")
    Core.eval(Main, :($name = 1))
    @test PB.resolve(q) === 1
    Core.eval(Main, :($name = 2))
    @test PB.resolve(q) === 2
    Core.eval(Main, :($name = nothing))
end

@testset "a name that leads nowhere is told with where it ended" begin
    for (name, words) in (
        "NoSuchThing" => ("NoSuchThing", "Main"),
        "Base.NoSuchThing" => ("NoSuchThing", "Base"),
        "NoSuchModule.Swish" => ("NoSuchModule", "Main"),
        "Base.sin.part" => ("part", "sin"),
    )
        @test misused(() -> PB.resolve(ready(name; name = name)), :value, name, words...)
    end
end

@testset "what is no custom function is a type error that says what it is" begin
    @test misused(() -> PB.prepare(3, "F", false, false, Dict()), :type, "F", "Int64", "CustomFunction")
    @test misused(() -> PB.prepare(nothing, "F", false, false, Dict()), :type, "F", "Nothing")
    @test misused(() -> PB.prepare(Regex, "F", false, false, Dict()), :type, "F", "CustomFunction")
    @test misused(() -> PB.prepare(Targets.plain, "F", false, false, Dict()), :type, "F", "pullback=True")
    @test misused(() -> PB.prepare(Targets, "F", false, false, Dict()), :type, "F", "Module")
    @test misused(() -> PB.prepare(Targets.Good(), "F", false, false, Dict()), :type, "F", "instance", "Good")
    @test misused(() -> PB.prepare((1, 2), "F", false, false, Dict()), :type, "F", "Tuple")
    @test misused(() -> PB.prepare((), "F", false, false, Dict()), :type, "F", "Tuple")
    @test misused(() -> PB.prepare((:Base, :sin), "F", false, false, Dict()), :type, "F", "Tuple")
    @test !occursin("pullback", thrown(() -> PB.prepare(3, "F", false, false, Dict())).message)
end

@testset "an argkind that there is none of is refused, and NDArrays in Python's order of dimensions" begin
    @test misused(() -> PB.prepare(Targets.Wants, "F", false, false, Dict()), :value, "F", ":matrix", ":array", ":ndarray")
    @test misused(() -> PB.prepare(Targets.OnNDArrays, "F", false, true, Dict()), :value, "F", ":ndarray", "layout")
    @test PB.prepare(Targets.OnNDArrays, "F", false, false, Dict()) > 0
end

@testset "a misuse has a kind that Python knows and nothing else does" begin
    for kind in (:type, :value, :graph)
        e = PB.Misuse(kind, "what happened")
        @test PB.misuse(e) === (string(kind), "what happened")
        @test sprint(showerror, e) == "what happened"
        @test e isa Exception
    end
    @test PB.misuse(ErrorException("x")) === nothing && PB.misuse(nothing) === nothing
    @test misused(() -> PB._type_error("a", 1, :b), :type, "a1b")
    @test misused(() -> PB._value_error("a", (1, 2)), :value, "a(1, 2)")
end

@testset "a failure is kept until it is fetched, once" begin
    @test PB.attempt(+, 1, 2) === (0, 3)
    @test PB.attempt(error, "on purpose") === (1, nothing)
    exception, trace = PB.take_failure()
    @test exception == ErrorException("on purpose") && !isempty(trace)
    exception, trace = PB.take_failure()
    @test exception isa ErrorException && occursin("no failure", exception.msg)
    @test PB.FAILURE[] === nothing
end

@testset "what is staged is taken once" begin
    slot = PB.Slot()
    PB.stage(Any[slot, 2, "text"], Dict("rate" => 0.5))
    arguments, keywords = PB._take_staged()
    @test arguments == Any[slot, 2, "text"] && keywords === (rate = 0.5,)
    @test PB._take_staged() === nothing
end
