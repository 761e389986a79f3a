"""Every example of the page harness/client/README.md, as a user would run it."""
from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys

import pytest
from fake_harness import HERE

PACKAGE = os.path.dirname(HERE)
PAGE = os.path.join(os.path.dirname(PACKAGE), "README.md")
PROGRAM = os.environ.get("RANKCHECK")
pytestmark = pytest.mark.skipif(
    not PROGRAM, reason="RANKCHECK in the environment does not name the program rankcheck"
)


def blocks(language):
    """Returns the fenced examples of the page in this language."""
    with open(PAGE, encoding="utf-8") as page:
        text = page.read()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.S | re.M)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with all files of the page, and `python3` and `rankcheck` as commands."""
    path = tmp_path_factory.mktemp("page")
    for text in blocks("python"):
        name = re.match(r"# (\w+\.py)\n", text)
        assert name, text
        (path / name[1]).write_text(text)
    (path / "bin").mkdir()
    for command, program in [("python3", sys.executable), ("rankcheck", PROGRAM)]:
        # A link would hide what lies beside the program.
        script = path / "bin" / command
        script.write_text(f'#!/bin/sh\nexec "{program}" "$@"\n')
        script.chmod(0o755)
    return path


def test_every_file_is_used(folder):
    commands = "".join(blocks("sh")) + "".join(blocks("python"))
    for text in blocks("python"):
        name = re.match(r"# (\w+)\.py\n", text)[1]
        assert re.search(rf"{name}\.py |{name}\.py\n|from {name} import", commands), name


@pytest.mark.parametrize("script", blocks("sh"))
def test_example(folder, script):
    needs = re.search(r"^# needs (\w+)$", script, flags=re.M)
    if needs and importlib.util.find_spec(needs[1]) is None:
        pytest.skip(f"the package {needs[1]} is not installed")
    status = re.search(r"^# ends with (\d)$", script, flags=re.M)
    environment = {
        **os.environ,
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": PACKAGE,
        # An installed package needs no such variable.
        "PYTEST_PLUGINS": "rankcheck.pytest_plugin",
        "RANKCHECK_PYTHON": sys.executable,
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
    if status:
        assert " replay '" in done.stdout
