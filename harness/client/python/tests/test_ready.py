"""The check of ready subjects itself: it is red for a wrong subject and for pins that changed.

The tests are skipped unless RANKCHECK in the environment names the program.
"""
from __future__ import annotations

import json
import os

import pytest
import ready
from fake_harness import HERE

pytestmark = pytest.mark.skipif(
    not os.environ.get("RANKCHECK"),
    reason="RANKCHECK in the environment does not name the program rankcheck",
)
THREADS = os.path.abspath(
    os.path.join(HERE, *[os.pardir] * 4, "cases", "subjects", "numpy_threads.py")
)


def planted(tmp_path, right, wrong):
    """Returns the path of the ready subject with one place changed."""
    with open(THREADS, encoding="utf-8") as file:
        text = file.read()
    assert right in text
    path = tmp_path / "planted.py"
    path.write_text(text.replace(right, wrong))
    return str(path)


def test_a_wrong_root_is_red(tmp_path, capsys):
    file = planted(tmp_path, "send)[call.root]", "send)[0]")
    assert ready.main([file]) == 1
    assert "broadcast/numpy-threads/numpy-threads/agrees_with_reference: falsified" in (
        capsys.readouterr().out
    )


def test_a_case_that_is_refused_is_red():
    passed = {
        "id": "barrier", "unit": {"operation": "barrier"}, "verdict": "passed", "cases": 3,
    }
    assert ready.why_wrong("barrier", [passed]) == ""
    refused = {**passed, "refused_cases": 1}
    assert ready.why_wrong("barrier", [refused]) == "barrier: expected no refused case, got 1"
    assert ready.why_wrong("broadcast", [passed]) == "broadcast: expected a finding, got none"


@pytest.mark.parametrize(
    "version, verdict, status",
    [("1.2", "falsified", 0), ("1.2", "crashed", 1), ("1.1", "falsified", 0), ("1.1", "hung", 1)],
)
@pytest.mark.parametrize("script", ["", "assert False", "pass"])
def test_pins_are_held_against_the_version(tmp_path, version, verdict, status, script):
    file = planted(tmp_path, '"numpy-threads", ', '"numpy-threads", versions={"mine": "1.2.3"}, ')
    text = open(file, encoding="utf-8").read()
    wrong = "s.offers['broadcast'].function = lambda call, send, recv: None\n\n"
    open(file, "w", encoding="utf-8").write(text.replace("if __name__", wrong + "if __name__"))
    case = {"operation": "broadcast", "ranks": 2, "count": 1, "type": "uint8"}
    pin = tmp_path / "pin.json"
    pin.write_text(json.dumps({
        "library": "mine", "version": version, "takes": {"types": ["uint8"]},
        "verdict": verdict, "case": case,
    }))
    if script:
        (tmp_path / "pin.py").write_text(script)
    found = ready.replay_pin(str(pin), file, {"mine": "1.2.3"}, str(tmp_path))
    passes = script == "pass" and version == "1.2"
    assert found == status + passes
