"""What pages say of runs and comparisons that are made up here.

browser.py calls look_at_contents() with an open page of the program, whose script then shows other
data.
"""
import copy
import json

FAILURE = {
    "id": "all_reduce/ring/sim/agrees_with_reference",
    "unit": {"operation": "all_reduce", "algorithm": "ring", "backend": "sim",
             "property": "agrees_with_reference"},
    "verdict": "falsified", "reason": "differs from the reference", "cases": 4, "ranks_max": 5,
    "compared_bytes": 64, "ratio_max": 0.0,
    "minimal": {"operation": "all_reduce", "ranks": 3, "count": 1, "type": "int32", "op": "sum",
                "input": "coded"},
    "original": {"ranks": 5}, "steps": ["count 65535 -> 1", "ranks 5 -> 4", "ranks 4 -> 3"],
    "shrinks": 4, "replays": 5, "replays_failed": 5, "wrong_count": 1,
    "wrong": [{"rank": 1, "index": 0, "expected": "21", "got": "5", "error": 16.0, "bound": 0.0,
               "decoded": "rank 2 missing"}],
    "page": {"replay": "rankcheck replay '{\"operation\":\"all_reduce\"}'",
             "says": ["The contribution of rank 2 is missing."], "cause": 0,
             "changes": [["count", "65535", "1"], ["ranks", "5", "3"]]},
}
CAUSE = {"line": "all_reduce, algorithm ring, on sim, gave 1 wrong element. The contribution of rank 2 is "
                 "missing.", "units": [FAILURE["id"]]}
REPLAY = "rankcheck replay"


def changed(value, **fields):
    return {**copy.deepcopy(value), **fields}


def finding(operation, verdict="passed", **fields):
    unit = {"operation": operation, "algorithm": "ring", "backend": "sim", "property": "splits"}
    made = {"id": f"{operation}/ring/sim/splits", "unit": unit, "verdict": verdict, "cases": 3,
            "ranks_max": 4, "compared_bytes": 64, "ratio_max": 0.25, "cells": {"f32/sum": 3}}
    return {**made, **fields}


def run_of(findings, causes=(), environment=None, **fields):
    verdicts = ("passed", "falsified", "flaky", "hung", "crashed", "vacuous", "skipped", "errored")
    total = {"verdicts": {each: sum(f["verdict"] == each for f in findings) for each in verdicts},
             "skip_reasons": {}, "cases": 7, "compared_bytes": 128, "ratio_max": 0.25, "refused_cells": 0}
    report = {"run": {"seed": 1}, "ending": "completed", "not_run": 0, "exit_status": 1, "total": total,
              "findings": findings, "causes": list(causes), "environment": environment or {}, **fields}
    return {"verdict": "Failed: so it is.", "cut": "2 units were not run", "report": report}


class Page:
    """The page of some data, shown by the script of an open page."""

    def __init__(self, driver, name, expect, data):
        self.driver, self.name, self.expect = driver, name, expect
        show = "comparisonPage" if "comparison" in data else "runPage"
        # The driver would sort the fields of an object.
        driver.execute_script("document.querySelector('main').replaceChildren("
                              f"...h('main', {show}(JSON.parse(arguments[0]))).childNodes)",
                              json.dumps(data))
        self.text = self.text_of("main")

    def text_of(self, css):
        """The texts of all elements, those of closed parts, too."""
        return self.driver.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent).join('\\n')", css)

    def count(self, css):
        return self.driver.execute_script(
            "return document.querySelectorAll(arguments[0]).length", css)

    def rows(self, caption):
        """The cells of the table whose caption begins with a text."""
        return self.driver.execute_script(
            "return [...document.querySelectorAll('table')].filter(t => t.caption.textContent"
            ".startsWith(arguments[0])).flatMap(t => [...t.rows].map(r => [...r.cells].map("
            "c => c.textContent)))", caption)

    def says(self, *texts, where="main"):
        for each in texts:
            self.expect(each in self.text_of(where), self.name, f"{where} does not say {each!r}")

    def does_not_say(self, *texts, where="main"):
        for each in texts:
            self.expect(each not in self.text_of(where), self.name, f"{where} says {each!r}")

    def has(self, count, css):
        found = self.count(css)
        self.expect(found == count, self.name, f"{found} of {css}, expected {count}")

    def has_row(self, caption, *cells):
        rows = self.rows(caption)
        self.expect(list(cells) in rows, self.name, f"{caption}: no row {cells} in {rows}")


