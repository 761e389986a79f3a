"""Bugs that are planted in the ready subjects are found and shrunk; other faults are explained.

Each test makes a file that loads a ready subject and replaces one of its functions. The tests are
skipped unless RANKCHECK in the environment names the program.
"""
from __future__ import annotations

import importlib.util
import json
import os
import re
import runpy
import shutil
import sys
import textwrap

import pytest
from fake_harness import HERE
from listening import SECRET, Ranks, free_address

from rankcheck.program import run_program, run_words

pytestmark = pytest.mark.skipif(
    not os.environ.get("RANKCHECK"),
    reason="RANKCHECK in the environment does not name the program rankcheck",
)
# Seconds for a call that is to return, on a busy machine.
PATIENCE_S = 120
# Seconds for a call that never returns. Until then, the other rank has long said where it is.
HANG_S = 10
SUBJECTS = os.path.abspath(os.path.join(HERE, *[os.pardir] * 4, "cases", "subjects"))
LOADED = """
import dataclasses, os, runpy, sys, threading
from rankcheck.operators import adapted
s = runpy.run_path({file!r})["s"]
"""
PLANTED = """
def replaced(function):
    before = {{}}

    def right(*arguments):
        wait = function(*arguments)
        if wait is not None:
            wait()

    def wrong(call, send, recv):
{body}

    return wrong

offer = s.offers[{operation!r}]
offer.function = replaced(offer.function)
"""
BUGS = {
    "wrong_root": """
    right(dataclasses.replace(call, root=(call.root + 1) % call.size), send, recv)
""",
    # Roots are places in the group; here they are taken for world ranks.
    "group_ignored": """
    right(dataclasses.replace(call, root=call.ranks[call.root] % call.size), send, recv)
""",
    # The rows are in the order of the world's ranks.
    "order_ignored": """
    right(call, send, recv)
    recv[...] = recv[sorted(range(call.size), key=lambda member: call.ranks[member])]
""",
    "last_element": """
    right(call, send, recv)
    flat = recv.reshape(-1)
    flat[-1:] = flat[:1]
""",
    # A call gives what the call before it gave, if the two differ in their data only. Cases that
    # differ otherwise share nothing, so that a smaller case fails by itself, too.
    "stale_buffer": """
    right(call, send, recv)
    shape = {key: value for key, value in call.case.items() if key != "data_seed"}
    result, (key, stale) = recv + 0, before.get(call.rank, (None, None))
    before[call.rank] = shape, result
    if key == shape:
        recv[...] = stale
""",
}
# The threads' only root sends. Here, every rank sends something, and the wrong one is taken.
THREADS_BUGS = {
    "wrong_root": """
    own = recv if send is None else send
    recv[...] = call.group.exchange(call.rank, own)[(call.root + 1) % call.size]
""",
    "group_ignored": """
    own = recv if send is None else send
    recv[...] = call.group.exchange(call.rank, own)[call.ranks[call.root] % call.size]
""",
}
# The ranks go on when all but one have come. If the root comes last, nothing is there yet, or what
# a call before has left.
UNAWAITED_ROOT = """
    arrays = call.group.arrays
    if call.is_root:
        arrays[0] = send.copy()
    come, changed = vars(call.group).setdefault("come", ([], threading.Condition()))
    with changed:
        come.append(call.rank)
        changed.notify_all()
        due = come.count(call.rank) * call.size - 1
        changed.wait_for(lambda: len(come) >= due)
    if arrays[0] is not None and arrays[0].shape == recv.shape:
        recv[...] = arrays[0].astype(recv.dtype)
"""
# Operators have no roots. `send` has the inputs by name, and `recv` the outputs. If the group is
# ignored, each rank's own part is taken for the sum.
OPERATOR_BUGS = {
    "last_element": """
    right(call, send, recv)
    for out in recv.values():
        out[-1:] = out[:1]
""",
    "stale_buffer": """
    right(call, send, recv)
    (out,) = recv.values()
    stale, before[call.rank] = before.get(call.rank), out + 0
    if stale is not None and stale.shape == out.shape:
        out[...] = stale
""",
    "group_ignored": """
    right(dataclasses.replace(call, group=lambda call, array: array), send, recv)
""",
}
ROOT_SAYS = r"not written|no input of any rank|element \d+ of rank \d+ before the call"
# What the wrong elements of each bug say. Where the wrong root writes, the right one was not
# written. The threads' wrong root sends its own recv, as it was before the call.
SAYS = {
    "wrong_root": ROOT_SAYS,
    "group_ignored": ROOT_SAYS,
    "order_ignored": r"element \d+ of rank \d+",
    "last_element": r"element \d+ of rank \d+",
    "stale_buffer": r"result of call \d+ of rank \d+",
}
# Bugs of roots need a collective with a root. JAX has none whose root receives. NCCLBackend and
# MPIComm have no other communicator than the world, so there are no groups that they could ignore.
PLACES = [
    ("numpy_threads.py", "", "all_gather", ("last_element", "stale_buffer", "order_ignored")),
    ("numpy_threads.py", "", "broadcast", tuple(THREADS_BUGS)),
    ("mpi4py_subject.py", "mpi4py", "gather", ("wrong_root", "group_ignored")),
    ("mpi4py_subject.py", "mpi4py", "all_gather", ("last_element", "stale_buffer")),
    ("jax_devices.py", "jax", "all_gather", ("last_element", "stale_buffer", "order_ignored")),
    ("torch_nccl.py", "torch", "reduce", ("wrong_root", "group_ignored")),
    ("torch_nccl.py", "torch", "all_gather", ("last_element", "stale_buffer")),
    ("cupy_nccl.py", "cupy", "gather", ("wrong_root",)),
    ("cupy_nccl.py", "cupy", "all_gather", ("last_element", "stale_buffer")),
    ("tike_mpi.py", "tike", "gather", ("wrong_root",)),
    ("tike_mpi.py", "tike", "all_gather", ("last_element", "stale_buffer")),
]


