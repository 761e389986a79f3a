"""What a subject declares: its hello, its refusals, its failures."""
from __future__ import annotations

import threading
import time
import traceback

import numpy as np
import pytest
from fake_harness import serve_in_thread

import rankcheck
from rankcheck.worker import LATE_S


def make(**options):
    """Returns a subject that copies send to recv, whatever the collective is."""
    options = {"types": "int32 f32", "inputs": "general coded", **options}
    subject = rankcheck.Subject("copies", rankcheck.one_process(2), **options)

    @subject.all_reduce(ops="sum max")
    def copies(call, send, recv):
        recv[:] = send

    return subject


def case(**fields):
    """Returns a case of all_reduce with these fields."""
    default = {"operation": "all_reduce", "ranks": 2, "count": 3, "type": "f32", "op": "sum"}
    return {**default, **fields}


def refusal(subject, **fields):
    """Asks a worker with two ranks."""
    harness = serve_in_thread(subject, 2)
    try:
        return harness.why_refused(**case(**fields))
    finally:
        harness.close()


def test_ranks_go_from_call_to_call_without_waiting():
    """Rank 1 makes its first call only when rank 0 is in its second one."""
    subject = rankcheck.Subject("copies", rankcheck.one_process(2), types="f32")
    is_ahead = threading.Event()
    calls = [0, 0]

    @subject.all_reduce
    def copies(call, send, recv):
        calls[call.rank] += 1
        if call.rank == 0 and calls[0] == 2:
            is_ahead.set()
        if call.rank == 1 and calls[1] == 1:
            assert is_ahead.wait(60)
        recv[:] = send

    harness = serve_in_thread(subject, 2)
    try:
        assert harness.hello["together"]
        for result in harness.run_together([case(), case(count=1)]):
            assert result["status"] == "completed", result["reason"]
    finally:
        harness.close()
    assert calls == [2, 2]


def test_says_hello():
    harness = serve_in_thread(make(versions={"mine": "1.2"}, nan_rule="drops"), 2)
    hello = harness.hello
    assert (hello["protocol"], hello["inputs"]) == (2, "sent")
    assert (hello["world"], hello["ranks"]) == (2, [0, 1])
    assert hello["traits"] == {
        "name": "copies",
        "nan_rule": "drops",
        "zero_rule": "unspecified",
        "result_place": "own_block",
        "rounds": False,
        "deterministic": False,
        "ranks_max": 2,
        "delays": True,
    }
    summary = "Calls copies of test_subject.py."
    takes = {
        **dict.fromkeys(
            ["root", "offset", "gap", "pattern", "shift", "outer", "inner", "late"], "any"
        ),
        "group": "any",
        "empty": True,
        "type": ["int32", "f32"],
        "op": ["sum", "max"],
        "input": ["general", "coded"],
    }
    assert hello["algorithms"] == [
        {"operation": "all_reduce", "name": "copies", "summary": summary, "takes": takes}
    ]
    assert hello["versions"]["mine"] == "1.2"
    assert hello["versions"]["file"] == __file__
    assert "everyone" not in hello
    harness.close()


def test_knows_which_operations_it_offers():
    assert refusal(make()) == ""
    assert refusal(make(), operation="broadcast") == "operation: copies does not offer broadcast"


def test_a_subject_without_groups_needs_all_ranks():
    harness = serve_in_thread(make(groups="world"), 2)
    takes = harness.hello["algorithms"][0]["takes"]
    assert (takes["group"], takes["ranks"]) == ("world", {"min": 2, "max": 2})
    harness.close()


def test_takes_the_groups_that_it_can_make():
    alone = rankcheck.Subject("alone", rankcheck.processes())
    assert alone.groups == "world"
    alone.group(lambda ranks: ranks)
    assert alone.groups == "any"
    assert rankcheck.Subject("sorted", rankcheck.processes(), groups="sorted").groups == "sorted"
    assert rankcheck.Subject("threads", rankcheck.one_process(2)).groups == "any"


def test_an_unknown_decorator_is_refused_with_the_nearest_name():
    with pytest.raises(AttributeError) as error:
        make().all_redcue
    message = "".join(traceback.format_exception_only(error.type, error.value))
    assert message.count("id you mean") == 1, message


def test_refuses_a_run_of_an_operation_that_it_does_not_offer():
    harness = serve_in_thread(make(), 2)
    result = harness.run(**case(operation="broadcast"))[0]
    assert (result["status"], result["sizes"]) == ("refused", [])
    assert result["reason"] == "operation: copies does not offer broadcast"
    assert harness.run(**case())[0]["status"] == "completed"
    harness.close()


def test_a_late_rank_enters_after_the_others():
    harness = serve_in_thread(make(), 2)
    leads_ns = []
    for _ in range(9):
        begin_ns = time.monotonic_ns()
        (late, other), = harness.run(**case(late=0))[0]["stamps"]
        # Without the pause, it would come earlier at least once, even on a busy machine.
        assert late[0] - begin_ns >= LATE_S * 1e9
        leads_ns.append(late[0] - other[0])
    assert max(leads_ns) >= LATE_S * 1e9 / 2
    assert harness.run(**case(late=0, group=[1], ranks=2))[0]["status"] == "completed"
    harness.close()