def look_at_failures(page_of):
    page = page_of("a failure", run_of([FAILURE, finding("gather")], [CAUSE]))
    page.says("Failed: so it is.", where="h1")
    page.says("all_reduce, algorithm ring, on sim, gave 1 wrong element", where="#failure-1")
    page.says("The contribution of rank 2 is missing. This is what element 0 of rank 1 shows.",
              "made simpler in 4 steps", "It was then run again 5 times, and failed each time.",
              "3 cases passed, and the next one failed.", "and 1 more step.",
              "3 ranks, count 1, type int32, op sum, input coded.", where=".card")
    page.says("The unit that failed has a card below.")
    page.has(1, "svg[aria-label='Picture of ranks and elements; rank 0: no output; rank 1: 1 a contribution "
                "is missing']")
    page.does_not_say("Never covered")
    page.has_row("The case that failed first", "count", "65535", "1")
    page.has_row("1 wrong element", "1", "0", "21", "5", "16", "0", "The contribution of rank 2 is missing.")
    page.has(1, "header .command")
    page.has(3, ".card ol li")
    for word in ("not hold", " holds.", "held", "findings"):
        page.does_not_say(word)

    whole = changed(FAILURE, steps=[], shrinks=0, replays=0)
    del whole["original"]
    page = page_of("a failure that was not shrunk", run_of([whole], [CAUSE]))
    page.does_not_say("failed first, beside")
    page.says("It was neither made simpler nor run again.")

    long = changed(FAILURE, page=changed(FAILURE["page"], replay=REPLAY + "a" * 500))
    page = page_of("a long command", run_of([long], [CAUSE]))
    page.has(0, "header .command")
    page.has(1, ".card .command")
    long = changed(FAILURE, page=changed(FAILURE["page"], replay=REPLAY + "a" * 20000))
    page = page_of("a very long command", run_of([long], [CAUSE]))
    page.has(0, ".command")
    page.says("The case has 20,016 bytes, too many for this page: report.json has it")

    chance = changed(FAILURE, shrinks=0, replays_failed=0)
    page = page_of("a failure that did not come back", run_of([chance], [CAUSE]))
    page.says("This is the case that failed first. It was then run again 5 times, and failed 0 times.")

    ranks = changed(FAILURE, unit=changed(FAILURE["unit"], property="ranks_agree_bitwise"))
    ranks["wrong"][0].update(error=0.0, compared_with="rank 0")
    page = page_of("ranks that differ", run_of([ranks], [CAUSE]))
    page.says("ranks agree bitwise, of all_reduce (property ranks_agree_bitwise)", where=".card")
    page.has_row("1 wrong element", "rank", "element", "rank 0 has", "got", "what the value says")

    later = changed(FAILURE)
    later["wrong"][0].update(stage=1, group=[2, 0])
    page = page_of("a later call", run_of([later], [CAUSE]))
    page.has_row("1 wrong element", "2", "2, 0", "1", "0", "21", "5", "16", "0",
                 "The contribution of rank 2 is missing.")