def plant(tmp_path, file, **bodies):
    """Writes a file whose subject has other functions for these operations. Returns its path."""
    text = LOADED.format(file=os.path.join(SUBJECTS, file))
    for operation, body in bodies.items():
        lines = textwrap.indent(body.strip("\n"), "    ")
        text += PLANTED.format(operation=operation, body=lines)
    path = tmp_path / "planted.py"
    path.write_text(text)
    return path


def findings_of(tmp_path, file, operation, listens=False, **options):
    """Runs smoke with few cases and returns the findings and all output.

    If `listens`, the ranks are started once and connect to an address. Otherwise, a replay starts
    its processes afresh.
    """
    options = {"ranks": "1..3", "cases": 10, "property": "agrees_with_reference", **options}
    options = {"replays": 1, "timeout": PATIENCE_S, **options}
    report = str(tmp_path / "report")
    words = run_words(file, "smoke", {"operation": operation, "report": report, **options})
    # A busy machine takes minutes to import some libraries.
    words = ["--start-timeout", "300", *words]
    if listens:
        address = free_address()
        words[-1] = f"listen:{address}"
        with Ranks(file, tmp_path, address, world=3):
            done = run_program(words)
    else:
        done = run_program(words)
    assert os.path.exists(report), done.stderr
    with open(os.path.join(report, "report.json")) as opened:
        return json.load(opened)["findings"], done.stdout + done.stderr


@pytest.fixture(autouse=True)
def environment(monkeypatch, quick_starts):
    monkeypatch.setenv("RANKCHECK_SECRET", SECRET)
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


@pytest.fixture
def torch_starts(monkeypatch, forking_python):
    """Lets subjects be served by a Python that has imported torch."""
    skip_without("torch_gloo.py", "torch")
    monkeypatch.setattr(sys, "executable", forking_python("torch.distributed"))


@pytest.fixture
def starts(request, file, module):
    """Lets the subject of the test be served, or skips the test."""
    skip_without(file, module)
    if module == "torch":
        request.getfixturevalue("torch_starts")


