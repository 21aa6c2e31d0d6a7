"""
    @scalar_rule f(x, y) (∂f_∂x, ∂f_∂y)
    @scalar_rule f(x) @setup(statements...) ∂f_∂x

Define the `rrule` of a function of numbers by its partial derivatives, in which `Ω` stands for the value.
"""
macro scalar_rule(call, rest...)
    f, xs = esc(call.args[1]), map(_name_and_type, call.args[2:end])
    setup = _is_setup(rest[1]) ? filter(x -> !(x isa LineNumberNode), rest[1].args[2:end]) : []
    partials = rest[end] isa Expr && rest[end].head === :tuple ? rest[end].args : Any[rest[end]]
    length(partials) == length(xs) || throw(ArgumentError(
        "@scalar_rule: $(call.args[1]) has $(length(xs)) arguments, but $(length(partials)) partial derivatives"))
    names = [esc(name) for (name, _) in xs]
    typed = [:($(esc(name))::$(esc(type))) for (name, type) in xs]
    rows = [:(conj($(esc(∂))) * ΔΩ) for ∂ in partials]
    return quote
        function ChainRulesCore.rrule(::typeof($f), $(typed...))
            $(esc(:Ω)) = $f($(names...))
            $(map(esc, setup)...)
            scalar_pullback(ΔΩ) = (NoTangent(), $(rows...))
            scalar_pullback(ΔΩ::AbstractThunk) = scalar_pullback(unthunk(ΔΩ))
            return $(esc(:Ω)), scalar_pullback
        end
    end
end

_is_setup(x) = x isa Expr && x.head === :macrocall && x.args[1] === Symbol("@setup")
_name_and_type(x::Symbol) = (x, :Number)
_name_and_type(x::Expr) = x.head === :(::) && length(x.args) == 2 ? Tuple(x.args) :
    throw(ArgumentError("@scalar_rule: expected arguments such as x or x::Real, got $x"))

"""
    @non_differentiable f(::T, ::S...)

Say that `f` has no derivative with respect to any of its arguments.
"""
macro non_differentiable(call)
    Meta.isexpr(call, :call) ||
        throw(ArgumentError("@non_differentiable: expected a signature such as f(::Any), got $call"))
    arguments, names = Any[], Any[]
    for (i, x) in enumerate(call.args[2:end])
        splat = Meta.isexpr(x, :...)
        bare = splat ? x.args[1] : x
        type = Meta.isexpr(bare, :(::)) ? esc(bare.args[end]) : :Any
        name = Symbol(:x, i)
        push!(arguments, splat ? :($name::$type...) : :($name::$type))
        push!(names, splat ? :($name...) : name)
    end
    f = esc(call.args[1])
    F = :($f isa Type ? Type{$f} : typeof($f))
    return quote
        function ChainRulesCore.rrule(f::$F, $(arguments...); kw...)
            none = map(_ -> NoTangent(), (f, $(names...)))
            return f($(names...); kw...), _ -> none
        end
    end
end
