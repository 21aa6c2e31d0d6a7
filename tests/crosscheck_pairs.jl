# The Julia sides of test_crosscheck_proof.py: right as they stand, wrong with the error that `bug` names.
module CrosscheckPairs

using LinearAlgebra
using PyBridge

only_number(Δ) = Δ isa Number ? Δ : first(Δ)
σ(z) = 1 / (1 + exp(-z))
pointwise(f, slope) = x -> (f.(x), Δ -> Δ .* slope.(x))
squeeze(x, dims) = dropdims(x; dims = dims)
total(x, dims) = squeeze(sum(x; dims = dims), dims)
# The gradient of a reduction, with the dimension back that the reduction dropped.
expand(Δ, x, dims) = reshape(Δ, ntuple(i -> i == dims ? 1 : size(x, i), ndims(x)))

# --- with planted errors -----------------------------------------------------------------------------------

function swish(x; bug = "")
    T = eltype(x)
    s = σ.(x)
    y = x .* s
    slope = s .+ y .* (1 .- s)
    bug == "sign" && (slope = -slope)
    bug == "factor" && (slope = 2 .* slope)
    bug == "tiny factor" && (slope = T(1 + 1e-6) .* slope)
    bug == "product rule" && (slope = s)
    bug == "negative" && (slope[x .< 0] .= 0)
    bug == "float32 only" && T == Float32 && (slope = 2 .* slope)
    bug == "float32 forward" && (y = T.(Float32.(x) .* σ.(Float32.(x))))
    bug == "noise forward" && (y = y .+ rand(T, size(y)))
    bug == "offset" && (y = y .+ 1)
    if bug == "writes"
        x[1] += 1
    end
    function back(Δ)
        bug == "head ignored" && return copy(slope)
        bug == "head squared" && return Δ .^ 2 .* slope
        bug == "head absolute" && return abs.(Δ) .* slope
        bug == "head offset" && return Δ .* slope .+ 1
        bug == "float32 backward" && return T.(Float32.(Δ) .* Float32.(slope))
        bug == "noise backward" && return Δ .* slope .* (1 .+ rand(T, size(slope)) ./ 10)
        bug == "raises" && error("no gradient today")
        bug == "shape" && return vec(Δ .* slope)[1:end-1]
        bug == "missing" && return nothing
        bug == "reversed" && return permutedims(Δ .* slope, reverse(1:ndims(x)))
        bug == "shifted" && return circshift(Δ .* slope, ntuple(i -> Int(i == 1), ndims(x)))
        bug == "widened" && return Δ .* slope .* 1.0
        return Δ .* slope
    end
    return y, back
end

# Keeps its input in a global instead of in itself.
const LAST = Ref{Any}()
mutable struct StaleSwish <: CustomFunction
    StaleSwish() = new()
end
PyBridge.forward(::StaleSwish, x) = (LAST[] = copy(x); x .* σ.(x))
PyBridge.backward(::StaleSwish, Δ) = (x = LAST[]; s = σ.(x); Δ .* (s .+ x .* s .* (1 .- s)))

# The same error in a matrix product: the right factor is the last call's.
const FACTOR = Ref{Any}()
mutable struct StaleProduct <: CustomFunction
    a
    StaleProduct() = new()
end
PyBridge.forward(f::StaleProduct, a, b) = (f.a = a; FACTOR[] = copy(b); a .* b)
PyBridge.backward(f::StaleProduct, Δ) = (Δ .* FACTOR[], Δ .* f.a)

mutable struct Swish <: CustomFunction
    x
    Swish() = new()
end
PyBridge.forward(f::Swish, x) = (f.x = copy(x); x .* σ.(x))
PyBridge.backward(f::Swish, Δ) = (s = σ.(f.x); Δ .* (s .+ f.x .* s .* (1 .- s)))