def skip_without(file, module):
    """Skips a test whose subject lacks its package, its launcher or its devices."""
    if module and importlib.util.find_spec(module) is None:
        pytest.skip(f"the package {module} is not installed")
    if module in ("mpi4py", "tike") and shutil.which("mpirun") is None:
        pytest.skip("mpirun is not on PATH")
    if file.endswith("_nccl.py") and runpy.run_path(os.path.join(SUBJECTS, file))["RANKS_MAX"] < 2:
        pytest.skip("there is no GPU")


@pytest.mark.parametrize(
    "file, module, operation, bug",
    [(*place[:3], bug) for place in PLACES for bug in place[3]],
    ids=[f"{place[0][:-3]}-{bug}" for place in PLACES for bug in place[3]],
)
def test_is_found_and_shrunk(tmp_path, file, module, operation, bug):
    skip_without(file, module)
    bodies = THREADS_BUGS if operation == "broadcast" else BUGS
    planted = plant(tmp_path, file, **{operation: bodies[bug]})
    # Few cases of one property alone would rarely have the same shape twice.
    options = {"property": "repeats_with_other_data"} if bug == "stale_buffer" else {}
    # In few groups, a member's place is not its rank in the world.
    if bug in ("group_ignored", "order_ignored"):
        options["cases"] = 100
    (finding,), output = findings_of(tmp_path, planted, operation, **options)
    assert " replay '" in output
    require_small(finding, output)
    require_explained(finding, operation, bug)


def require_explained(finding, operation, bug):
    """Requires that the wrong elements, and the reason of a wrong root, tell the bug."""
    decoded = [each.get("decoded", "") for each in finding["wrong"]]
    assert all(re.fullmatch(SAYS[bug], text) for text in decoded), decoded
    if bug in ("wrong_root", "group_ignored"):
        assert "not written" in decoded, decoded
    if operation in ("gather", "reduce"):
        assert re.fullmatch(OFF_THE_ROOT.replace("rank 1", r"rank \d"), finding["reason"]), finding


def require_small(finding, output):
    """Requires a failure that is shrunk and has its wrong elements."""
    assert finding["verdict"] == "falsified", output
    assert finding.get("wrong"), finding
    assert finding["minimal"]["ranks"] <= 3, output
    assert finding["minimal"].get("count", 0) <= 2, output


def test_a_root_that_is_not_awaited_is_found(tmp_path):
    planted = plant(tmp_path, "numpy_threads.py", broadcast=UNAWAITED_ROOT)
    (finding,), output = findings_of(tmp_path, planted, "broadcast", cases=100)
    # Which cases fail depends on which thread is faster, and so does the smallest one.
    assert finding["verdict"] in ("falsified", "flaky"), output
    # The threads of the ranks start in their order, so that the first one comes last only if it is
    # made late.
    said, errors = replay_once(
        tmp_path, "numpy_threads.py", "broadcast", UNAWAITED_ROOT, ranks=3, late=0
    )
    assert said.startswith("falsified"), said + errors


@pytest.mark.parametrize("launch", ["threads", "processes"])
def test_a_slot_that_is_used_again_too_early_is_found(tmp_path, monkeypatch, launch):
    """The mistake shows only if no rank waits for the others between two calls."""
    monkeypatch.setenv("LAUNCH", launch)
    file = os.path.join(HERE, "subjects", "one_slot.py")
    claims = "agrees_with_reference,repeats_with_other_data,is_independent_of_history"
    options = {"property": claims, "ranks": "3..3", "cases": 5}
    findings, output = findings_of(tmp_path, file, "all_gather", **options)
    found = {each["unit"]["property"]: each for each in findings}
    assert found["agrees_with_reference"]["verdict"] == "passed", output
    repeated = found["repeats_with_other_data"]
    assert repeated["verdict"] == "falsified", output
    assert (repeated["minimal"]["repeat"], repeated["minimal"]["count"]) == (2, 1)
    after = found["is_independent_of_history"]
    assert after["verdict"] == "falsified", output
    assert after["minimal"]["count"] == 1
    assert [each["count"] for each in after["minimal"]["earlier"]] == [1]


