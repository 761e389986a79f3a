"""all_gather through one slot for each rank: the next call may write before a slow rank has read."""
from __future__ import annotations

import mmap
import os

import numpy as np
import rankcheck

RANKS = 3
SLOT_BYTES = 1 << 24
SLOW_TURNS = 10_000
LAUNCHES = {"threads": rankcheck.one_process, "processes": rankcheck.processes}
s = rankcheck.Subject(
    "one-slot", launch=LAUNCHES[os.environ["LAUNCH"]](RANKS), groups="world", types="int32"
)
# The slots, and behind them the number of calls that each rank has entered.
memory = {}


@s.setup
def _(me):
    path = os.path.join(os.path.dirname(me.url[len("file://") :]), "slots")
    with open(path, "ab+") as file:
        file.truncate(RANKS * (SLOT_BYTES + 8))
        mapping = mmap.mmap(file.fileno(), RANKS * (SLOT_BYTES + 8))
    memory["slots"] = [
        np.frombuffer(mapping, np.uint8, SLOT_BYTES, rank * SLOT_BYTES) for rank in range(RANKS)
    ]
    memory["calls"] = np.frombuffer(mapping, np.int64, RANKS, RANKS * SLOT_BYTES)


@s.all_gather
def _(call, send, recv):
    slots, calls = memory["slots"], memory["calls"]
    slots[call.rank][: send.nbytes] = send.view(np.uint8)
    calls[call.rank] += 1
    while min(calls) < calls[call.rank]:
        os.sched_yield()
    # A slow rank: others have the time to enter the next call, if there is one.
    for _ in range(SLOW_TURNS if call.rank == RANKS - 1 else 0):
        if max(calls) > calls[call.rank]:
            break
        os.sched_yield()
    for rank in range(RANKS):
        recv[rank] = slots[rank][: send.nbytes].view(np.int32)


if __name__ == "__main__":
    s.serve()
