#!/usr/bin/env python3
"""Writes two large reports that differ, to measure how long `rankcheck compare` takes.

many_findings.py REPORT COUNT BEFORE NOW: the findings are those of REPORT (report.json), with other
names. BEFORE and NOW are folders that are made. In NOW, four tenths of the units differ.
"""

import copy
import json
import pathlib
import random
import sys


def id_of(unit):
    tested = unit.get("subject", unit["backend"])
    text = "/".join([unit["operation"], unit["algorithm"], tested, unit["property"]])
    for mark, field in (("@", "variant"), (":", "pinned")):
        text += mark + unit[field] if field in unit else ""
    return text


def large(report, count):
    """Returns the report with `count` findings."""
    some = report["findings"]
    out = dict(report, findings=[], environment=dict(report["environment"], durations_s={}))
    for i in range(count):
        finding = copy.deepcopy(some[i % len(some)])
        finding["unit"]["operation"] += f"_{i // len(some)}"
        finding["id"] = id_of(finding["unit"])
        out["findings"].append(finding)
        out["environment"]["durations_s"][finding["id"]] = 0.01 * (i % 7)
    return out


def change(report):
    """Changes four tenths of the findings, each in one of four ways."""
    choices = random.Random(1)
    for finding in report["findings"]:
        way = choices.randrange(10)
        if way == 0:
            case = {"operation": "all_reduce", "ranks": 2}
            finding.update(verdict="falsified", reason="differs", minimal=case)
        elif way == 1:
            finding["cases"] += 1
        elif way == 2:
            finding["ratio_max"] = finding["ratio_max"] * 5 + 0.01
        elif way == 3:
            finding.update(verdict="skipped", reason="no_device")


def write(report, folder):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    with open(pathlib.Path(folder) / "report.json", "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)


def main():
    source, count, before, now = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        report = large(json.load(file), int(count))
    write(report, before)
    change(report)
    write(report, now)


if __name__ == "__main__":
    main()
