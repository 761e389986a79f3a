"""The examples of the pages on evaluating arrays and on ready subjects."""
from __future__ import annotations

import os

import pytest
from pages import PROGRAM, blocks, files_of, make_folder, needs_program, run_example

EVALUATE = "../../cases/evaluate/README.md"
SUBJECTS = "../../cases/subjects/README.md"
pytestmark = needs_program


@pytest.fixture(scope="module")
def evaluate(tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("evaluate"), files_of(EVALUATE, "python", "#"))


@pytest.mark.parametrize("script", blocks(EVALUATE, "sh"))
def test_evaluate(evaluate, script):
    run_example(evaluate, script)


@pytest.fixture(scope="module")
def subjects(tmp_path_factory):
    """A folder with the two folders that the page's commands name."""
    folder = make_folder(tmp_path_factory.mktemp("subjects"), {})
    tree = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4))
    (folder / "cases").symlink_to(os.path.join(tree, "cases"))
    (folder / "build").mkdir()
    (folder / "build" / "release").symlink_to(os.path.dirname(PROGRAM))
    return folder


@pytest.mark.parametrize("script", blocks(SUBJECTS, "sh"))
def test_subjects(subjects, script):
    run_example(subjects, script)
