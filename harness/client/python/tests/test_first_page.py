"""Every example of the page harness/client/README.md, as a user would run it."""
from __future__ import annotations

import re

import pytest
from pages import blocks, files_of, make_folder, needs_program, python_for, run_example

PAGE = "README.md"
FILES = files_of(PAGE, "python", "#")
FIRST = blocks(PAGE, "sh")[0]
(FAILING,) = [each for each in blocks(PAGE, "sh") if "ends with 1" in each]
pytestmark = needs_program


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("page"), FILES)


def without_errors(text):
    """Returns a text without error/bound, which depends on how numpy was built."""
    return re.sub(r" 0\.\d+ ", " some ", text)


def test_every_file_is_used():
    assert len(FILES) == len(blocks(PAGE, "python"))
    commands = "".join(blocks(PAGE, "sh")) + "".join(FILES.values())
    for name in FILES:
        module = name[: -len(".py")]
        assert re.search(rf"{module}\.py |{module}\.py\n|from {module} import", commands), name


@pytest.mark.parametrize("script", blocks(PAGE, "sh"))
def test_example(folder, script, forking_python):
    output = run_example(folder, script, python_for(script, forking_python))
    # The page shows what the run prints.
    beginning = {FIRST: "operation ", FAILING: "falsified "}.get(script)
    if beginning:
        (shown,) = [each for each in blocks(PAGE, "") if each.startswith(beginning)]
        assert without_errors(shown) in without_errors(output)
