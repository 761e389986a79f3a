"""Starts Python quickly: a process that has imported numpy forks for each start.

The tests start hundreds of Pythons, and most of the time of a start is imports. The server is
`fork_server.py FOLDER MODULE`. FORKED_PYTHON is a program that stands in for Python: it hands its
arguments, its environment and its standard streams to the server, waits for the forked process, and
ends as that one ends. What is tested, the package and the subject's file, is run afresh each time.
"""
from __future__ import annotations

import array
import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import threading
from typing import Any, Dict, Iterator, List, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
# Tests put what stands in for Python into sys.executable.
PYTHON = sys.executable

FORKED_PYTHON = """#!{python} -IS
import array, json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({path!r})
request = {{"argv": sys.argv[1:], "environment": dict(os.environ), "folder": os.getcwd()}}
text = json.dumps(request).encode() + b"\\n"
server.sendmsg([text[:1]], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
server.sendall(text[1:])
answers = server.makefile()
child = int(answers.readline())
for each in (signal.SIGINT, signal.SIGTERM):
    signal.signal(each, lambda number, _: os.kill(child, number))
status = int(answers.readline() or 9)
if status & 127:
    if status & 127 != signal.SIGKILL:
        signal.signal(status & 127, signal.SIG_DFL)
    os.kill(os.getpid(), status & 127)
os._exit(status >> 8)
"""


class Server:
    """Forks a process for each connection."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._selector = selectors.DefaultSelector()
        self._selector.register(listening, selectors.EVENT_READ)
        self._connections: Dict[int, socket.socket] = {}
        # A signal of a child that ended wakes the selector.
        self._woken, waker = socket.socketpair()
        self._waker = waker
        for each in (self._woken, waker):
            each.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ)
        # Nothing is written there. It ends when the tests do, also if they are killed.
        self._selector.register(sys.stdin, selectors.EVENT_READ)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)

    def serve(self) -> List[str]:
        """Returns in each forked process, with its arguments, and never in the server."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._listening:
                    argv = self._take(self._listening.accept()[0])
                    if argv is not None:
                        return argv
                elif key.fileobj is self._woken:
                    self._woken.recv(4096)
                    self._reap()
                elif key.fileobj is sys.stdin:
                    self._end_all()
                else:
                    self._end(key.data)

    def _take(self, connection: socket.socket) -> Optional[List[str]]:
        descriptors = array.array("i")
        first, rights, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(3 * descriptors.itemsize))
        for _, _, data in rights:
            descriptors.frombytes(data)
        with connection.makefile("rb") as rest:
            text = first + rest.readline()
        # A caller that was killed has sent only a part of it.
        if text.endswith(b"\n"):
            request = json.loads(text)
            child = os.fork()
            if child == 0:
                self._become(request, list(descriptors), connection)
                return list(request["argv"])
            self._keep(child, connection)
        for each in descriptors:
            os.close(each)
        return None

    def _keep(self, child: int, connection: socket.socket) -> None:
        # The server ends all of the group at once. The child does the same: who is first is chance.
        with contextlib.suppress(OSError):
            os.setpgid(child, child)
        self._connections[child] = connection
        self._selector.register(connection, selectors.EVENT_READ, child)
        with contextlib.suppress(OSError):
            connection.sendall(f"{child}\n".encode())

    def _become(
        self, request: Dict[str, Any], streams: List[int], connection: socket.socket
    ) -> None:
        """Puts this process into the caller's folder, with its environment and streams."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        others = [self._listening, self._woken, self._waker, connection]
        for each in [*others, *self._connections.values()]:
            each.close()
        os.setpgid(0, 0)
        for number, each in enumerate(streams):
            os.dup2(each, number)
            os.close(each)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])

    def _reap(self) -> None:
        for child in list(self._connections):
            pid, status = os.waitpid(child, os.WNOHANG)
            if pid != child:
                continue
            connection = self._connections.pop(child)
            with contextlib.suppress(KeyError):
                self._selector.unregister(connection)
            with contextlib.suppress(OSError):
                connection.sendall(f"{status}\n".encode())
            connection.close()

    def _end(self, child: int) -> None:
        """Ends a process whose caller is gone, and what it has started."""
        if child not in self._connections:
            return
        self._selector.unregister(self._connections[child])
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)

    def _end_all(self) -> None:
        """Ends the forked processes that still run, and then the server."""
        for child in self._connections:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
        os._exit(0)


def run_python(argv: List[str]) -> None:
    """Does what python3 with these arguments does."""
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    words = [word for word in argv if word not in ("-u", "-B")]
    if words[0].startswith("-m") and words[0] != "-m":
        words[:1] = ["-m", words[0][len("-m") :]]
    sys.orig_argv = [sys.executable, *argv]
    if words[0] == "-c":
        sys.path[:1] = ["", *paths]
        sys.argv = ["-c", *words[2:]]
        exec(words[1], {"__name__": "__main__"})
    elif words[0] == "-m":
        sys.path[:1] = [os.getcwd(), *paths]
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.path[:1] = [os.path.dirname(os.path.abspath(words[0])), *paths]
        sys.argv = words
        runpy.run_path(words[0], run_name="__main__")


def end_quickly(argv: List[str]) -> None:
    """Runs Python and ends this process without freeing each object that the server has made."""
    status: Any = 0
    try:
        run_python(argv)
    except SystemExit as error:
        status = error.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    for each in threading.enumerate():
        if each is not threading.current_thread() and not each.daemon:
            each.join()
    # MPI ends when Python ends, and so does torch, whose end matters most after a failure.
    torch = sys.modules.get("torch.distributed")
    needs_end = torch is not None and torch.is_initialized() and bool(status)
    if "mpi4py.MPI" not in sys.modules and not needs_end:
        atexit._run_exitfuncs()
        if isinstance(status, str):
            print(status, file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status if isinstance(status, int) else int(status is not None))
    sys.exit(status)


@contextlib.contextmanager
def forked_python(folder: str, module: str = "numpy") -> Iterator[str]:
    """Runs a server that has imported a module. Yields the path of what stands in for Python."""
    program = os.path.join(folder, "python3")
    with open(program, "w", encoding="utf-8") as opened:
        path = os.path.join(folder, "socket")
        opened.write(FORKED_PYTHON.format(python=PYTHON, path=path))
    os.chmod(program, 0o755)
    words = [PYTHON, os.path.join(HERE, "fork_server.py"), folder, module]
    # The end of this block closes the server's input. Then the server ends what it has forked and
    # itself, and the block waits for that.
    with subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.PIPE) as server:
        assert server.stdout is not None and server.stdout.readline() == b"ready\n"
        yield program


def main() -> None:
    """Serves in a folder."""
    folder, module = sys.argv[1:]
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(os.path.join(folder, "socket"))
    listening.listen(64)
    # A test leaves no files beside the sources, but compiled ones save time.
    sys.pycache_prefix = folder
    sys.dont_write_bytecode = False
    # What the package imports is here then. The package itself is imported by each process.
    sys.path[:1] = [os.path.dirname(HERE)]
    for each in (module, "rankcheck.worker"):
        importlib.import_module(each)
    for each in [name for name in sys.modules if name.split(".")[0] == "rankcheck"]:
        del sys.modules[each]
    sys.executable = os.path.join(folder, "python3")
    gc.collect()
    gc.freeze()
    print("ready", flush=True)
    end_quickly(Server(listening).serve())


if __name__ == "__main__":
    main()
