"""The harness's side of the protocol, for tests: it sends images and looks at what comes back."""
from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
import threading
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from rankcheck.call import Me
from rankcheck.worker import Worker
from rankcheck.wire import Connection

GUARD = 64
HERE = os.path.dirname(os.path.abspath(__file__))
# Options of a check that is to fail: one property, and a failure is confirmed once.
ONCE = {"property": "agrees_with_reference", "replays": 1}
DTYPES = {"int32": np.int32, "f64": np.float64, "f32": np.float32, "uint8": np.uint8}
LOGIC = {
    "band": np.bitwise_and,
    "bor": np.bitwise_or,
    "bxor": np.bitwise_xor,
    "land": np.logical_and,
    "lor": np.logical_or,
    "lxor": np.logical_xor,
}
Blocks = List[Tuple[int, int]]


class Buffers:
    """The blocks of a member's buffers, in elements, and how long the buffers are."""

    def __init__(self, case: Dict[str, Any], place: int, size: int) -> None:
        self.send, self.send_size, self.recv, self.recv_size = layout(case, place, size)


def in_a_row(counts: List[int], gap: int = 0) -> Tuple[Blocks, int]:
    """Returns blocks one behind another, with a gap behind each, and the end of the last gap."""
    blocks: Blocks = []
    end = 0
    for count in counts:
        blocks.append((end, count))
        end += count + gap
    return blocks, end


def layout(case: Dict[str, Any], r: int, n: int) -> Tuple[Any, int, Any, int]:
    """Returns the blocks as the table in cases/families/collectives/INPUTS.md has them.

    Blocks are None if the buffer does not exist, and empty if it is to be left alone.
    """
    operation = case["operation"]
    c, counts, gap = case.get("count", 0), case.get("counts", []), case.get("gap", 0)
    root = case.get("root", 0)
    cells = case.get("outer", 1) * case.get("inner", 1)
    one, rows = in_a_row([c]), in_a_row([c] * n)
    # A list without arrays has no buffer.
    listed = in_a_row(counts, gap) if counts else (None, 0)
    own = in_a_row([counts[r]]) if len(counts) > r else in_a_row([])
    none: Tuple[Any, int] = (None, 0)
    if operation == "barrier":
        return none + none
    if operation == "all_to_all_v":
        sends = in_a_row([counts[r * n + q] for q in range(n)], gap)
        return sends + in_a_row([counts[q * n + r] for q in range(n)], gap)
    if operation.endswith("_axis"):
        own = in_a_row([cells * counts[r]])
        recv = in_a_row([cells * (1 if operation == "reduce_axis" else sum(counts))])
    elif operation == "send_recv":
        to, source = peers(case, r, n)
        return (none if to is None else one) + ((one[0] if source is not None else [], c))
    else:
        pairs = {
            "all_gather": (one, rows), "all_gather_v": (own, listed), "all_reduce": (one, one),
            "all_reduce_list": (listed, listed), "all_to_all": (rows, rows),
            "broadcast": (one, one), "broadcast_list": (listed, listed), "gather": (one, rows),
            "gather_v": (own, listed), "reduce": (one, one), "reduce_list": (listed, listed),
            "reduce_scatter": (rows, one), "reduce_scatter_v": (listed, own),
            "scatter": (rows, one), "scatter_v": (listed, own),
        }
        own, recv = pairs[operation]
    to_root = ("gather", "gather_v", "gather_axis", "reduce", "reduce_axis", "reduce_list")
    if operation in to_root and r != root:
        recv = ([] if recv[1] else None, recv[1])
    if operation.startswith(("broadcast", "scatter")) and r != root:
        own = none
    return own + recv


def peers(case: Dict[str, Any], r: int, n: int) -> Tuple[Optional[int], Optional[int]]:
    """Returns who gets from `r`, and who sends to `r`, by a table of all ranks."""
    pattern = case.get("pattern", "ring")
    to: Dict[int, Optional[int]] = {}
    for q in range(n):
        pair = q + 1 if q % 2 == 0 else q - 1
        to[q] = {
            "ring": (q + case.get("shift", 1) + 100 * n) % n,
            "pairs": pair if pair < n else q,
            "self": q,
            "one_way": q + 1 if q % 2 == 0 and q + 1 < n else None,
        }[pattern]
    source = [q for q in to if to[q] == r]
    return to[r], source[0] if source else None


