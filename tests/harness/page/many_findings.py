"""Makes a run with many findings out of a small run, to measure pages and comparisons.

many_findings.py RUN FOLDER COUNT: writes FOLDER/journal.jsonl with COUNT findings. They are those of
the folder RUN over and over, each time of another algorithm. `rankcheck report FOLDER` makes the
reports. Lines have no checksums, as in journals of old versions.
"""
import json
import pathlib
import sys


def main(run, folder, count):
    lines = [json.loads(line) for line in (pathlib.Path(run) / "journal.jsonl").open()]
    header = lines[0]
    entries = [line for line in lines if "finding" in line]
    end = [line for line in lines if "ending" in line][-1]
    header["units"] = []
    header["pinned"] = {}
    made = []
    for number in range(int(count)):
        entry = json.loads(json.dumps(entries[number % len(entries)]))
        finding = entry["finding"]
        algorithm = f"{finding['unit']['algorithm']}-{number // len(entries)}"
        finding["unit"]["algorithm"] = algorithm
        finding["unit"].pop("pinned", None)
        finding["unit"]["variant"] = str(number)
        unit = finding["unit"]
        tested = unit.get("subject", unit["backend"])
        finding["id"] = f"{unit['operation']}/{algorithm}/{tested}/{unit['property']}@{number}"
        if "minimal" in finding:
            finding["minimal"]["algorithm"] = algorithm
        header["units"].append(finding["unit"])
        made.append(entry)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    with (folder / "journal.jsonl").open("w") as journal:
        for line in (header, *made, end):
            line.pop("crc32", None)
            journal.write(json.dumps(line, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
