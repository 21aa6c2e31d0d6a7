"""MXNet.jl's autograd, differentiable functions and networks: the translation runs, and the numbers are right."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pybridge._migrate import translate


@pytest.fixture
def run(pb: ModuleType, mx: ModuleType, tmp_path: Path) -> Any:
    """Translate a program, run it with its Julia file beside it, and give its variables."""

    def runs(julia: str, **options: Any) -> SimpleNamespace:
        made = translate(
            "program.jl", f"using MXNet\n{julia}".encode(), julia_name="program_functions.jl", **options
        )
        assert made.attention == [], made.python
        if made.julia:
            (tmp_path / "program_functions.jl").write_text(made.julia, encoding="utf-8")
        names: dict[str, Any] = {"__file__": str(tmp_path / "program.py"), "__name__": "program"}
        exec(compile(made.python, "program.py", "exec", dont_inherit=True), names)
        return SimpleNamespace(**names)

    return runs


def numbers(x: Any) -> list[Any]:
    made: list[Any] = x.asnumpy().tolist()
    return made


# autograd


def test_the_gradient_of_a_square_is_twice_the_input(run: Any) -> None:
    made = run(
        "x = mx.NDArray(Float32[1 2; 3 4])\n∇ = mx.attach_grad!(x)\n"
        "y = mx.record() do\n  x .* x\nend\nmx.backward!(y)\ng = mx.getgrad(x)\n"
    )

    assert numbers(made.grad) == numbers(made.g) == [[2, 6], [4, 8]]


def test_head_gradients_and_retained_graphs_pass_through(run: Any) -> None:
    made = run(
        "x = mx.NDArray(Float32[1, 2])\n∇ = mx.attach_grad!(x)\ny = mx.record() do\n  x .^ 3\nend\n"
        "mx.backward!(y, mx.NDArray(Float32[10, 100]), retain_graph=true)\n"
    )

    assert numbers(made.grad) == [30, 1200]


def test_gradients_add_up_when_asked(run: Any) -> None:
    made = run(
        "x = mx.ones(2)\n∇ = mx.attach_grad!(x, :add)\nfor k in 1:3\n"
        "  y = mx.record() do\n    2x\n  end\n  mx.backward!(y)\nend\n"
    )

    assert numbers(made.grad) == [6, 6]


def test_variables_can_be_marked_together(run: Any) -> None:
    made = run(
        "x, y = mx.ones(2), mx.ones(2)\nẋ, ẏ = mx.zeros(2), mx.zeros(2)\n"
        "mx.mark_variables!([x, y], [ẋ, ẏ], [:write, :nop])\n"
        "z = mx.record() do\n  3x + 5y\nend\nmx.backward!(z)\n"
    )

    assert numbers(made.x_dot) == [3, 3]
    assert numbers(made.y_dot) == [0, 0]


def test_scopes_set_their_flags_and_give_their_values(run: Any) -> None:
    made = run(
        "a = mx.record() do\n  mx.is_recording()\nend\n"
        "b = mx.record(false) do\n  mx.is_training()\nend\n"
        "c = mx.record() do\n  mx.pause() do\n    mx.is_recording()\n  end\nend\n"
        "d = mx.train_mode() do\n  mx.is_training()\nend\n"
        "e = mx.is_recording()\n"
    )

    assert (made.a, made.b, made.c, made.d, made.e) == (True, False, False, True, False)


def test_a_recorded_block_returns_from_its_function(run: Any) -> None:
    made = run("function f(x)\n  mx.record() do\n    t = 2x\n    t .+ 1\n  end\nend\ny = f(mx.ones(2))\n")

    assert numbers(made.y) == [3, 3]


def test_a_function_can_be_recorded_by_name(run: Any) -> None:
    made = run(
        "x = mx.ones(2)\nmx.attach_grad!(x)\nf() = 4x\ny = mx.record(f)\nmx.backward!(y)\ng = mx.getgrad(x)\n"
    )

    assert numbers(made.g) == [4, 4]


def test_plain_numbers_meet_arrays_without_dots(run: Any) -> None:
    made = run(
        "x = mx.NDArray(Float32[1 2; 3 4])\na = x + 1\nb = 1 - x\nc = 2 * x / 4\nx[:] = 7\nx[1:1] = 0\n"
    )

    assert numbers(made.a) == [[2, 4], [3, 5]]
    assert numbers(made.b) == [[0, -2], [-1, -3]]
    assert numbers(made.c) == [[0.5, 1.5], [1, 2]]
    assert numbers(made.x) == [[0, 0], [7, 7]]


def test_softmax_runs_over_the_dimension_that_julia_names(run: Any) -> None:
    made = run(
        "x = mx.NDArray(Float32[1 2 3; 1 3 5])\na = softmax.(x)\nb = softmax.(x, 1)\nc = log_softmax.(x, 1)\n"
    )
    x = np.array([[1, 2, 3], [1, 3, 5]], np.float32)

    def softmax(axis: int) -> Any:
        return np.exp(x) / np.exp(x).sum(axis=axis, keepdims=True)

    np.testing.assert_allclose(made.a.asnumpy().T, softmax(1), rtol=1e-5)
    np.testing.assert_allclose(made.b.asnumpy().T, softmax(0), rtol=1e-5)
    np.testing.assert_allclose(made.c.asnumpy().T, np.log(softmax(0)), rtol=1e-4)


def test_softmax_without_a_dot_is_the_same(run: Any) -> None:
    made = run(
        "x = mx.NDArray(Float32[1 2 3; 1 3 5])\na = mx.softmax(x)\nb = mx.softmax(x, 1)\nc = mx.log_softmax(x, 1)\n"
        "p = mx.softmax.(x)\nq = mx.softmax.(x, 1)\nr = mx.log_softmax.(x, 1)\n"
    )

    for one, other in (("a", "p"), ("b", "q"), ("c", "r")):
        assert numbers(getattr(made, one)) == numbers(getattr(made, other))
    np.testing.assert_allclose(made.a.asnumpy().sum(axis=0), [1, 1], rtol=1e-6)


def test_what_reshape_gives_is_not_the_array_that_changes(run: Any) -> None:
    made = run("x = mx.ones(2, 2)\nf = reshape(x, (4,))\nx[:] = 0\ng = mx.reshape(x, shape=(4, 1))\n")

    assert numbers(made.f) == [1, 1, 1, 1] and made.g.shape == (1, 4)


def test_argmax_counts_from_one(run: Any) -> None:
    made = run("x = mx.NDArray(Float32[1 9 3; 4 5 6])\na = argmax(x, dims=1)\nb = argmax(x, dims=2)\n")

    assert numbers(made.a) == [[2], [1], [2]]
    assert numbers(made.b) == [[2, 3]]


def test_random_arrays_have_the_sizes_turned_round_and_the_ranges_kept(run: Any) -> None:
    made = run("mx.srand(1)\na = mx.rand(2, 500; low=1, high=3)\nb = mx.randn(500, 2, μ=10, σ=0.1)\n")
    a, b = made.a.asnumpy(), made.b.asnumpy()

    assert a.shape == (500, 2) and b.shape == (2, 500)
    assert 1 <= a.min() < 1.1 and 2.9 < a.max() <= 3
    assert abs(b.mean() - 10) < 0.02 and abs(b.std() - 0.1) < 0.02


def test_element_types_are_those_of_julia(run: Any) -> None:
    made = run(
        "a = mx.NDArray([1, 2])\nb = mx.NDArray([1.0, 2.0])\nc = mx.NDArray(Float32[1, 2])\n"
        "d = mx.zeros(2)\ne = mx.zeros(Float64, 2)\nf = mx.NDArray(rand(2))\ng = mx.NDArray(Float32, [1, 2])\n"
    )

    kinds = [np.dtype(x.dtype).name for x in (made.a, made.b, made.c, made.d, made.e, made.f, made.g)]
    assert kinds == ["int64", "float64", "float32", "float32", "float64", "float64", "float32"]


@pytest.mark.parametrize(
    "array",
    [
        "X[:, 1:2]",
        "X[:, order]",
        "Float32[i == j for i in 1:3, j in 1:2]",
        "Float32[i / 2 for i in 1:3]",
        "fill(1f0, 2, 2)",
        "hcat(X, X)",
        "sum(X, dims=1)",
        "tanh.(X)",
        "copy(mx.ones(2, 2)) .+ 1",
        "copy(mx.ones(2, 2))[:, 1:1]",
        "Float32.(order)",
    ],
)
def test_an_ndarray_has_the_element_type_of_what_it_is_made_of(run: Any, array: str) -> None:
    made = run(
        f"X = randn(Float32, 3, 4)\norder = [2, 1]\na = mx.NDArray({array})\nb = mx.NDArray(randn(2, 2)[:, 1:1])\n"
    )

    assert (made.a.dtype, made.b.dtype) == (np.float32, np.float64)


@pytest.mark.parametrize(
    "update", ["l.w .-= 0.5 .* ∇", "@mx.inplace l.w -= 0.5 * ∇", "mx.sub_from!(l.w, 0.5 .* ∇)"]
)
def test_an_array_in_an_immutable_struct_is_updated_in_place(run: Any, update: str) -> None:
    made = run(
        "struct Layer\n  w\nend\nl = Layer(mx.NDArray(Float32[1, 3]))\nsame = l.w\n∇ = mx.attach_grad!(l.w)\n"
        f"y = mx.record() do\n  l.w .* l.w\nend\nmx.backward!(y)\n{update}\n"
    )
    assert numbers(made.l.w) == numbers(made.same) == [0, 0]


def test_arrays_keep_their_element_types_through_arithmetic(run: Any) -> None:
    made = run(
        "X = randn(Float32, 3, 4)\nw = Float32[1, 2, 3]\ny = vec(w' * X) .+ 0.01f0 .* randn(Float32, 4)\n"
        "a = mx.NDArray(reshape(y, 1, 4))\nb = mx.NDArray(0.1f0 .* randn(Float32, 3, 4))\n"
        "c = mx.NDArray(X / 2)\nd = mx.NDArray(0.5 .* randn(2, 3))\ne = mx.NDArray(-permutedims(X))\n"
    )
    dtypes = [np.dtype(getattr(made, name).dtype).name for name in "abcde"]
    assert dtypes == ["float32", "float32", "float32", "float64", "float32"]


# differentiable functions

SWISH = """
mutable struct Swish
  β
  x
  σ
  Swish(β) = new(β)
