"""A right subject with every collective. Its ranks are threads that exchange objects."""
from __future__ import annotations

import functools
import threading

import numpy as np
import rankcheck

s = rankcheck.Subject("every", launch=rankcheck.one_process(ranks=4), types="int32 f32 f64 uint8")
OPS = {
    "sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum,
    "band": np.bitwise_and, "bor": np.bitwise_or, "bxor": np.bitwise_xor,
    "land": np.logical_and, "lor": np.logical_or, "lxor": np.logical_xor,
}
EVERY_OP = "sum prod min max avg premul_sum band bor bxor land lor lxor"
made = []


@s.group
class Board:
    """Where the members of a group exchange what they send."""

    def __init__(self, ranks):
        made.append(ranks)
        self.slots = [None] * len(ranks)
        self.barrier = threading.Barrier(len(ranks))

    def exchange(self, call, send):
        """Returns copies of what all members send."""
        copy = [each.copy() for each in send] if isinstance(send, list) else np.copy(send)
        self.slots[call.rank] = (call.scalar, copy)
        self.barrier.wait()
        everyone = list(self.slots)
        self.barrier.wait()
        return everyone


def sent(call, send):
    return [array for _, array in call.group.exchange(call, send)]


def fold(call, pairs):
    if call.op == "premul_sum":
        return functools.reduce(np.add, [scalar * array for scalar, array in pairs])
    if call.op == "avg":
        return functools.reduce(np.add, [array for _, array in pairs]) / len(pairs)
    return functools.reduce(OPS[call.op], [array for _, array in pairs])


@s.barrier
def _(call):
    call.group.barrier.wait()


@s.all_reduce(ops=EVERY_OP, in_place=True)
def all_reduce(call, send, recv):
    recv[:] = fold(call, call.group.exchange(call, send))


@s.reduce(in_place=True)
def _(call, send, recv):
    result = fold(call, call.group.exchange(call, send))
    if call.is_root:
        recv[:] = result


@s.all_reduce_list
def _(call, send, recv):
    every = call.group.exchange(call, send)
    for k, array in enumerate(recv):
        array[:] = fold(call, [(scalar, arrays[k]) for scalar, arrays in every])


@s.reduce_list
def _(call, send, recv):
    every = call.group.exchange(call, send)
    for k, array in enumerate(recv):
        if call.is_root:
            array[:] = fold(call, [(scalar, arrays[k]) for scalar, arrays in every])


@s.reduce_axis
def _(call, send, recv):
    rows = np.concatenate(sent(call, send), axis=1)
    if call.is_root:
        recv[:] = fold(call, [(None, rows[:, j : j + 1]) for j in range(rows.shape[1])])


@s.reduce_scatter(in_place=True)
@s.reduce_scatter_v(in_place=True)
def _(call, send, recv):
    every = call.group.exchange(call, send)
    recv[:] = fold(call, [(scalar, arrays[call.rank]) for scalar, arrays in every])


@s.broadcast(in_place=True)
def _(call, send, recv):
    recv[:] = sent(call, send)[call.root]


@s.broadcast_list
def _(call, send, recv):
    for out, array in zip(recv, sent(call, send)[call.root]):
        out[:] = array


@s.all_gather(in_place=True)
@s.all_gather_v(in_place=True)
def _(call, send, recv):
    for out, array in zip(recv, sent(call, send)):
        out[:] = array


@s.gather(in_place=True)
@s.gather_v
def _(call, send, recv):
    for out, array in zip(recv, sent(call, send)):
        if call.is_root:
            out[:] = array


@s.all_gather_axis
def _(call, send, recv):
    recv[:] = np.concatenate(sent(call, send), axis=1)


@s.gather_axis
def _(call, send, recv):
    joined = np.concatenate(sent(call, send), axis=1)
    if call.is_root:
        recv[:] = joined


@s.scatter
@s.scatter_v
def _(call, send, recv):
    recv[:] = sent(call, send)[call.root][call.rank]


@s.all_to_all
@s.all_to_all_v
def _(call, send, recv):
    for out, arrays in zip(recv, sent(call, send)):
        out[:] = arrays[call.rank]


@s.send_recv
def _(call, send, recv):
    every = sent(call, send)
    if call.source is not None:
        recv[:] = every[call.source]


if __name__ == "__main__":
    s.serve()