def test_an_operation_may_do_without_late_ranks():
    subject = make()
    subject.broadcast(lambda call, send, recv: None, late=-1)
    assert subject.offers["broadcast"].takes("any", 2)["late"] == [-1]


def test_offers_no_types_that_need_another_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    harness = serve_in_thread(make(types="bf16 f32"), 2)
    assert harness.hello["algorithms"][0]["takes"]["type"] == ["f32"]
    harness.close()


def test_takes_only_what_a_function_is_said_to_take():
    subject = rankcheck.Subject("copies", rankcheck.one_process(4), types="int32")
    subject.broadcast(lambda call, send, recv: None, root=[0], gap=[0], members=(2, 3))
    takes = subject.offers["broadcast"].takes("any", 4)
    assert (takes["root"], takes["gap"], takes["offset"]) == ([0], [0], "any")
    assert takes["ranks"] == {"min": 2, "max": 3}
    assert subject.offers["broadcast"].takes("world", 4)["ranks"] == {"min": 4, "max": 4}


def test_takes_strides_only_if_they_are_declared():
    subject = make()
    harness = serve_in_thread(subject, 2)
    assert "strides" not in harness.hello["traits"]
    assert "send_stride" not in harness.hello["algorithms"][0]["takes"]
    harness.close()
    subject.broadcast(lambda call, send, recv: None, send_stride=[1, 2])
    harness = serve_in_thread(subject, 2)
    assert harness.hello["traits"]["strides"] is True
    assert harness.hello["algorithms"][1]["takes"]["send_stride"] == [1, 2]
    harness.close()


def test_says_what_is_wrong_in_a_declaration():
    why = "broadcast: got rot, expected some of root .*did you mean root"
    with pytest.raises(ValueError, match=why):
        make().broadcast(lambda call, send, recv: None, rot=[0])
    with pytest.raises(ValueError, match=r"members: got \(3, 2\), expected the least and the most"):
        make().barrier(lambda call: None, members=(3, 2))
    with pytest.raises(ValueError, match="types: got float32, expected some of int8 "):
        make(types="float32")
    with pytest.raises(ValueError, match="ops: got plus, expected some of sum "):
        make().reduce(ops="plus")
    with pytest.raises(ValueError, match="groups: got all, expected some of any sorted world"):
        make(groups="all")
    with pytest.raises(ValueError, match="copies: all_reduce is decorated twice"):
        make().all_reduce(lambda call, send, recv: None)


def test_an_error_becomes_a_failure_with_its_place(capfd):
    subject = rankcheck.Subject("raises", rankcheck.one_process(2))

    @subject.all_reduce
    def raises(call, send, recv):
        if call.rank == 1:
            raise TypeError("no sum of\nsuch things")

    harness = serve_in_thread(subject, 2)
    result = harness.run(**case())[0]
    line = raises.__code__.co_firstlineno + 3
    assert result["status"] == "failed"
    where = f"(test_subject.py:{line})"
    assert result["reason"] == f"rank 1: TypeError: no sum of such things {where}"
    errors = capfd.readouterr().err
    assert "Traceback" in errors and "such things" in errors
    assert ", in rank 1\n" in errors
    harness.close()


def test_the_first_error_counts_while_others_wait():
    import threading

    subject = rankcheck.Subject("waits", rankcheck.one_process(3))
    made = []

    @subject.group
    def barrier_of(ranks):
        made.append(threading.Barrier(len(ranks)))
        return made[-1]

    @subject.barrier
    def barrier(call):
        if call.rank == 2 and len(made) == 1:
            raise OSError("lost")
        call.group.wait()

    harness = serve_in_thread(subject, 3)
    result = harness.run(operation="barrier", ranks=3)[0]
    assert result["reason"].startswith("rank 2: OSError: lost (test_subject.py:")
    # The waiting threads keep the old group, so the next call gets a new one.
    harness.check(operation="barrier", ranks=3)
    harness.close()


def test_finds_what_a_wrong_subject_writes():
    subject = rankcheck.Subject("wrong", rankcheck.one_process(2))

    @subject.broadcast
    def broadcast(call, send, recv):
        recv[:] = 0

    harness = serve_in_thread(subject, 2)
    with pytest.raises(AssertionError):
        harness.check(operation="broadcast", ranks=2, count=3, type="int32")
    harness.close()


def test_views_have_the_types_of_numpy():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    from rankcheck.arrays import NumpyArrays

    arrays = NumpyArrays()
    memory = np.zeros(16, dtype=np.uint8)
    assert arrays.view(memory, "complex128").dtype == np.complex128
    assert arrays.view(memory, "f8e4m3").dtype == ml_dtypes.float8_e4m3fn
    arrays.view(memory, "bf16")[1] = 1
    assert memory[2:4].tobytes() == b"\x80\x3f"


def test_views_of_torch_share_their_memory():
    torch = pytest.importorskip("torch")
    from rankcheck.arrays import TorchArrays

    memory = np.zeros(8, dtype=np.uint8)
    TorchArrays().view(memory, "f32")[0] = 1.0
    TorchArrays().view(memory[4:], "bf16")[0] = 1.0
    assert memory.tobytes() == b"\0\0\x80\x3f\x80\x3f\0\0"
    assert TorchArrays().view(memory[:0], "f64").dtype == torch.float64
