# Interprets the lowered code of a method, with active values among its variables.

struct Frame
    tape::Tape
    slots::Vector{Any}
    values::Vector{Any}
    parameters::Core.SimpleVector
end

function interpret(tape, @nospecialize(f), @nospecialize(xs))
    g, types = value(f), map(x -> Core.Typeof(value(x)), xs)
    method = which(g, Tuple{types...})
    code = first(code_lowered(g, Tuple{types...}))
    # The only way to a method's static parameters; unchanged since Julia 1.0.
    parameters = ccall(:jl_type_intersection_with_env, Any, (Any, Any), Tuple{Core.Typeof(g),types...}, method.sig)[2]
    frame = Frame(tape, Vector{Any}(undef, length(code.slotnames)), Vector{Any}(undef, length(code.code)), parameters)
    given = Any[f, xs...]
    if method.isva
        fixed = Int(method.nargs) - 1
        given = Any[given[1:fixed]..., call(tape, tuple, given[fixed+1:end]...)]
    end
    copyto!(frame.slots, given)
    return run!(frame, code.code)
end

function run!(frame, statements)
    at = 1
    while true
        statement = statements[at]
        if is_return(statement)
            return operand(frame, returned(statement))
        elseif statement isa Core.GotoNode
            at = statement.label
            continue
        elseif is_branch(statement)
            condition, target = branch(statement)
            at = value(operand(frame, condition)) ? at + 1 : target
            continue
        end
        frame.values[at] = execute(frame, statement)
        at += 1
    end
end

# Returns and branches are expressions up to Julia 1.5, and have types of their own since.
const NEW_NODES = isdefined(Core, :ReturnNode)
is_return(s) = NEW_NODES ? s isa Core.ReturnNode : Meta.isexpr(s, :return)
returned(s) = NEW_NODES ? s.val : s.args[1]
is_branch(s) = NEW_NODES && isdefined(Core, :GotoIfNot) ? s isa Core.GotoIfNot : Meta.isexpr(s, :gotoifnot)
branch(s) = s isa Expr ? (s.args[1], s.args[2]) : (s.cond, s.dest)

function execute(frame, @nospecialize(statement))
    statement isa Core.NewvarNode && return nothing
    Meta.isexpr(statement, :(=)) || return operand(frame, statement)
    target, source = statement.args
    target isa Core.SlotNumber || error("Zygote: assignment to the global $target is not supported by this stand-in")
    return frame.slots[target.id] = operand(frame, source)
end

operand(frame, @nospecialize(x)) = x
operand(frame, x::Core.SSAValue) = frame.values[x.id]
operand(frame, x::Core.SlotNumber) = frame.slots[x.id]
operand(frame, x::Core.TypedSlot) = frame.slots[x.id]
operand(frame, x::GlobalRef) = getfield(x.mod, x.name)
operand(frame, x::QuoteNode) = x.value
operand(frame, x::Expr) = expression(frame, Val(x.head), x.args)

expression(frame, ::Val{head}, args) where {head} =
    error("Zygote: expressions such as `$head` (try/catch, ccall) are not supported")
expression(frame, ::Val{:call}, args) = call(frame.tape, (operand(frame, x) for x in args)...)
expression(frame, ::Val{:static_parameter}, args) = frame.parameters[args[1]]
expression(frame, ::Val{:boundscheck}, args) = true
expression(frame, ::Val{:copyast}, args) = copy(operand(frame, args[1]))
expression(frame, ::Val{:isdefined}, args) = args[1] isa Core.SlotNumber ? isassigned(frame.slots, args[1].id) :
    args[1] isa GlobalRef ? isdefined(args[1].mod, args[1].name) : true
for head in (:meta, :inbounds, :loopinfo, :simdloop, :line, :gc_preserve_begin, :gc_preserve_end)
    @eval expression(frame, ::Val{$(QuoteNode(head))}, args) = nothing
end

function expression(frame, ::Val{:new}, args)
    parts = Any[operand(frame, x) for x in args]
    return construct(frame.tape, value(parts[1]), parts[2:end])
end

function expression(frame, ::Val{:splatnew}, args)
    T, packed = (operand(frame, x) for x in args)
    return construct(frame.tape, value(T), collect(Any, elements(frame.tape, packed)))
end

function construct(tape, @nospecialize(T), fields)
    values = Any[value(x) for x in fields]
    object = ccall(:jl_new_structv, Any, (Any, Ptr{Any}, UInt32), T, values, length(values))
    any(x -> x isa Active, fields) || return object
    names = fieldnames(T)[1:length(fields)]
    back(Δ) = map(n -> Δ isa Union{Tuple,NamedTuple} ? get(Δ, n, nothing) : nothing, names)
    return record!(tape, object, fields, back)
end
