"""The examples in cases/subjects/ against the harness's side of the protocol in Python."""
from __future__ import annotations

import os
import runpy
import shutil

import pytest
from fake_harness import HERE, Program, serve_in_thread

from rankcheck.operations import OPERATIONS

SUBJECTS = os.path.abspath(os.path.join(HERE, *[os.pardir] * 4, "cases", "subjects"))


def check(harness, n, **fields):
    """Checks every operation that the subject offers."""
    for algorithm in harness.hello["algorithms"]:
        operation = algorithm["operation"]
        op = {"op": "max"} if OPERATIONS[operation].reduces else {}
        harness.check(operation=operation, ranks=n, count=3, type="f32", **op, **fields)


def test_numpy_threads():
    harness = serve_in_thread(runpy.run_path(os.path.join(SUBJECTS, "numpy_threads.py"))["s"], 4)
    check(harness, 3)
    check(harness, 4, group=[3, 1])
    harness.close()


def test_mpi4py(tmp_path, monkeypatch):
    pytest.importorskip("mpi4py")
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("mpirun is not on PATH")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    file = os.path.join(SUBJECTS, "mpi4py_subject.py")
    program = Program([file], str(tmp_path), launcher=[mpirun, "--oversubscribe", "-n", "2"])
    harness = program.connect(2)
    check(harness, 2)
    check(harness, 2, group=[1, 0])
    harness.close()
    assert program.end()[0] == 0
