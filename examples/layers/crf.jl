"""
    CRFLoss()(emissions, labels, transitions, start, stop)

The negative log likelihood of each label sequence under a linear-chain conditional random field, by the forward-backward
algorithm. Sizes: `emissions` `(labels, time, batch)`; `labels` `(time, batch)`, counted from 0, negative where a sequence has
ended; `transitions` `(labels, labels)`, in Python `transitions[i, j]` is the score of j after i; `start` and `stop`
`(labels,)`. The result has size `(batch,)`. Lafferty, McCallum and Pereira 2001, ICML.
"""
mutable struct CRFLoss <: CustomFunction
    emissions
    labels       # from 1 on, as integers
    lengths
    parameters
    α            # log of the weight of all beginnings that end in a label
    logz
    CRFLoss() = new()
end

function PyBridge.forward(f::CRFLoss, emissions::AbstractArray{T,3}, labels, transitions, start, stop) where {T}
    n, time, batch = size(emissions)
    expect_size("CRFLoss", "labels", labels, (time, batch))
    check_chain("CRFLoss", n, transitions, start, stop)
    f.labels, f.lengths = sequences(labels, n)
    f.emissions, f.parameters = emissions, (transitions, start, stop)
    f.α = similar(emissions)
    f.logz = forwards!(f.α, emissions, f.lengths, transitions, start, stop)
    return f.logz .- scores(emissions, f.labels, f.lengths, transitions, start, stop)
end

PyBridge.outputspec(::CRFLoss, emissions, parameters...) = ((size(emissions, 3),), eltype(emissions))

function check_chain(layer, n, transitions, start, stop)
    expect_size(layer, "transitions", transitions, (n, n))
    expect_size(layer, "start", start, (n,))
    expect_size(layer, "stop", stop, (n,))
end

"Labels from 1 on and the lengths of their sequences; complains of what is no label."
function sequences(labels, n)
    lengths = map(s -> something(findfirst(<(0), s), length(s) + 1) - 1, eachcol(labels))
    whole = zeros(Int, size(labels))
    for (j, length) in enumerate(lengths)
        length > 0 || throw(ArgumentError("CRFLoss: label sequence $j is empty"))
        for t in 1:length
            l = labels[t, j]
            isinteger(l) && l < n || throw(ArgumentError("CRFLoss: label $l is none of 0 to $(n - 1)"))
            whole[t, j] = Int(l) + 1
        end
    end
    return whole, lengths
end

"log Σᵢ exp(f(i)) for i in 1:n."
@inline function logsumexp(f, n)
    highest = f(1)
    for i in 2:n
        highest = max(highest, f(i))
    end
    isfinite(highest) || return highest
    sum = zero(highest)
    for i in 1:n
        sum += exp(f(i) - highest)
    end
    return highest + log(sum)
end

function forwards!(α, e, lengths, transitions, start, stop)
    n = size(e, 1)
    logz = similar(e, length(lengths))
    @inbounds for j in eachindex(lengths)
        for k in 1:n
            α[k, 1, j] = start[k] + e[k, 1, j]
        end
        for t in 2:lengths[j], k in 1:n
            α[k, t, j] = e[k, t, j] + logsumexp(i -> (@inbounds α[i, t-1, j] + transitions[k, i]), n)
        end
        logz[j] = logsumexp(i -> (@inbounds α[i, lengths[j], j] + stop[i]), n)
    end
    return logz
end

function scores(e, labels, lengths, transitions, start, stop)
    return map(eachindex(lengths)) do j
        score = start[labels[1, j]] + stop[labels[lengths[j], j]]
        for t in 1:lengths[j]
            score += e[labels[t, j], t, j]
        end
        for t in 2:lengths[j]
            score += transitions[labels[t, j], labels[t-1, j]]
        end
        return score
    end
end

function PyBridge.backward(f::CRFLoss, Δ)
    ∂ = map(x -> fill!(similar(x), 0), (f.emissions, f.parameters...))
    backwards!(∂..., Δ, f.α, f.logz, f.emissions, f.labels, f.lengths, f.parameters...)
    return ∂[1], nothing, ∂[2], ∂[3], ∂[4]
end

# Gradients are probabilities of labels and of pairs of labels under the model, less those that are there.
function backwards!(∂e, ∂transitions, ∂start, ∂stop, Δ, α, logz, e, labels, lengths, transitions, start, stop)
    n = size(e, 1)
    β, next = similar(e, n), similar(e, n)
    @inbounds for j in eachindex(lengths)
        last = lengths[j]
        β .= stop
        for t in last:-1:1
            for k in 1:n
                ∂e[k, t, j] = Δ[j] * exp(α[k, t, j] + β[k] - logz[j])
            end
            ∂e[labels[t, j], t, j] -= Δ[j]
            t == last && (∂stop .+= view(∂e, :, t, j))
            t == 1 && (∂start .+= view(∂e, :, t, j))
            t == 1 && break
            next .= view(e, :, t, j) .+ β
            for i in 1:n
                for k in 1:n
                    ∂transitions[k, i] += Δ[j] * exp(α[i, t-1, j] + transitions[k, i] + next[k] - logz[j])
                end
                β[i] = logsumexp(k -> (@inbounds transitions[k, i] + next[k]), n)
            end
            ∂transitions[labels[t, j], labels[t-1, j]] -= Δ[j]
        end
    end
end

"""
    CRFDecode()(emissions, transitions, start, stop)

The likeliest label sequences under the same model, counted from 0, of size `(time, batch)`. No gradient.
Viterbi 1967, IEEE Trans. Inf. Theory 13.
"""
struct CRFDecode <: CustomFunction end

function PyBridge.forward(::CRFDecode, emissions::AbstractArray{T,3}, transitions, start, stop) where {T}
    check_chain("CRFDecode", size(emissions, 1), transitions, start, stop)
    labels = zeros(Int32, size(emissions, 2), size(emissions, 3))
    for j in axes(labels, 2)
        viterbi!(view(labels, :, j), view(emissions, :, :, j), transitions, start, stop)
    end
    return labels
end

PyBridge.outputspec(::CRFDecode, emissions, parameters...) = ((size(emissions, 2), size(emissions, 3)), Int32)

PyBridge.backward(::CRFDecode, Δ) = (nothing, nothing, nothing, nothing)

function viterbi!(labels, e, transitions, start, stop)
    from = zeros(Int, size(e))
    best = start .+ view(e, :, 1)
    for t in 2:size(e, 2)
        found = [findmax(best .+ view(transitions, k, :)) for k in axes(e, 1)]
        from[:, t] = last.(found)
        best = first.(found) .+ view(e, :, t)
    end
    label = argmax(best .+ stop)
    for t in size(e, 2):-1:1
        labels[t] = label - 1
        t > 1 && (label = from[label, t])
    end
end

PyBridge.paramshapes(::CRFLoss, emissions, labels...) =
    (transitions = (emissions[1], emissions[1]), start = (emissions[1],), stop = (emissions[1],))
PyBridge.paramshapes(::CRFDecode, emissions) = PyBridge.paramshapes(CRFLoss(), emissions)
