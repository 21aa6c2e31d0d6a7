# In front of the real Pkg: it has a UUID of its own and comes first on the load path, so
# `import Pkg` in Main finds it. It hands on to the real one and adds what juliacall
# expects of a younger Julia.
module Pkg

const RealPkg = Base.root_module(
    Base.PkgId(Base.UUID("44cfe95a-1eb2-52ea-b672-e2afdf69b78f"), "Pkg"))

for name in names(RealPkg, all = true)
    startswith(String(name), "#") && continue
    name in (:Pkg, :eval, :include, :__init__, :activate) && continue
    isdefined(RealPkg, name) || continue
    @eval const $name = getfield(RealPkg, $(QuoteNode(name)))
    name in names(RealPkg) && @eval export $name
end

# `Pkg.activate(...; io)` came with Julia 1.6.
activate(args...; kw...) = RealPkg.activate(args...; kw...)
function activate(path::AbstractString; io::Union{IO,Nothing} = nothing, kw...)
    io === nothing && return RealPkg.activate(path; kw...)
    file = isdir(path) ? joinpath(path, "Project.toml") : String(path)
    println(io, " Activating environment at `", file, "`")
    Base.ACTIVE_PROJECT[] = abspath(file)
    return
end

include("backports.jl")

function __init__()
    # Nothing may be evaluated in Base while a package is being precompiled.
    ccall(:jl_generating_output, Cint, ()) == 0 && backport()
end

end
