"""Ranks that somebody else starts connect to the program, which listens at an address.

The tests are skipped unless RANKCHECK in the environment names the program.
"""
from __future__ import annotations

import json
import os
import re

import pytest
from fake_harness import HERE
from listening import SECRET, Ranks, free_address

from rankcheck.program import run_program

pytestmark = pytest.mark.skipif(
    not os.environ.get("RANKCHECK"),
    reason="RANKCHECK in the environment does not name the program rankcheck",
)
FILE = os.path.join(HERE, "subjects", "in_processes.py")
PLANTED = f"""
import runpy
s = runpy.run_path({FILE!r})["s"]
offer = s.offers["all_reduce"]
right = offer.function

def wrong(call, send, recv):
    right(call, send, recv)
    recv[-1:] = recv[:1]

offer.function = wrong
"""


@pytest.fixture
def run(tmp_path, monkeypatch, quick_starts):
    """Runs few cases on the ranks at an address. Returns the findings, the status, the output."""
    monkeypatch.setenv("RANKCHECK_SECRET", SECRET)

    def run(address, start_timeout=300):
        words = ["run", "smoke", "--operation", "all_reduce", "--property", "agrees_with_reference"]
        words += ["--ranks", "2..2", "--cases", "5", "--start-timeout", str(start_timeout)]
        report = tmp_path / "report"
        words += ["--report", str(report), "--backend", f"listen:{address}"]
        done = run_program(words)
        file = report / "report.json"
        findings = json.loads(file.read_text())["findings"] if file.exists() else []
        return findings, done.returncode, done.stdout + done.stderr

    return run


def test_ranks_of_a_launcher_pass(tmp_path, run):
    address = free_address()
    with Ranks(FILE, tmp_path, address) as ranks:
        (finding,), status, output = run(address)
        # The ranks end by themselves when nobody listens any more.
        assert ranks.statuses() == [0, 0], output
    assert (status, finding["verdict"]) == (0, "passed"), output


def test_ranks_connect_again_for_replays(tmp_path, run):
    file = tmp_path / "planted.py"
    file.write_text(PLANTED)
    address = free_address()
    with Ranks(file, tmp_path, address):
        (finding,), status, output = run(address)
    assert (status, finding["verdict"]) == (1, "falsified"), output
    assert finding["replays"] == finding["replays_failed"] > 1, output
    assert finding["minimal"]["count"] == 2, output


def test_a_wrong_secret_is_refused(tmp_path, run, capfd):
    address = free_address()
    with Ranks(FILE, tmp_path, address, secret="fedcba9876543210") as ranks:
        findings, status, output = run(address, start_timeout=10)
        assert ranks.statuses() == [1, 1]
    said = rf"RANKCHECK_SECRET: the program at {address} closed all \d+ connections of this rank .*"
    lines = capfd.readouterr().err.splitlines()
    assert [bool(re.match(said, line)) for line in lines] == [True, True], lines
    assert status == 2, output
    assert findings == []
    assert len(output.strip().splitlines()) == 1
    assert "still starting after 10 s" in output
    assert "a rank connected with a wrong secret in RANKCHECK_SECRET" in output


def test_a_missing_secret_is_one_line(run, monkeypatch):
    monkeypatch.delenv("RANKCHECK_SECRET")
    findings, status, output = run("127.0.0.1:1")
    assert (findings, status) == ([], 2)
    assert len(output.strip().splitlines()) == 1
    assert "the secret in RANKCHECK_SECRET has 0 characters, expected 16..256" in output
