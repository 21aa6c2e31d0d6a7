# Stand-in: `isexpr` and `@capture`, as much of them as PythonCall's macros use.
#
# In a pattern `x_` binds one expression, `x_Symbol` one of that type, `x__` the rest of an
# argument list; everything else must be equal. Line numbers never count, and a block with
# one statement is that statement.
module MacroTools

export @capture, isexpr, rmlines, unblock

isexpr(x::Expr, kinds...) = x.head in kinds || any(k -> k isa Type && x isa k, kinds)
isexpr(x, kinds...) = any(k -> k isa Type && x isa k, kinds)

rmlines(x) = x
rmlines(x::Expr) = Expr(x.head, filter(a -> !(a isa LineNumberNode), x.args)...)

unblock(x) = x
function unblock(x::Expr)
    x.head === :block || return x
    statements = filter(a -> !(a isa LineNumberNode), x.args)
    return length(statements) == 1 ? unblock(statements[1]) : x
end

const TYPES = Dict{String,Type}(
    "Symbol" => Symbol, "String" => String, "Expr" => Expr, "Int" => Int, "Float64" => Float64,
)

struct Bind
    name::Symbol
    type::Type
end

struct Slurp
    name::Symbol
end

# What a symbol of a pattern stands for: a Bind, a Slurp, or itself.
function meaning(s::Symbol)
    text = String(s)
    endswith(text, "__") && length(text) > 2 && return Slurp(Symbol(chop(text, tail = 2)))
    endswith(text, "_") && length(text) > 1 && return Bind(Symbol(chop(text)), Any)
    typed = match(r"^(.+)_([A-Z]\w*)$", text)
    if typed !== nothing && haskey(TYPES, typed[2])
        return Bind(Symbol(typed[1]), TYPES[typed[2]])
    end
    return s
end
meaning(x) = x

names(x, found = Symbol[]) = found
function names(s::Symbol, found = Symbol[])
    m = meaning(s)
    m isa Union{Bind,Slurp} && m.name ∉ found && push!(found, m.name)
    return found
end
function names(x::Expr, found = Symbol[])
    foreach(a -> names(a, found), x.args)
    return found
end

function bind!(found::Dict{Symbol,Any}, name::Symbol, value)
    haskey(found, name) && return found[name] == value
    found[name] = value
    return true
end

match!(found, pattern, x) = pattern == x
match!(found, pattern::QuoteNode, x) = x isa QuoteNode && pattern.value == x.value

function match!(found, pattern::Symbol, x)
    m = meaning(pattern)
    m isa Bind && return x isa m.type && bind!(found, m.name, x)
    m isa Slurp && return bind!(found, m.name, Any[x])
    return pattern === x
end

function match!(found, pattern::Expr, x)
    pattern, x = unblock(pattern), unblock(x)
    pattern isa Expr || return match!(found, pattern, x)
    x isa Expr && x.head === pattern.head || return false
    return matchargs!(found, rmlines(pattern).args, rmlines(x).args)
end

function matchargs!(found, patterns, args)
    i = findfirst(p -> p isa Symbol && meaning(p) isa Slurp, patterns)
    if i === nothing
        return length(patterns) == length(args) &&
               all(match!(found, p, a) for (p, a) in zip(patterns, args))
    end
    after = length(patterns) - i
    length(args) >= i - 1 + after || return false
    stop = length(args) - after
    return matchargs!(found, patterns[1:i-1], args[1:i-1]) &&
           bind!(found, meaning(patterns[i]).name, Any[unblock(a) for a in args[i:stop]]) &&
           matchargs!(found, patterns[i+1:end], args[stop+1:end])
end

# The bindings of a match, or nothing.
function capture(pattern, x)
    found = Dict{Symbol,Any}()
    return match!(found, pattern, x) ? found : nothing
end

macro capture(x, pattern)
    bound = names(pattern)
    found = gensym(:found)
    quote
        $([:($(esc(name)) = nothing) for name in bound]...)
        $(esc(found)) = $capture($(QuoteNode(pattern)), $(esc(x)))
        if $(esc(found)) === nothing
            false
        else
            $([:($(esc(name)) = get($(esc(found)), $(QuoteNode(name)), nothing)) for name in bound]...)
            true
        end
    end
end

end
