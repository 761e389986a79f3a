"""Which processes host the ranks of a subject, and how they are started."""
from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any, Dict, List, NoReturn, Optional, Tuple, Union

from .declared import at_least_one, refuse

RANKS_VARIABLE = "RANKCHECK_RANKS"
# Seconds that processes get to print where they hang.
STOP_PATIENCE_S = 1.0
# What launchers say of a process: its rank, and the number of ranks.
PLACE_VARIABLES = [
    ("RANKCHECK_RANK", "RANKCHECK_WORLD"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("RANK", "WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
]


@dataclass(frozen=True)
class OneProcess:
    """One process hosts all ranks. Each call of a rank runs in a thread of its own."""

    ranks: int = 4

    def __post_init__(self) -> None:
        at_least_one("ranks", self.ranks)


@dataclass(frozen=True)
class Processes:
    """Each rank is a process.

    Attributes:
        ranks: How many processes a subject starts that nothing else has started.
        launcher: The command that starts the processes, such as "mpirun -n {ranks}". If it is
            empty, the subject starts its processes itself.
    """

    ranks: int = 4
    launcher: str = ""

    def __post_init__(self) -> None:
        at_least_one("ranks", self.ranks)
        if not isinstance(self.launcher, str):
            refuse("launcher", 'a command such as "mpirun -n {ranks}"', self.launcher)


Launch = Union[OneProcess, Processes]


def one_process(ranks: int = 4) -> OneProcess:
    """Says that one process hosts all ranks, each in a thread of its own."""
    return OneProcess(ranks)


def processes(ranks: int = 4, launcher: str = "") -> Processes:
    """Says that each rank is a process."""
    return Processes(ranks, launcher)


def place_of_process(environment: Dict[str, str]) -> Optional[Tuple[int, int]]:
    """Returns the rank and the world of this process, or None if no launcher has said them."""
    for rank, world in PLACE_VARIABLES:
        if rank in environment and world in environment:
            return int(environment[rank]), int(environment[world])
    return None


def ranks_wanted(arguments: List[str], environment: Dict[str, str], otherwise: int) -> int:
    """Returns the number after `--ranks`, or else of RANKCHECK_RANKS, or else `otherwise`."""
    for i, word in enumerate(arguments):
        if word == "--ranks" and i + 1 < len(arguments):
            return int(arguments[i + 1])
        if word.startswith("--ranks="):
            return int(word[len("--ranks=") :])
    return int(environment.get(RANKS_VARIABLE, otherwise))


def without_ranks(arguments: List[str]) -> List[str]:
    """Returns the arguments without `--ranks N`."""
    rest: List[str] = []
    skip = False
    for word in arguments:
        if not skip and word != "--ranks" and not word.startswith("--ranks="):
            rest.append(word)
        skip = word == "--ranks"
    return rest


def own_command() -> List[str]:
    """Returns the command that starts this program again."""
    # Python 3.9 has no orig_argv. Its command then lacks options of the interpreter.
    return [sys.executable, *getattr(sys, "orig_argv", [sys.executable, *sys.argv])[1:]]


def become_launcher(launcher: str, ranks: int) -> NoReturn:
    """Replaces this process by the launcher, which starts this program once for each rank."""
    # Cases have more ranks than many machines have processors, which Open MPI refuses otherwise.
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    words = shlex.split(launcher.replace("{ranks}", str(ranks)))
    try:
        # The file may have imported mpi4py, which puts variables into this process's environment
        # that Python does not see. mpirun fails if it gets them.
        os.execvpe(words[0], [*words, *own_command()], dict(os.environ))
    except OSError as error:
        raise SystemExit(f"{words[0]}: the launcher cannot be started: {error.strerror}") from None


def start_processes(ranks: int) -> int:
    """Starts this program once for each rank and waits for all. Returns the exit status.

    If one process fails, the others are killed, and its status is returned.
    """
    running: Dict[int, Tuple[int, Any]] = {}

    def stop(number: int, frame: Any) -> None:
        """Lets the processes print where they hang, and ends this one by its `finally` block."""
        deadline = time.monotonic() + STOP_PATIENCE_S
        for _, child in list(running.values()):
            # One after another, so that their output is not mixed.
            child.terminate()
            while child.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    try:
        for rank in range(ranks):
            place = {"RANKCHECK_RANK": str(rank), "RANKCHECK_WORLD": str(ranks)}
            environment = {**os.environ, **place}
            child = subprocess.Popen(own_command(), env=environment, stdin=subprocess.DEVNULL)
            running[child.pid] = (rank, child)
        while running:
            status = await_one(running)
            if status != 0:
                return status
        return 0
    finally:
        for _, child in running.values():
            child.kill()
            child.wait()


def await_one(running: Dict[int, Tuple[int, Any]]) -> int:
    """Waits until one of the processes ends, and returns its exit status as a shell does."""
    pid, status = os.wait()
    while pid not in running:
        # The subject's file has started a process of its own.
        pid, status = os.wait()
    rank, child = running.pop(pid)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode >= 0:
        return int(child.returncode)
    number = -child.returncode
    what = signal.strsignal(number) or "unknown"
    print(f"rank {rank} was killed by signal {number} ({what})", file=sys.stderr)
    return 128 + number
