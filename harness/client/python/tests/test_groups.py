"""The communicators that a process keeps, and when they are freed."""
from __future__ import annotations

import pytest
from fake_harness import serve_in_thread

import rankcheck
from rankcheck.groups import Groups


def groups_of(kept):
    """Returns groups that keep so many communicators, and the log of what they make and free."""
    log = []

    def make(ranks):
        log.append(f"+{ranks}")
        return ranks

    return Groups(make, lambda group: log.append(f"-{group}"), kept), log


def test_frees_the_one_that_was_not_used_for_the_longest_time():
    groups, log = groups_of(2)
    for ranks in [(1,), (2,), (1,), (3,), (1,)]:
        assert groups.get(ranks) == ranks
    assert log == ["+(1,)", "+(2,)", "-(2,)", "+(3,)"]


def test_keeps_all_that_nobody_frees():
    made = []
    groups = Groups(lambda ranks: made.append(ranks) or ranks, None, 1)
    for ranks in [(1,), (2,), (1,)]:
        groups.get(ranks)
    assert made == [(1,), (2,)]


def test_a_failure_to_make_one_leaves_no_group():
    calls = []

    def make(ranks):
        calls.append(ranks)
        if len(calls) == 1:
            raise OSError("no context id is left")
        return ranks

    groups = Groups(make, lambda group: None, 2)
    with pytest.raises(OSError, match="no context id"):
        groups.get((0, 1))
    assert groups.get((0, 1)) == (0, 1)


def test_frees_one_that_is_to_be_made_anew():
    groups, log = groups_of(2)
    for ranks in [(1,), (2,)]:
        groups.get(ranks)
    groups.drop((1,))
    groups.drop((3,))
    groups.get((1,))
    assert log == ["+(1,)", "+(2,)", "-(1,)", "+(1,)"]


@pytest.mark.parametrize("launch", [rankcheck.one_process(), rankcheck.processes()])
def test_a_subject_frees_the_group_of_a_call_that_says_so(launch):
    s = rankcheck.Subject("few", types="int32", launch=launch)
    log = []
    s.group(lambda ranks: log.append(f"+{ranks}") or ranks)
    s.free_group(lambda group: log.append(f"-{group}"))

    @s.barrier
    def _(call):
        log.append(call.ranks)

    harness = serve_in_thread(s, 1)
    for frees in [True, False, False]:
        harness.check(operation="barrier", ranks=1, frees=frees)
    harness.close()
    assert log == ["+(0,)", (0,), "-(0,)", "+(0,)", (0,), (0,)]


def test_forgets_without_freeing():
    groups, log = groups_of(1)
    groups.get((1,))
    groups.forget()
    groups.get((1,))
    assert log == ["+(1,)", "+(1,)"]


def test_a_subject_frees_groups_between_calls():
    s = rankcheck.Subject("few", types="int32", groups_kept=1)
    log = []
    s.group(lambda ranks: log.append(f"+{ranks}") or ranks)
    s.free_group(lambda group: log.append(f"-{group}"))

    @s.broadcast
    def _(call, send, recv):
        assert call.group == call.ranks
        # The ranks of this test are threads without a way to one another.
        recv[...] = 7 if send is None else send

    harness = serve_in_thread(s, 3)
    for group in [[0], [2], [2], [0]]:
        harness.check(operation="broadcast", ranks=3, group=group, count=2, type="int32")
    harness.close()
    assert log == ["+(0,)", "-(0,)", "+(2,)", "-(2,)", "+(0,)"]


def test_a_subject_keeps_at_least_one():
    with pytest.raises(ValueError, match="groups_kept: got 0, expected at least 1"):
        rankcheck.Subject("none", groups_kept=0)