end
@mx.customfunc Swish
logistic(z) = 1 / (1 + exp(-z))
function mx.forward(f::Swish, x)
  f.x = x
  f.σ = logistic.(f.β .* x)
  x .* f.σ
end
mx.backward!(f::Swish, Δ) = @. Δ * (f.σ + f.β * f.x * f.σ * (1 - f.σ))
x = mx.NDArray(Float32[-1 0; 0.5 2])
∇ = mx.attach_grad!(x)
f = Swish(1.5)
for round in 1:2
  global y
  y = mx.record() do
    f(x)
  end
  mx.backward!(y)
end
z = mx.record() do
  Swish(2)(x)
end
"""


@pytest.mark.parametrize("functions", ["julia", "python"])
def test_a_differentiable_function_has_its_values_and_gradients_in_either_language(
    run: Any, functions: str
) -> None:
    made = run(SWISH, functions=functions)
    x = made.x.asnumpy().astype("float64")

    def sigmoid(z: Any) -> Any:
        return 1 / (1 + np.exp(-z))

    s = sigmoid(1.5 * x)
    np.testing.assert_allclose(made.y.asnumpy(), x * s, rtol=1e-5)
    np.testing.assert_allclose(made.grad.asnumpy(), s + 1.5 * x * s * (1 - s), rtol=1e-5)
    np.testing.assert_allclose(made.z.asnumpy(), x * sigmoid(2 * x), rtol=1e-5)
    assert made.y.dtype == np.float32


CUSTOM = """
mutable struct Scaled
  c
  x
  Scaled(c = 3) = new(c)
