# A loss of one's own, with its gradient by hand: the smooth absolute error, robust against outliers.
using MXNet
import MXNet: mx
using Random

mutable struct SmoothL1
    d
    SmoothL1() = new()
end

mx.@custom smooth_l1(ŷ, y) = SmoothL1()

function mx.forward(f::SmoothL1, ŷ, y)
    f.d = ŷ .- y
    a = mx.abs.(f.d)
    near = a .< 1
    near .* (0.5 .* f.d .^ 2) .+ (1 .- near) .* (a .- 0.5)
end

function mx.backward!(f::SmoothL1, Δ)
    g = mx.clamp(f.d, -1, 1) .* Δ
    return g, -g
end

# The line through noisy points of which every tenth is far off.
Random.seed!(3)
t = collect(Float32, range(-1, stop = 1, length = 200))
v = 1.5f0 .* t .- 0.5f0 .+ 0.02f0 .* randn(Float32, 200)
v[1:10:end] .+= 20

x, y = mx.NDArray(t), mx.NDArray(v)
a, b = mx.zeros(1), mx.zeros(1)
for p in (a, b)
    mx.attach_grad!(p)
end

for step in 1:300
    l = mx.record() do
        sum(smooth_l1(a .* x .+ b, y)) / 200
    end
    mx.backward!(l)
    a .-= 0.5 .* mx.getgrad(a)
    b .-= 0.5 .* mx.getgrad(b)
end

println("slope ", round(copy(a)[1], digits = 1), ", offset ", round(copy(b)[1], digits = 1))
