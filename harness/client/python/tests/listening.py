"""Ranks that tests start by themselves, for the backend listen:ADDRESS."""
from __future__ import annotations

import socket
import subprocess
import sys

from rankcheck.program import environment_with_package

SECRET = "0123456789abcdef"


def free_address():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


class Ranks:
    """Processes of a file, started as torchrun starts them."""

    def __init__(self, file, folder, address, secret=SECRET, world=2):
        environment = environment_with_package()
        environment.update(TMPDIR=str(folder), WORLD_SIZE=str(world))
        environment.update(RANKCHECK_ADDRESS=address, RANKCHECK_SECRET=secret)
        self.running = [
            subprocess.Popen(
                [sys.executable, "-m", "rankcheck", str(file)], env={**environment, "RANK": str(rank)}
            )
            for rank in range(world)
        ]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for each in self.running:
            each.kill()
            each.wait()

    def statuses(self):
        """Waits for all processes and returns their exit statuses."""
        return [each.wait(timeout=120) for each in self.running]