@pytest.mark.parametrize("bug, calls", [("oldest", 1), ("newest", 2), ("anew", 1)])
def test_a_mistake_of_a_started_call_is_found(tmp_path, monkeypatch, bug, calls):
    """The mistakes show only if calls are under way and end in the order that the bug mixes up, or
    if a communicator is freed and made anew.
    """
    file = os.path.join(HERE, "subjects", "handles.py")
    claims = "agrees_with_reference,repeats_with_other_data,is_independent_of_history"
    options = {"property": claims, "ranks": "1..3", "cases": 60}
    findings, output = findings_of(tmp_path, file, "broadcast,all_reduce", **options)
    assert {each["verdict"] for each in findings} == {"passed"}, output
    monkeypatch.setenv("BUG", bug)
    (tmp_path / "report").rename(tmp_path / "before")
    findings, output = findings_of(tmp_path, file, "broadcast", **options)
    verdicts = {each["unit"]["property"]: each["verdict"] for each in findings}
    after = next(each for each in findings if each["verdict"] == "falsified")
    assert verdicts == {
        "agrees_with_reference": "passed",
        "repeats_with_other_data": "passed",
        "is_independent_of_history": "falsified",
    }, output
    earlier = after["minimal"]["earlier"]
    field = "frees" if bug == "anew" else "overlaps"
    assert [each[field] for each in earlier] == calls * [True], output
    assert after["minimal"]["ranks"] == 1


# The smallest case has the root 0, and the bug makes rank 1 the root.
OFF_THE_ROOT = "rank 1: element 0 of recv, which is no part of the output, was written"


def require_wrong_root_is_explained(finding, decoded):
    """Requires that a finding names the rank that was written, and the root that was not."""
    assert finding["reason"] == OFF_THE_ROOT
    told = {(each["rank"], each["decoded"]) for each in finding["wrong"]}
    assert told == {(0, decoded)}


def test_a_wrong_root_of_processes_is_explained(tmp_path):
    skip_without("mpi4py_subject.py", "mpi4py")
    planted = plant(tmp_path, "mpi4py_subject.py", gather=BUGS["wrong_root"])
    (finding,), output = findings_of(tmp_path, planted, "gather")
    require_wrong_root_is_explained(finding, "not written")
    row = r"0 +1 .* not written\n"
    summary = (tmp_path / "report" / "summary.md").read_text()
    done = run_program(["replay", "--times", "1", json.dumps(finding["minimal"])])
    for text in (output, summary, done.stdout):
        # Lines are broken between words.
        assert OFF_THE_ROOT in " ".join(text.split()), text
        assert re.search(row, text), text


@pytest.mark.parametrize(
    "operation, bug",
    [("extract", "last_element"), ("propagate", "stale_buffer"), ("insert", "group_ignored"),
     ("gaussian_cost", "group_ignored")],
)
def test_of_operators_is_found_and_shrunk(tmp_path, operation, bug):
    planted = plant(tmp_path, "numpy_operators.py", **{operation: OPERATOR_BUGS[bug]})
    # This property applies the operator to several inputs of one shape.
    options = {"property": "is_linear"} if bug == "stale_buffer" else {}
    (finding,), output = findings_of(tmp_path, planted, operation, **options)
    assert " replay '" in output
    require_small(finding, output)