def look_at_causes(page_of):
    other = changed(FAILURE, id="reduce/ring/sim/agrees_with_reference")
    other["unit"]["operation"] = "reduce"
    shared = changed(CAUSE, extent="2 units of 2 operations: all_reduce, reduce", cell="f32/max",
                     units=[FAILURE["id"], other["id"]])
    page = page_of("a shared cause", run_of([FAILURE, other], [shared]))
    page.has(1, "details.card")
    page.says("(2 units of 2 operations: all_reduce, reduce)", where="header")
    page.says("(2 units of 2 operations: all_reduce, reduce)", "All of these failures are of f32/max. Cases",
              "1 more unit, probably with this cause", where=".card")
    page.says("The 2 units that failed seem to have 1 cause, which has a card below.")
    errored = finding("gather", "errored", reason="no answer")
    page = page_of("an error", run_of([FAILURE, errored], [CAUSE, {"line": "l", "units": [errored["id"]]}]))
    page.says("The 2 units that failed or could not be checked seem to have 2 causes, each of which has a "
              "card below.", "1 unit could not be checked because of an error outside of the code")
    page = page_of("only an error", run_of([errored], [{"line": "l", "units": [errored["id"]]}]))
    page.says("The unit that could not be checked has a card below.")
    many = [changed(FAILURE, id=str(i), unit=changed(FAILURE["unit"], algorithm=f"a{i}")) for i in range(500)]
    causes = [changed(CAUSE, units=[each["id"]]) for each in many]
    page = page_of("many causes", run_of(many, causes))
    page.has(200, "details.card")
    page.says("300 more causes of failures, which report.json lists", "and 495 more causes")
    page.has_row("300 more causes", "all_reduce", "sim", "falsified", "300")


def look_at_known(page_of):
    known = changed(FAILURE, is_known=True, known_cells=["int8/sum"], shrinks=0, replays=0, steps=[],
                    known=[{"id": "late-rank", "covered": 9, "failed": 4}])
    status = {"id": "late-rank", "state": "failing", "is_expired": True, "expires": "2026-01-31",
              "units": 1, "covered": 9, "failed": 4, "reason": "a rank is late"}
    page = page_of("a known failure", run_of([known, finding("gather")], [changed(CAUSE, is_known=True)],
                                             known=[status]))
    page.has(0, "#failures")
    page.has(1, "#known-1")
    page.says("! falsified as known", where="#known-1")
    page.says("known late-rank (4 of 9 cases failed). It was neither made simpler nor run again.")
    page.has_row("Known defects that", "late-rank", "still fails, expired on 2026-01-31", "4 of 9", "1",
                 "a rank is late")
    page.says("! known, 1 of 1", where="#matrix ~ *")
    page.says("known", where="td.doubt")


def look_at_pictures(page_of):
    marked = changed(FAILURE, marks=["..", "m x", "u?"])
    page = page_of("marks", run_of([marked], [CAUSE]))
    page.has(1, "svg[aria-label='Picture of ranks and elements; rank 0: 2 right; rank 1: 1 wrong, 1 a "
                "contribution is missing; rank 2: 1 not written, 1 not known']")
    values = {"output": "frames", "first": 4, "columns": 2, "expected": [1, 2], "got": [1, "inf"],
              "error": [0, 1.5]}
    page = page_of("values", run_of([changed(FAILURE, values=values)], [CAUSE]))
    page.says("Values 4 to 5 of frames, 2 in a row.")
    page.has(1, "svg[aria-label='error: 2 values, the largest 1.5']")
    page.has(1, "rect.f-bad")


def look_at_hostile_texts(page_of):
    hostile = changed(FAILURE, reason="<b>", verdict="falsified")
    hostile["unit"].update(operation="<script>alert(1)</script>", algorithm='"><img src=x>')
    hostile["wrong"][0]["decoded"] = "</td><script>"
    page = page_of("hostile", run_of([hostile], [changed(CAUSE, line="<img>")], environment={
        "host": "<script>", "unavailable_backends": {"<script>": "<i>"}}))
    page.has(0, "main script, main img, main b, main i")
    page.says("<script>alert(1)</script>", "Backend <script> cannot run here: <i>.")


