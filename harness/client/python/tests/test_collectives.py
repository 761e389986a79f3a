"""A right subject with every collective gives what a plain reference gives, byte for byte."""
from __future__ import annotations

import os
import runpy

import pytest
from fake_harness import HERE, serve_in_thread

from rankcheck.operations import OPERATIONS

FILE = os.path.join(HERE, "subjects", "every_operation.py")
LISTS = ("all_reduce_list", "reduce_list", "broadcast_list")
IN_PLACE = ("all_gather", "all_reduce", "broadcast", "gather", "reduce")
STRIDED = sorted(each for each in OPERATIONS if not each.endswith(("_list", "_axis", "barrier")))


def fields_of(operation, n, empty=False):
    """Returns the sizes of a case with n ranks."""
    if operation == "barrier":
        return {}
    if operation.endswith("_axis"):
        return {"outer": 2, "inner": 3, "counts": [(q + 1) % 3 for q in range(n)]}
    if operation == "all_to_all_v":
        return {"counts": [0 if empty else k % 4 for k in range(n * n)], "gap": 2}
    if operation in LISTS:
        return {"counts": [0, 0] if empty else [3, 0, 2], "gap": 1}
    if operation.endswith("_v"):
        return {"counts": [0 if empty else (q + 2) % 4 for q in range(n)], "gap": 3}
    return {"count": 0 if empty else 5}


@pytest.fixture(scope="module")
def module():
    return runpy.run_path(FILE)


@pytest.fixture(scope="module")
def harness(module):
    harness = serve_in_thread(module["s"], 4)
    yield harness
    harness.close()


def check(harness, operation, n, **fields):
    """Checks a case with the sizes of fields_of()."""
    case = {"operation": operation, "ranks": n, "type": "int32", **fields_of(operation, n)}
    if OPERATIONS[operation].reduces:
        case["op"] = "sum"
    harness.check(**{**case, **fields})


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_is_right_on(harness, operation, n):
    for root in {0, n - 1}:
        check(harness, operation, n, root=root, offset=1)


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_is_right_without_elements(harness, operation):
    check(harness, operation, 3, **fields_of(operation, 3, empty=True))


@pytest.mark.parametrize("operation", LISTS)
def test_is_right_without_arrays(harness, operation):
    check(harness, operation, 2, counts=[])


@pytest.mark.parametrize("operation", IN_PLACE)
def test_is_right_in_place(harness, operation):
    check(harness, operation, 3, in_place=True, root=1)


@pytest.mark.parametrize("operation", STRIDED)
def test_is_right_with_strides(harness, operation):
    check(harness, operation, 3, send_stride=2, recv_stride=3, offset=1)


@pytest.mark.parametrize("operation", IN_PLACE)
def test_is_right_with_strides_in_place(harness, operation):
    check(harness, operation, 3, send_stride=2, recv_stride=3, in_place=True, root=1)


def test_takes_every_reduction(harness):
    for op in ("sum", "prod", "min", "max", "avg", "premul_sum"):
        check(harness, "all_reduce", 3, op=op, type="f64")
    for op in ("band", "bor", "bxor", "land", "lor", "lxor"):
        check(harness, "all_reduce", 3, op=op, type="int32")


@pytest.mark.parametrize("pattern", ["ring", "pairs", "self", "one_way"])
def test_knows_the_patterns_of_send_recv(harness, pattern):
    for n in (1, 2, 3, 4):
        check(harness, "send_recv", n, pattern=pattern, **({"shift": -2} if n > 2 else {}))


def test_keeps_a_group_for_the_same_ranks_in_the_same_order(harness, module):
    for group in ([2, 0], [0, 2], [2, 0]):
        check(harness, "all_to_all", 4, group=group, count=2)
        check(harness, "broadcast", 4, group=group, root=1)
    assert module["made"].count((2, 0)) == 1
    assert module["made"].count((0, 2)) == 1


def test_announces_every_rank(harness):
    harness.progress.clear()
    check(harness, "barrier", 3)
    assert [each["rank"] for each in harness.progress] == [0, 1, 2]


def test_takes_images_in_a_file(module, tmp_path, monkeypatch):
    monkeypatch.setenv("RANKCHECK_SHARED_FILE", str(tmp_path / "first"))
    (tmp_path / "first").touch()
    harness = serve_in_thread(module["s"], 4)
    assert harness.hello["shared_file"] is True
    # The file grows, and is replaced by another one.
    for name, count in (("first", 5), ("first", 5000), ("second", 7), ("first", 5000)):
        if count == 5000:
            # Another file that has the same path.
            (tmp_path / name).unlink()
        harness.share(str(tmp_path / name))
        check(harness, "all_gather", 3, count=count)
        check(harness, "all_reduce", 3, count=count, in_place=True)
    harness.share(None)
    check(harness, "all_gather", 3, count=5)
    harness.close()


def test_declares_no_file_that_it_cannot_open(module, tmp_path, monkeypatch):
    monkeypatch.setenv("RANKCHECK_SHARED_FILE", str(tmp_path / "missing"))
    harness = serve_in_thread(module["s"], 2)
    assert "shared_file" not in harness.hello
    harness.close()
