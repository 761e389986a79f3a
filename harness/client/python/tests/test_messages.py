"""What is said of mistakes in a subject, before any case runs, and of a failure."""
from __future__ import annotations

import functools
import importlib
import os
import sys

import pytest
from fake_harness import serve_in_thread

import rankcheck
from rankcheck.program import backend_of, describe_failure

HERE = os.path.basename(__file__)


@pytest.fixture
def s():
    return rankcheck.Subject("mine", types="int32")


def two(call, send):
    """A function that lacks an argument."""


LINE = two.__code__.co_firstlineno


def test_a_wrong_signature_has_file_and_line(s):
    place = rf"^{HERE}:{LINE}: "
    why = r"broadcast: expected a function of \(call, send, recv\), got one of \(call, send\)$"
    with pytest.raises(TypeError, match=place + why):
        s.broadcast(two)
    with pytest.raises(TypeError, match=place + r"barrier: expected a function of \(call\)"):
        s.barrier(two)
    with pytest.raises(TypeError, match=r"group: expected a function of \(ranks\)"):
        s.group(two)
    with pytest.raises(TypeError, match=r"setup: expected a function of \(me\)"):
        s.setup(two)


def test_right_signatures_are_taken(s):
    s.barrier(lambda *arguments: None)
    s.broadcast(functools.partial(lambda extra, call, send, recv=None: None, 1))
    # Nobody knows what it takes.
    s.all_gather(max)

    @s.group
    class Group:
        def __init__(self, ranks):
            pass


def test_options_without_names_are_told(s):
    with pytest.raises(TypeError, match="all_reduce: expected a function, got str; options have"):
        s.all_reduce("sum")


def test_a_function_that_was_replaced_is_named(s):
    s.broadcast(lambda call, send, recv: None)
    s.offers["broadcast"].function = two
    harness = serve_in_thread(s, 1)
    (result,) = harness.run(operation="broadcast", ranks=1, count=1, type="int32")
    harness.close()
    assert result["status"] == "failed"
    assert result["reason"].endswith(f"({HERE}:{LINE})")


def test_an_unknown_decorator_has_a_hint_or_a_list(s):
    with pytest.raises(AttributeError, match=r"no allreduce; did you mean all_reduce\?$"):
        s.allreduce
    with pytest.raises(AttributeError, match="no xyz. It has all_gather, all_gather_axis") as error:
        s.xyz
    assert "free_group" in str(error.value)
    assert not hasattr(s, "_repr_html_")


def test_an_unknown_operator_has_a_hint_or_a_list(s):
    with pytest.raises(ValueError, match=r"^extrct: expected an operator; did you mean extract\?$"):
        s.operator("extrct")
    with pytest.raises(ValueError, match="^xyz: expected an operator. Known are .*rpie_step"):
        s.operator("xyz")


def test_an_unknown_type_has_a_hint(s):
    with pytest.raises(ValueError, match=r"got int23; did you mean int32\?"):
        s.broadcast(types="int23")


def test_the_arguments_of_an_operator_are_told(s):
    from rankcheck.call import Call
    from rankcheck.operators import adapted

    call = Call("pad", "none", 0, 1, 0, (0,), None, 0, [], "f32", False)

    def pad(call, wave):
        """Has a name that pad does not have."""

    why = rf"{HERE}:\d+: pad: expected a function of \(call, waves\), got one of \(call, wave\)"
    with pytest.raises(TypeError, match=why):
        adapted(pad)(call, {"waves": 1}, {})
    with pytest.raises(TypeError, match="can only concatenate"):
        adapted(lambda call, waves: "a" + waves)(call, {"waves": 1}, {})


def test_a_subject_is_looked_for_where_it_is(tmp_path, monkeypatch):
    (tmp_path / "helper_of_subjects.py").write_text(
        "import rankcheck\n\ndef make(name):\n    return rankcheck.Subject(name)\n"
    )
    (tmp_path / "user_of_helper.py").write_text(
        "from helper_of_subjects import make\nhelped = make('helped')\n"
    )
    (tmp_path / "a_user_of_both.py").write_text("from user_of_helper import helped\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    names = ["a_user_of_both", "user_of_helper", "helper_of_subjects"]
    try:
        subject = importlib.import_module(names[0]).helped
        assert backend_of(subject) == f"python:{tmp_path / 'user_of_helper.py'} helped"
    finally:
        for name in names:
            sys.modules.pop(name, None)


def test_a_failure_has_its_wrong_elements():
    element = {"rank": 1, "expected": "7", "got": "0", "bound": 0, "decoded": "rank 0 missing"}
    # JSON has no infinity.
    wrong = [{**element, "index": i, "error": 7.0 if i else "inf"} for i in range(7)]
    finding = {"id": "a/b", "verdict": "falsified", "reason": "differs"}
    finding.update(wrong=wrong, wrong_count=9)
    lines = describe_failure(finding).splitlines()
    assert lines[2:5] == [
        "  9 wrong elements, the first:",
        "  rank  element  expected  got  error  bound  decoded",
        "     1        0         7    0    inf      0  rank 0 missing",
    ]
    assert len(lines) == 9
