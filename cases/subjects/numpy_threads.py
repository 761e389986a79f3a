"""A subject whose ranks are threads: they exchange arrays through a board."""
import functools
import threading

import numpy as np
import rankcheck

# Results are not deterministic: which of two NaN a sum of numpy 1.24 keeps depends on where the
# arrays lie in memory, see found/numpy_sum_of_nans.py.
s = rankcheck.Subject("numpy-threads", nan_rule="propagates")
OPS = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}


@s.group
class Board:
    def __init__(self, ranks):
        self.arrays = [None] * len(ranks)
        self.barrier = threading.Barrier(len(ranks))

    def exchange(self, rank, array):
        self.arrays[rank] = None if array is None else array.copy()
        self.barrier.wait()
        everyone = list(self.arrays)
        self.barrier.wait()
        return everyone

    def fold(self, call, array):
        # Ranks that fold by themselves could keep different NaN, so that only one rank folds.
        arrays = self.exchange(call.rank, array)
        result = functools.reduce(OPS[call.op], arrays) if call.rank == 0 else None
        return self.exchange(call.rank, result)[0]


s.barrier(lambda call: call.group.barrier.wait())


@s.all_reduce(in_place=True)
def all_reduce(call, send, recv):
    recv[...] = call.group.fold(call, send)


@s.broadcast(in_place=True)
def broadcast(call, send, recv):
    recv[...] = call.group.exchange(call.rank, send)[call.root]


@s.all_gather(in_place=True)
def all_gather(call, send, recv):
    recv[...] = call.group.exchange(call.rank, send)


@s.reduce_scatter
def reduce_scatter(call, send, recv):
    recv[...] = call.group.fold(call, send)[call.rank]


@s.all_to_all
def all_to_all(call, send, recv):
    recv[...] = [array[call.rank] for array in call.group.exchange(call.rank, send)]


if __name__ == "__main__":
    s.serve()
