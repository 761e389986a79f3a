"""Names of reductions, types and inputs: the program, the package and the page have the same."""
from __future__ import annotations

import json
import os
import re
import subprocess

import pytest
from pages import CLIENT, PROGRAM, needs_program

import rankcheck
from rankcheck.arrays import TYPE_NAMES
from rankcheck.subject import INPUT_NAMES, OP_NAMES

NAMES = {"op": OP_NAMES, "type": TYPE_NAMES, "input": INPUT_NAMES}
# What no subject is asked for: no reduction, what a former stage or a file gives.
OTHERS = {"none", "previous", "given"}


@needs_program
@pytest.mark.parametrize("field", NAMES)
def test_the_package_knows_the_names_of_the_program(field):
    case = {"operation": "all_reduce", "backend": "sim", "algorithm": "ring", "ranks": 2}
    command = [PROGRAM, "replay", json.dumps({**case, field: "nothing"})]
    errors = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    (listed,) = re.findall(rf'{field}: got "nothing", expected one of (.*)', errors)
    assert set(listed.split(", ")) - OTHERS == set(NAMES[field])


@pytest.mark.parametrize("argument, names", [
    ("ops", OP_NAMES), ("types", TYPE_NAMES), ("inputs", INPUT_NAMES),
])
def test_the_page_names_all(argument, names):
    with open(os.path.join(CLIENT, "README.md"), encoding="utf-8") as opened:
        (row,) = [line for line in opened if line.startswith(f"| `{argument}` |")]
    in_code = " ".join(re.findall("`([^`]*)`", row)).replace('"', "").split()
    assert sorted(set(in_code) - {argument}) == sorted(names)


@pytest.mark.parametrize("argument, names", [("types", TYPE_NAMES), ("inputs", INPUT_NAMES)])
def test_the_help_names_all(argument, names):
    (text,) = re.findall(rf" {argument}: .*? out of ([^.]*)\.", rankcheck.Subject.__doc__, re.S)
    assert sorted(text.split()) == sorted(names)
