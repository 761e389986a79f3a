"""The examples in cases/subjects/ under the program itself: right ones pass, planted bugs fail.

The tests are skipped unless RANKCHECK in the environment names the program.
"""
from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from fake_harness import HERE

import rankcheck
from rankcheck.program import run_program

PROGRAM = os.environ.get("RANKCHECK")
pytestmark = pytest.mark.skipif(
    not PROGRAM, reason="RANKCHECK in the environment does not name the program rankcheck"
)
PACKAGE = os.path.dirname(HERE)
SUBJECTS = os.path.abspath(os.path.join(PACKAGE, *[os.pardir] * 3, "cases", "subjects"))
THREADS = os.path.join(SUBJECTS, "numpy_threads.py")
MPI4PY = os.path.join(SUBJECTS, "mpi4py_subject.py")


def run(tmp_path, command, operation):
    """Runs smoke for an operation, and returns the exit status and all output."""
    words = [PROGRAM, "run", "smoke", "--operation", operation, "--ranks", "1..4", "--cases", "20"]
    words += ["--report", str(tmp_path / "report"), "--backend", f"command:{command}"]
    mpi = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment = {**os.environ, **mpi, "PYTHONPATH": PACKAGE}
    done = subprocess.run(
        words,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("operation", ["all_reduce", "broadcast", "reduce_scatter", "barrier"])
def test_threads_pass(tmp_path, operation):
    command = shlex.join([sys.executable, THREADS])
    status, output = run(tmp_path, f"{command} --ranks {{ranks}}", operation)
    assert status == 0, output


@pytest.mark.parametrize("operation", ["all_reduce", "gather"])
def test_mpi4py_passes(tmp_path, operation):
    pytest.importorskip("mpi4py")
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun is not on PATH")
    command = shlex.join([sys.executable, MPI4PY])
    status, output = run(tmp_path, f"mpirun --oversubscribe -n {{ranks}} {command}", operation)
    assert status == 0, output


def test_a_wrong_root_is_found(tmp_path):
    text = open(THREADS).read()
    right = "call.group.exchange(call.rank, send)[call.root]"
    assert right in text
    file = tmp_path / "wrong_root.py"
    file.write_text(text.replace(right, "call.group.exchange(call.rank, send)[0]"))
    with pytest.raises(AssertionError, match="rankcheck replay") as error:
        rankcheck.check(file, operation="broadcast", ranks="1..4", cases=20)
    assert "broadcast" in str(error.value)


@pytest.fixture
def raises(tmp_path):
    text = open(THREADS).read()
    file = tmp_path / "raises.py"
    assert "functools.reduce" in text
    file.write_text(text.replace("functools.reduce", "functools.no_such"))
    return file


def test_an_error_is_explained(raises):
    with pytest.raises(AssertionError, match=r"AttributeError: .*no_such.* \(raises.py:\d+"):
        rankcheck.check(raises, operation="all_reduce", ranks="1..4", cases=20)


def test_a_replay_prints_the_traceback(raises):
    case = {"operation": "all_reduce", "backend": f"python:{raises}", "ranks": 1, "op": "sum"}
    done = run_program(["replay", "--times", "1", json.dumps({**case, "type": "f32", "count": 1})])
    assert done.returncode == 1, done.stderr
    assert "Traceback (most recent call last)" in done.stderr
    assert re.search(r'File ".*raises.py", line \d+, in ', done.stderr), done.stderr
