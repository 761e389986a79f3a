"""The server of forked Pythons, which the other tests use."""
import os
import subprocess

import pytest
from fork_server import forked_python

PAUSE = "import os, signal; print(os.getpid(), flush=True); signal.pause()"


def test_no_forked_process_is_left(tmp_path):
    with forked_python(str(tmp_path)) as python:
        caller = subprocess.Popen([python, "-c", PAUSE], stdout=subprocess.PIPE)
        forked = int(caller.stdout.readline())
    with pytest.raises(ProcessLookupError):
        os.kill(forked, 0)
    assert caller.wait() != 0
    caller.stdout.close()
