"""What is said of mistakes in a subject, before any case runs, and of a failure."""
from __future__ import annotations

import functools
import importlib
import inspect
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
    why = r"broadcast: got a function of \(call, send\), expected one of \(call, send, recv\)$"
    with pytest.raises(TypeError, match=place + why):
        s.broadcast(two)
    why = r"barrier: got a function of \(call, send\), expected one of \(call\)$"
    with pytest.raises(TypeError, match=place + why):
        s.barrier(two)
    with pytest.raises(TypeError, match=r"group: got .*, expected one of \(ranks\)"):
        s.group(two)
    with pytest.raises(TypeError, match=r"setup: got .*, expected one of \(me\)"):
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
    with pytest.raises(TypeError, match="all_reduce: got str, expected a function; options have"):
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
    why = r"^extrct: is no operator, expected one; did you mean extract\?$"
    with pytest.raises(ValueError, match=why):
        s.operator("extrct")
    why = "^xyz: is no operator, expected one. Known are .*rpie_step"
    with pytest.raises(ValueError, match=why):
        s.operator("xyz")


def test_an_unknown_type_has_a_hint(s):
    with pytest.raises(ValueError, match=r"got int23, expected some of .*; did you mean int32\?"):
        s.broadcast(types="int23")


def test_lists_of_names_are_taken():
    subject = rankcheck.Subject("mine", types=["f32", "f64"], inputs=("exact",))
    assert (subject.types, subject.inputs) == (["f32", "f64"], ["exact"])
    subject.reduce(lambda call, send, recv: None, ops=["sum", "max"], root=0, gap=range(2))
    offer = subject.offers["reduce"]
    assert (offer.ops, offer.fields) == (["sum", "max"], {"root": [0], "gap": [0, 1]})
    subject.operator("crop", types=["f64"], modes=2)(lambda call, patches: patches)
    assert subject.offers["crop"].fields == {"modes": [2]}


async def waits(call, send, recv):
    """Runs nothing when it is called."""


def yields(call, send, recv):
    """Runs nothing when it is called."""
    yield


# Each call ends with this message. `s` is a subject.
REFUSED = {
    lambda s: rankcheck.Subject("Ünï"): (
        "name: got 'Ünï', expected letters, digits, '-', '_' and '.'"
    ),
    lambda s: rankcheck.Subject(""): "name: got '', expected letters, digits, '-', '_' and '.'",
    lambda s: rankcheck.Subject("*"): "name: got '*', expected letters, digits, '-', '_' and '.'",
    lambda s: rankcheck.Subject("a b"): (
        "name: got 'a b', expected letters, digits, '-', '_' and '.'"
    ),
    lambda s: rankcheck.Subject(5): "name: got 5, expected letters, digits, '-', '_' and '.'",
    lambda s: rankcheck.Subject("a", launch="processes"): (
        "launch: got 'processes', expected rankcheck.one_process() or "
        "rankcheck.processes()"
    ),
    lambda s: rankcheck.Subject("a", launch=rankcheck.processes): (
        "launch: got the function processes, which is not called, expected "
        "rankcheck.one_process() or rankcheck.processes()"
    ),
    lambda s: rankcheck.Subject("a", versions="1.2"): (
        """versions: got '1.2', expected a dict such as {"torch": "2.1"}"""
    ),
    lambda s: rankcheck.Subject("a", rounds="no"): "rounds: got 'no', expected True or False",
    lambda s: rankcheck.Subject("a", groups_kept="3"): "groups_kept: got '3', expected a number",
    lambda s: rankcheck.Subject("a", array="torch"): (
        "Subject: got array, expected some of name launch arrays groups types inputs "
        "versions nan_rule zero_rule result_place rounds deterministic groups_kept; "
        "did you mean arrays?"
    ),
    lambda s: rankcheck.Subject("a", types=5): (
        "types: got 5, expected names with spaces between them or a list of names"
    ),
    lambda s: rankcheck.Subject("a", arrays=["numpy"]): (
        "arrays: got ['numpy'], expected some of numpy torch"
    ),
    lambda s: s.broadcast(members=2): (
        "members: got 2, expected the least and the most ranks, such as (2, 4)"
    ),
    lambda s: s.broadcast(in_place="no"): "in_place: got 'no', expected True or False",
    lambda s: s.broadcast(root=[]): "root: got none, expected a value or a list of values",
    lambda s: s.broadcast(type="f32"): (
        "broadcast: got type, expected some of root offset gap pattern shift outer inner "
        "late send_stride recv_stride types inputs in_place empty members starts; did you mean types?"
    ),
    lambda s: s.reduce(ops=""): (
        "ops: got none, expected some of sum prod min max avg premul_sum band bor bxor "
        "land lor lxor maxloc minloc compose"
    ),
    lambda s: s.operator(yields): (
        "operator: got the function yields, which is not called, expected the name of "
        """an operator, such as operator("extract")"""
    ),
    lambda s: s.operator("crop")(5): (
        'crop: got int, expected a function; options have names, such as types="f32"'
    ),
    lambda s: s.broadcast(waits): (
        f"{HERE}:{waits.__code__.co_firstlineno}: broadcast: got an async function, "
        "expected an ordinary one"
    ),
    lambda s: s.operator("crop")(yields): (
        f"{HERE}:{yields.__code__.co_firstlineno}: crop: got a function with yield, "
        "expected an ordinary one"
    ),
    lambda s: rankcheck.processes(0): "ranks: got 0, expected at least 1",
    lambda s: rankcheck.one_process("4"): "ranks: got '4', expected a number",
    lambda s: rankcheck.processes(launcher=["mpirun"]): (
        """launcher: got ['mpirun'], expected a command such as "mpirun -n {ranks}\""""
    ),
    lambda s: rankcheck.check(5): "subject: got 5, expected a Subject or the path of a file",
}


