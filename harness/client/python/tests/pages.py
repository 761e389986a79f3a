"""The fenced examples of a page, as a user would run them."""
from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from typing import Dict, List

import pytest
from fake_harness import HERE

PACKAGE = os.path.dirname(HERE)
CLIENT = os.path.dirname(PACKAGE)
PROGRAM = os.environ.get("RANKCHECK")
needs_program = pytest.mark.skipif(
    not PROGRAM, reason="RANKCHECK in the environment does not name the program rankcheck"
)


def blocks(page: str, language: str) -> List[str]:
    """Returns the fenced examples of a page of harness/client in this language."""
    with open(os.path.join(CLIENT, page), encoding="utf-8") as opened:
        text = opened.read()
    # All fences are read, so that the end of one example is not taken for the beginning of another.
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.S | re.M)
    return [example for name, example in found if name == language]


def files_of(page: str, language: str, mark: str) -> Dict[str, str]:
    """Returns the examples whose first line is the name of a file, as a comment."""
    files = {}
    for text in blocks(page, language):
        name = re.match(rf"{mark} (\w+\.\w+)\n", text)
        if name:
            files[name[1]] = text
    return files


def make_folder(path, files):
    """Puts files into a folder, and the command `rankcheck` beside them."""
    for name, text in files.items():
        (path / name).write_text(text)
    (path / "bin").mkdir()
    # A link would hide what lies beside the program.
    script = path / "bin" / "rankcheck"
    script.write_text(f'#!/bin/sh\nexec "{PROGRAM}" "$@"\n')
    script.chmod(0o755)
    return path


def python_for(script, forking_python):
    """Returns the path of a Python that starts quickly for an example."""
    return forking_python("torch.distributed" if "# needs torch\n" in script else "numpy")


def run_example(folder, script, python=sys.executable):
    """Runs an example of the shell with a Python, and returns its output.

    A line `# needs NAME` names a module or a command without which the test is skipped, and
    `# ends with N` an exit status that is not 0.
    """
    for name in re.findall(r"^# needs (\w+)$", script, flags=re.M):
        if importlib.util.find_spec(name) is None and shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
    status = re.search(r"^# ends with (\d)$", script, flags=re.M)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(folder / "bin"), os.path.dirname(python), os.environ["PATH"]]),
        "PYTHONPATH": PACKAGE,
        # An installed package needs no such variable.
        "PYTEST_PLUGINS": "rankcheck.pytest_plugin",
        "RANKCHECK_PYTHON": python,
        # mpirun refuses root and more processes than cores unless these say otherwise.
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    }
    done = subprocess.run(
        ["sh", "-e", "-c", script],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    assert done.returncode == (int(status[1]) if status else 0), done.stdout
    return done.stdout.replace(PROGRAM, "rankcheck")
