"""Operators of libmxnet called through Julia (`mx.<operator>(arrays...; parameters...)`) give what they give Python."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest


class Case(NamedTuple):
    """A call. ``arrays``: see `made`; those written `name=…` are given by keyword.

    ``julia`` and ``python`` are the parameters; a string `out` in ``python`` names arrays among ``arrays``. Sizes are
    written in Python's order of dimensions, so tuples of integers are reversed in ``julia``; vectors are not.
    """

    name: str
    arrays: str
    julia: str
    python: dict[str, Any]


def made(text: str, mx: ModuleType, rng: np.random.Generator) -> Any:
    """A random array: `2x3` of normal numbers, and as the letter after it says."""
    found = re.fullmatch(r"(\d+(?:x\d+)*)([a-z+]?)(\d*)", text)
    assert found, text
    shape, kind = tuple(map(int, found[1].split("x"))), found[2]
    below = int(found[3] or 2)
    makers: dict[str, Callable[[], Any]] = {
        "": lambda: rng.normal(size=shape),
        "d": lambda: rng.normal(size=shape),  # Float64
        "h": lambda: rng.normal(size=shape),  # Float16
        "+": lambda: rng.uniform(0.5, 2, shape),
        "u": lambda: rng.uniform(0.1, 0.9, shape),
        "i": lambda: rng.integers(0, below, shape),  # whole numbers below the one after the letter
        "c": lambda: rng.integers(1, below + 1, shape),  # whole numbers from one to the one after the letter
        "j": lambda: rng.integers(0, below, shape),  # the same, Int32
        "k": lambda: rng.integers(0, below, shape),  # the same, Int64
        "b": lambda: rng.integers(0, 256, shape),  # UInt8
        "n": lambda: np.where(rng.uniform(size=shape) < 0.3, np.nan, rng.normal(size=shape)),
        "s": lambda: rng.uniform(0, 0.1, shape) + np.eye(shape[-1]),
        "t": lambda: np.tril(rng.uniform(1, 2, shape)),
        "z": lambda: np.zeros(shape),
        "p": lambda: rng.permutation(int(np.prod(shape))).reshape(shape),  # all different
        "r": lambda: np.sort(rng.uniform(1, 14, shape)) * (np.arange(shape[-1]) > 0),  # regions of image 0
        "l": lambda: np.sort(rng.uniform(0, 1, shape)),  # boxes: x1 < y1 < x2 < y2
    }
    dtype = {"d": "float64", "h": "float16", "j": "int32", "k": "int64", "b": "uint8"}.get(kind, "float32")
    return mx.nd.array(makers[kind](), dtype=dtype)


def same(name: str, arrays: str, julia: str | None = None, **python: Any) -> Case:
    """A case; ``julia`` where its parameters are written otherwise than `in_julia` has them."""
    written = ", ".join(f"{key}={in_julia(key, value)}" for key, value in python.items())
    return Case(name, arrays, written if julia is None else julia, python)


def in_julia(key: str, value: Any) -> str:
    """A parameter as Julia writes it: words as symbols, tuples of integers reversed, arrays by their names."""
    if key == "out":
        return value if " " not in value else f"({', '.join(value.split())})"
    if isinstance(value, tuple):
        values = value[::-1] if all(isinstance(v, int) for v in value) else value
        return f"({', '.join(map(str, values))}{',' * (len(value) == 1)})"
    return f":{value}" if isinstance(value, str) else str(value).lower()


# Names of the module's own functions, with MXNet.jl's arguments: their operators are called as `mx.Operator(name)`.
OWN = """
    Reshape reshape abs argmax argmin broadcast_axis broadcast_to cbrt ceil clip dot exp expand_dims floor log
    log10 log1p log2 log_softmax mean norm prod relu sigmoid sign slice softmax sqrt sum transpose trunc round
"""
ANY = """
    abs square sign round ceil floor trunc rint fix cbrt exp expm1 sin cos tan sinh cosh tanh arctan arcsinh
    degrees radians negative erf sigmoid hard_sigmoid softsign relu logical_not identity ones_like zeros_like
    BlockGrad stop_gradient MakeLoss make_loss shape_array size_array Flatten flatten all_finite
    _contrib_div_sqrt_dim _contrib_round_ste _contrib_sign_ste
