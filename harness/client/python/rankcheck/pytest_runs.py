"""Runs of the program whose findings several items, and several processes of pytest, wait for."""
from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import signal
import subprocess
import time
from typing import Any, Dict, List, Optional

from .program import PASSING, Finding, environment_with_package, find_program, report_of

POLL_S = 0.02
# Seconds that an interrupted program gets to end its processes.
PATIENCE_S = 10.0


class NotRun(RuntimeError):
    """A run with fail_fast ended at the failure of other units."""

    def __init__(self, failed: List[str]) -> None:
        super().__init__("not run: fail_fast ended the run at the failure of another unit")
        self.failed = failed


class Run:
    """A run of the program. The process that locks its file starts it; all others read along."""

    def __init__(self, folder: str, words: List[str], units: List[str], timeout_s: float) -> None:
        selected = [word for unit in units for word in ("--unit", unit)]
        self._words = [*words, *selected]
        digest = hashlib.sha256(json.dumps(self._words).encode()).hexdigest()[:16]
        self._base = os.path.join(folder, digest)
        self._journal = os.path.join(self._base, "journal.jsonl")
        self._timeout_s = timeout_s
        self._read_to = 0
        self._findings: Dict[str, Finding] = {}
        # The unit that each backend has checked last.
        self._last: Dict[str, str] = {}
        # Whether only the report says which findings hold: a suite that repeats itself has several
        # for a unit, and with several jobs, more than one unit is the last of its process.
        self._needs_report = "--jobs" in words
        self._has_failed_fast = False
        self._lock: Optional[Any] = None
        self._process: Optional["subprocess.Popen[bytes]"] = None
        self._end_s = float("inf")

    def finding(self, unit: str) -> Finding:
        """Waits for the finding of a unit.

        Raises:
            NotRun: The run ended at the failure of another unit, as fail_fast asks.
            RuntimeError: The run ended without the finding.
        """
        while True:
            ended = self._read_all()
            if unit in self._findings and (ended or self._is_final(unit)):
                return self._findings[unit]
            if ended and self._has_failed_fast:
                verdicts = {name: each["verdict"] for name, each in self._findings.items()}
                raise NotRun([name for name in verdicts if verdicts[name] not in PASSING])
            if ended:
                raise RuntimeError(ended)
            time.sleep(POLL_S)

    def has_judged(self) -> bool:
        """Waits until a unit was not skipped, or until the run has ended. Whether there is one."""
        while True:
            ended = self._read_all()
            if any(each["verdict"] != "skipped" for each in self._findings.values()):
                return True
            if ended:
                return False
            time.sleep(POLL_S)

    def _read_all(self) -> str:
        """Reads the findings that there are. Returns why the run has ended, or an empty text."""
        ended = self._why_ended()
        self._read()
        if ended and self._needs_report:
            self._read_report()
        return ended

    def _is_final(self, unit: str) -> bool:
        """Whether the finding of a unit stays as it is.

        If a subject ends badly, the unit that it has checked last gets another finding.
        """
        has_failed = self._findings[unit]["verdict"] not in PASSING
        return not self._needs_report and (has_failed or unit not in self._last.values())

    def finish(self, stop: bool) -> None:
        """Interrupts the program if this process has started it, or waits for its end."""
        while self._process is not None and not stop and not self._why_ended():
            time.sleep(POLL_S)
        self._interrupt("the session was stopped")

    def causes(self) -> List[Dict[str, Any]]:
        """Returns what failed and why, as the report has it. There is no report of a cut run."""
        with contextlib.suppress(FileNotFoundError):
            causes: List[Dict[str, Any]] = report_of(self._base).get("causes", [])
            return causes
        return []

    def _read(self) -> None:
        """Reads the whole lines that have been added to the journal."""
        try:
            with open(self._journal, "rb") as file:
                file.seek(self._read_to)
                text = file.read()
        except FileNotFoundError:
            return
        whole = text[: text.rfind(b"\n") + 1]
        self._read_to += len(whole)
        for line in whole.splitlines():
            entry = json.loads(line)
            # A suite that repeats itself reports a unit several times.
            self._needs_report = self._needs_report or bool(entry.get("cycles"))
            self._has_failed_fast = entry.get("ending") == "failed_fast"
            if "finding" in entry:
                self._note(entry["finding"])

    def _note(self, finding: Finding) -> None:
        unit = finding["id"]
        self._last[finding["unit"]["backend"]] = unit
        if unit not in self._findings or self._findings[unit]["verdict"] in PASSING:
            self._findings[unit] = finding

    def _read_report(self) -> None:
        """Reads the findings of the whole run. Of an interrupted run, there may be none."""
        self._findings.clear()
        with contextlib.suppress(FileNotFoundError):
            for finding in report_of(self._base)["findings"]:
                self._note(finding)

    def _why_ended(self) -> str:
        """Returns why the run has ended. Empty if it is under way. Starts it if nobody has."""
        if self._process is None and os.path.exists(self._base + ".ended"):
            with open(self._base + ".ended", encoding="utf-8") as file:
                return file.read()
        if self._lock is None and not self._start():
            return ""
        if self._process is None:
            return ""
        status = self._process.poll()
        if status is not None:
            return self._note_end(f"rankcheck ended with status {status}")
        if time.monotonic() > self._end_s:
            return self._interrupt(f"the run took longer than {self._timeout_s:g} s")
        return ""

    def _start(self) -> bool:
        """Starts the program, unless another process of pytest has done so."""
        lock = open(self._base + ".lock", "w", encoding="utf-8")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            return False
        self._lock = lock
        # Another process may have ended the run since this one looked.
        if os.path.exists(self._base + ".ended"):
            return False
        with open(self._base + ".output", "wb") as output:
            self._process = subprocess.Popen(
                [find_program(), *self._words, "--report", self._base],
                env=environment_with_package(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        if self._timeout_s:
            self._end_s = time.monotonic() + self._timeout_s
        return True

    def _interrupt(self, why: str) -> str:
        if self._process is None or self._process.poll() is not None:
            return ""
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        return self._note_end(why)

    def _note_end(self, why: str) -> str:
        with open(self._base + ".output", encoding="utf-8", errors="replace") as file:
            lines = file.read().strip().splitlines()
        # The folder is removed when pytest ends, so the lines that lead there are of no use.
        hints = ("report: " + self._base, "to continue: ")
        last = "\n".join([line for line in lines if not any(h in line for h in hints)][-5:])
        text = f"{why}, and this unit has no finding: {last}"
        part = self._base + ".part"
        with open(part, "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(part, self._base + ".ended")
        self._process = None
        return text


class Runs:
    """The runs of a session: one for each check()."""

    def __init__(self, folder: str, timeout_s: float) -> None:
        self.folder = folder
        self._timeout_s = timeout_s
        self._selected: Dict[str, List[str]] = {}
        self._runs: Dict[str, Run] = {}

    def select(self, words: List[str], unit: str) -> None:
        """Adds a unit to those that a run checks."""
        units = self._selected.setdefault(repr(words), [])
        if unit not in units:
            units.append(unit)

    def finding(self, words: List[str], unit: str) -> Finding:
        """Returns the finding of a unit, and starts the run if nobody has."""
        key = repr(words)
        if key not in self._runs:
            units = sorted(self._selected[key])
            self._runs[key] = Run(self.folder, words, units, self._timeout_s)
        return self._runs[key].finding(unit)

    def has_judged(self, words: List[str]) -> bool:
        """Whether a unit of a run that was started was not skipped. Waits until this is known."""
        return self._runs[repr(words)].has_judged()

    def shared_causes(self) -> List[str]:
        """Says which failures of several units seem to have one cause."""
        causes = [cause for run in self._runs.values() for cause in run.causes()]
        shared = [each for each in causes if len(each["units"]) > 1 and "is_known" not in each]
        return [f"{each['extent']}: {each['line']}" for each in shared]

    def finish(self, stop: bool) -> None:
        """Ends all runs that this process has started, or waits for their end."""
        for run in self._runs.values():
            run.finish(stop)
