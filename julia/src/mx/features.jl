# What libmxnet was built with.

"""
    LibFeature

A feature that libmxnet can be built with: `name`, and whether it is `enabled`.
"""
struct LibFeature
    name::String
    enabled::Bool
end

Base.show(io::IO, f::LibFeature) = print(io, f.enabled ? "✔ " : "✖ ", f.name)

"As in libmxnet's header."
struct RawFeature
    name::Cstring
    enabled::Bool
end

"""
    feature_list() -> Vector{LibFeature}

All features that libmxnet knows.
"""
function feature_list()
    at, n = Ref{Ptr{RawFeature}}(C_NULL), Ref{Csize_t}(0)
    @mxcall(:MXLibInfoFeatures, (Ref{Ptr{RawFeature}}, Ref{Csize_t}), at, n)
    return [LibFeature(unsafe_string(f.name), f.enabled) for f in (unsafe_load(at[], i) for i in 1:Int(n[]))]
end

"""
    isenabled(name::Symbol) -> Bool

Was libmxnet built with the feature `name`?  `mx.isenabled(:OPENMP)`
"""
isenabled(name::Symbol) = any(f -> f.enabled && f.name == String(name), feature_list())
