"""Ranks that are processes. They exchange arrays through files in the folder of `me.url`."""
from __future__ import annotations

import collections
import os
import threading
import time

import numpy as np
import rankcheck

s = rankcheck.Subject("files", launch=rankcheck.processes(ranks=2), types="int32", groups_kept=1)
state = {}
# Calls of each group. Ranks that are not in a group do not count its calls.
calls = collections.Counter()


@s.setup
def _(me):
    if os.environ.get("FAIL_IN_SETUP") == str(me.rank):
        raise RuntimeError(f"rank {me.rank} of {me.world} has no network")
    state["me"] = me
    state["folder"] = os.path.dirname(me.url[len("file://") :])


@s.teardown
def _(me):
    with open(os.path.join(state["folder"], f"ended-{me.rank}"), "w"):
        pass


def note(line):
    """Adds a line to what this process has done with groups."""
    with open(os.path.join(state["folder"], f"groups-{state['me'].rank}"), "a") as file:
        file.write(f"{line}\n")


@s.group
def _(ranks):
    note(f"make {ranks}")
    return ranks


s.free_group(lambda group: note(f"free {group}"))


@s.all_reduce(ops="sum")
def _(call, send, recv):
    if os.environ.get("EXIT_IN_CALL") == str(call.rank):
        os._exit(7)
    if "HANG_IN_CALL" in os.environ:
        open(os.path.join(state["folder"], f"entered-{call.rank}"), "w").close()
        threading.Event().wait()
    calls[call.group] += 1
    name = os.path.join(state["folder"], f"{call.group}-{calls[call.group]}-")
    np.save(name + f"{call.rank}.part.npy", send)
    os.rename(name + f"{call.rank}.part.npy", name + f"{call.rank}.npy")
    recv[:] = 0
    for rank in range(call.size):
        while not os.path.exists(name + f"{rank}.npy"):
            time.sleep(0.001)
        recv[:] += np.load(name + f"{rank}.npy")


if __name__ == "__main__":
    s.serve()
