"""
    BatchNorm(chs, activation = identity; affine = true, track_stats = true, epsilon = 1f-5, momentum = 0.1f0)

Normalises each channel (the last dimension but one) over the batch. Parameters: `scale` and `bias`. States: `running_mean`,
`running_var` (unbiased) and `training`, a `Val`; in training the running ones come nearer to those of the batch by
`momentum`, otherwise they take their place (Ioffe and Szegedy 2015).
"""
struct BatchNorm{F} <: AbstractLuxLayer
    activation::F
    chs::Int
    affine::Bool
    track_stats::Bool
    epsilon::Float32
    momentum::Float32
end
BatchNorm(chs::Integer, activation = identity; affine = true, track_stats = true, epsilon = 1f-5, momentum = 0.1f0) =
    BatchNorm(activation, Int(chs), affine, track_stats, Float32(epsilon), Float32(momentum))

initialparameters(::AbstractRNG, l::BatchNorm) =
    l.affine ? (scale = ones(Float32, l.chs), bias = zeros(Float32, l.chs)) : NamedTuple()
initialstates(::AbstractRNG, l::BatchNorm) = l.track_stats ?
    (running_mean = zeros(Float32, l.chs), running_var = ones(Float32, l.chs), training = Val(true)) :
    (training = Val(true),)

function (l::BatchNorm)(x::AbstractArray{T,N}, ps, st::NamedTuple) where {T,N}
    along = filter(d -> d != N - 1, ntuple(identity, N))
    channels(v) = reshape(v, ntuple(d -> d == N - 1 ? l.chs : 1, N))
    use_batch = st.training === Val(true) || !l.track_stats
    μ = use_batch ? mean(x; dims = along) : channels(st.running_mean)
    σ² = use_batch ? mean((x .- μ) .^ 2; dims = along) : channels(st.running_var)
    y = (x .- μ) ./ sqrt.(σ² .+ T(l.epsilon))
    z = l.affine ? channels(ps.scale) .* y .+ channels(ps.bias) : y
    return l.activation.(z), updated(l, st, μ, σ², length(x) ÷ l.chs)
end

function updated(l::BatchNorm, st, μ, σ², n)
    l.track_stats && st.training === Val(true) || return st
    nearer(old, new) = (1 - eltype(old)(l.momentum)) .* old .+ eltype(old)(l.momentum) .* vec(new)
    return (
        running_mean = nearer(st.running_mean, μ),
        running_var = nearer(st.running_var, σ² .* (n / eltype(σ²)(n - 1))),
        training = st.training,
    )
end

"""
    Dropout(p)

In training, sets each entry to zero with probability `p` and divides the others by `1 - p`. States: `rng` and `training`.
"""
struct Dropout{T} <: AbstractLuxLayer
    p::T
end
initialstates(rng::AbstractRNG, ::Dropout) = (rng = copy(rng), training = Val(true))

function (d::Dropout)(x::AbstractArray{T}, ps, st::NamedTuple) where {T}
    st.training === Val(true) || return x, st
    rng = copy(st.rng)
    kept = rand(rng, size(x)...) .>= d.p
    return x .* (T.(kept) ./ T(1 - d.p)), (rng = rng, training = st.training)
end
