"""Operators of ptychography: named arrays in, results out, and planted bugs under the program."""
from __future__ import annotations

import os
import re

import numpy as np
import pytest
from fake_harness import HERE, ONCE

import rankcheck
from rankcheck.operators import adapted, results_by_name, scene_of, views_of

PROGRAM = os.environ.get("RANKCHECK")
needs_program = pytest.mark.skipif(
    not PROGRAM, reason="RANKCHECK in the environment does not name the program rankcheck"
)
TEMPLATE = os.path.abspath(
    os.path.join(HERE, *[os.pardir] * 4, "cases", "subjects", "numpy_operators.py")
)


@pytest.fixture(autouse=True)
def subjects_start_quickly(quick_starts):
    """Lets a forked Python serve the subjects."""


class Views:
    """Makes views of numpy."""

    def view(self, memory, type_name):
        return memory.view({"f32": np.float32, "complex64": np.complex64}[type_name])


class TheCall:
    operation = "gaussian_cost"


def test_views_have_names_and_shapes():
    image = np.zeros(256, np.uint8)
    buffer = {
        "offset": 64,
        "bytes": 128,
        "blocks": [[0, 48], [112, 8]],
        "arrays": [
            {"name": "waves", "shape": [1, 2, 3], "type": "complex64"},
            {"name": "cost", "shape": [2], "type": "f32"},
        ],
    }
    views = views_of(Views(), image, buffer)
    assert views["waves"].shape == (1, 2, 3)
    assert views["cost"].shape == (2,)
    views["cost"][1] = 1
    assert image[64 + 112 + 4 : 64 + 112 + 8].view(np.float32)[0] == 1
    assert views_of(Views(), image, None) == {}


def test_sizes_have_their_defaults():
    scene = scene_of({"rows": 4, "window": 2, "counts": [1]})
    assert (scene.rows, scene.cols, scene.window, scene.modes) == (4, 0, 2, 1)


@pytest.mark.parametrize("result", [(1, 2), [1, 2], {"far_waves": 2, "cost": 1}])
def test_results_get_their_names(result):
    named = results_by_name(TheCall, result, ["cost", "far_waves"])
    assert named == {"cost": 1, "far_waves": 2}


@pytest.mark.parametrize(
    "result, error, text",
    [
        (1, TypeError, r"got int, expected 2 results \(cost, far_waves\) as a tuple or a dict"),
        ((1, 2, 3), TypeError, "got tuple, expected 2 results"),
        ({"cost": 1}, ValueError, "got the results cost, expected cost, far_waves"),
    ],
)
def test_missing_results_are_named(result, error, text):
    with pytest.raises(error, match=text):
        results_by_name(TheCall, result, ["cost", "far_waves"])


@pytest.mark.parametrize("names", [["cost"], ["cost", "far_waves"]])
def test_no_result_is_told(names):
    why = f"gaussian_cost: got None, expected {', '.join(names)}: did the function return nothing?"
    with pytest.raises(TypeError, match=re.escape(why)):
        results_by_name(TheCall, None, names)


def test_a_wrong_shape_is_named():
    out = np.zeros((2, 3))
    run = adapted(lambda call, waves: waves[:1])
    with pytest.raises(ValueError, match=r"frames: got shape \(1, 3\), expected \(2, 3\)"):
        run(TheCall, {"waves": np.ones((2, 3))}, {"frames": out})
    assert not out.any()


def test_a_number_is_an_array_of_one_element():
    out = np.zeros(1)
    adapted(lambda call: 3.0)(TheCall, {}, {"cost": out})
    assert out[0] == 3


def test_a_tensor_of_one_number_is_an_array_of_one_element():
    torch = pytest.importorskip("torch")
    out = torch.zeros(1)
    adapted(lambda call: torch.tensor(3.0))(TheCall, {}, {"cost": out})
    assert out[0] == 3


def test_fields_are_declared():
    subject = rankcheck.Subject("mine")
    subject.operator("extract", varying_probe=[False], modes=[1, 2])(lambda call: None)
    takes = subject.offers["extract"].takes("any", 4)
    assert takes["modes"] == [1, 2]
    assert takes["varying_probe"] == [False]
    assert takes["slices"] == "any"
    assert takes["type"] == ["f32", "f64"]
    assert "gap" not in takes


def check_changed(tmp_path, right, wrong, operation, **options):
    """Checks the template with one place changed."""
    with open(TEMPLATE, encoding="utf-8") as file:
        text = file.read()
    assert right in text
    changed = tmp_path / "changed.py"
    changed.write_text(text.replace(right, wrong))
    return rankcheck.check(changed, operation=operation, ranks="1..3", cases=30, **options)


@needs_program
@pytest.mark.parametrize("operation", ["extract", "insert", "gaussian_cost"])
def test_the_template_passes(tmp_path, operation):
    findings = check_changed(tmp_path, "import numpy", "import numpy", operation)
    assert findings


@needs_program
@pytest.mark.parametrize(
    "operation, right, wrong",
    [
        ("insert", "return call.group(call, out)", "return out"),
        ("extract", "(i + 1, f)", "(i + 1, g)"),
        ("gaussian_cost", "0) * mask", "0)"),
        ("propagate", 'norm="ortho"', 'norm="backward"'),
    ],
)
def test_a_bug_is_found(tmp_path, operation, right, wrong):
    with pytest.raises(AssertionError, match="rankcheck replay"):
        check_changed(tmp_path, right, wrong, operation, **ONCE)


@needs_program
def test_a_wrong_shape_is_explained(tmp_path):
    with pytest.raises(AssertionError, match=r"patches: got shape \(.*\), expected"):
        place = "return in_frames(call.scene, windows"
        check_changed(tmp_path, place, "return (windows", "extract", **ONCE)


@needs_program
def test_an_unknown_operator_is_refused(tmp_path):
    why = "ValueError: extrct: is no operator, expected one; did you mean extract"
    with pytest.raises(Exception, match=why):
        check_changed(tmp_path, '"extract"', '"extrct"', "insert")