@pytest.mark.parametrize("call", REFUSED, ids=[each[:24] for each in REFUSED.values()])
def test_a_wrong_argument_is_told(s, call):
    with pytest.raises((TypeError, ValueError)) as error:
        call(s)
    assert str(error.value) == REFUSED[call]


def test_the_help_shows_the_arguments_of_a_subject():
    names = list(inspect.signature(rankcheck.Subject).parameters)
    assert names[:3] == ["name", "launch", "arrays"]


def test_the_arguments_of_an_operator_are_told(s):
    from rankcheck.call import Call
    from rankcheck.operators import adapted

    call = Call("pad", "none", 0, 1, 0, (0,), None, 0, [], "f32", False)

    def pad(call, wave):
        """Has a name that pad does not have."""

    why = rf"{HERE}:\d+: pad: got a function of \(call, wave\), expected one of \(call, waves\)"
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
        subject.barrier(lambda call: None)
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


def test_wrong_elements_of_later_calls_have_their_stage_and_group():
    bits = {"rank": 0, "index": 1, "expected": "7", "got": "0", "error": 0.0, "bound": 0.0}
    wrong = [bits, {**bits, "stage": 2, "group": [1, 3]}]
    lines = describe_failure({"id": "a/b", "verdict": "falsified", "wrong": wrong}).splitlines()
    assert lines[2:] == [
        "  stage           group  rank  element  expected  got  decoded",
        "      0  as in the case     0        1         7    0",
        "      2             1,3     0        1         7    0",
    ]


def test_ranks_that_differ_are_compared_with_rank_0():
    bits = {"rank": 1, "index": 0, "expected": "7", "got": "0", "error": 0.0, "bound": 0.0}
    wrong = [{**bits, "compared_with": "rank 0", "decoded": "rank 0 is wrong"}]
    lines = describe_failure({"id": "a/b", "verdict": "falsified", "wrong": wrong}).splitlines()
    assert lines[1:] == [
        "  1 wrong element, the first:",
        "  rank  element  rank 0 has  got  decoded",
        "     1        0           7    0  rank 0 is wrong",
    ]
