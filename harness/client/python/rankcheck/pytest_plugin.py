"""The plugin for pytest: a test function with the fixture `rankcheck` becomes one item per unit.

    def test_gloo(rankcheck):
        rankcheck.check(gloo, suite="smoke", require_ranks=2)

The function is called once while pytest collects, up to its check(), which says what to check. The
program is started for the first item, and checks the selected units of all items of the function.
Each item waits for the finding of its unit.
"""
from __future__ import annotations

import contextlib
import fnmatch
import inspect
import os
import shutil
import tempfile
import warnings
from typing import Any, Dict, List, NamedTuple, NoReturn, Optional, Set

import pytest

from .program import (
    Subjects,
    Unit,
    describe_failure,
    list_units,
    nothing_judged,
    run_words,
    why_skipped,
)
from .pytest_runs import NotRun, Runs

FIXTURE = "rankcheck"
FOLDER_KEY = "rankcheck_folder"
XFAIL_INI = "rankcheck_xfail"
TIME_OVER = "time_over"
TIMEOUT_INI = "rankcheck_timeout"


class Request:
    """The arguments of a call of check()."""

    def __init__(self, subject: Subjects, suite: str, options: Dict[str, Any]) -> None:
        self.subject = subject
        self.suite = suite
        self.options = options
        # pytest keeps the reports in a folder of its own.
        self.words = run_words(subject, suite, {**options, "report": None})

    def units(self) -> List[Unit]:
        """Asks the program which units a run would check."""
        return list_units(self.subject, self.suite, **self.options)


class Recorded(Exception):
    """Ends the call of a test function while pytest collects."""


class Recorder:
    """Stands for the fixture while pytest collects."""

    request: Optional[Request] = None

    def check(self, subject: Subjects, suite: str = "smoke", **options: Any) -> NoReturn:
        """Notes the arguments and ends the function."""
        try:
            self.request = Request(subject, suite, options)
        except (TypeError, ValueError) as error:
            pytest.fail(str(error), pytrace=False)
        raise Recorded


class Item(NamedTuple):
    """What an item of pytest checks. `unit` is empty if the units could not be listed."""

    request: Request
    unit: str
    name: str
    error: str


class Expected(NamedTuple):
    """A line of the file of expected failures."""

    pattern: str
    reason: str


class Checker:
    """The fixture `rankcheck`."""

    def __init__(self, item: Item, runs: Runs, expected: Set[str]) -> None:
        self._item = item
        self._runs = runs
        # The units that are expected to fail.
        self._expected = expected

    def check(self, subject: Subjects, suite: str = "smoke", **options: Any) -> Dict[str, Any]:
        """Returns the finding of this item's unit.

        Raises:
            AssertionError: The finding failed. The message has its reason and the replay line.
            RuntimeError: The run could not be made.
        """
        __tracebackhide__ = True
        item = self._item
        if Request(subject, suite, options).words != item.request.words:
            raise RuntimeError("expected one check(), with the same arguments in every call")
        if item.error:
            raise RuntimeError(item.error)
        try:
            finding = self._runs.finding(item.request.words, item.unit)
        except NotRun as why:
            # If all failures were expected, nothing in this session would be red.
            if all(each in self._expected for each in why.failed):
                raise RuntimeError(f"{why}, which is expected to fail") from None
            pytest.skip(str(why))
        except (OSError, RuntimeError) as error:
            # From here, so that pytest shows no source of this package.
            raise RuntimeError(str(error)) from None
        verdict = finding["verdict"]
        # A unit that the time limit has cut off was not checked, so it is no skip that may pass.
        is_cut = finding.get("reason") == TIME_OVER
        if verdict == "skipped" and not is_cut:
            # Without this, a session in which nothing was checked would be green.
            if not self._runs.has_judged(item.request.words):
                raise RuntimeError(nothing_judged(finding))
            pytest.skip(why_skipped(finding))
        if verdict == "errored" or is_cut:
            raise RuntimeError(describe_failure(finding))
        if verdict != "passed":
            raise AssertionError(describe_failure(finding))
        return finding