def test_torch_shows_all_bugs_and_errors(tmp_path, torch_starts):
    # Each operation has another bug.
    bugs = {
        "reduce": "wrong_root",
        "gather": "group_ignored",
        "broadcast": "last_element",
        "all_reduce": "stale_buffer",
    }
    bodies = {
        **{operation: BUGS[bug] for operation, bug in bugs.items()},
        "all_to_all": FAULTS["raises"][0],
        "scatter": FAULTS["shapes"][0],
    }
    planted = plant(tmp_path, "torch_gloo.py", **bodies)
    unit = [f"{each}/*/agrees_with_reference" for each in bodies if each != "all_reduce"]
    unit.append("all_reduce/*/repeats_with_other_data")
    # In few groups, the place of the root is not its rank in the world. 10 cases are too few.
    options = {"property": None, "unit": unit, "cases": 100, "listens": True}
    findings, output = findings_of(tmp_path, planted, None, **options)
    found = {each["unit"]["operation"]: each for each in findings}
    assert sorted(found) == sorted(bodies), output
    for operation, bug in bugs.items():
        require_small(found[operation], output)
        require_explained(found[operation], operation, bug)
    require_wrong_root_is_explained(found["reduce"], "not written")
    assert "KeyError: 'lost' (planted.py:" in found["all_to_all"]["reason"], output
    assert "Error: " in found["scatter"]["reason"], output


# What a function may do wrong, beside its result, and what is said of it. Each operation has
# another fault, so that one run has them all.
FAULTS = {
    "raises": ("    raise KeyError('lost')", "falsified", r"KeyError: 'lost' (planted.py:"),
    "exits": ("    os._exit(7)", "crashed", "status 7"),
    "kills": ("    os.kill(os.getpid(), 11)", "crashed", "signal 11"),
    "shapes": ("    recv[...] = [1, 2, 3, 4, 5, 6, 7]", "falsified", "ValueError: could not broad"),
}
OPERATIONS_OF_FAULTS = {
    "all_gather": "raises",
    "all_reduce": "exits",
    "all_to_all": "kills",
    "broadcast": "shapes",
}
HANG = "    threading.Event().wait()"


@pytest.mark.parametrize("file, module, faults", [
    ("numpy_threads.py", "", list(FAULTS)),
    # When a rank ends, mpirun starts all ranks anew for each case that is tried: see below.
    ("mpi4py_subject.py", "mpi4py", ["raises", "shapes"]),
])
def test_faults_are_explained(tmp_path, file, module, faults):
    skip_without(file, module)
    bodies = {each: FAULTS[f][0] for each, f in OPERATIONS_OF_FAULTS.items() if f in faults}
    planted = plant(tmp_path, file, **bodies)
    options = {"property": None, "unit": [f"{each}/*/agrees_with_reference" for each in bodies]}
    findings, output = findings_of(tmp_path, planted, None, cases=3, **options)
    found = {each["unit"]["operation"]: each for each in findings}
    assert sorted(found) == sorted(bodies), output
    for operation in bodies:
        _, verdict, reason = FAULTS[OPERATIONS_OF_FAULTS[operation]]
        assert found[operation]["verdict"] == verdict, output
        assert reason in found[operation]["reason"], output


def test_a_hang_is_explained(tmp_path):
    planted = plant(tmp_path, "numpy_threads.py", all_gather=HANG)
    # No call returns, so the time-out may be short.
    (finding,), output = findings_of(tmp_path, planted, "all_gather", cases=3, timeout=0.5)
    assert finding["verdict"] == "hung", output
    assert "no answer within 0.5 s" in finding["reason"], output


@pytest.mark.parametrize("fault", ["exits", "kills", "hangs"])
def test_an_end_of_all_processes_is_explained(tmp_path, fault):
    skip_without("mpi4py_subject.py", "mpi4py")
    body, verdict, reason = FAULTS.get(fault, (HANG, "hung", "no answer within 0.5 s"))
    timeout = 0.5 if fault == "hangs" else PATIENCE_S
    said, errors = replay_once(
        tmp_path, "mpi4py_subject.py", "all_gather", body, timeout, ranks=3
    )
    assert said.startswith(f"{verdict}: ") and reason in said, said + errors