class Image:
    """A member's image before the call, and its description for the worker."""

    def __init__(self, case: Dict[str, Any], rank: int, place: int, size: int, seed: int) -> None:
        self.dtype = np.dtype(DTYPES[case.get("type", "f32")])
        self.buffers = Buffers(case, place, size)
        self.description: Dict[str, Any] = {"rank": rank, "place": place}
        end = GUARD
        b, e = self.buffers, self.dtype.itemsize
        shift = case.get("offset", 0) * e
        send = recv = -1
        overlaps = bool(case.get("in_place") and b.send and b.recv)
        inside = ("all_gather", "all_gather_v", "gather", "gather_v")
        self.recv_stride = case.get("recv_stride", 1)
        self.send_stride = self.recv_stride if overlaps else case.get("send_stride", 1)
        if b.send is not None and not (overlaps and case["operation"] in inside):
            send = -(-end // 64) * 64 + shift
            end = send + b.send_size * e * self.send_stride + GUARD
        if b.recv is not None and (send < 0 or not overlaps):
            recv = -(-end // 64) * 64 + shift
            end = recv + b.recv_size * e * self.recv_stride + GUARD
        if send < 0 and b.send is not None:
            send = recv + (b.recv[place][0] if len(b.recv) > 1 else 0) * e * self.recv_stride
        if recv < 0 and b.recv is not None:
            recv = send + (b.send[place][0] if len(b.send) > 1 else 0) * e * self.send_stride
        self.send, self.recv = send, recv
        random = np.random.default_rng(seed + 1000 * rank)
        self.bytes = random.integers(0, 256, end, dtype=np.uint8)
        self._fill(random)
        if case["operation"] == "send_recv":
            self.description["to"], self.description["from"] = peers(case, place, size)
        self._describe("send", send, b.send, b.send_size, self.send_stride)
        self._describe("recv", recv, b.recv, b.recv_size, self.recv_stride)
        self.description["image"] = end
        if case.get("op") == "premul_sum":
            self.description["scalar"] = np.array(place + 2, self.dtype).tobytes().hex()

    def _describe(self, name: str, at: int, blocks: Any, size: int, stride: int) -> None:
        if blocks is None:
            return
        e = self.dtype.itemsize
        runs = [[start * e, count * e] for start, count in blocks]
        self.description[name] = {"offset": at, "bytes": size * e, "blocks": runs}
        if stride != 1:
            self.description[name]["stride"] = stride

    def _fill(self, random: Any) -> None:
        self.values = []
        for start, count in self.buffers.send or []:
            values = random.integers(1, 9, count).astype(self.dtype)
            self._write(self.bytes, self.send, start, self.send_stride, values)
            self.values.append(values)

    def _write(
        self, image: np.ndarray, buffer: int, start: int, stride: int, values: np.ndarray
    ) -> None:
        """Writes a block into an image."""
        size = self.dtype.itemsize
        first = buffer + start * size * stride
        places = image[first : first + values.size * size * stride]
        places.reshape(-1, size * stride)[:, :size] = values.view(np.uint8).reshape(-1, size)

    def expected(self, results: List[np.ndarray]) -> np.ndarray:
        """Returns the image after the call: all bytes but those of the results are as before."""
        after = self.bytes.copy()
        for (start, count), values in zip(self.buffers.recv or [], results):
            flat = np.ascontiguousarray(values, dtype=self.dtype).reshape(-1)
            assert flat.size == count
            self._write(after, self.recv, start, self.recv_stride, flat)
        return after


def fold(op: str, arrays: List[np.ndarray]) -> np.ndarray:
    """Returns the reduction of arrays of small numbers."""
    every = np.stack(arrays)
    if op == "avg":
        return every.sum(axis=0) / len(arrays)
    if op in ("sum", "premul_sum"):
        return every.sum(axis=0)
    if op in LOGIC:
        return LOGIC[op].reduce(every, axis=0)
    return {"prod": every.prod, "min": every.min, "max": every.max}[op](axis=0)


def results_of(case: Dict[str, Any], r: int, sends: List[List[np.ndarray]]) -> List[np.ndarray]:
    """Returns the blocks that rank `r` gets, from the blocks that all ranks send."""
    n, root, op = len(sends), case.get("root", 0), case.get("op", "none")
    name = case["operation"]
    shape = (case.get("outer", 1), -1, case.get("inner", 1))
    if name == "barrier":
        return []
    if name in ("all_gather", "all_gather_v", "gather", "gather_v"):
        return [sends[q][0] for q in range(n)]
    if name in ("all_gather_axis", "gather_axis"):
        return [np.concatenate([send[0].reshape(shape) for send in sends], axis=1)]
    if name == "reduce_axis":
        rows = np.concatenate([send[0].reshape(shape) for send in sends], axis=1)
        return [fold(op, list(np.moveaxis(rows, 1, 0)))]
    if name in ("all_reduce", "all_reduce_list", "reduce", "reduce_list"):
        return [fold(op, [send[k] for send in sends]) for k in range(len(sends[0]))]
    if name in ("reduce_scatter", "reduce_scatter_v"):
        return [fold(op, [send[r] for send in sends])]
    if name in ("all_to_all", "all_to_all_v"):
        return [sends[q][r] for q in range(n)]
    if name in ("broadcast", "broadcast_list"):
        return sends[root]
    if name in ("scatter", "scatter_v"):
        return [sends[root][r]]
    source = peers(case, r, n)[1]
    return [] if source is None else sends[source]


class Peer:
    """A connection to a worker."""

    def __init__(self, connected: socket.socket) -> None:
        connected.settimeout(3600)
        self.socket = connected
        self.reader = connected.makefile("rb")
        self.hello = self.receive()[0]["hello"]

    def send(self, header: Dict[str, Any], payload: bytes = b"") -> None:
        """Sends a frame."""
        if payload:
            header = dict(header, payload=len(payload))
        text = json.dumps(header).encode()
        self.socket.sendall(struct.pack("<I", len(text)) + text + payload)

    def receive(self) -> Tuple[Dict[str, Any], bytes]:
        """Receives a frame."""
        prefix = self.reader.read(4)
        assert len(prefix) == 4, "the worker closed the connection"
        header = json.loads(self.reader.read(struct.unpack("<I", prefix)[0]))
        return header, self.reader.read(header.get("payload", 0))

    def close(self) -> None:
        """Closes the connection, as the harness does at the end."""
        self.reader.close()
        self.socket.close()


class FakeHarness:
    """Asks and calls workers over their connections."""

    def __init__(self, peers: List[Peer]) -> None:
        self.peers = sorted(peers, key=lambda peer: peer.hello["ranks"])
        self.hello = self.peers[0].hello
        self.runs = 0
        self.progress: List[Dict[str, Any]] = []
        self.file: Optional[str] = None

    def share(self, path: Optional[str]) -> None:
        """Sends the images of every second member in this file, or no images if it is None."""
        self.file = path

    def _put_into_file(self, header: Dict[str, Any], mine: List[Image]) -> List[Image]:
        """Writes images into the file. Returns the others."""
        if self.file is None:
            return mine
        header["file"] = self.file
        end = 0
        with open(self.file, "wb") as file:
            for image in mine[::2]:
                image.description["offset"] = end
                file.seek(end)
                file.write(image.bytes.tobytes())
                end = -(-file.tell() // 4096) * 4096
            file.truncate(end)
        return mine[1::2]

    def why_refused(self, **case: Any) -> str:
        """Asks the process of rank 0."""
        self.runs += 1
        self.peers[0].send({"refuses": self.runs, "case": case})
        answer = self.peers[0].receive()[0]
        assert answer["refusal"] == self.runs
        return str(answer["reason"])

    def run(self, **case: Any) -> List[Dict[str, Any]]:
        """Sends a run to all processes and returns their results, with the payloads."""
        self.runs += 1
        group = case.get("group") or list(range(case["ranks"]))
        self.images = [
            Image(case, rank, place, len(group), self.runs) for place, rank in enumerate(group)
        ]
        asked = []
        for peer in self.peers:
            mine = [im for im in self.images if im.description["rank"] in peer.hello["ranks"]]
            if not mine and not peer.hello.get("everyone"):
                continue
            header = {"run": self.runs, "stage": 0, "stages": 1, "case": case, "group": group}
            header["members"] = [image.description for image in mine]
            sent = self._put_into_file(header, mine)
            peer.send(header, b"".join(image.bytes.tobytes() for image in sent))
            asked.append(peer)
        return [self._result(peer) for peer in asked]

    def run_together(self, cases: Sequence[Dict[str, Any]]) -> List[Dict[str, Any]]:
        """Sends cases of the world to the only process, before it answers any of them."""
        self.runs += 1
        peer = self.peers[0]
        for stage, case in enumerate(cases):
            world = list(range(case["ranks"]))
            images = [Image(case, rank, rank, len(world), self.runs) for rank in world]
            header = {"run": self.runs, "stage": stage, "stages": len(cases), "case": case}
            header.update(group=world, together=len(cases))
            header["members"] = [image.description for image in images]
            peer.send(header, b"".join(image.bytes.tobytes() for image in images))
        results: List[Dict[str, Any]] = []
        while len(results) < len(cases):
            header, _ = peer.receive()
            if "result" in header:
                results.append(header)
        return results

    def _result(self, peer: Peer) -> Dict[str, Any]:
        while True:
            header, payload = peer.receive()
            if "progress" in header:
                assert header["rank"] in peer.hello["ranks"]
                self.progress.append(header)
                continue
            assert header["result"] == self.runs
            return dict(header, bytes=self._images_of(header, payload))

    def _images_of(self, header: Dict[str, Any], payload: bytes) -> bytes:
        """Returns all images of a result, one behind another."""
        images, at = b"", 0
        for size, image in zip((header["sizes"] or [[]])[0], self.images):
            offset = image.description.get("offset")
            if offset is None:
                images += payload[at : at + size]
                at += size
            else:
                with open(str(self.file), "rb") as file:
                    file.seek(offset)
                    images += file.read(size)
        assert at == len(payload)
        return images

    def check(self, **case: Any) -> None:
        """Runs a case and compares every byte with the reference."""
        results = self.run(**case)
        for result in results:
            assert result["status"] == "completed", result.get("reason")
        n = len(self.images)
        factors = [place + 2 if case.get("op") == "premul_sum" else 1 for place in range(n)]
        sends = [[factor * v for v in im.values] for factor, im in zip(factors, self.images)]
        for place, image in enumerate(self.images):
            got = self._image_of(results, place)
            expected = image.expected(results_of(case, place, sends))
            if case.get("in_place") and case["operation"].startswith("reduce_scatter"):
                continue  # What send holds outside of recv is not compared in this test.
            np.testing.assert_array_equal(got, expected, f"{case}, rank {place} of {n}")

    def _image_of(self, results: List[Dict[str, Any]], place: int) -> np.ndarray:
        rank = self.images[place].description["rank"]
        group = [image.description["rank"] for image in self.images]
        everyone = self.hello.get("everyone")
        asked = [p for p in self.peers if everyone or set(p.hello["ranks"]) & {*group}]
        for peer, result in zip(asked, results):
            mine = [other for other in group if other in peer.hello["ranks"]]
            if rank not in mine:
                continue
            sizes = result["sizes"][0]
            start = sum(sizes[: mine.index(rank)])
            entered, left = result["stamps"][0][mine.index(rank)]
            assert 0 < entered <= left
            image = result["bytes"][start : start + sizes[mine.index(rank)]]
            return np.frombuffer(image, dtype=np.uint8)
        raise AssertionError(f"no result of rank {rank}")

    def close(self) -> None:
        """Closes all connections."""
        for peer in self.peers:
            peer.close()


def serve_in_thread(subject: Any, ranks: int) -> FakeHarness:
    """Lets a worker in a thread of this process host all ranks."""
    ours, theirs = socket.socketpair()
    worker = Worker(subject, Me(0, ranks, tuple(range(ranks)), ""), Connection(theirs))
    threading.Thread(target=worker.answer, daemon=True).start()
    return FakeHarness([Peer(ours)])


class Program:
    """A subject that runs as a program, and the socket that it connects to."""

    def __init__(
        self, words: List[str], folder: str, launcher: Sequence[str] = (), **environment: str
    ) -> None:
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(os.path.join(folder, "socket"))
        self.listener.listen()
        self.listener.settimeout(3600)
        package = os.path.dirname(HERE)
        variables = {
            **os.environ, "PYTHONPATH": package, "TMPDIR": folder,
            "RANKCHECK_SOCKET": os.path.join(folder, "socket"), **environment,
        }
        self.process = subprocess.Popen(
            [*launcher, sys.executable, *words],
            env=variables,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )

    def connect(self, processes: int) -> FakeHarness:
        """Waits until so many processes have said hello."""
        return FakeHarness([Peer(self.listener.accept()[0]) for _ in range(processes)])

    def end(self) -> Tuple[int, str]:
        """Waits for the end and returns the exit status and the error output."""
        _, errors = self.process.communicate(timeout=3600)
        self.listener.close()
        return self.process.returncode, errors
