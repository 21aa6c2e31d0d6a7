# What the cases of ndarray.jl use of MXNet.jl, on plain Julia arrays: the index order and the numbers are the same.
module mx

NDArray(x::AbstractArray) = collect(x)
NDArray(T::Type, x::AbstractArray) = convert(Array{T}, collect(x))
zeros(dims::Int...) = Base.zeros(Float32, dims...)
zeros(dims::Tuple) = Base.zeros(Float32, dims)
zeros(T::Type, dims::Int...) = Base.zeros(T, dims...)
zeros(x::Array) = Base.zero(x)
ones(dims::Int...) = Base.ones(Float32, dims...)
ones(dims::Tuple) = Base.ones(Float32, dims)
ones(x::Array) = Base.fill(one(eltype(x)), size(x))
fill(x, dims::Int...) = Base.fill(x, dims...)
fill(x, dims::Tuple) = Base.fill(x, dims)
zeros_like(x) = Base.zero(x)
ones_like(x) = ones(x)
slice(x, r) = collect(selectdim(x, ndims(x), r))
σ(x) = 1 / (1 + exp(-x))
const sigmoid = σ
relu(x) = max(x, zero(x))
expand_dims(x, dim) = reshape(x, size(x)[1:dim-1]..., 1, size(x)[dim:end]...)
add_to!(x, y) = x .+= y
sub_from!(x, y) = x .-= y
mul_to!(x, y) = x .*= y
div_from!(x, y) = x ./= y
dot(x, y) = x * y
square(x) = x .^ 2
broadcast_to(x, dims...) = x .+ Base.zeros(eltype(x), dims...)
concat(xs...; dim) = cat(xs...; dims = ndims(xs[1]) - dim)
FullyConnected(x; weight, bias, num_hidden) = weight' * x .+ bias
Activation(x; act_type) = act_type == :relu ? relu.(x) : act_type == :tanh ? tanh.(x) : σ.(x)
Reshape(x; shape) = reshape(x, shape)
record(f, train = true) = f()
pause(f, train = false) = f()
cpu() = nothing
waitall() = nothing
macro inplace(ex)
    op = Symbol(lstrip(string(ex.head), '.'))
    esc(Expr(Symbol(".", op), ex.args...))
end
macro nd_as_jl(args...)
    esc(Expr(:let, Expr(:block), args[end]))
end

end
