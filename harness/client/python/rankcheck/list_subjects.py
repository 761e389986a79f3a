"""Prints the subjects in a folder: python3 list_subjects.py FOLDER. It imports no other module.

Only what a file of Python imports is looked up; no library is loaded, and no subject is run.
"""
from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import sys
from typing import FrozenSet, Iterator, List, NamedTuple, Set

# Older releases of Python do not have the list. Then all modules that can be found are standard.
STANDARD: FrozenSet[str] = getattr(sys, "stdlib_module_names", frozenset())

# There is such a file wherever NVIDIA's driver is loaded.
DRIVER = "/proc/driver/nvidia/version"


class Listed(NamedTuple):
    """A ready subject. `needs` are modules and programs; `missing` are those that are not here."""

    name: str
    file: str
    summary: str
    needs: List[str]
    missing: List[str]


def required(node: ast.AST) -> Iterator[ast.AST]:
    """Returns the nodes below a node, without the bodies of `try`: these can do without a module."""
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.Try) and child in node.body:
            continue
        yield child
        yield from required(child)


def imported(tree: ast.Module) -> List[str]:
    """Returns the modules outside of the standard library that a file has to import."""
    names: Set[str] = set()
    for node in required(tree):
        if isinstance(node, ast.Import):
            names.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    top = {name.split(".")[0] for name in names} - {"rankcheck", "__future__"} - STANDARD
    # The package needs numpy.
    return sorted(top | {"numpy"})


def describe(file: str) -> Listed:
    """Describes the subject of a file."""
    with open(file, encoding="utf-8") as opened:
        text = opened.read()
    tree = ast.parse(text, file)
    summary = (ast.get_docstring(tree) or "").split("\n")[0]
    found = re.search(r'Subject\(\s*"([^"]+)"', text)
    launcher = re.search(r'launcher="(\S+)', text)
    modules = imported(tree)
    programs = [launcher.group(1)] if launcher else []
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    missing += [name for name in programs if shutil.which(name) is None]
    # A subject whose ranks need devices says how many ranks there can be.
    devices = ["a GPU"] if re.search(r"^RANKS_MAX = ", text, re.MULTILINE) else []
    missing += [] if os.path.exists(DRIVER) else devices
    needs = modules + programs + devices
    return Listed(found.group(1) if found else "-", file, summary, needs, missing)


def describe_cpp(file: str) -> Listed:
    """Describes the subject of a source in C++, which rankcheck's own build compiles."""
    with open(file, encoding="utf-8") as opened:
        text = opened.read()
    summary = text.split("\n")[0].lstrip("/ ")
    found = re.search(r'Subject \w+\("([^"]+)"', text)
    # A library that the source names as needed. The build looks for oneCCL in the same places.
    library = re.search(r"^// needs (\S+)$", text, re.MULTILINE)
    header = re.search(r"^#include <(oneapi/\S+)>$", text, re.MULTILINE)
    needs = ["a compiler"] + ([library.group(1)] if library else [])
    roots = [os.environ.get("CCL_ROOT", ""), "/usr", "/usr/local"]
    is_here = header is None or any(
        root and os.path.exists(os.path.join(root, "include", header.group(1))) for root in roots
    )
    missing = [] if is_here else needs[1:]
    return Listed(found.group(1) if found else "-", file, summary, needs, missing)


def main(folder: str) -> None:
    """Prints a table of the subjects in a folder."""
    files = sorted(name for name in os.listdir(folder) if name.endswith((".py", ".cpp")))
    rows = [("name", "here", "needs", "file")]
    for name in files:
        look = describe_cpp if name.endswith(".cpp") else describe
        each = look(os.path.join(folder, name))
        rows.append((each.name, "no" if each.missing else "yes", " ".join(each.needs), each.file))
        rows.append(("", "", "", each.summary))
        if each.missing:
            rows.append(("", "", "", f"{sys.executable} does not find {', '.join(each.missing)}"))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths)]
        print("  ".join([*cells, row[3]]).rstrip())


if __name__ == "__main__":
    main(sys.argv[1])