"""
POSITIVE = "sqrt rsqrt rcbrt reciprocal log log2 log10 log1p gamma gammaln"
FRACTIONS = "arcsin arccos arctanh erfinv"
BROADCAST = """
    add sub mul div power maximum minimum hypot mod equal not_equal greater greater_equal lesser lesser_equal
"""
SCALAR = """
    plus minus rminus mul div rdiv mod rmod power rpower maximum minimum hypot equal not_equal greater
    greater_equal lesser lesser_equal logical_and logical_or logical_xor
"""

ELEMENTWISE = [
    *(same(name, "3x4") for name in ANY.split()),
    *(same(name, "3x4+") for name in POSITIVE.split()),
    *(same(name, "3x4u") for name in FRACTIONS.split()),
    same("arccosh", "3x4+"),  # NaN below 1
    *(same(f"elemwise_{name}", "3x4 3x4+") for name in ("add", "sub", "mul", "div")),
    *(same(f"broadcast_{name}", "3x1x4+ 1x2x4+") for name in BROADCAST.split()),
    *(same(f"broadcast_logical_{name}", "3x1i 1x4i") for name in ("and", "or", "xor")),
    *(same(f"_{name}_scalar", "3x4+", scalar=1.5) for name in SCALAR.split()),
]

AXES = [
    same("sum", "2x3x4", axis=1),
    same("sum", "2x3x4", axis=(2, 0), keepdims=True),
    same("sum", "2x3x4", "axis=[0, 2]", axis=(0, 2)),
    same("sum", "2x3x4", axis=1, exclude=True),
    same("sum_axis", "2x3x4", axis=-1),
    same("nansum", "2x3x4n", axis=1),
    same("nanprod", "2x3x4n", axis=0),
    same("prod", "2x3x4", axis=0),
    same("mean", "2x3x4", axis=2, keepdims=True),
    same("max", "2x3x4", axis=0),
    same("min", "2x3x4", "axis=(1, 2)", axis=(1, 2)),
    same("max_axis", "2x3x4", axis=1),
    same("min_axis", "2x3x4", axis=1),
    same("norm", "2x3x4", ord=1, axis=2),
    same("argmax", "2x3x4", axis=1),
    same("argmin", "2x3x4", axis=0, keepdims=True),
    same("argmax_channel", "3x4"),
    same("argsort", "3x4", axis=0, is_ascend=False),
    same("argsort", "3x4", "axis=nothing, dtype=Int32", axis=None, dtype="int32"),
    same("sort", "3x4", axis=0),
    same("sort", "3x4", is_ascend=False),
    same("topk", "3x5", k=2),
    same(
        "topk",
        "3x5",
        'axis=0, k=2, ret_typ="both", is_ascend=true',
        axis=0,
        k=2,
        ret_typ="both",
        is_ascend=True,
    ),
    same("topk", "3x5", k=3, ret_typ="mask"),
    same("topk", "3x5", k=3, ret_typ="value", axis=1),
    same("softmax", "2x3x4", axis=1),
    same("softmax", "2x3x4", temperature=2.5),
    same("softmax", "2x3x4 length=2x4k3", axis=1, use_length=True),
    same("log_softmax", "2x3x4", axis=0),
    same("softmin", "2x3x4", axis=-2),
    same("cumsum", "2x3x4", axis=1),
    same("cumsum", "2x3"),
    same("reverse", "2x3x4", axis=(2, 0)),
    same("reverse", "2x3x4", axis=1),
    same("flip", "2x3x4", axis=2),
    same("expand_dims", "2x3", axis=1),
    same("squeeze", "2x1x3x1", axis=1),
    same("squeeze", "2x1x3x1"),
    same("swapaxes", "2x3x4", dim1=0, dim2=2),
    same("SwapAxis", "2x3x4", dim1=1, dim2=2),
    same("transpose", "2x3x4"),
    same("transpose", "2x3x4", axes=(2, 0, 1)),
    same("transpose", "2x3x4", "axes=[2, 0, 1]", axes=(2, 0, 1)),
    same("moments", "2x3x4", axes=(1, 0)),
    same("moments", "2x3x4", "axes=[1], keepdims=true", axes=(1,), keepdims=True),
    same("broadcast_axis", "2x1x4x1", axis=(1, 3), size=(6, 5)),
    same("_split_v2", "7x3", "indices=[0, 2, 3], axis=0", indices=(0, 2, 3), axis=0),
    same("_split_v2", "4x6", sections=3, axis=1, indices=()),
    same("split", "4x6", num_outputs=3, axis=1),
    same("split", "4x3", num_outputs=3, axis=-1, squeeze_axis=True),
    same("SliceChannel", "4x6", num_outputs=2, axis=0),
    same("concat", "2x3 2x4 2x1", dim=1),
    same("concat", "2x3 4x3", dim=0),
    same("Concat", "2x3x1 2x3x2", dim=-1),
    same("stack", "2x3 2x3 2x3", axis=1),
    same("stack", "2x3 2x3", axis=-1),
    same("add_n", "2x3 2x3 2x3"),
    same("ElementWiseSum", "2x3 2x3"),
    same("khatri_rao", "2x3 4x3 1x3"),
    same("batch_dot", "2x3x4 2x4x5"),
    same("batch_dot", "2x4x3 2x5x4", transpose_a=True, transpose_b=True),
    same("dot", "3x4 4x5"),
    same("dot", "4x3 5x4", transpose_a=True, transpose_b=True),
    same("L2Normalization", "2x3x4", mode="channel"),
    same("amp_cast", "2x3", "dtype=Float16", dtype="float16"),
    same("amp_multicast", "2x3 2x3", num_outputs=2),
    same("Cast", "2x3", "dtype=Float64", dtype="float64"),
    same("cast", "2x3", 'dtype="int32"', dtype="int32"),
    same("_contrib_index_array", "2x3x4", axes=(2, 0)),
    same("_contrib_arange_like", "2x3", start=1.5, step=0.5, axis=1),
    same("multi_sum_sq", "2x3 4", num_arrays=2),
    same("multi_all_finite", "2x3 4", num_arrays=2),
]

SHAPES = [
    same("reshape", "2x3x4", shape=(6, 4)),
    same("reshape", "2x3x4", "shape=[0, -1]", shape=(0, -1)),
    same("reshape", "2x3x4", shape=(0, -1)),
    same("reshape", "2x3x4", "shape=[-4, 1, 2, -2]", shape=(-4, 1, 2, -2)),
    same("Reshape", "2x3x4", "shape=[-3, 0]", shape=(-3, 0)),
    same("Reshape", "2x3x4", "shape=[-1, 0], reverse=true", shape=(-1, 0), reverse=True),
    same("reshape_like", "2x6 3x4"),
    same("broadcast_like", "1x3 4x3"),
    same("broadcast_like", "1x3 4x2", "lhs_axes=(0,), rhs_axes=[0]", lhs_axes=(0,), rhs_axes=(0,)),
    same("broadcast_to", "1x3x1", shape=(2, 3, 4)),
    same("slice", "4x5", 'var"begin"=(1, nothing), var"end"=(4, 3)', begin=(None, 1), end=(3, 4)),
    same(
        "slice",
        "4x5",
        'var"begin"=[3, 4], var"end"=[nothing, 1], step=[-2, -1]',
        begin=(3, 4),
        end=(None, 1),
        step=(-2, -1),
    ),
    same("crop", "4x5", 'var"begin"=(1, 0), var"end"=(3, 4)', begin=(0, 1), end=(4, 3)),
    same("slice_axis", "4x5", 'axis=1, var"begin"=1, var"end"=nothing', axis=1, begin=1, end=None),
    same("slice_like", "4x5 2x3", axes=(1,)),
    same("_slice_assign", "4x5 2x2", 'var"begin"=(1, 0), var"end"=(3, 2)', begin=(0, 1), end=(2, 3)),
    same(
        "_slice_assign_scalar",
        "4x5",
        'var"begin"=(1, 0), var"end"=(3, 2), scalar=7',
        begin=(0, 1),
        end=(2, 3),
        scalar=7,
    ),
    same("pad", "1x2x3x4", mode="constant", pad_width=(0, 0, 0, 0, 1, 0, 1, 2), constant_value=5),
    same(
        "Pad",
        "1x2x3x4",
        'mode="edge", pad_width=[0, 0, 0, 0, 1, 0, 1, 2]',
        mode="edge",
        pad_width=(0, 0, 0, 0, 1, 0, 1, 2),
    ),
    same(
        "pad",
        "1x2x4x4",
        "mode=:reflect, pad_width=[0, 0, 0, 0, 1, 2, 3, 1]",
        mode="reflect",
        pad_width=(0, 0, 0, 0, 1, 2, 3, 1),
    ),
    same("tile", "2x3", reps=(2, 3)),
    same("tile", "2x3", reps=2),
    same("repeat", "2x3", repeats=2, axis=1),
    same("repeat", "2x3", repeats=3),
    same("diag", "3x4", k=1),
    same("diag", "2x3x4", axis1=0, axis2=2),
    same("depth_to_space", "1x8x2x3", block_size=2),
    same("space_to_depth", "1x2x4x6", block_size=2),
    same("im2col", "1x2x5x6", kernel=(2, 3), stride=(1, 2), pad=(0, 1), dilate=(2, 1)),
    same("col2im", "1x12x16", output_size=(5, 6), kernel=(2, 3)),
    same("_zeros", "", "shape=(2, 3), dtype=Int32", shape=(3, 2), dtype="int32"),
    same("_ones", "", shape=(3, 2)),
    same("_full", "", shape=(3, 2), value=2.5),
    same("_eye", "", N=3, M=4, k=1),
    same("_arange", "", start=1, stop=9, step=2.5, repeat=2),
    same("_linspace", "", start=0, stop=1, num=7),
    same("unravel_index", "5i24", shape=(2, 3, 4)),
    same("ravel_multi_index", "3x5i2", shape=(2, 3, 4)),
    same("UpSampling", "1x2x3x4", scale=2, sample_type="nearest", num_args=1),
    same("Crop", "1x2x6x7", offset=(1, 2), h_w=(3, 4), num_args=1),
    same("Crop", "1x2x6x7 1x2x3x4", "center_crop=true", center_crop=True, num_args=2),
]

INDEXED = [
    same("take", "4x5 2x3i4", axis=0),
    same("take", "4x5 2x3i9", axis=1, mode="wrap"),
    same("batch_take", "4x5 4j5"),
    same("gather_nd", "4x5 2x3i4"),
    same("scatter_nd", "3 2x3i4", shape=(4, 5)),
    same("one_hot", "4i6", depth=6, on_value=2.5, off_value=-1),
    same("one_hot", "2x3i4", "depth=4, dtype=Int64", depth=4, dtype="int64"),
    same("pick", "4x5 4i5"),
    same("pick", "4x5 5i4", axis=0, keepdims=True, mode="clip"),
    same("choose_element_0index", "4x5 4i5"),
    same("fill_element_0index", "4x5 4 4i5"),
    same("where", "3x4i 3x4 3x4"),
    same("where", "3i x=3x4 y=3x4"),
    same("Embedding", "2x3i7 7x4", input_dim=7, output_dim=4),
    same(
        "Embedding",
        "2x3i7 weight=7x4",
        "input_dim=7, output_dim=4, dtype=Float32",
        input_dim=7,
        output_dim=4,
        dtype="float32",
    ),
    same("_contrib_boolean_mask", "4x3 4i", axis=0),
    same("_contrib_index_copy", "5x3 2p 2x3"),
    same("SequenceMask", "5x3x2 3i6", use_sequence_length=True, value=-9),
    same("SequenceMask", "3x5x2 sequence_length=3i6", use_sequence_length=True, axis=1),
    same("SequenceLast", "5x3x2 sequence_length=3c5", use_sequence_length=True),
    same("SequenceLast", "3x5x2", axis=1),
    same("SequenceReverse", "5x3x2 3i5", use_sequence_length=True),
    same("SequenceReverse", "5x3x2"),
]

LAYERS = [
    same("FullyConnected", "2x3 weight=4x3 bias=4", num_hidden=4),
    same("FullyConnected", "2x3x2 4x6", num_hidden=4, no_bias=True),
    same("FullyConnected", "2x3x2 weight=4x2 bias=4", num_hidden=4, flatten=False),
    same("FullyConnected", "data=2x3 bias=4 weight=4x3", num_hidden=4),
    same("Convolution", "2x3x9x8 weight=4x3x3x2 bias=4", kernel=(3, 2), num_filter=4),
    same(
        "Convolution",
        "2x4x9x8 6x2x3x2",
        kernel=(3, 2),
        stride=(1, 2),
        pad=(2, 1),
        dilate=(2, 1),
        num_filter=6,
        num_group=2,
        no_bias=True,
    ),
    same("Convolution", "2x3x9 4x3x2 4", kernel=(2,), stride=(3,), num_filter=4),
    same("Convolution", "1x2x5x6x7 3x2x1x2x3 3", kernel=(1, 2, 3), num_filter=3),
    same(
        "Deconvolution", "2x3x4x5 3x4x3x2", kernel=(3, 2), stride=(1, 2), pad=(1, 0), adj=(0, 1), num_filter=4
    ),
    same("Deconvolution", "2x3x4x5 weight=3x4x3x2", kernel=(3, 2), num_filter=4, target_shape=(6, 6)),
    same("Pooling", "2x3x9x8", kernel=(3, 2), stride=(1, 2), pool_type="max"),
    same("Pooling", "2x3x9x8", kernel=(3, 2), pad=(0, 1), pool_type="avg", count_include_pad=False),
    same("Pooling", "2x3x9x8", kernel=(1, 1), global_pool=True, pool_type="sum"),
    same("Pooling", "2x3x9x8", kernel=(2, 3), stride=(2, 2), pooling_convention="full"),
    same("Activation", "2x3", act_type="softrelu"),
    same("LeakyReLU", "2x3x4", act_type="leaky", slope=0.3),
    same("LeakyReLU", "2x3x4 gamma=3", act_type="prelu"),
    same("LeakyReLU", "2x3x4", act_type="gelu"),
    same("SoftmaxActivation", "2x3x4x5", mode="channel"),
    same("BatchNorm", "4x3x2 3 3 3 3+", fix_gamma=False, eps=0.01),
    same("BatchNorm", "4x3x2 gamma=3 beta=3 moving_mean=3 moving_var=3+", output_mean_var=True),
    same("BatchNorm", "4x2x3 3 3 3 3+", axis=2, use_global_stats=True),
    same("LayerNorm", "4x3x2 gamma=2 beta=2", eps=0.001, output_mean_var=True),
    same("LayerNorm", "4x3x2 3 3", axis=1),
    same("GroupNorm", "2x4x3x2 2 2", num_groups=2),
    same("InstanceNorm", "2x3x4 3 3", eps=0.01),
    same("LRN", "2x5x3x2", nsize=3, alpha=0.1),
    same(
        "RNN",
        "3x2x5 176 1x2x4 state_cell=1x2x4",
        'mode="lstm", state_size=4, num_layers=1, state_outputs=true',
        mode="lstm",
        state_size=4,
        num_layers=1,
        state_outputs=True,
    ),
    same("RNN", "data=3x2x5 parameters=132 state=1x2x4", mode="gru", state_size=4, num_layers=1),
    same(
        "RNN",
        "3x2x5 88 2x2x4",
        mode="rnn_tanh",
        state_size=4,
        num_layers=1,
        bidirectional=True,
        state_outputs=True,
    ),
    same("Dropout", "2x3", p=0.5),
    same("SoftmaxOutput", "4x3 label=4i3", grad_scale=2),
    same("LinearRegressionOutput", "4x3 4x3"),
    same("LogisticRegressionOutput", "4x3 label=4x3"),
    same("MAERegressionOutput", "4x3 4x3"),
    same("SVMOutput", "4x3 4i3", margin=0.5),
    same("softmax_cross_entropy", "4x3 4i3"),
    same("smooth_l1", "4x3", scalar=2),
    same("CTCLoss", "5x2x4 2x2i3", blank_label="last"),
    same(
        "ctc_loss",
        "5x2x4 label=2x2i2 data_lengths=2c5 label_lengths=2c2",
        use_data_lengths=True,
        use_label_lengths=True,
        blank_label="last",
    ),
    same("ROIPooling", "1x2x6x8 2x5r", pooled_size=(2, 3), spatial_scale=0.5),
    same("GridGenerator", "2x6", transform_type="affine", target_shape=(3, 4)),
    same("BilinearSampler", "1x2x4x5 1x2x3x6u"),
    same(
        "SpatialTransformer",
        "1x2x4x5 1x6u",
        transform_type="affine",
        sampler_type="bilinear",
        target_shape=(3, 4),
    ),
    same("Correlation", "1x2x5x5 1x2x5x5", kernel_size=1, max_displacement=1, pad_size=1),
    same("hard_sigmoid", "2x3", alpha=0.3, beta=0.4),
]

LINALG = [
    same("linalg_gemm", "2x3x4 2x4x5 2x3x5", alpha=2.5, beta=-1),
    same("linalg_gemm2", "2x4x3d 2x4x5d", transpose_a=True),
    same("linalg_gemm2", "2x3x4 2x5x4", transpose_b=True, alpha=3),
    same("linalg_potrf", "2x3x3s"),
    same("linalg_potrf", "3x3s", lower=False),
    same("linalg_potri", "2x3x3t"),
    same("linalg_potri", "3x3t", lower=False),
    same("linalg_trmm", "3x3t 4x3", rightside=True, alpha=2),
    same("linalg_trsm", "3x3t B=3x4", transpose=True),
    same("linalg_syrk", "2x3x4", transpose=True),
    same("linalg_gelqf", "3x4"),
    same("_linalg_syevd", "3x3s"),
    same("linalg_sumlogdiag", "2x3x3s"),
    same("linalg_extractdiag", "2x4x4", offset=1),
    same("linalg_makediag", "2x3", offset=-1),
    same("linalg_extracttrian", "4x4", lower=False, offset=1),
    same("linalg_maketrian", "2x6"),
    same("linalg_inverse", "2x3x3s"),
    same("linalg_det", "2x3x3"),
    same("linalg_slogdet", "2x3x3"),
]

UPDATES = [
    same("sgd_update", "w:4x3 4x3", lr=0.1, wd=0.01, out="w"),
    same("sgd_update", "w:4x3 grad=4x3", lr=0.1, clip_gradient=0.5),
    same("sgd_mom_update", "w:4x3 4x3 mom=4x3", lr=0.1, momentum=0.9, out="w"),
    same("mp_sgd_update", "w:4x3h 4x3h weight32=4x3", lr=0.1, out="w"),
    same("mp_sgd_mom_update", "w:4x3h 4x3h 4x3 4x3", lr=0.1, momentum=0.9, out="w"),
    same("nag_mom_update", "w:4x3 4x3 4x3", lr=0.1, momentum=0.9, out="w"),
    same("signsgd_update", "w:4x3 4x3", lr=0.1, out="w"),
    same("signum_update", "w:4x3 4x3 4x3", lr=0.1, momentum=0.9, out="w"),
    same("adam_update", "w:4x3 4x3 mean=4x3 var=4x3+", lr=0.1, beta1=0.8, rescale_grad=0.5, out="w"),
    same("rmsprop_update", "w:4x3 4x3 n=4x3+", lr=0.1, gamma1=0.8, out="w"),
    same("rmspropalex_update", "w:4x3 4x3 4x3+ 4x3z 4x3z", lr=0.1, out="w"),
    same("ftrl_update", "w:4x3 4x3 4x3 4x3+", lr=0.1, lamda1=0.02, out="w"),
    same("ftml_update", "w:4x3 4x3 4x3+ 4x3+ 4x3", lr=0.1, t=3, out="w"),
    same("lamb_update_phase1", "4x3 4x3 4x3 4x3+", t=2, wd=0.1),
    same("lamb_update_phase2", "w:4x3 4x3 1+ 1+", lr=0.1, out="w"),
    same(
        "multi_sgd_update",
        "v:4x3 4x3 w:2 2",
        "num_weights=2, lrs=(0.1, 0.2), wds=[0.0, 0.3], out=(v, w)",
        num_weights=2,
        lrs=(0.1, 0.2),
        wds=(0, 0.3),
        out="v w",
    ),
    same(
        "multi_sgd_mom_update",
        "v:4x3 4x3 4x3 w:2 2 2",
        "num_weights=2, lrs=[0.1, 0.2], wds=[1, 2], momentum=0.5, out=[v, w]",
        num_weights=2,
        lrs=(0.1, 0.2),
        wds=(1, 2),
        momentum=0.5,
        out="v w",
    ),
    same("preloaded_multi_sgd_update", "v:4x3 4x3 w:2 2 2u 2u", num_weights=2, out="v w"),
    same("multi_lars", "3+ 3+ 3+ 3+", eta=0.1, eps=0.001),
    same("elemwise_add", "4x3 4x3 out=4x3"),
    same("concat", "2x3 2x4 out=2x7", dim=1),
    same("sum_axis", "4x3 out=3", axis=0),
]

IMAGES = [
    same("_image_to_tensor", "5x6x3b"),
    same("_image_to_tensor", "2x5x6x3b"),
    same("_image_normalize", "3x5x6u", mean=(0.1, 0.2, 0.3), std=(1, 0.5, 2.5)),
    same("_image_flip_left_right", "5x6x3b"),
    same("_image_flip_top_bottom", "6x5x3b"),
    same("_image_crop", "5x6x3b", x=1, y=2, width=4, height=3),
    same("_image_resize", "5x6x3b", size=(8, 3)),
    same("_image_resize", "5x6x3b", size=7, keep_ratio=True),
    same("_image_adjust_lighting", "5x6x3b", alpha=(0.1, 0.2, 0.3)),
]

CONTRIBUTED = [
    same("_contrib_box_iou", "3x4l 2x4l", format="corner"),
    same("_contrib_box_nms", "5x6l", overlap_thresh=0.2, coord_start=2, score_index=1, id_index=0),
    same("_contrib_bipartite_matching", "3x4u", threshold=0.2, is_ascend=False),
    same("_contrib_MultiBoxPrior", "1x3x4x5", sizes=(0.5, 0.25), ratios=(1, 2, 0.5), clip=True),
    same("_contrib_MultiBoxTarget", "1x6x4l 1x2x5l 1x3x6"),
    same("_contrib_MultiBoxDetection", "1x3x6u 1x24 1x6x4l", threshold=0.02),
    same("_contrib_AdaptiveAvgPooling2D", "1x2x6x8", output_size=(3, 4)),
    same("_contrib_BilinearResize2D", "1x2x4x5", height=7, width=3),
    same("_contrib_ROIAlign", "1x2x6x8 2x5r", pooled_size=(2, 3), spatial_scale=0.5),
    same("_contrib_quadratic", "2x3", a=1, b=2.5, c=-3),
    same("_contrib_allclose", "2x3 2x3", rtol=0.1),
    same("_contrib_gradientmultiplier", "2x3", scalar=2),
    same("_contrib_interleaved_matmul_selfatt_qk", "4x2x24", heads=2),
    same("_contrib_interleaved_matmul_selfatt_valatt", "4x2x24 4x4x4", heads=2),
    same("_contrib_interleaved_matmul_encdec_qk", "4x2x8 3x2x16", heads=2),
    same("_contrib_interleaved_matmul_encdec_valatt", "3x2x16 4x4x3", heads=2),
    same(
        "_contrib_DeformableConvolution",
        "1x2x5x6 offset=1x12x4x4 weight=3x2x2x3 bias=3",
        kernel=(2, 3),
        num_filter=3,
    ),
    same("_contrib_quantize", "2x3u 1z 1+", out_type="uint8"),
    same(
        "_contrib_quantize_v2",
        "2x3",
        "out_type=Int8, min_calib_range=-2, max_calib_range=2.5",
        out_type="int8",
        min_calib_range=-2,
        max_calib_range=2.5,
    ),
    same("_contrib_dequantize", "2x3b 1z 1+", "out_type=Float32", out_type="float32"),
    same("random_pdf_normal", "2x5 2 2+"),
    same("random_pdf_uniform", "2x5u low=2z high=2+", is_log=True),
    same("random_pdf_gamma", "2x5+ alpha=2+ beta=2+"),
    same("random_pdf_poisson", "2x5i6 lam=2+"),
]

CASES = [*AXES, *SHAPES, *INDEXED, *LAYERS, *LINALG, *UPDATES, *IMAGES, *CONTRIBUTED, *ELEMENTWISE]


def python_operator(mx: ModuleType, name: str) -> Any:
    for prefix, module in (("_contrib_", "contrib"), ("_image_", "image"), ("_linalg_", "linalg")):
        if name.startswith(prefix):
            return getattr(getattr(mx.nd, module), name[len(prefix) :])
    return getattr(mx.nd._internal if name.startswith("_") else mx.nd, name)


def named(case: Case) -> list[tuple[str, str, str]]:
    """Of every array: its name, `=` if it is given by keyword, and what it is."""
    found = [re.fullmatch(r"(?:(\w+)([:=]))?(.+)", text) for text in case.arrays.split()]
    return [(m[1] or f"x{i}", "=" if m[2] == "=" else "", m[3]) for i, m in enumerate(found) if m]


def julia_call(case: Case) -> str:
    """The text of a Julia function that makes the call."""
    names = named(case)
    function = f'mx.Operator("{case.name}")' if case.name in OWN.split() else f"mx.{case.name}"
    positional = ", ".join(name for name, by_keyword, _ in names if not by_keyword)
    keywords = [f"{name} = {name}" for name, by_keyword, _ in names if by_keyword]
    parameters = ", ".join([*keywords, *filter(None, [case.julia])])
    return f"({', '.join(name for name, _, _ in names)}) -> {function}({positional}; {parameters})"


def arrays_of(case: Case, mx: ModuleType) -> dict[str, Any]:
    """The case's arrays by name: the same values at every call."""
    rng = np.random.default_rng(zlib.crc32(repr(case[:2]).encode()))
    return {name: made(text, mx, rng) for name, _, text in named(case)}


