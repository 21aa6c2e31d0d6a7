"""Recording and training: scopes, setters, do-blocks and decorators, and whose flags they are."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("clean_flags")

SCOPES = {
    "record": lambda pb, mx: (pb.record(), True, True),
    "record(train_mode=False)": lambda pb, mx: (pb.record(train_mode=False), True, False),
    "record(False)": lambda pb, mx: (pb.record(False), True, False),
    "pause": lambda pb, mx: (pb.pause(), False, False),
    "pause(train_mode=True)": lambda pb, mx: (pb.pause(train_mode=True), False, True),
    "train_mode": lambda pb, mx: (pb.train_mode(), None, True),
    "predict_mode": lambda pb, mx: (pb.predict_mode(), None, False),
    "mx.record": lambda pb, mx: (mx.autograd.record(), True, True),
    "mx.record(False)": lambda pb, mx: (mx.autograd.record(False), True, False),
    "mx.pause": lambda pb, mx: (mx.autograd.pause(), False, False),
    "mx.predict_mode": lambda pb, mx: (mx.autograd.predict_mode(), None, False),
}


class Thrown(Exception):
    pass


@pytest.mark.parametrize("start", list(itertools.product([False, True], repeat=2)), ids=str)
@pytest.mark.parametrize("raising", [False, True], ids=["left", "raised"])
def test_every_nesting_of_scopes_sets_its_flags_and_restores_both_flags_of_outside(pb, mx, start, raising):
    def flags() -> tuple[bool, bool]:
        assert (pb.is_recording(), pb.is_training()) == (
            mx.autograd.is_recording(),
            mx.autograd.is_training(),
        )
        return pb.is_recording(), pb.is_training()

    def descend(names: tuple[str, ...]) -> None:
        if not names:
            if raising:
                raise Thrown
            return
        outside = flags()
        scope, recording, training = SCOPES[names[0]](pb, mx)
        try:
            with scope:
                assert flags() == (outside[0] if recording is None else recording, training), names
                descend(names[1:])
                assert flags() == (outside[0] if recording is None else recording, training), names
        finally:
            assert flags() == outside, names

    pb.set_recording(start[0])
    pb.set_training(start[1])
    try:
        for names in itertools.product(SCOPES, repeat=3):
            if raising:
                with pytest.raises(Thrown):
                    descend(names)
            else:
                descend(names)
            assert flags() == start
    finally:
        pb.set_recording(False)
        pb.set_training(False)


def test_setters_return_the_previous_state(pb):
    assert pb.set_recording(True) is False
    assert pb.set_recording(True) is True
    assert pb.is_recording() is True
    assert pb.set_recording(False) is True
    assert pb.is_recording() is False
    assert pb.set_training(True) is False
    assert pb.is_training() is True
    assert pb.set_training(False) is True
    assert pb.is_training() is False


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("record", (True, True)),
        ("pause", (False, False)),
        ("train_mode", (False, True)),
        ("predict_mode", (False, False)),
    ],
)
def test_each_scope_is_also_a_do_block_and_a_decorator(pb, name, flags):
    scope = getattr(pb, name)

    def flags_now(*args: int, **kw: int) -> Any:
        return (pb.is_recording(), pb.is_training()), args, kw

    assert scope(flags_now) == (flags, (), {})
    assert (pb.is_recording(), pb.is_training()) == (False, False)
    decorated = scope()(flags_now)
    assert decorated.__name__ == "flags_now"
    for _ in range(2):
        assert decorated(1, 2, a=3) == (flags, (1, 2), {"a": 3})
        assert (pb.is_recording(), pb.is_training()) == (False, False)


def test_do_blocks_and_decorators_restore_the_flags_after_an_exception(pb):
    def throw() -> None:
        raise Thrown

    for run in (lambda: pb.record(throw), pb.record()(throw), pb.train_mode()(throw), pb.pause(True)(throw)):
        with pytest.raises(Thrown):
            run()
        assert (pb.is_recording(), pb.is_training()) == (False, False)


def test_a_decorated_function_may_call_itself(pb):
    seen = []

    @pb.record(train_mode=False)
    def recurse(n: int) -> None:
        seen.append((pb.is_recording(), pb.is_training()))
        if n:
            with pb.train_mode():
                recurse(n - 1)
            seen.append((pb.is_recording(), pb.is_training()))

    recurse(3)
    assert set(seen) == {(True, False)}
    assert (pb.is_recording(), pb.is_training()) == (False, False)


def test_one_scope_object_can_be_entered_again_and_inside_itself(pb):
    scope = pb.record(train_mode=False)
    for _ in range(2):
        with pb.train_mode():
            with scope:
                with pb.pause(train_mode=True), scope:
                    assert (pb.is_recording(), pb.is_training()) == (True, False)
                assert (pb.is_recording(), pb.is_training()) == (True, False)
            assert (pb.is_recording(), pb.is_training()) == (False, True)
    assert (pb.is_recording(), pb.is_training()) == (False, False)


def test_a_do_block_returns_its_value_and_records(pb, mx):
    x = mx.nd.array([1.0, 2.0, 3.0])
    gradient = pb.attach_grad(x)
    y = pb.record(lambda: x * x)
    pb.backward(y)
    np.testing.assert_array_equal(gradient.asnumpy(), [2, 4, 6])


def test_the_flags_are_those_of_the_thread(pb):
    seen = []
    with pb.record():
        thread = threading.Thread(target=lambda: seen.append((pb.is_recording(), pb.is_training())))
        thread.start()
        thread.join(30)
    assert seen == [(False, False)]


def test_dropout_drops_in_train_mode_alone(pb, mx):
    ones = mx.nd.ones((1000,))
    with pb.record(train_mode=False):
        np.testing.assert_array_equal(mx.nd.Dropout(ones, p=0.5).asnumpy(), 1)
        with pb.train_mode():
            assert 0 < (mx.nd.Dropout(ones, p=0.5).asnumpy() == 0).sum() < 1000
    with pb.record():
        assert (mx.nd.Dropout(ones, p=0.5).asnumpy() == 0).any()
        with pb.predict_mode():
            np.testing.assert_array_equal(mx.nd.Dropout(ones, p=0.5).asnumpy(), 1)