class Plugin:
    """The hooks of a session, and what its items share."""

    def __init__(self, config: pytest.Config, folder: str) -> None:
        self._expected = read_expected(config)
        self._units: Dict[str, Any] = {}
        self._matched: Dict[Expected, bool] = {each: False for each in self._expected}
        self.units_expected_to_fail: Set[str] = set()
        self.runs = Runs(folder, read_timeout(config))

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Makes an item for each unit."""
        if FIXTURE not in metafunc.fixturenames:
            return
        request = record(metafunc)
        key = repr(request.words)
        if key not in self._units:
            self._units[key] = listed(request)
        metafunc.parametrize(
            FIXTURE, [self._parameter(each) for each in self._units[key]], indirect=True
        )

    def _parameter(self, item: Item) -> Any:
        marks = []
        for each in self._expected:
            if item.unit and fnmatch.fnmatchcase(item.name, each.pattern):
                self._matched[each] = True
                self.units_expected_to_fail.add(item.unit)
                mark = pytest.mark.xfail(reason=each.reason, raises=AssertionError, strict=True)
                marks.append(mark)
                break
        return pytest.param(item, id=item.name, marks=marks)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Notes the selected units, and warns of expected failures that match no unit."""
        for each in session.items:
            call: Any = getattr(each, "callspec", None)
            item = call.params.get(FIXTURE) if call is not None else None
            if isinstance(item, Item) and item.unit:
                self.runs.select(item.request.words, item.unit)
        for expected, matched in self._matched.items():
            if not matched and self._units:
                text = f"{XFAIL_INI}: {expected.pattern} matches no unit of this session"
                warnings.warn(pytest.PytestWarning(text), stacklevel=1)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Ends the runs, or waits for them if other processes still need their findings."""
        self.runs.finish(stop=bool(session.shouldstop or session.shouldfail))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Says which failures have one cause, because each unit is an item of its own."""
        shared = self.runs.shared_causes()
        if shared:
            terminalreporter.section("rankcheck: failures that seem to have one cause")
        for each in shared:
            terminalreporter.write_line(each)


def record(metafunc: pytest.Metafunc) -> Request:
    """Calls a test function up to its check() and returns the arguments."""
    name = metafunc.function.__name__
    others = [each for each in metafunc.fixturenames if each not in (FIXTURE, "request")]
    used = [each for each in others if each in inspect.signature(metafunc.function).parameters]
    if used:
        pytest.fail(f"{name}: got {used[0]}, expected no fixture beside rankcheck", pytrace=False)
    recorder = Recorder()
    function = metafunc.function
    with contextlib.suppress(Recorded):
        if metafunc.cls is not None:
            function(metafunc.cls(), rankcheck=recorder)
        else:
            function(rankcheck=recorder)
    if recorder.request is None:
        pytest.fail(f"{name}: expected a call of rankcheck.check()", pytrace=False)
    return recorder.request


def listed(request: Request) -> List[Item]:
    """Returns an item for each unit, or one item with the error."""
    try:
        units = request.units()
    except (OSError, RuntimeError) as error:
        return [Item(request, "", "units", str(error))]
    return [Item(request, str(each["id"]), str(each["id"]), "") for each in units]


def read_timeout(config: pytest.Config) -> float:
    """Reads the setting rankcheck_timeout. 0: no limit."""
    text = str(config.getini(TIMEOUT_INI) or 0)
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    # nan is not in the range, either.
    if not 0 <= seconds < float("inf"):
        raise pytest.UsageError(f"{TIMEOUT_INI}: got {text}, expected a number of seconds")
    return seconds


def read_expected(config: pytest.Config) -> List[Expected]:
    """Reads the file that the setting rankcheck_xfail names."""
    name = str(config.getini(XFAIL_INI) or "")
    if not name:
        return []
    path = os.path.join(config.rootpath, name)
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.strip() for line in file]
    except OSError as error:
        raise pytest.UsageError(f"{XFAIL_INI}: {path}: {error.strerror}") from None
    expected = []
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        pattern, _, reason = line.partition(" ")
        if not reason.strip():
            raise pytest.UsageError(
                f"{path}:{number}: got {line}, expected the pattern of a unit and a reason"
            )
        expected.append(Expected(pattern, reason.strip()))
    return expected


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the settings."""
    parser.addini(XFAIL_INI, "The file of units that are expected to fail.")
    parser.addini(TIMEOUT_INI, "The most seconds that a run of rankcheck may take. 0: no limit.")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the hooks. The processes of pytest-xdist share one folder."""
    given = getattr(config, "workerinput", {}).get(FOLDER_KEY)
    folder = given or tempfile.mkdtemp(prefix="rankcheck-pytest-")
    if not given:
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    config.pluginmanager.register(Plugin(config, folder), "rankcheck-session")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells a process of pytest-xdist which folder it shares."""
    plugin = node.config.pluginmanager.get_plugin("rankcheck-session")
    node.workerinput[FOLDER_KEY] = plugin.runs.folder


@pytest.fixture
def rankcheck(request: pytest.FixtureRequest) -> Checker:
    """Checks the unit of this item: `rankcheck.check(subject, suite="smoke", …)`."""
    plugin = request.config.pluginmanager.get_plugin("rankcheck-session")
    assert plugin is not None
    return Checker(getattr(request, "param"), plugin.runs, plugin.units_expected_to_fail)