def look_at_coverage(page_of):
    vacuous = finding("reduce", "vacuous", missing_cells=["int8/sum"], refused_cells=["f16/sum"],
                      cells={"f32/sum": 7, "ranks/3": 4, "input/f32/wide": 3})
    page = page_of("holes", run_of([vacuous]))
    page.says("1 hole: reduce/int8/sum.")
    page.has_row("Cases by type and reduction", "type", "input wide", "sum")
    page.has_row("Cases by type and reduction", "f16", "", "not offered")
    page.has_row("Cases by type and reduction", "int8", "", "hole")
    page.has_row("Cases by operation and number", "reduce", "4")
    page.says("The report does not say with how many ranks the cases of each type ran.")
    first = finding("reduce", cells={"f32/sum": 7, "int8/sum": 2},
                    cell_members={"f32/sum": "2:7", "int8/sum": "3:1 8:1"})
    second = changed(first, cell_members={"f32/sum": "4:3 5:4", "int8/sum": "3:2"})
    other = finding("gather", cells={"f32/sum": 10}, cell_members={"f32/sum": "1:10"})
    page = page_of("ranks", run_of([first, second, other]))
    page.says("6 of 11 combinations of an operation, a type, ")
    page.has_row("Cases of reduce", "f32", "14not 3, 8")
    page.has_row("Cases of reduce", "int8", "4not 2, 4, 5")
    page.has_row("Cases by type and number of ranks", "type", "1", "2", "3", "4", "5", "8")
    page.has(2, ".gaps")
    other.update(cells={"f32/sum": 10, "int8/sum": 1},
                 cell_members={"f32/sum": "1:7 2:1 3:1 4:1", "int8/sum": "9:1"})
    page_of("ranges", run_of([other])).says("not 1–4", where=".gaps")
    page = page_of("many operations", run_of([finding(f"o{i}") for i in range(4000)]))
    page.says("and 3800 more operations, which report.json lists", "and 3900 more, which report.json lists")


def look_at_gates(page_of):
    exposure = {"bytes": 4096, "copies": 2, "wrong_bytes": 0, "error_rate_bound": 7e-4, "confidence": 0.95}
    link = {"from": 0, "to": 1, "method": "peer", "verdict": "falsified", "reason": "2 copies are wrong",
            "gigabytes_per_s": 12.5}
    speed = {"measurement": "fft", "counter": "ratio", "value": 1.92, "at_most": 1.7, "met": False}
    gate = {"devices": [{"device": 0, "name": "a GPU", "verdict": "passed", "exposure": exposure}],
            "links": [link], "exposure": exposure, "cases": 90, "case_failure_rate_bound": 0.033,
            "speeds": [speed]}
    page = page_of("a gate", run_of([finding("broadcast")], environment={"hardware": gate}))
    page.says("12.5 GB/s: 2 copies are wrong", "error rate per byte below 0.0007 (confidence 95 %)",
              "A pass of this gate is about the checks below", "rate per case is below 0.033.")
    page.has_row("Speeds beside", "fft", "ratio", "1.92", "at most 1.7", "no")
    page.does_not_say("stand-ins")
    gate = {"devices": [{"device": 0, "name": "stand-in", "memory": "host", "verdict": "skipped",
                         "reason": "not hardware: host"}],
            "phases": [{"name": "speed", "verdict": "falsified", "reason": "it could not be measured"},
                       {"name": "cuda", "verdict": "passed", "reason": ""}],
            "links": [changed(link, method="copy", verdict="errored", reason="no answer")]}
    page = page_of("a gate that failed", run_of([finding("broadcast")], environment={"hardware": gate}))
    page.says("The gate's part speed is falsified: it could not be measured", where="header a[href='#gate']")
    page.says("The gate's device 0 is skipped: not hardware: host.",
              "The gate's link 0 to 1 by copy is errored: no answer.", where=".columns li")
    page.does_not_say("part cuda", where="header, .columns")
    page.says("Some devices are stand-ins, so their numbers describe no hardware")
    gate = {"devices": [{"device": i, "verdict": "passed"} for i in range(70)],
            "links": [{"from": i, "to": i, "method": "copy", "verdict": "passed"} for i in range(70)]}
    page = page_of("a large gate", run_of([finding("broadcast")], environment={"hardware": gate}))
    page.says("and 6 more devices, which report.json lists", "and 6 more links, which report.json lists")
    page.has_row("Links by copy", "from \\ to", *(str(i) for i in range(64)))
    odd = {"devices": [1, "two"], "links": 3, "exposure": "none"}
    page = page_of("an odd gate", run_of([finding("broadcast")], environment={
        "hardware": odd, "durations_s": {"a": "b"}}))
    page.says("All links together: not known.")