end
mx.@custom scaled(x; c = 4) = Scaled(c)
mx.@custom function thrice(x)
  f = Scaled()
  return f    # whose c is 3
end
mx.forward(f::Scaled, x) = (f.x = x; f.c .* x .^ 2)
mx.backward!(f::Scaled, Δ) = 2 .* f.c .* f.x .* Δ
x = mx.NDArray(Float32[-1 0; 0.5 2])
∇ = mx.attach_grad!(x)
y = mx.record() do
  scaled(x) .+ scaled(x; c = 10) .+ thrice(x)
end
mx.backward!(y)
"""


@pytest.mark.parametrize("functions", ["julia", "python"])
def test_a_function_that_makes_its_instance_is_a_function(run: Any, functions: str) -> None:
    made = run(CUSTOM, functions=functions)
    x = made.x.asnumpy()

    np.testing.assert_allclose(made.y.asnumpy(), 17 * x**2, rtol=1e-6)
    np.testing.assert_allclose(made.grad.asnumpy(), 34 * x, rtol=1e-6)
    np.testing.assert_allclose(made.thrice(made.x).asnumpy(), 3 * x**2, rtol=1e-6)


def test_code_written_for_pybridge_stays_as_it_is(run: Any) -> None:
    made = run(
        "using PyBridge\nstruct Triple <: CustomFunction end\n"
        "PyBridge.forward(f::Triple, x) = 3 .* x\nPyBridge.backward(f::Triple, Δ) = 3 .* Δ\n"
        "x = mx.ones(2)\n∇ = mx.attach_grad!(x)\ny = mx.record() do\n  Triple()(x)\nend\nmx.backward!(y)\n"
    )

    assert numbers(made.y) == numbers(made.grad) == [3, 3]


def test_operators_of_mxnet_inside_a_kept_function_are_pointed_out() -> None:
    code = "struct F end\nmx.forward(f::F, x) = mx.square(x)\nmx.backward!(f::F, Δ) = Δ\n"

    made = translate("a.jl", code.encode())

    assert [note.why for note in made.attention] == [
        "mx.square inside a function that stays Julia, where its arguments are plain arrays"
    ]


# networks

MLP = """
data = mx.Variable(:data)
net = mx.FullyConnected(data, num_hidden=16, name=:fc1)
net = mx.Activation(net, act_type=:relu)
net = mx.FullyConnected(net, num_hidden=2, name=:fc2)
net = mx.SoftmaxOutput(net, name=:softmax)
"""
CHAIN = """
net = @mx.chain mx.Variable(:data) =>
  mx.FullyConnected(num_hidden=16, name=:fc1) =>
  mx.Activation(act_type=:relu) =>
  mx.FullyConnected(num_hidden=2, name=:fc2) =>
  mx.SoftmaxOutput(name=:softmax)
