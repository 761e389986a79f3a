"""Answers the harness: one connection, its questions and its runs."""
from __future__ import annotations

import contextlib
import faulthandler
import hashlib
import itertools
import os
import platform
import queue
import signal
import sys
import tempfile
import threading
import time
import types
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from .arrays import Memory, aligned_bytes, make_arrays, view_buffer
from .call import Call, Me
from .failures import describe, end_process, place_in_last_line, print_traceback
from .groups import Groups
from .launch import (
    OneProcess,
    become_launcher,
    place_of_process,
    ranks_wanted,
    start_processes,
)
from .operations import OPERATIONS
from .operators import scene_of, views_of
from .subject import STRIDES, Offer, Subject
from .wire import (
    ADDRESS_VARIABLE,
    SECRET_VARIABLE,
    SOCKET_VARIABLE,
    Connection,
    ProtocolError,
    SharedFile,
    connect_to_address,
    connect_to_harness,
)

# Seconds that the other threads of a call get after one of them has failed.
PATIENCE_S = 1.0
# Seconds for which a late rank waits before its call: longer than a small call takes.
LATE_S = 0.001
# Seconds for which a rank that a launcher started waits for the harness.
START_PATIENCE_S = 60.0
# Seconds between a connection's end and the next one.
RECONNECT_S = 0.1
# A harness that has this rank's secret closes fewer connections before it asks something.
UNASKED_MAX = 5


def serve(subject: Subject) -> None:
    """Hosts this process's ranks, or starts the processes that do."""
    if subject.why_not_served():
        end_process(f"{os.path.basename(subject.file)}: {subject.why_not_served()}")
    wanted = ranks_wanted(sys.argv[1:], dict(os.environ), subject.launch.ranks)
    if isinstance(subject.launch, OneProcess):
        return host(subject, 0, wanted, tuple(range(wanted)))
    place = place_of_process(dict(os.environ))
    if place is not None:
        return host(subject, place[0], place[1], (place[0],))
    if subject.launch.launcher:
        become_launcher(subject.launch.launcher, wanted)
    raise SystemExit(start_processes(wanted))


def host(subject: Subject, rank: int, world: int, ranks: Tuple[int, ...]) -> None:
    """Hosts these ranks until the harness closes the connection."""
    me = Me(rank, world, ranks, meeting_place(dict(os.environ)))
    if subject.set_up is not None:
        with stacks_at_the_end(), place_in_last_line(subject.set_up):
            under_name(name_of(me), subject.set_up)(me)
    address = os.environ.get(ADDRESS_VARIABLE)
    if address is None or SOCKET_VARIABLE in os.environ:
        answer_once(subject, me, connect_to_harness())
    else:
        answer_at(subject, me, address)
    if subject.tear_down is not None:
        with place_in_last_line(subject.tear_down):
            subject.tear_down(me)


def name_of(me: Me) -> str:
    """Returns what stacks call this process."""
    return f"rank {me.rank} of {me.world}" if len(me.ranks) == 1 else f"{len(me.ranks)} ranks"