function softmax(x; dims, bug = "")
    along = bug == "axis" ? 3 - dims : dims
    e = exp.(x .- maximum(x; dims = along))
    s = e ./ sum(e; dims = along)
    function back(Δ)
        bug == "diagonal" && return Δ .* s .* (1 .- s)
        bug == "no sum" && return Δ .* s
        bug == "gradient axis" && return s .* (Δ .- sum(Δ .* s; dims = 3 - dims))
        return s .* (Δ .- sum(Δ .* s; dims = along))
    end
    return s, back
end

function logsoftmax(x; dims, bug = "")
    shifted = x .- maximum(x; dims = dims)
    y = shifted .- log.(sum(exp.(shifted); dims = dims))
    back(Δ) = bug == "head" ? Δ .- exp.(y) : Δ .- exp.(y) .* sum(Δ; dims = dims)
    return y, back
end

function logsumexp(x; dims, bug = "")
    m = bug in ("overflow", "naive") ? zero(eltype(x)) : maximum(x; dims = dims)
    e = exp.(x .- m)
    s = sum(e; dims = dims)
    function back(Δ)
        bug == "not normalised" && return expand(Δ, x, dims) .* e
        bug == "uniform" && return expand(Δ, x, dims) .* one.(x) ./ size(x, dims)
        return expand(Δ, x, dims) .* e ./ s
    end
    return squeeze(m .+ log.(s), dims), back
end

function affine(x, w, b; bug = "")
    y = bug == "weight" ? x * w .+ reshape(b, 1, :) : x * transpose(w) .+ reshape(b, 1, :)
    bug == "value" && (y = copy(transpose(y)))
    function back(Δ)
        gx, gw, gb = Δ * w, transpose(Δ) * x, vec(sum(Δ; dims = 1))
        bug == "weight transposed" && return gx, copy(transpose(gw)), gb
        bug == "input transposed" && return copy(transpose(gx)), gw, gb
        bug == "swapped" && return gw, gx, gb
        bug == "bias row" && return gx, gw, Δ[1, :]
        bug == "bias mean" && return gx, gw, gb ./ size(Δ, 1)
        bug == "bias unsummed" && return gx, gw, copy(Δ)
        bug == "bias missing" && return gx, gw, nothing
        bug == "bias axis" && return gx, gw, vec(sum(Δ; dims = 2))
        bug == "bias sign" && return gx, gw, -gb
        return gx, gw, gb
    end
    return y, back
end

function layernorm(x, g, b; bug = "")
    ϵ = eltype(x)(2)^-7
    n = size(x, 1)
    c = x .- sum(x; dims = 1) ./ n
    v = sum(abs2, c; dims = 1) ./ (bug == "n - 1" ? n - 1 : n)
    r = bug == "epsilon" ? 1 ./ (sqrt.(v) .+ ϵ) : 1 ./ sqrt.(v .+ ϵ)
    x̂ = c .* r
    rback = bug == "epsilon backward" ? 1 ./ (sqrt.(v) .+ ϵ) : r
    function back(Δ)
        d = Δ .* g
        centred = bug == "mean term" ? d : d .- sum(d; dims = 1) ./ n
        spread = bug == "variance term" ? zero.(x̂) : x̂ .* sum(d .* x̂; dims = 1) ./ n
        gg = vec(sum(Δ .* x̂; dims = 2))
        bug == "gain mean" && (gg = gg ./ size(x, 2))
        bug == "gain unscaled" && (gg = vec(sum(Δ; dims = 2)))
        return rback .* (centred .- spread), gg, vec(sum(Δ; dims = 2))
    end
    return g .* x̂ .+ b, back
end