"""
FACTORY = "net = @mx.chain mx.Variable(:data) => mx.MLP([16, 2]) => mx.SoftmaxOutput(name=:softmax)\n"
TRAINED = """
using Random
Random.seed!(3)
mx.srand(3)
X = randn(Float32, 4, 200)
Y = [X[1, i] + X[2, i] > 0 ? 1 : 0 for i in 1:200]
train = mx.ArrayDataProvider(:data => X, :softmax_label => Y, batch_size=50, shuffle=true)
eval_ = mx.ArrayDataProvider(:data => X, :softmax_label => Y, batch_size=30)
model = mx.FeedForward(net, context=mx.cpu())
optimizer = mx.SGD(η=0.5, μ=0.9, λ=0.0)
mx.fit(model, optimizer, train, n_epoch=15, eval_data=eval_, initializer=mx.XavierInitializer())
probs = mx.predict(model, eval_)
pred = [argmax(probs[:, i]) - 1 for i in 1:size(probs, 2)]
accuracy = sum(pred .== Y) / length(Y)
"""


@pytest.mark.parametrize("network", [MLP, CHAIN, FACTORY], ids=["composed", "chain", "factory"])
def test_a_symbolic_classifier_trains_in_gluon(run: Any, network: str) -> None:
    made = run(network + TRAINED)

    assert made.accuracy > 0.95
    assert made.probs.shape == (200, 2)  # the padding of the last batch is left out
    np.testing.assert_allclose(made.probs.sum(axis=1), 1, rtol=1e-5)
    shapes = [p.shape for p in made.net.collect_params().values()]
    assert shapes == [(16, 4), (16,), (2, 16), (2,)]


def test_one_step_of_the_loop_is_the_step_that_mxnet_jl_makes(run: Any) -> None:
    """Softmax output's gradient is p - y for each sample; the step divides by the batch size."""
    made = run(
        "X = Float32[1 0 2 1; 0 1 1 3]\nY = [0, 1, 1, 0]\n"
        "net = @mx.chain mx.Variable(:data) => mx.FullyConnected(num_hidden=2) => mx.SoftmaxOutput()\n"
        "train = mx.ArrayDataProvider(:data => X, :softmax_label => Y, batch_size=4)\n"
        "model = mx.FeedForward(net)\n"
        "mx.fit(model, mx.SGD(η=0.1, λ=0.01), train, n_epoch=1, initializer=mx.UniformInitializer(0.0))\n"
    )
    weight, bias = (p.data().asnumpy() for p in made.net.collect_params().values())
    x = np.array([[1, 0], [0, 1], [2, 1], [1, 3]], np.float32)
    wrong = np.full((4, 2), 0.5) - np.eye(2)[[0, 1, 1, 0]]

    np.testing.assert_allclose(weight, -0.1 * (wrong.T @ x) / 4, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(bias, -0.1 * wrong.sum(axis=0) / 4, rtol=1e-5, atol=1e-7)


def test_a_regression_network_fits_a_plane(run: Any) -> None:
    made = run(
        "using Random\nRandom.seed!(1)\nX = randn(Float32, 3, 100)\ny = Float32[1 -2 3] * X .+ 0.5f0\n"
        "net = @mx.chain mx.Variable(:data) => mx.FullyConnected(num_hidden=1) =>\n"
        "  mx.LinearRegressionOutput(mx.Variable(:label))\n"
        "train = mx.ArrayDataProvider(:data => X, :label => y, batch_size=25, shuffle=true)\n"
        "model = mx.FeedForward(net, context=mx.cpu())\n"
        "mx.fit(model, mx.ADAM(η=0.1), train, n_epoch=60, eval_metric=mx.MSE(),\n"
        "       initializer=mx.NormalInitializer(0.0, 0.1))\n"
    )
    weight, bias = (p.data().asnumpy() for p in made.net.collect_params().values())

    np.testing.assert_allclose(weight, [[1, -2, 3]], atol=0.02)
    np.testing.assert_allclose(bias, [0.5], atol=0.02)


def test_a_convolutional_network_has_the_shapes_of_lenet(run: Any, mx: ModuleType) -> None:
    made = run(
        "data = mx.Variable(:data)\n"
        "conv1 = @mx.chain mx.Convolution(data, kernel=(5,3), num_filter=20) =>\n"
        "  mx.Activation(act_type=:tanh) => mx.Pooling(pool_type=:max, kernel=(2,2), stride=(2,2))\n"
        "fc1 = @mx.chain mx.Flatten(conv1) => mx.FullyConnected(num_hidden=50) => mx.Activation(act_type=:tanh)\n"
        "fc2 = mx.FullyConnected(fc1, num_hidden=10, no_bias=true)\n"
        "lenet = mx.SoftmaxOutput(fc2, name=:softmax)\n"
    )
    made.lenet.initialize()
    out = made.lenet(mx.nd.ones((7, 1, 28, 28)))

    assert out.shape == (7, 10)
    shapes = [p.shape for p in made.lenet.collect_params().values()]
    # Julia's kernel (5, 3) is width by height; 28 - 3 + 1 = 26 rows, 24 columns, halved
    assert shapes == [(20, 1, 3, 5), (20,), (50, 20 * 13 * 12), (50,), (10, 50)]


@pytest.mark.parametrize(
    ("julia", "why"),
    [
        ("a = mx.Variable(:a)\nb = mx.FullyConnected(a, num_hidden=2)\nc = a + b\n", "branches"),
        ("a = mx.Variable(:a)\nb = mx.FullyConnected(a, weight=mx.Variable(:w), num_hidden=2)\n", "shared"),
        ("a = mx.Variable(:a)\nb = mx.SVMOutput(a)\n", "mx.SVMOutput in a symbolic network"),
        ("opt = mx.SGD(η_sched=mx.LearningRate.Fixed(0.1))\n", "lr_scheduler"),
    ],
)
def test_what_is_no_simple_network_is_refused(julia: str, why: str) -> None:
    made = translate("a.jl", f"using MXNet\n{julia}".encode())

    assert any(why in note.why for note in made.attention), made.attention
    assert "raise NotImplementedError" in made.python
