"""Subjects as programs: how processes are started, and how they end."""
from __future__ import annotations

import os
import re
import signal
import threading

import pytest
from fake_harness import HERE, Program

from rankcheck.launch import place_of_process, ranks_wanted, without_ranks
from rankcheck.worker import LATE_S

FILE = os.path.join(HERE, "subjects", "in_processes.py")
SUM = {"operation": "all_reduce", "count": 3, "type": "int32", "op": "sum"}


def test_two_processes_start_themselves(tmp_path):
    program = Program([FILE], str(tmp_path))
    harness = program.connect(2)
    assert [peer.hello["ranks"] for peer in harness.peers] == [[0], [1]]
    assert all(peer.hello["everyone"] for peer in harness.peers)
    for _ in range(2):
        harness.check(ranks=2, **SUM)
    harness.close()
    assert program.end() == (0, "")
    assert {"ended-0", "ended-1"} <= set(os.listdir(tmp_path))


def test_a_late_process_enters_after_the_others(tmp_path):
    program = Program([FILE], str(tmp_path))
    harness = program.connect(2)
    harness.check(ranks=2, **SUM)
    leads_ns = []
    for _ in range(9):
        late, other = [result["stamps"][0][0] for result in harness.run(ranks=2, late=0, **SUM)]
        leads_ns.append(late[0] - other[0])
    # The processes do not start at the same time.
    assert max(leads_ns) >= LATE_S * 1e9 / 2
    harness.close()
    assert program.end() == (0, "")


def test_processes_outside_a_group_help_to_make_and_free_it(tmp_path):
    program = Program(["-m", "rankcheck", FILE, "files", "--ranks", "3"], str(tmp_path))
    harness = program.connect(3)
    harness.check(ranks=3, group=[2, 0], **SUM)
    assert harness.run(ranks=3, group=[0], **SUM)[1]["sizes"] == [[]]
    harness.close()
    assert program.end()[0] == 0
    for rank in range(3):
        lines = (tmp_path / f"groups-{rank}").read_text().splitlines()
        assert lines == ["make (2, 0)", "free (2, 0)", "make (0,)"]


def test_if_a_process_ends_its_status_is_returned(tmp_path):
    program = Program([FILE], str(tmp_path), EXIT_IN_CALL="1", RANKCHECK_RANKS="2")
    harness = program.connect(2)
    # A process that has not read everything resets its connection.
    closed = "the worker closed the connection|Connection reset|Broken pipe"
    with pytest.raises((AssertionError, ConnectionError), match=closed):
        harness.check(ranks=2, **SUM)
    assert program.end()[0] == 7


def test_an_idle_process_that_is_ended_prints_nothing(tmp_path):
    program = Program([FILE], str(tmp_path))
    harness = program.connect(2)
    harness.check(ranks=2, **SUM)
    program.process.terminate()
    assert program.end() == (128 + signal.SIGTERM, "")
    harness.close()


@pytest.mark.parametrize("variables, processes, status", [
    ({"RANKCHECK_RANKS": "2"}, 2, 128 + signal.SIGTERM),
    ({"RANKCHECK_RANK": "0", "RANKCHECK_WORLD": "1"}, 1, -signal.SIGTERM),
])
def test_a_process_that_hangs_prints_where(tmp_path, variables, processes, status):
    entered = [tmp_path / f"entered-{rank}" for rank in range(processes)]
    for path in entered:
        os.mkfifo(path)
    program = Program([FILE], str(tmp_path), HANG_IN_CALL="1", **variables)
    harness = program.connect(processes)

    def call():
        with pytest.raises(AssertionError, match="the worker closed the connection"):
            harness.run(ranks=processes, **SUM)

    thread = threading.Thread(target=call)
    thread.start()
    for path in entered:
        path.read_bytes()
    program.process.terminate()
    ended, errors = program.end()
    thread.join()
    harness.close()
    assert ended == status, errors
    assert errors.count("(most recent call first):\n") == processes, errors
    for rank in range(processes):
        assert errors.count(f" in rank {rank} of {processes}\n") == 1, errors


def test_a_failing_setup_is_the_last_line_of_the_output(tmp_path):
    program = Program([FILE], str(tmp_path), FAIL_IN_SETUP="1")
    status, errors = program.end()
    assert status == 1
    lines = errors.strip().splitlines()
    said = r"RuntimeError: rank 1 of 2 has no network \(in_processes.py:\d+\)$"
    assert re.match(said, lines[-1]), errors
    assert "Traceback (most recent call last):" in lines, errors


