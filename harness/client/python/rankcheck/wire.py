"""Frames of the worker protocol, see harness/worker/PROTOCOL.md."""
from __future__ import annotations

import json
import mmap
import os
import socket
import struct
import threading
import time
from typing import Any, Dict, Optional, Sequence

SOCKET_VARIABLE = "RANKCHECK_SOCKET"
ADDRESS_VARIABLE = "RANKCHECK_ADDRESS"
SECRET_VARIABLE = "RANKCHECK_SECRET"
FILE_VARIABLE = "RANKCHECK_SHARED_FILE"
HEADER_BYTES_MAX = 16 << 20


class ProtocolError(RuntimeError):
    """The other side broke the rules of the protocol."""


class Connection:
    """Sends and receives frames."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._reader = connected.makefile("rb")
        # Whether the other side has sent a header.
        self.has_received = False
        self._lock = threading.Lock()

    def close(self) -> None:
        """Closes the connection, which tells the other side that no more frames come."""
        self._reader.close()
        self._socket.close()

    def send(self, header: Dict[str, Any], parts: Sequence[memoryview] = ()) -> None:
        """Sends a header and a payload that consists of these parts."""
        payload = sum(part.nbytes for part in parts)
        if payload:
            header = dict(header, payload=payload)
        text = json.dumps(header, separators=(",", ":")).encode()
        # The threads of several ranks say where they are.
        with self._lock:
            self._socket.sendall(struct.pack("<I", len(text)) + text)
            for part in parts:
                self._socket.sendall(part)

    def receive_header(self) -> Optional[Dict[str, Any]]:
        """Returns the next header, or None if the other side has closed the connection.

        The caller reads the payload with receive_into() before the next header.
        """
        prefix = self._reader.read(4)
        if not prefix:
            return None
        length = struct.unpack("<I", prefix)[0] if len(prefix) == 4 else -1
        if not 0 <= length <= HEADER_BYTES_MAX:
            raise ProtocolError(f"got the bytes {prefix!r}, expected the length of a header")
        header = json.loads(self._reader.read(length))
        if not isinstance(header, dict):
            raise ProtocolError("expected a header that is a JSON object")
        self.has_received = True
        return header

    def receive_into(self, out: memoryview) -> None:
        """Fills `out` with the next bytes of a payload."""
        got = 0
        while got < len(out):
            more = self._reader.readinto(out[got:])
            if not more:
                raise ProtocolError(f"got {got} bytes of an image, expected {len(out)}")
            got += more


class SharedFile:
    """Maps the file in which the harness puts large images."""

    def __init__(self) -> None:
        self._identity = (0, 0)
        self._mapping: Optional[mmap.mmap] = None

    @staticmethod
    def can_open() -> bool:
        """Whether this process can open the harness's files."""
        path = os.environ.get(FILE_VARIABLE)
        return path is not None and os.access(path, os.R_OK | os.W_OK)

    def image(self, path: str, offset: int, size: int) -> memoryview:
        """Returns the bytes of an image. They stay valid as long as somebody uses them."""
        mapping = self._mapping
        # The harness may replace its file by another one that has the same path.
        about = os.stat(path)
        identity = (about.st_dev, about.st_ino)
        if mapping is None or identity != self._identity or offset + size > len(mapping):
            with open(path, "r+b") as file:
                mapping = mmap.mmap(file.fileno(), 0)
            self._mapping, self._identity = mapping, identity
        if offset < 0 or offset + size > len(mapping):
            raise ProtocolError(f"got offset {offset}, expected an image inside of {path}")
        return memoryview(mapping)[offset : offset + size]


def connect_to_harness() -> Connection:
    """Connects to the harness that started this process."""
    path = os.environ.get(SOCKET_VARIABLE)
    if path is None:
        raise SystemExit(
            f"Neither {SOCKET_VARIABLE} nor {ADDRESS_VARIABLE} is set: this program is a subject "
            "of rankcheck. Start it with: rankcheck run smoke --backend python:FILE.py. Ranks that are started by "
            f"somebody else need {ADDRESS_VARIABLE} and the secret of --backend listen:ADDRESS."
        )
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connected.connect(path)
    return Connection(connected)


def connect_to_address(address: str, patience_s: float) -> Optional[Connection]:
    """Connects to a harness that listens at `address`, HOST:PORT.

    Returns None if nobody has listened there for so many seconds.
    """
    host, _, port = address.rpartition(":")
    end = time.monotonic() + patience_s
    while True:
        try:
            connected = socket.create_connection((host.strip("[]"), int(port)))
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connected.sendall(os.environ.get(SECRET_VARIABLE, "").encode() + b"\n")
            return Connection(connected)
        except OSError:
            if time.monotonic() >= end:
                return None
            time.sleep(0.1)
