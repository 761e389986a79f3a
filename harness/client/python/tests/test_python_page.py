"""Every example of the page of the package, as a user would run it."""
from __future__ import annotations

import pytest
from pages import blocks, files_of, make_folder, needs_program, python_for, run_example

PAGE = "python/README.md"
FILES = files_of(PAGE, "python", "#")
pytestmark = needs_program


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    # The page uses the subject of the first page.
    mine = files_of("README.md", "python", "#")["mine.py"]
    return make_folder(tmp_path_factory.mktemp("page"), {**FILES, "mine.py": mine})


def test_every_file_is_used():
    assert len(FILES) == len(blocks(PAGE, "python"))
    commands = "".join(blocks(PAGE, "sh"))
    assert [name for name in FILES if name not in commands] == []


@pytest.mark.parametrize("script", blocks(PAGE, "sh"))
def test_example(folder, script, tmp_path, monkeypatch, forking_python):
    if "torch.distributed.run" in script:
        # torchrun leaves its logs there.
        monkeypatch.setenv("TMPDIR", str(tmp_path))
    run_example(folder, script, python_for(script, forking_python))
