# Stand-in: `@require Name = "uuid" code` runs `code` once the package is loaded, now or later.
module Requires

export @require

function whenloaded(action, id::Base.PkgId)
    if haskey(Base.loaded_modules, id)
        action(Base.loaded_modules[id])
        return
    end
    done = Ref(false)
    push!(Base.package_callbacks, function (loaded)
        if !done[] && loaded == id
            done[] = true
            action(Base.loaded_modules[id])
        end
    end)
    return
end

macro require(package, code)
    package isa Expr && package.head in (:(=), :kw) ||
        error("@require expects Name = \"uuid\" and the code to run")
    name, uuid = package.args
    id = Base.PkgId(Base.UUID(uuid), String(name))
    quote
        # While a package is being precompiled nothing may be evaluated in it from outside.
        if ccall(:jl_generating_output, Cint, ()) == 0
            $whenloaded($id) do loaded
                $(esc(name)) = loaded
                $__module__.eval(Expr(:block, Expr(:const, Expr(:(=), $(QuoteNode(name)), loaded)),
                                      $(QuoteNode(code))))
            end
        end
    end
end

end
