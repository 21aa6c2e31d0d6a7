# What is on its way through differentiated code: `Active` values, and the steps that made them.

"A value that depends on what is differentiated. Known by its identity: two of them may have the same value."
mutable struct Active
    value::Any
end

"`back(Δ)` gives the gradients of the inputs, from that of the output."
struct Step
    output::Active
    inputs::Vector{Any}
    back::Any
end

const Tape = Vector{Step}

value(@nospecialize(x)) = x
value(x::Active) = x.value

"Has a value of this type a gradient at all?"
differentiable(@nospecialize(x)) = !(x isa Union{Bool,Symbol,AbstractString,AbstractChar,Type,Module,Nothing,Missing,Colon}) &&
    !(x isa AbstractRange{<:Integer}) && !(isbits(x) && sizeof(x) == 0 && !(x isa AbstractArray))

"Put a step on the tape. `inputs` may be constants, too; they have no use for their gradients."
function record!(tape, @nospecialize(y), @nospecialize(inputs), @nospecialize(back))
    differentiable(y) || return y
    output = Active(y)
    push!(tape, Step(output, collect(Any, inputs), back))
    return output
end

"The gradients of `inputs`, given the gradient Δ of `output`: the steps are gone through from the last to the first."
function backward(tape, @nospecialize(output), @nospecialize(Δ), @nospecialize(inputs))
    gradients = IdDict{Active,Any}()
    output isa Active && Δ !== nothing && (gradients[output] = Δ)
    for step in Iterators.reverse(tape)
        haskey(gradients, step.output) || continue
        Δy = gradients[step.output]
        for (x, Δx) in zip(step.inputs, step.back(Δy))
            x isa Active || continue
            sum = accum(get(gradients, x, nothing), Δx)
            sum === nothing || (gradients[x] = sum)
        end
    end
    return map(x -> get(gradients, x, nothing), inputs)
end

# Gradients as Zygote has them: `nothing` for zero, named tuples for structs.
accum(a, b) = a + b
accum(a, ::Nothing) = a
accum(::Nothing, b) = b
accum(::Nothing, ::Nothing) = nothing
accum(a::AbstractArray, b::AbstractArray) = accum.(a, b)
accum(a::Tuple, b::Tuple) = map(accum, a, b)
function accum(a::NamedTuple, b::NamedTuple)
    names = Tuple(union(keys(a), keys(b)))
    return NamedTuple{names}(map(n -> accum(get(a, n, nothing), get(b, n, nothing)), names))
end

"The gradient of a struct or tuple of which only one field is used."
function only_field(x, field, Δ)
    names = x isa Tuple ? eachindex(x) : fieldnames(typeof(x))
    at = field isa Integer && !(x isa Tuple) ? fieldname(typeof(x), field) : field
    entries = map(n -> n === at ? Δ : nothing, Tuple(names))
    return x isa Tuple ? entries : NamedTuple{names}(entries)
end

# Between Zygote's gradients and the tangents of rules.
totangent(Δ, y) = Δ
totangent(::Nothing, y) = ZeroTangent()
totangent(Δ::Tuple, y) = Tangent{typeof(y)}(map(totangent, Δ, Tuple(y))...)
totangent(Δ::NamedTuple, y) =
    Tangent{typeof(y)}(; (n => totangent(Δ[n], getfield(y, n)) for n in keys(Δ))...)

fromtangent(Δ) = Δ
fromtangent(::AbstractZero) = nothing
fromtangent(Δ::AbstractThunk) = fromtangent(unthunk(Δ))
fromtangent(Δ::Tangent) = fromtangent(ChainRulesCore.backing(canonicalize(Δ)))
fromtangent(Δ::Union{Tuple,NamedTuple}) = all(isnothing, (part = map(fromtangent, Δ);)) ? nothing : part
