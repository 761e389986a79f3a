"""Ranks that are processes. They exchange arrays through files in the folder of `me.url`."""
from __future__ import annotations

import collections
import os
import threading

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


def make_pipe(path):
    try:
        os.mkfifo(path)
    except FileExistsError:
        pass  # The other rank was here first.


# The word in a pipe is lost when nobody has it open.
pipes = []


def tell(path):
    """Puts a word into a pipe, whose reader may come later."""
    make_pipe(path)
    pipes.append(os.open(path, os.O_RDWR))
    os.write(pipes[-1], b".")


def await_word(path):
    make_pipe(path)
    with open(path, "rb", buffering=0) as pipe:
        pipe.read(1)


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
        # A pipe of the test's, which waits for this.
        open(os.path.join(state["folder"], f"entered-{call.rank}"), "w").close()
        threading.Event().wait()
    calls[call.group] += 1
    name = os.path.join(state["folder"], f"{call.group}-{calls[call.group]}-")
    np.save(name + f"{call.rank}.part.npy", send)
    os.rename(name + f"{call.rank}.part.npy", name + f"{call.rank}.npy")
    for rank in range(call.size):
        tell(name + f"{call.rank}-to-{rank}")
    recv[:] = 0
    for rank in range(call.size):
        await_word(name + f"{rank}-to-{call.rank}")
        recv[:] += np.load(name + f"{rank}.npy")


if __name__ == "__main__":
    s.serve()