def look_at_the_rest(page_of):
    cut = run_of([finding("reduce", "skipped", reason="not_supported", refusal="type: f64")], not_run=2,
                 ending="interrupted")
    cut["report"]["total"]["skip_reasons"] = {"not_supported": 1}
    page = page_of("a cut run", cut)
    page.says("The run ended early (interrupted): 2 units were not run.", "1 unit was skipped: type: f64.",
              "1 unit was skipped because the backend takes none of their cases.", where="ul")
    page = page_of("times", run_of([finding("reduce")], environment={"durations_s": {"a": 2, "b": 0.5}}))
    page.says("2 units took 2.5 s together.")
    page.has_row("The 2 units that took longest", "a", "", "2 s")
    page.has_row("Number of units by the worst error", "up to 0.3", "", "1")
    asked = {"suites": ["ci", "my suite.json"], "operation": "all_*",
             "backends": ["sim", "command:./w --bug a,b"], "ranks": [1, 3], "hosts": [0, 0, 1],
             "types": ["int32", "f32"], "cases": 40, "ranks_required": 2, "seed": "18446744073709551615",
             "devices": 4, "strict_known": True}
    page_of("options", run_of([finding("reduce")], run=asked)).says(
        "rankcheck run ci 'my suite.json' --operation 'all_*' --backend sim --backend "
        "'command:./w --bug a,b' --ranks 1..3 --hosts 0,0,1 --type int32,f32 --cases 40 --require-ranks 2 "
        "--seed 18446744073709551615; devices 4; strict_known true")


def comparison_of(changes, causes=(), findings=(), trend=(), runs=2):
    sides = [{"name": f"run-{i}", "ending": "completed", "units": 3, "run": {"seed": i},
              "environment": {"host": "h", "backends": {"mpi": {"versions": {"mpi": f"Open MPI {i}, built"}}}}}
             for i in range(runs)]
    counts = {}
    for each in changes:
        counts[each["kind"]] = counts.get(each["kind"], 0) + 1
    comparison = {"worse": True, "before": sides[-2], "now": sides[-1], "counts": counts, "changes": changes,
                  "runs": sides, "trend": list(trend)}
    return {"verdict": "Worse: so it is.", "comparison": comparison, "findings": list(findings),
            "causes": list(causes), "counted": {kind: f"{n} of {kind}" for kind, n in counts.items()},
            "known": ["known max: passed"], "checked": [["cases", "50", "40"]],
            "cells": [["reduce", "sim", 2, 2, "lost int8/sum"], ["gather", "sim", 1, 1, ""]]}


