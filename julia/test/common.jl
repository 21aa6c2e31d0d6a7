# What the test files share: names, and blocks that describe plain Julia arrays.

using LinearAlgebra, Test
using PyBridge

const PB = PyBridge
const LINKED = PB.C_ADOPT[] != C_NULL   # pybridge started this Julia: libmxnet's side is there

ignore(::Clong) = nothing
LINKED || (PB.C_COUNT_COPY[] = @cfunction(ignore, Cvoid, (Clong,)))

"What `f()` throws; an error if it throws nothing."
function thrown(f)
    try
        f()
    catch exception
        return exception
    end
    error("nothing was thrown")
end

"Is `f()` a misuse of that kind, told in a message with all of these words?"
function misused(f, kind, words...)
    e = thrown(f)
    e isa PB.Misuse || throw(e)
    missing_words = filter(w -> !occursin(w, e.message), collect(String, words))
    isempty(missing_words) || @info "message lacks words" e.message missing_words
    return e.kind === kind && isempty(missing_words)
end

struct Nameless <: CustomFunction end

"What `prepare` makes ready, without its number."
function prepared(target = nothing; name = "F", pullback = true, python = false, keywords = Dict())
    target = something(target, pullback ? identity : Nameless)
    number = PB.prepare(target, name, pullback, python, keywords)
    p = PB.PREPARED[number]
    PB.forget(number)
    return p
end

"Describe the plain array `a`: what the trampoline does with an NDArray."
function describe!(d::PB.Descriptor, a::Array, req = 1)
    PB.shape!(d, eltype(a), size(a))
    PB.data!(d, pointer(a))
    PB._word!(d, 5, req)
    PB._word!(d, 7, sizeof(a))
    return d
end

"Call `f` with a block that describes `inputs` and then `outputs`, with room for `room` results."
function with_block(f, inputs, outputs = (); reqs = map(_ -> 1, outputs), room = 8, flags = 0)
    n = length(inputs) + length(outputs)
    words = zeros(Int64, PB.HEADER + PB.WORDS * (n + room))
    GC.@preserve words inputs outputs begin
        b = PB.Block(pointer(words))
        b[PB.H_INPUTS], b[PB.H_OUTPUTS], b[PB.H_ROOM], b[PB.H_FLAGS] = length(inputs), length(outputs), room, flags
        for (i, a) in enumerate(inputs)
            describe!(PB.descriptor(b, i), a)
        end
        for (j, a) in enumerate(outputs)
            describe!(PB.descriptor(b, length(inputs) + j), a, reqs[j])
        end
        return f(b)
    end
end

"Run `f` with PYBRIDGE_CHECK on or off."
function checking(f, on = true)
    before = PB.CHECK[]
    PB.CHECK[] = on
    try
        return f()
    finally
        PB.CHECK[] = before
    end
end
