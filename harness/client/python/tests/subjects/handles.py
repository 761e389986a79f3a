"""Calls that are only started. BUG names another call that the wait for a call ends, or is `anew`:
then the first call of a group that was freed and made anew has no result."""
from __future__ import annotations

import collections
import os
import threading

import rankcheck

s = rankcheck.Subject("handles", types="int32 f64", inputs="coded exact")


@s.group
class Board:
    """What the ranks of a group have sent in each of its calls."""

    freed = set()

    def __init__(self, ranks):
        self.ranks = ranks
        self.size = len(ranks)
        self.sent = collections.defaultdict(dict)
        self.changed = threading.Condition()
        self.calls = collections.Counter()
        self.under_way = collections.defaultdict(list)

    def start(self, call, array, end):
        """Returns a function that calls `end` with the arrays when all ranks have sent theirs."""
        number = self.calls[call.rank]
        self.calls[call.rank] += 1
        with self.changed:
            self.sent[number][call.rank] = None if array is None else array.copy()
            self.changed.notify_all()

        def wait():
            with self.changed:
                while len(self.sent[number]) < self.size:
                    self.changed.wait()
            is_stale = os.environ.get("BUG") == "anew" and self.ranks in self.freed
            if number > 0 or not is_stale:
                end([self.sent[number][rank] for rank in range(self.size)])

        under_way = self.under_way[call.rank]
        under_way.append(wait)
        other = {"oldest": 0, "newest": -1}.get(os.environ.get("BUG", ""))
        return lambda: under_way.pop(under_way.index(wait) if other is None else other)()


@s.free_group
def _(board):
    Board.freed.add(board.ranks)


@s.all_gather(starts=True)
def _(call, send, recv):
    def end(arrays):
        recv[...] = arrays

    return call.group.start(call, send, end)


@s.broadcast(starts=True)
def _(call, send, recv):
    def end(arrays):
        recv[...] = arrays[call.root]

    return call.group.start(call, send, end)


# This one ends before it returns.
@s.all_reduce(ops="max")
def _(call, send, recv):
    def end(arrays):
        recv[...] = arrays[0]
        for array in arrays:
            recv[recv < array] = array[recv < array]

    call.group.start(call, send, end)()


if __name__ == "__main__":
    s.serve()