def look_at_comparisons(page_of):
    broken = {"kind": "newly_broken", "what": FAILURE["id"], "worse": True, "before": "passed",
              "now": "falsified"}
    known = changed(broken, what="k", known=["max"], may_hide_others=True)
    del known["before"]
    version = {"kind": "version", "what": "backends.mpi.versions.mpi", "before": "Open MPI 4, x", "now": "MPICH"}
    data = comparison_of(
        [broken, known, changed(broken, what="absent", before="", replay=REPLAY), version],
        [changed(CAUSE, kind="newly_broken", is_known=False),
         changed(CAUSE, kind="newly_broken", is_known=True, units=["k"])],
        [FAILURE, changed(FAILURE, id="k")])
    page = page_of("a comparison", data)
    page.says("Worse: so it is.", where="h1")
    page.says(CAUSE["line"], "mpi: Open MPI 4 before, MPICH now", "3 of newly_broken", where="header a")
    page.has(1, "header .command")
    page.has(1, "#newly_broken-1")
    page.has(1, "#newly_broken-known-1")
    page.says("In the earlier run: passed.", "This unit was not in the earlier run. Known: max. The unit "
              "ended there; run it with --known, so that this hides nothing else.", where=".card")
    page.says("Of them, 1 passed before, 1 was not in the earlier run.", "Newly broken, as known",
              "These known defects explain the failures, so they do not count: max (1 unit).",
              "known max: passed")
    page.has_row("Units without a card", "absent", "-", "falsified" + REPLAY + "Copy")
    page.has_row("1 of version", version["what"], "Open MPI 4, x", "MPICH")
    page.has_row("What each run checked", "cases", "50", "40", "≠ differs")
    page.has_row("What was compared", "mpi", "mpi Open MPI 0, built", "mpi Open MPI 1, built", "≠ differs")
    page.has_row("What was compared", "asked for", "rankcheck run --seed 0", "rankcheck run --seed 1",
                 "≠ differs")
    page.has_row("What was compared", "host", "h", "h", "same")
    page.has_row("Cells that cases covered", "reduce", "sim", "2", "2", "lost int8/sum")
    page.has_row("Cells that cases covered", "gather", "sim", "1", "1", "same cells")
    page.has(0, "#trend")
    many = [changed(broken, what=str(i)) for i in range(600)]
    page = page_of("many changes", comparison_of(
        many, [changed(CAUSE, kind="newly_broken", is_known=False, units=[str(i)]) for i in range(300)],
        [changed(FAILURE, id=str(i)) for i in range(300)]))
    page.has(200, "details.card")
    page.says("100 more causes of failures, which rankcheck compare --format json lists",
              "and 100 more changes, which rankcheck compare --format json lists")


def look_at_trends(page_of):
    row = {"operation": "reduce", "backend": "sim", "verdicts": ["passed", "falsified", "falsified"],
           "units": [3, 3, 3], "failed": [0, 1, 1], "known": [0, 0, 1],
           "beside": [None, None, "vacuous"], "only_known": [False] * 3, "ratio_max": [0, 0.25, 0.5],
           "cases_per_second": [None, 10, 20], "floor_ratio": [None, None, None]}
    absent = changed(row, operation="gather", verdicts=["passed", "passed", None], failed=[0, 0, 0],
                     known=[0, 0, 0], beside=[None] * 3)
    only_known = changed(row, operation="scatter", beside=[None, None, "passed"],
                         only_known=[False, False, True])
    same = changed(row, operation="split", verdicts=["passed"] * 3, failed=[0] * 3, known=[0] * 3,
                   ratio_max=[0.25] * 3)
    page = page_of("a trend", comparison_of([], trend=[row, absent, only_known, same], runs=3))
    caption = "Verdict and worst error/bound, before and now"
    page.has_row(caption, "reduce", "✗ falsified, 1 of 3 → ! vacuous, and 1 known0.25 → 0.5")
    page.has_row(caption, "gather", "✓ passed → – not in the run0.25 → 0.5")
    page.has_row(caption, "scatter", "✗ falsified, 1 of 3 → ! known, 1 of 30.25 → 0.5")
    page.has_row(caption, "split", "✓ passed as before0.25")
    page.has(1, "[aria-label='run 1 passed, run 2 passed, run 3 has none']")
    page.has(3, "svg[aria-label='Worst error/bound: 0, 0.25, 0.5']")
    page.has(4, "svg[aria-label='Cases per second: nothing, 10, 20']")
    page.says("over all 3 runs", where="header a")


def look_at_contents(driver, expect):
    def page_of(name, data):
        return Page(driver, name, expect, data)

    for look in (look_at_failures, look_at_causes, look_at_known, look_at_pictures, look_at_hostile_texts,
                 look_at_coverage, look_at_gates, look_at_the_rest, look_at_comparisons, look_at_trends):
        look(page_of)