function huber(x; bug = "")
    small = abs.(x) .< 1
    y = ifelse.(small, x .^ 2 ./ 2, abs.(x) .- 1 // 2)
    slope = ifelse.(small, x, sign.(x))
    bug == "absolute value" && (slope = abs.(slope))
    bug == "edge" && (slope[abs.(x) .== 1] .= 0)
    bug == "factor" && (slope[small] .*= 2)
    bug == "tail" && (slope = copy(x))
    return eltype(x).(y), Δ -> Δ .* slope
end

function hinge(s, t; bug = "")
    margin = 1 .- s .* t
    on = margin .> 0
    y = sum(margin .* on)
    bug == "mean" && (y /= length(s))
    function back(Δ)
        δ = only_number(Δ)
        bug in ("mean", "mean backward") && (δ /= length(s))
        bug == "label" && return (-δ .* on, -δ .* on .* s)
        bug == "mask" && return (-δ .* t, -δ .* s)
        bug == "swapped" && return (-δ .* on .* s, -δ .* on .* t)
        return (-δ .* on .* t, -δ .* on .* s)
    end
    return y, back
end

function runningsum(x; bug = "")
    y = cumsum(x)
    function back(Δ)
        g = reverse(cumsum(reverse(Δ)))
        bug == "not reversed" && return cumsum(Δ)
        bug == "exclusive" && return g .- Δ
        bug == "shifted" && return circshift(g, 1)
        return g
    end
    return y, back
end

function differences(x; bug = "")
    y = x[2:end] .- x[1:end-1]
    function back(Δ)
        g = zero(x)
        g[2:end] .+= Δ
        g[1:end-1] .-= Δ
        bug == "edge" && (g[end] = 0)
        bug == "first" && (g[1] = 0)
        bug == "shifted" && (g = circshift(g, 1))
        bug == "sign" && (g = -g)
        return g
    end
    return y, back
end

function largest(x; dims, bug = "")
    y, at = findmax(x; dims = dims)
    function back(Δ)
        bug == "ties" && return expand(Δ, x, dims) .* (x .== y)
        bug == "smallest" && return expand(Δ, x, dims) .* (x .== minimum(x; dims = dims))
        bug == "halves" && return expand(Δ, x, dims) .* (x .== y) ./ sum(x .== y; dims = dims)
        g = zero(x)
        g[at] .= expand(Δ, x, dims)
        return g
    end
    return squeeze(y, dims), back
end

function largest_of_all(x)
    y, at = findmax(x)
    return y, Δ -> (g = zero(x); g[at] = only_number(Δ); g)
end

function sorted(x; bug = "")
    p = bug == "last ties first" ? reverse(sortperm(x; rev = true)) : sortperm(x)
    function back(Δ)
        bug == "not undone" && return Δ[p]
        bug == "unsorted" && return copy(Δ)
        g = zero(x)
        g[p] .= Δ
        return g
    end
    return x[p], back
end

function squareddistances(x, y; bug = "")
    d = reshape(x, size(x, 1), 1, :) .- reshape(y, 1, size(y, 1), :)
    function back(Δ)
        G = 2 .* Δ .* d
        bug == "factor" && (G = G ./ 2)
        gx, gy = total(G, 2), -total(G, 1)
        bug == "sign" && (gy = -gy)
        bug == "swapped" && return gy, gx
        bug == "second missing" && return gx, nothing
        return gx, gy
    end
    return total(d .^ 2, 3), back
end

function distances(x, y; bug = "")
    d = reshape(x, size(x, 1), 1, :) .- reshape(y, 1, size(y, 1), :)
    r = sqrt.(sum(abs2, d; dims = 3))
    function back(Δ)
        G = bug == "not normalised" ? Δ .* d : Δ .* d ./ r
        bug == "squared" && (G = Δ .* d ./ r .^ 2)
        return total(G, 2), -total(G, 1)
    end
    return squeeze(r, 3), back
end

function outer(a, b; bug = "")
    y = bug == "transposed" ? b .* transpose(a) : a .* transpose(b)
    function back(Δ)
        ga, gb = Δ * b, transpose(Δ) * a
        bug == "swapped" && return gb, ga
        bug == "transposed" && return transpose(Δ) * b, Δ * a
        bug == "head transposed" && return transpose(Δ) * b, Δ * a
        bug == "first missing" && return nothing, gb
        return ga, gb
    end
    return y, back
end

function correlate(x, w; bug = "")
    n = length(x) - length(w) + 1
    kernel = bug == "flipped" ? reverse(w) : w
    y = [sum(x[i+j-1] * kernel[j] for j in eachindex(w)) for i in 1:n]
    function back(Δ)
        gx, gw = zero(x), zero(w)
        for i in 1:n, j in eachindex(w)
            gx[i+j-1] += Δ[i] * kernel[j]
            gw[j] += Δ[i] * x[i+j-1]
        end
        bug == "flipped" && (gw = reverse(gw))
        bug == "kernel flipped" && (gw = reverse(gw))
        bug == "shifted" && (gx = circshift(gx, 1))
        bug == "edge" && (gx[1] = 0)
        return gx, gw
    end
    return y, back
end

function rbf(x, y, γ; bug = "")
    d = reshape(x, size(x, 1), 1, :) .- reshape(y, 1, size(y, 1), :)
    D = total(d .^ 2, 3)
    K = exp.(-γ[1] .* D)
    function back(Δ)
        scale = bug == "width" ? 2 : 2 * γ[1]
        G = -scale .* Δ .* K .* d
        bug == "sign" && (G = -G)
        gγ = [-sum(Δ .* K .* D)]
        bug == "width missing" && return total(G, 2), -total(G, 1), nothing
        bug == "width mean" && (gγ ./= length(D))
        return total(G, 2), -total(G, 1), gγ
    end
    return K, back
end

function determinants(x; bug = "")
    T = eltype(x)
    slices = [x[:, :, k] for k in axes(x, 3)]
    y = T[det(a) for a in slices]
    function back(Δ)
        turn = bug == "not transposed" ? copy : (a -> copy(transpose(a)))
        scale(k) = bug == "unscaled" ? Δ[k] : Δ[k] * y[k]
        return cat((T.(scale(k) .* turn(inv(a))) for (k, a) in enumerate(slices))...; dims = 3)
    end
    return y, back
end

function sumdifference(a, b; bug = "")
    y = bug == "outputs swapped" ? (a .- b, a .+ b) : (a .+ b, a .- b)
    function back(Δs, Δd)
        bug == "heads swapped" && return Δs .+ Δd, Δd .- Δs
        bug == "second head" && return copy(Δs), copy(Δs)
        bug == "inputs swapped" && return Δs .- Δd, Δs .+ Δd
        return Δs .+ Δd, Δs .- Δd
    end
    return y, back
end

function quotient(a, b; bug = "")
    y = a ./ b
    function back(Δ)
        bug == "second term" && return Δ ./ b, zero.(b)
        bug == "square" && return Δ ./ b, -Δ .* a ./ b
        bug == "sign" && return Δ ./ b, Δ .* y ./ b
        return Δ ./ b, -Δ .* y ./ b
    end
    return y, back
end

function product(a, b; bug = "")
    function back(Δ)
        bug == "ties" && return Δ .* b .* (a .!= b), Δ .* a
        bug == "zeros" && return Δ .* b .* (a .!= 0), Δ .* a
        bug == "ratio" && return Δ .* (a .* b) ./ a, Δ .* a
        bug == "twice" && return Δ .* b .* 2, Δ .* a .* 2
        return Δ .* b, Δ .* a
    end
    return a .* b, back
end

# The product of each entry with the next.
function neighbours(x; bug = "")
    left, right = x[1:end-1], x[2:end]
    function back(Δ)
        known = bug == "ties" ? Δ .* (left .!= right) : Δ
        return vcat(known .* right, 0) .+ vcat(0, known .* left)
    end
    return left .* right, back
end

function cube(x; bug = "")
    slope = bug == "absolute value" ? 3 .* x .* abs.(x) : 3 .* x .^ 2
    bug == "power" && (slope = 3 .* x)
    bug == "clipped" && (slope = min.(slope, 12))
    return x .^ 3, Δ -> Δ .* slope
end

function sinc_(x; bug = "")
    y = ifelse.(x .== 0, one(eltype(x)), sin.(x) ./ x)
    slope = cos.(x) ./ x .- sin.(x) ./ x .^ 2
    bug == "zeros" || (slope[x .== 0] .= 0)
    return y, Δ -> Δ .* slope
end

function norm2(x; bug = "")
    r = sqrt(sum(abs2, x))
    back(Δ) = only_number(Δ) .* x ./ (bug == "not normalised" ? 1 : r)
    return r, back
end

function relu(x; at_zero = 0)
    slope = eltype(x).(x .> 0)
    slope[x .== 0] .= at_zero
    return max.(x, 0), Δ -> Δ .* slope
end

function absolute(x; at_zero = 0)
    slope = sign.(x)
    slope[x .== 0] .= at_zero
    return abs.(x), Δ -> Δ .* slope
end

# Many kinks close to every point: one for each unit and row.
function relunet(x, w, b, v; bug = "")
    z = x * transpose(w) .+ reshape(b, 1, :)
    function back(Δ)
        on = z .> 0
        bug == "leaks" && (on = on .| (z .> -1 // 10))
        d = (Δ * transpose(v)) .* on
        bug == "half" && (d[:, 1:end÷2] .= 0)
        bug == "tiny factor" && (d = d .* (1 + 1e-6))
        return d * w, transpose(d) * x, vec(sum(d; dims = 1)), transpose(max.(z, 0)) * Δ
    end
    return max.(z, 0) * v, back
end

function hinged(x; bug = "")
    slope = -eltype(x).(x .< 1)
    bug == "tiny factor" && (slope = slope .* (1 + 1e-6))
    bug == "shifted kink" && (slope = -eltype(x).(x .< 11 // 10))
    bug == "five at the kink" && (slope[x .== 1] .= -5)
    return max.(1 .- x, 0), Δ -> Δ .* slope
end

function poles(x; bug = "")
    y = 1 ./ (x .- 1)
    slope = bug == "power" ? -abs.(y) : -y .^ 2
    bug == "tiny factor" && (slope = slope .* (1 + 1e-6))
    return y, Δ -> Δ .* slope
end

function widexp(x; bug = "")
    tenfold = ifelse.(x .< 0, 10, 1)
    y = exp.(x)
    return bug == "values" ? y .* tenfold : y, Δ -> Δ .* y .* (bug == "" ? 1 : tenfold)
end

offset(x; bug = "") = (x .^ 2 .+ 1e8, Δ -> (bug == "factor" ? 3 : 2) .* Δ .* x)
largeoffset(x) = (x .^ 2 .+ 1e15, Δ -> 2 .* Δ .* x)
shortwaves(x; bug = "") = (sin.(1e6 .* x), Δ -> (bug == "factor" ? 2e6 : 1e6) .* Δ .* cos.(1e6 .* x))

function meansquare(x; bug = "")
    n = length(x)
    y = bug == "sum" ? sum(abs2, x) : sum(abs2, x) / n
    back(Δ) = 2 .* only_number(Δ) .* x ./ (bug in ("sum", "sum backward") ? 1 : n)
    return y, back
end

function multiply(a, b; bug = "")
    y = bug == "reversed" ? b * a : a * b
    function back(Δ)
        bug == "reversed" && return transpose(b) * Δ, Δ * transpose(a)
        ga, gb = Δ * transpose(b), transpose(a) * Δ
        bug == "first transposed" && return copy(transpose(ga)), gb
        bug == "not transposed" && return Δ * b, a * Δ
        return ga, gb
    end
    return y, back
end

# --- right ones --------------------------------------------------------------------------------------------

const tanh50 = pointwise(x -> tanh(50x), x -> 50 * (1 - tanh(50x)^2))
const tanh50sech = pointwise(x -> tanh(50x), x -> 50 * sech(50x)^2)
const exponential = pointwise(exp, exp)
const logarithm = pointwise(log, inv)
const squareroot = pointwise(sqrt, x -> 1 / (2 * sqrt(x)))
const pole = pointwise(x -> 1 / (x - 1), x -> -1 / (x - 1)^2)
const polearranged = pointwise(x -> (x + 1) / (x^2 - 1), x -> -1 / (x - 1)^2)
const logplain = pointwise(x -> log(1 + x), x -> 1 / (1 + x))
const expminusone = pointwise(x -> expm1(x), exp)
const softplusstable = pointwise(x -> max(x, 0) + log1p(exp(-abs(x))), σ)
const sigmoidtanh = pointwise(x -> (1 + tanh(x / 2)) / 2, x -> (1 - tanh(x / 2)^2) / 4)
const horner = pointwise(x -> ((2x - 3) * x + 5) * x - 1, x -> (6x - 6) * x + 5)
const swishstable = pointwise(x -> x / 2 * (1 + tanh(x / 2)), x -> σ(x) * (1 + x * (1 - σ(x))))
const pythagoras = pointwise(one, zero)
const roundedown = pointwise(floor, zero)
const signum = pointwise(sign, zero)
const doubled = pointwise(x -> 2x, x -> 2 * one(x))
const squared = pointwise(x -> x * x, x -> 2x)
const wave = pointwise(x -> sin(20x), x -> 20 * cos(20x))
const gaussian = pointwise(x -> exp(-x^2), x -> -2x * exp(-x^2))
const arctangent = pointwise(atan, x -> 1 / (1 + x^2))
const tanh_ = pointwise(tanh, x -> 1 - tanh(x)^2)
const leaky = pointwise(x -> x > 0 ? x : x / 4, x -> x > 0 ? one(x) : one(x) / 4)
const logsigmoid = pointwise(x -> -log1p(exp(-x)), x -> 1 / (1 + exp(x)))
const clipped = pointwise(x -> clamp(x, -one(x) / 2, one(x) / 2), x -> abs(x) <= one(x) / 2 ? one(x) : zero(x))
const clippedopen = pointwise(x -> clamp(x, -one(x) / 2, one(x) / 2), x -> abs(x) < one(x) / 2 ? one(x) : zero(x))
const cancelling = pointwise(x -> 1 / (sqrt(x + 1) + sqrt(x)), x -> (1 / sqrt(x + 1) - 1 / sqrt(x)) / 2)

squaresfactored(x, y) = ((x .- y) .* (x .+ y), Δ -> (2 .* Δ .* x, -2 .* Δ .* y))
sumover(x; dims) = (total(x, dims), Δ -> expand(Δ, x, dims) .* one.(x))
meanover(x; dims) = (total(x, dims) ./ size(x, dims), Δ -> expand(Δ, x, dims) .* one.(x) ./ size(x, dims))
sumall(x) = (sum(x), Δ -> fill!(zero(x), only_number(Δ)))
function productover(x; dims)
    # Products of the others, not y ./ x: right at zeros too.
    others(i) = prod(selectdim(x, dims, [j for j in axes(x, dims) if j != i]); dims = dims)
    return squeeze(prod(x; dims = dims), dims),
    Δ -> expand(Δ, x, dims) .* cat((others(i) for i in axes(x, dims))...; dims = dims)
end
function smallest(x; dims)
    y, back = largest(-x; dims = dims)
    return -y, Δ -> back(Δ)
end
broadcastadd(a, b) = (a .+ b, Δ -> (copy(Δ), sum(Δ; dims = 2)))
broadcastmul(a, b) = (a .* b, Δ -> (Δ .* b, sum(Δ .* a; dims = 2)))
larger(a, b) = (max.(a, b), Δ -> (Δ .* (a .>= b), Δ .* (a .< b)))
larger_open(a, b) = (max.(a, b), Δ -> (Δ .* (a .> b), Δ .* (a .<= b)))
function middle(x)
    p = sortperm(x)
    k = p[div(length(x) + 1, 2)]
    return x[k], Δ -> (g = zero(x); g[k] = only_number(Δ); g)
end
function toptwo(x)
    p = mapslices(c -> partialsortperm(c, 1:2; rev = true), Array(x); dims = 1)
    at = CartesianIndex.(p, (1:size(x, 2))')
    return x[at], Δ -> (g = zero(x); g[at] .= Δ; g)
end
flipped(x) = (reverse(x; dims = 1), Δ -> reverse(Δ; dims = 1))
turned(x) = (permutedims(x, (2, 1)), Δ -> permutedims(Δ, (2, 1)))
axesmoved(x) = (permutedims(x, (3, 1, 2)), Δ -> permutedims(Δ, (2, 3, 1)))
joined(a, b) = (vcat(a, b), Δ -> (Δ[1:size(a, 1), :], Δ[size(a, 1)+1:end, :]))
function halves(x)
    n = div(size(x, 1), 2)
    return (x[1:n, :], x[n+1:end, :]), (Δa, Δb) -> vcat(Δa, Δb)
end
function batchproduct(a, b)
    # Julia's order: Python's a[k] * b[k] is b[:, :, k] * a[:, :, k] here.
    slices(f) = cat((f(k) for k in axes(a, 3))...; dims = 3)
    return slices(k -> b[:, :, k] * a[:, :, k]),
    Δ -> (slices(k -> transpose(b[:, :, k]) * Δ[:, :, k]), slices(k -> Δ[:, :, k] * transpose(a[:, :, k])))
end
function cosine(a, b)
    na, nb, s = norm(a), norm(b), dot(a, b)
    c = s / (na * nb)
    return c, Δ -> (δ = only_number(Δ); (δ .* (b ./ (na * nb) .- c .* a ./ na^2), δ .* (a ./ (na * nb) .- c .* b ./ nb^2)))
end
function looked_up(w, at)
    # Julia's order: a row of the table in Python is a column here.
    columns = Int.(at) .+ 1
    function back(Δ)
        g = zero(w)
        for (k, c) in enumerate(columns)
            g[:, c] .+= Δ[:, k]
        end
        return g, nothing
    end
    return w[:, columns], back
end
power(x, n) = (x .^ n, Δ -> (n .* Δ .* x .^ (n - 1), nothing))
named(x, name) = name == "double" ? (2 .* x, Δ -> (2 .* Δ, nothing)) : (3 .* x, Δ -> (3 .* Δ, nothing))
masked(x, mask) = (x .* mask, Δ -> (Δ .* mask, Δ .* x))
function powersum(x, p)
    y = sum(x .^ p)
    return y, Δ -> (only_number(Δ) .* p .* x .^ (p - 1), nothing)
end
twobytwo(x) = (x[1, 1] * (x[2, 2] - x[1, 2] * x[2, 1] / x[1, 1]),
    Δ -> only_number(Δ) .* [x[2, 2] -x[2, 1]; -x[1, 2] x[1, 1]])
function standardised(x)
    n = size(x, 2)
    ϵ = eltype(x)(2)^-7
    c = x .- sum(x; dims = 2) ./ n
    r = 1 ./ sqrt.(sum(abs2, c; dims = 2) ./ n .+ ϵ)
    x̂ = c .* r
    back(Δ) = r .* (Δ .- sum(Δ; dims = 2) ./ n .- x̂ .* sum(Δ .* x̂; dims = 2) ./ n)
    return x̂, back
end
function pooled(x)
    pairs = reshape(x, 2, :)
    y, at = findmax(pairs; dims = 1)
    return vec(y), Δ -> (g = zero(pairs); g[at] .= reshape(Δ, 1, :); vec(g))
end
matvec(a, x) = (a * x, Δ -> (Δ * transpose(x), transpose(a) * Δ))
momenta(x) = ((sum(x), sum(abs2, x)), (Δ1, Δ2) -> only_number(Δ1) .+ 2 .* only_number(Δ2) .* x)
function variance(x)
    # The mean of squares less the square of the mean.
    n = length(x)
    m = sum(x) / n
    return sum(abs2, x) / n - m^2, Δ -> 2 .* only_number(Δ) .* (x .- m) ./ n
end
constant_(x) = (fill!(similar(x), 3), Δ -> nothing)
first_only(a, b) = (a .^ 2, Δ -> (2 .* Δ .* a, nothing))
linear4(x) = (permutedims(x, (4, 3, 2, 1)) .* 3, Δ -> permutedims(Δ, (4, 3, 2, 1)) .* 3)

end
