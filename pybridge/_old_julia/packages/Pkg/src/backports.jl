# Additions to Base itself; each is skipped where Base has it already.

function backport()
    isdefined(Base.Meta, :parseall) || Core.eval(Base.Meta, PARSEALL)
    VERSION < v"1.6" && Core.eval(Base.StackTraces, LOOKUP)
    return
end

# `Meta.parseall` came with Julia 1.6; PythonCall's `seval` uses it.
const PARSEALL = quote
    function parseall(text::AbstractString; filename = "none")
        return Base.parse_input_line(String(text); filename = filename)
    end
end

# Julia 1.5's LLVM cannot read the DWARF 5 of today's Python and says so on stderr for each
# frame ("decoding address ranges: invalid range list offset"). Frames of C are not shown in
# a stack trace anyway, so only Julia's own are looked up here (the second argument).
const LOOKUP = quote
    function lookup(pointer::Ptr{Cvoid})
        infos = ccall(:jl_lookup_code_address, Any, (Ptr{Cvoid}, Cint), pointer, true)
        pointer = convert(UInt64, pointer)
        isempty(infos) && return [StackFrame(empty_sym, empty_sym, -1, nothing, true, false, pointer)]
        return map(infos) do info
            return StackFrame(info[1], info[2], info[3], info[4], info[5], info[6], pointer)
        end
    end
end