def under_name(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that does the same, and that stacks show under this name."""

    def call(*arguments: Any) -> Any:
        return function(*arguments)

    code = call.__code__.replace(co_name=name)
    return types.FunctionType(code, globals(), name, None, call.__closure__)


@contextlib.contextmanager
def stacks_at_the_end() -> Iterator[None]:
    """Lets this process print what its threads do if the harness ends it, because it hangs.

    Code of the subject runs inside of this. Outside, a rank is idle, and its stack says nothing.
    """
    if sys.__stderr__ is None:
        yield
        return
    # chain: the signal then ends the process.
    faulthandler.register(signal.SIGTERM, file=sys.__stderr__, all_threads=True, chain=True)
    try:
        yield
    finally:
        faulthandler.unregister(signal.SIGTERM)


def meeting_place(environment: Dict[str, str]) -> str:
    """Returns the URL of the place where the ranks of this run meet."""
    # A launcher such as torchrun has a place of its own.
    if "MASTER_ADDR" in environment and "MASTER_PORT" in environment:
        return "env://"
    # A harness that starts its workers gives them a folder of their own. Ranks that somebody else
    # has started have nothing in common but the secret.
    known = environment.get(ADDRESS_VARIABLE, "") + environment.get(SECRET_VARIABLE, "")
    suffix = "-" + hashlib.sha256(known.encode()).hexdigest()[:16] if known else ""
    folder = environment.get("TMPDIR") or tempfile.gettempdir()
    return f"file://{folder}/rankcheck-shared{suffix}"


def answer_once(subject: Subject, me: Me, connection: Connection) -> None:
    """Answers a harness until it closes the connection."""
    try:
        Worker(subject, me, connection).answer()
    finally:
        connection.close()


def answer_at(subject: Subject, me: Me, address: str) -> None:
    """Answers a harness that listens at an address, until nobody listens there any more.

    A harness that starts afresh closes the connections and waits for new ones.
    """
    patience_s = START_PATIENCE_S
    connections, was_asked = 0, False
    while True:
        connection = connect_to_address(address, patience_s)
        if connection is None:
            break
        try:
            answer_once(subject, me, connection)
        except ConnectionError:
            pass
        connections += 1
        was_asked = was_asked or connection.has_received
        patience_s = PATIENCE_S
        # A harness that does not know this secret closes each connection at once.
        time.sleep(RECONNECT_S)
    if patience_s == START_PATIENCE_S:
        end_process(f"{ADDRESS_VARIABLE}: nobody listens at {address}")
    if connections > UNASKED_MAX and not was_asked:
        end_process(
            f"{SECRET_VARIABLE}: the program at {address} closed all {connections} connections of "
            "this rank before its first question: expected the secret of the program"
        )


class Member:
    """A hosted rank of a stage: its image, and what its function gets."""

    def __init__(
        self, rank: int, image: Memory, arguments: List[Any], is_shared: bool, is_late: bool
    ) -> None:
        self.rank = rank
        self.image = image
        self.is_shared = is_shared
        self.is_late = is_late
        self.arguments = arguments
        self.stamps = [0, 0]

    def start(self, offer: Offer) -> None:
        """Calls the function of an operation and notes when the rank entered the call."""
        if self.is_late:
            time.sleep(LATE_S)
        self.stamps[0] = time.monotonic_ns()
        self.wait = offer.function(*self.arguments)
        if offer.starts and self.wait is not None and not callable(self.wait):
            raise TypeError(
                f"{offer.operation}: got {self.wait!r} from a function with starts=True, expected "
                "a function that waits for the end of the call, or None if it has ended"
            )

    def end(self, offer: Offer, is_alone: bool) -> None:
        """Waits for the end of the call and notes when the rank left it."""
        if offer.starts and self.wait is not None:
            self.wait()
        self.stamps[1] = time.monotonic_ns()
        # Calls that come later must not change the result. A call whose image is in a file has none.
        self.result = self.image if self.is_shared or is_alone else self.image.copy()

    def written_later(self) -> int:
        """Returns the first byte that was written after the end of the call, or -1."""
        if self.result is self.image:
            return -1
        changed = np.flatnonzero(self.image != self.result)
        return int(changed[0]) if changed.size > 0 else -1


class Step:
    """A call of a rank: how it starts and ends."""

    def __init__(
        self, case: Dict[str, Any], start: Callable[[], None], end: Callable[[], None]
    ) -> None:
        self.start = start
        self.end = end
        self.overlaps = case.get("overlaps", False)
        # Whether what started before it ends before it.
        self.is_last_to_end = case.get("data_seed", 1) % 2 == 0


def make_calls(steps: Iterable[Step]) -> None:
    """Makes the calls of a rank, of which some end when later ones have ended."""
    under_way: List[Step] = []
    for step in steps:
        step.start()
        if step.overlaps:
            under_way.append(step)
            continue
        step.end()
        end_calls(under_way)
    end_calls(under_way)


def end_calls(under_way: List[Step]) -> None:
    """Ends calls, from the last one that was started on, unless that is the last one to end."""
    while under_way:
        under_way.pop(0 if under_way[-1].is_last_to_end else -1).end()


class Run:
    """A message that asks for one call, and what became of it."""

    def __init__(self, header: Dict[str, Any], images: List[Memory]) -> None:
        self.header = header
        self.images = images
        self.members: List[Member] = []
        self.refusal = ""
        self.is_made = False


def split(runs: Sequence[Run]) -> List[List[Run]]:
    """Splits the runs behind those that free their communicators."""
    parts: List[List[Run]] = [[]]
    for run in runs:
        parts[-1].append(run)
        if run.header["case"].get("frees", False) and run is not runs[-1]:
            parts.append([])
    return parts


def why_written_later(runs: Sequence[Run]) -> str:
    """Says which memory was written after the end of its call. Empty if none was."""
    for run in runs:
        for member in run.members if run.is_made else []:
            byte = member.written_later()
            if byte >= 0:
                case, stage = run.header["case"], run.header["stage"]
                return (
                    f"the memory of rank {member.rank} in stage {stage} ({case['operation']}) was "
                    f"written at byte {byte} after the end of the call"
                )
    return ""


def sends(call: Call) -> bool:
    """Whether the function of this rank gets an array to send."""
    if call.operation == "send_recv":
        return call.target is not None
    return call.is_root or not call.operation.startswith(("broadcast", "scatter"))


class Worker:
    """Answers the frames of a connection."""

    def __init__(self, subject: Subject, me: Me, connection: Connection) -> None:
        self._subject = subject
        self._me = me
        self._connection = connection
        self._arrays = make_arrays(subject.arrays)
        self._groups = Groups(subject.make_group, subject.free, subject.groups_kept)
        self._file = SharedFile()
        self._make_calls = under_name(name_of(me), self._call_all)
        # In one process, the rank whose thread failed in the last call. None if no thread failed.
        self._failed_rank: Optional[int] = None
        # The call that each rank entered last.
        self._entered: Dict[int, Run] = {}

    def hello(self) -> Dict[str, Any]:
        """Returns what the worker says first."""
        subject = self._subject
        versions = {
            "python": platform.python_version(),
            "numpy": np.__version__,
            **subject.versions,
            "file": subject.file,
        }
        algorithms = [
            {
                "operation": offer.operation,
                "name": subject.name,
                "summary": offer.summary(),
                "takes": offer.takes(
                    subject.groups, self._me.world, self._has_arrays, subject.free is not None
                ),
            }
            for offer in subject.offers.values()
            # A function without any type that can be viewed here is not offered.
            if offer.operation == "barrier" or any(map(self._has_arrays, offer.types))
        ]
        traits = {**subject.traits, "ranks_max": self._me.world, "delays": True}
        if any(name in offer.fields for offer in subject.offers.values() for name in STRIDES):
            traits["strides"] = True
        if any(offer.starts for offer in subject.offers.values()):
            traits["overlaps"] = True
        if subject.free is not None:
            traits["frees"] = True
        body = {
            "protocol": 2,
            "inputs": "sent",
            "together": True,
            "world": self._me.world,
            "ranks": list(self._me.ranks),
            "traits": traits,
            "algorithms": algorithms,
            "versions": versions,
        }
        if subject.make_group is not None and not subject.is_one_process:
            body["everyone"] = True
        if self._file.can_open():
            body["shared_file"] = True
        return {"hello": body}

    def answer(self) -> None:
        """Says hello, then answers until the harness closes the connection."""
        self._connection.send(self.hello())
        while True:
            header = self._connection.receive_header()
            if header is None:
                return
            if "refuses" in header:
                reason = self._why_refused(header["case"])
                self._connection.send({"refusal": header["refuses"], "reason": reason})
            elif "run" in header:
                self._run(header)
            else:
                raise ProtocolError(f"got {sorted(header)}, expected refuses or run")

    def _has_arrays(self, type_name: str) -> bool:
        return not self._arrays.why_not(type_name)

    def _why_refused(self, case: Dict[str, Any]) -> str:
        """Says which operations there are. The harness keeps to the limits of the hello."""
        if case["operation"] in self._subject.offers:
            return ""
        return f"operation: {self._subject.name} does not offer {case['operation']}"

    def _run(self, header: Dict[str, Any]) -> None:
        """Makes the calls of the messages that were sent together, and answers each message."""
        runs = [self._receive_run(header)]
        while len(runs) < header.get("together", 1):
            more = self._connection.receive_header()
            if more is None:
                raise ProtocolError("the connection was closed between messages")
            runs.append(self._receive_run(more))
        self._failed_rank = None
        self._entered.clear()
        for run in runs:
            run.refusal = self._why_refused(run.header["case"])
        reason = ""
        try:
            if not any(run.refusal for run in runs):
                with stacks_at_the_end():
                    self._make_calls(runs)
            reason = why_written_later(runs)
        except SystemExit as error:
            # Python itself ends without a traceback, which would hide where the code gave up.
            print_traceback(error)
            raise
        except Exception as error:
            print_traceback(error)
            rank = self._me.rank if self._failed_rank is None else self._failed_rank
            failed = self._entered.get(rank) or next(run for run in runs if not run.is_made)
            reason = describe(error, self._offer(failed).function)
            # The harness cannot know which of several ranks of a process failed.
            if self._failed_rank is not None and len(failed.images) > 1:
                reason = f"rank {self._failed_rank}: {reason}"
        for run in runs:
            if reason:
                self._send_failure(run.header, "failed", reason)
            elif run.is_made:
                self._send_result(run.header, run.members)
            else:
                self._send_failure(run.header, "refused", run.refusal or "not called")

    def _receive_run(self, header: Dict[str, Any]) -> Run:
        if "members" not in header:
            raise ProtocolError("expected a run with members: the worker does not derive inputs")
        return Run(header, [self._receive_image(header, each) for each in header["members"]])

    def _offer(self, run: Run) -> Offer:
        return self._subject.offers[run.header["case"]["operation"]]

    def _receive_image(self, header: Dict[str, Any], member: Dict[str, Any]) -> Memory:
        size = member["image"]
        if "offset" in member:
            # The call is made on the bytes of the file, which the harness reads afterwards.
            shared = self._file.image(header["file"], member["offset"], size)
            return np.frombuffer(shared, dtype=np.uint8)
        image = aligned_bytes(size)
        self._connection.receive_into(memoryview(image))
        return image

    def _members(
        self, header: Dict[str, Any], images: Sequence[Memory], groups_in_use: int = 0
    ) -> List[Member]:
        group = self._groups.get(tuple(header["group"]), groups_in_use)
        return [
            Member(
                member["rank"],
                image,
                self._arguments(header, member, image, group),
                "offset" in member,
                member["place"] == header["case"].get("late"),
            )
            for member, image in zip(header["members"], images)
        ]

    def _arguments(
        self, header: Dict[str, Any], member: Dict[str, Any], image: Memory, group: Any
    ) -> List[Any]:
        case = header["case"]
        place, size = member["place"], len(header["group"])
        call = Call(
            operation=case["operation"],
            op=case.get("op", "none"),
            rank=place,
            size=size,
            root=case.get("root", 0),
            ranks=tuple(header["group"]),
            group=group,
            count=case.get("count", 0),
            counts=case.get("counts", []),
            type=case.get("type", "f32"),
            in_place=case.get("in_place", False),
            scalar=self._scalar(member, case),
            case=case,
        )
        if call.operation == "send_recv":
            call.target = member["to"]
            call.source = member["from"]
        if call.operation not in OPERATIONS:
            call.scene = scene_of(case)
            inputs = views_of(self._arrays, image, member.get("send"))
            return [call, inputs, views_of(self._arrays, image, member.get("recv"))]
        shapes = OPERATIONS[call.operation]
        if shapes.send == "none":
            return [call]

        def view(buffer: Optional[Dict[str, Any]], shape: str) -> Any:
            return view_buffer(self._arrays, image, buffer, shape, case, place, size)

        send = view(member.get("send"), shapes.send) if sends(call) else None
        return [call, send, view(member.get("recv"), shapes.recv)]

    def _scalar(self, member: Dict[str, Any], case: Dict[str, Any]) -> Any:
        if "scalar" not in member:
            return None
        digits = bytes.fromhex(member["scalar"])
        memory = aligned_bytes(len(digits))
        memory[:] = np.frombuffer(digits, dtype=np.uint8)
        return self._arrays.view(memory, case.get("type", "f32"))[0]

    def _call_all(self, runs: Sequence[Run]) -> None:
        # A communicator that is freed for a later call must not be that of an earlier one.
        groups = {tuple(run.header["group"]) for run in runs}
        overlaps = any(run.header["case"].get("overlaps", False) for run in runs)
        in_use = len(groups) if overlaps else 0
        if not self._subject.is_one_process:
            make_calls(self._steps_of_process(runs, in_use))
            return
        at_once = overlaps or len(groups) <= self._subject.groups_kept
        for part in split(runs) if at_once else [[run] for run in runs]:
            for run in part:
                run.members = self._members(run.header, run.images, in_use)
            self._call_in_threads(part)
            for run in part:
                run.is_made = True
            self._free_after(part[-1])

    def _steps_of_process(self, runs: Sequence[Run], groups_in_use: int) -> Iterator[Step]:
        for run in runs:
            run.members = self._members(run.header, run.images, groups_in_use)
            # A process without a member has only made the group.
            for member in run.members:
                yield self._step(run, member)
            run.is_made = True
            self._free_after(run)

    def _free_after(self, run: Run) -> None:
        """Frees the communicator of a call that has ended, if its case says so."""
        if run.header["case"].get("frees", False):
            self._groups.drop(tuple(run.header["group"]))

    def _step(self, run: Run, member: Member) -> Step:
        offer = self._offer(run)

        def start() -> None:
            self._entered[member.rank] = run
            header = run.header
            progress = {"progress": header["run"], "rank": member.rank, "stage": header["stage"]}
            self._connection.send(progress)
            member.start(offer)

        def end() -> None:
            self._entered[member.rank] = run
            member.end(offer, is_alone=run.header.get("together", 1) == 1)

        return Step(run.header["case"], start, end)

    def _call_in_threads(self, runs: Sequence[Run]) -> None:
        calls: Dict[int, List[Step]] = {}
        late = [member.rank for run in runs for member in run.members if member.is_late]
        for run in runs:
            for member in run.members:
                calls.setdefault(member.rank, []).append(self._step(run, member))
        failure = call_in_threads(calls, late)
        if failure is not None:
            # Threads that still wait for the one that failed may use the old groups.
            self._groups.forget()
            self._failed_rank, error = failure
            raise error

    def _send_failure(self, header: Dict[str, Any], status: str, reason: str) -> None:
        self._connection.send(
            {
                "result": header["run"],
                "status": status,
                "reason": reason,
                "path": [],
                "stamps": [],
                "sizes": [],
            }
        )

    def _send_result(self, header: Dict[str, Any], members: List[Member]) -> None:
        self._connection.send(
            {
                "result": header["run"],
                "status": "completed",
                "path": [self._subject.name],
                "stamps": [[member.stamps for member in members]],
                "sizes": [[member.image.size for member in members]],
            },
            [memoryview(member.result) for member in members if not member.is_shared],
        )


def call_in_threads(
    calls: Dict[int, List[Step]], late: Sequence[int]
) -> Optional[Tuple[int, BaseException]]:
    """Makes the calls of each rank, one after another, in a thread of its own.

    Returns the rank of the thread that failed first, with its error, or None. A thread that still
    waits a second after the first error is left behind.
    """
    ended: "queue.SimpleQueue[Optional[Tuple[int, BaseException]]]" = queue.SimpleQueue()
    # Nobody goes on to a later call after an error.
    has_failed = threading.Event()

    def run(rank: int) -> None:
        steps = itertools.takewhile(lambda _: not has_failed.is_set(), calls[rank])
        try:
            # Under this name, because a traceback begins in the function that catches the error.
            under_name(f"rank {rank}", make_calls)(steps)
        except BaseException as error:
            has_failed.set()
            ended.put((rank, error))
        else:
            ended.put(None)

    # A late rank's thread also starts after the others.
    for rank in sorted(calls, key=lambda each: each in late):
        threading.Thread(target=run, args=(rank,), daemon=True).start()
    first: Optional[Tuple[int, BaseException]] = None
    for _ in calls:
        try:
            failure = ended.get(timeout=None if first is None else PATIENCE_S)
        except queue.Empty:
            break
        first = first or failure
    return first