# What one of two ranks does, while the other one waits for it: the verdict with its reason, and how
# the traceback ends. A process that ends itself, or that hangs, raises nothing.
ONE_RANK = """
    if call.rank == 1:
        {what}
    right(call, send, recv)
"""
FAULTS_OF_ONE_RANK = {
    "raises": ("raise KeyError('lost')", "falsified: .*rank 1: KeyError: 'lost' ", "KeyError: 'lo"),
    "leaves": ("sys.exit('no licence')", "crashed: .* died; ", "SystemExit: no licence"),
    "exits": ("os._exit(7)", "crashed: .* died; .*the worker ended with status 7", ""),
    "hangs": (
        "threading.Event().wait()",
        f"hung: no answer within {HANG_S} s: rank 0 entered stage 0 ",
        "",
    ),
    "shapes": ("recv[...] = recv[:, :0]", r"falsified: .*rank 1: \w+Error: .* ", "Error: "),
}
# The function of an operator returns its result.
SHAPES_OF_OPERATORS = (
    "adapted(lambda *one, **array: right.__wrapped__(*one, **array)[:0])(call, send, recv)"
)
READY = [
    ("numpy_threads.py", "", "all_gather"),
    ("numpy_operators.py", "", "extract"),
    ("mpi4py_subject.py", "mpi4py", "all_gather"),
    ("torch_gloo.py", "torch", "all_gather"),
    ("jax_devices.py", "jax", "all_gather"),
]
in_ready_subjects = pytest.mark.parametrize(
    "file, module, operation", READY, ids=[each[0][:-3] for each in READY]
)


def replay_once(tmp_path, file, operation, body, timeout=PATIENCE_S, **fields):
    """Replays a case of two ranks once. Returns the verdict with its reason, and the errors."""
    case = {"operation": operation, "ranks": 2, "type": "f32", "count": 1, **fields}
    if operation == "extract":
        del case["count"]
        case.update(counts=[1, 1], rows=1, cols=1, window=1, detector=1, input="exact")
    planted = plant(tmp_path, file, **{operation: body})
    case["backend"] = f"python:{planted}"
    words = ["--start-timeout", "300", "replay", "--times", "1", "--timeout", str(timeout)]
    done = run_program([*words, json.dumps(case)])
    verdicts = re.findall(r"^verdict +(.*)$", done.stdout, flags=re.M)
    assert len(verdicts) == 1, done.stdout + done.stderr
    return verdicts[0], done.stderr


@in_ready_subjects
@pytest.mark.parametrize("fault", sorted(FAULTS_OF_ONE_RANK))
def test_a_fault_of_one_rank_is_explained(tmp_path, starts, fault, file, module, operation):
    what, verdict, raised = FAULTS_OF_ONE_RANK[fault]
    if fault == "shapes" and operation == "extract":
        what = SHAPES_OF_OPERATORS
    timeout = HANG_S if fault == "hangs" else PATIENCE_S
    said, errors = replay_once(tmp_path, file, operation, ONE_RANK.format(what=what), timeout)
    assert re.match(verdict, said), said + errors
    if raised:
        # The frames of rank 1 come before those of the planted function and of the error.
        frames = r" in rank 1\b.*\n(?: .*\n)* .*planted.py\", line .*\n(?: .*\n)*"
        assert re.search(rf"{frames}.*{raised}", errors), errors
    if verdict.startswith("falsified"):
        assert "planted.py:" in said


@in_ready_subjects
def test_printing_does_no_harm(tmp_path, starts, file, module, operation):
    body = ONE_RANK.format(what="print('hello', flush=True)")
    said, errors = replay_once(tmp_path, file, operation, body)
    assert said == "passed", errors
    assert errors.count("hello\n") == 1, errors


def test_the_reason_has_the_traceback(tmp_path):
    body = "    right(call, send[0], recv)"
    planted = plant(tmp_path, "numpy_threads.py", all_gather=body)
    (finding,), output = findings_of(tmp_path, planted, "all_gather", cases=3)
    # send[0] is a number, which has no copy of the right shape, or there is no such element.
    assert re.search(r"Error: .* \(.*planted.py:\d+\)$", finding["reason"]), output