MISTAKES = {
    "def f(:": "SyntaxError: invalid syntax (file.py:4)",
    "import no_such_module": "ModuleNotFoundError: No module named 'no_such_module' (file.py:4)",
    "import other": "SyntaxError: invalid syntax (other.py:2, called from file.py:4)",
    "s.barrier(lambda: None)": (
        "TypeError: file.py:4: barrier: got a function of (), expected one of (call)"
    ),
    "s.broadcast(types='f31')": "; did you mean f32? (file.py:4)",
    "raise OSError('b' * 999)": " (file.py:4)",
    "s.setup(lambda me: 1 / 0)": "ZeroDivisionError: division by zero (file.py:4)",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_of_a_file_has_its_place_in_the_last_line(tmp_path, line):
    (tmp_path / "other.py").write_text("a = 1\nb =\n")
    file = tmp_path / "file.py"
    file.write_text(
        "import rankcheck\n"
        "s = rankcheck.Subject('s')\n"
        "s.gather(lambda call, send, recv: None)\n"
        f"{line}\n"
    )
    status, errors = Program(["-m", "rankcheck", str(file)], str(tmp_path)).end()
    assert status == 1
    lines = errors.strip().splitlines()
    assert lines[-1].endswith(MISTAKES[line]), errors
    assert len(lines[-1]) <= 300
    assert lines[0] == "Traceback (most recent call last):", errors


def test_a_program_without_a_harness_says_so(tmp_path):
    program = Program([FILE], str(tmp_path), RANKCHECK_RANK="0", RANKCHECK_WORLD="1")
    os.unlink(tmp_path / "socket")
    status, errors = program.end()
    assert status == 1
    assert errors.strip().splitlines()[-1].startswith("FileNotFoundError")


def test_the_package_serves_a_subject_by_name(tmp_path):
    program = Program(["-m", "rankcheck", FILE, "other"], str(tmp_path))
    status, errors = program.end()
    assert status == 1
    assert "got these subjects: files; expected a subject with the name other" in errors


def test_a_file_without_a_subject_says_so(tmp_path):
    file = tmp_path / "file.py"
    file.write_text("print('hi')\n")
    status, errors = Program(["-m", "rankcheck", str(file)], str(tmp_path)).end()
    assert status == 1
    assert errors.strip().endswith(
        "file.py: defines no subject, expected one: s = rankcheck.Subject(NAME)"
    )


def test_a_launcher_is_started(tmp_path):
    file = tmp_path / "file.py"
    file.write_text(
        "import rankcheck\n"
        "launch = rankcheck.processes(launcher='env RANKCHECK_RANK=0 RANKCHECK_WORLD={ranks}')\n"
        "s = rankcheck.Subject('s', launch)\n"
        "s.barrier(lambda call: None)\n"
    )
    program = Program(["-m", "rankcheck", str(file), "--ranks", "1"], str(tmp_path))
    harness = program.connect(1)
    harness.check(operation="barrier", ranks=1)
    harness.close()
    assert program.end()[0] == 0


def test_a_missing_launcher_is_named(tmp_path):
    file = tmp_path / "file.py"
    file.write_text(
        "import rankcheck\n"
        "s = rankcheck.Subject('s', rankcheck.processes(launcher='no-such-launcher'))\n"
        "s.barrier(lambda call: None)\n"
    )
    status, errors = Program(["-m", "rankcheck", str(file)], str(tmp_path)).end()
    assert status == 1
    assert errors.strip() == (
        "no-such-launcher: the launcher cannot be started: No such file or directory"
    )


def test_a_subject_without_operations_is_not_served(tmp_path):
    file = tmp_path / "file.py"
    file.write_text("import rankcheck\ns = rankcheck.Subject('mine', rankcheck.processes())\n")
    status, errors = Program(["-m", "rankcheck", str(file)], str(tmp_path)).end()
    assert status == 1
    assert errors.strip() == (
        "file.py: mine offers no operation: decorate a function, for example with "
        "@subject.all_reduce"
    )


def test_reads_the_place_of_a_process():
    assert place_of_process({}) is None
    assert place_of_process({"RANK": "1"}) is None
    assert place_of_process({"SLURM_PROCID": "3", "SLURM_NTASKS": "8"}) == (3, 8)
    mpi = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}
    assert place_of_process({"RANK": "5", "WORLD_SIZE": "6", **mpi}) == (1, 2)
    assert place_of_process({"RANKCHECK_RANK": "0", "RANKCHECK_WORLD": "4", **mpi}) == (0, 4)


def test_reads_the_number_of_ranks():
    assert ranks_wanted([], {}, 4) == 4
    assert ranks_wanted([], {"RANKCHECK_RANKS": "3"}, 4) == 3
    assert ranks_wanted(["--ranks", "2"], {"RANKCHECK_RANKS": "3"}, 4) == 2
    assert ranks_wanted(["x", "--ranks=5"], {}, 4) == 5
    assert without_ranks(["a", "--ranks", "2", "b", "--ranks=3"]) == ["a", "b"]