def called_from_python(case: Case, arrays: dict[str, Any], mx: ModuleType) -> Any:
    parameters = dict(case.python)
    if "out" in parameters:
        outs = [arrays[name] for name in parameters["out"].split()]
        parameters["out"] = outs[0] if len(outs) == 1 else outs
    positional = [arrays[name] for name, by_keyword, _ in named(case) if not by_keyword]
    keywords = {name: arrays[name] for name, by_keyword, _ in named(case) if by_keyword}
    return python_operator(mx, case.name)(*positional, **keywords, **parameters)


def listed(result: Any, mx: ModuleType) -> list[Any]:
    return [result] if isinstance(result, mx.nd.NDArray) else list(result)


def ids() -> list[str]:
    seen: dict[str, int] = {}
    for case in CASES:
        seen[case.name] = seen.get(case.name, 0) + 1
    return [f"{case.name}-{place}" if seen[case.name] > 1 else case.name for place, case in enumerate(CASES)]


@pytest.mark.parametrize("case", CASES, ids=ids())
def test_an_operator_gives_in_julia_what_it_gives_in_python(
    pb: ModuleType, mx: ModuleType, case: Case
) -> None:
    from_julia, from_python = arrays_of(case, mx), arrays_of(case, mx)

    expected = listed(called_from_python(case, from_python, mx), mx)
    results = listed(pb.jl.seval(f"using PyBridge: mx; {julia_call(case)}")(*from_julia.values()), mx)

    assert len(results) == len(expected)
    for result, right in zip(results, expected):
        assert (result.dtype, result.shape) == (right.dtype, right.shape)
        np.testing.assert_array_equal(result.asnumpy(), right.asnumpy())
    for name, after in from_python.items():  # what the operator has written to
        np.testing.assert_array_equal(from_julia[name].asnumpy(), after.asnumpy(), err_msg=name)


def test_the_table_is_of_two_hundred_operators() -> None:
    assert len({case.name for case in CASES}) >= 200
