"""Writes a wheel: python3 wheel.py BUNDLE FOLDER. BUNDLE is the unpacked folder of the bundle.

The wheel has the package for Python and, in its folder `program`, the files of the bundle. pip
installs it without building anything. It is written here by hand, because no build tool is then
needed. Prints the wheel's path.
"""
from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import zipfile
from typing import Dict, List, Tuple

PACKAGE = os.path.join("share", "rankcheck", "harness", "client", "python")
# Each file has this time, so that the same files give the same wheel.
TIME = (2020, 1, 1, 0, 0, 0)


def files_of(folder: str) -> List[str]:
    """Returns the paths of all files in a folder, relative to it."""
    paths = []
    for parent, _, names in os.walk(folder):
        paths += [os.path.relpath(os.path.join(parent, name), folder) for name in names]
    return sorted(path for path in paths if "__pycache__" not in path)


def newest_glibc(bundle: str) -> Tuple[int, int]:
    """Returns the version of glibc that the programs and libraries need."""
    newest = (2, 17)
    for path in files_of(bundle):
        if not path.startswith(("rankcheck", "lib")):
            continue
        dump = subprocess.run(
            ["objdump", "-p", os.path.join(bundle, path)], stdout=subprocess.PIPE, check=True
        )
        for major, minor in re.findall(rb" GLIBC_(\d+)\.(\d+)", dump.stdout):
            newest = max(newest, (int(major), int(minor)))
    return newest


def settings_of(bundle: str) -> Dict[str, str]:
    """Returns some settings of pyproject.toml."""
    with open(os.path.join(bundle, PACKAGE, "pyproject.toml"), encoding="utf-8") as file:
        return dict(re.findall(r'^([a-z-]+) = "(.*)"$', file.read(), re.MULTILINE))


def contents(bundle: str) -> Dict[str, Tuple[bytes, int]]:
    """Returns the bytes and the mode of each file of the wheel, without the metadata."""
    wheel = {}
    for path in files_of(bundle):
        full = os.path.join(bundle, path)
        with open(full, "rb") as file:
            content = file.read(), os.stat(full).st_mode & 0o777
        wheel[f"rankcheck/program/{path}"] = content
        inside = os.path.relpath(path, PACKAGE)
        if inside.startswith("rankcheck" + os.sep):
            wheel[inside] = content
    return wheel


def metadata(bundle: str, tag: str) -> Dict[str, Tuple[bytes, int]]:
    """Returns the files of the folder .dist-info, without RECORD."""
    settings = settings_of(bundle)
    with open(os.path.join(bundle, PACKAGE, "README.md"), encoding="utf-8") as file:
        page = file.read()
    texts = {
        "METADATA": (
            "Metadata-Version: 2.1\n"
            f"Name: {settings['name']}\nVersion: {settings['version']}\n"
            f"Summary: {settings['description']}\nRequires-Python: {settings['requires-python']}\n"
            "Requires-Dist: numpy\nProvides-Extra: ml_dtypes\n"
            'Requires-Dist: ml_dtypes; extra == "ml_dtypes"\n'
            f"Description-Content-Type: text/markdown\n\n{page}"
        ),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: rankcheck\nRoot-Is-Purelib: false\nTag: {tag}\n",
        "entry_points.txt": (
            "[console_scripts]\nrankcheck = rankcheck.installed:main\n\n"
            "[pytest11]\nrankcheck = rankcheck.pytest_plugin\n"
        ),
    }
    folder = f"rankcheck-{settings['version']}.dist-info"
    return {f"{folder}/{name}": (text.encode(), 0o644) for name, text in texts.items()}


def write(bundle: str, folder: str) -> str:
    """Writes the wheel into the folder and returns its path."""
    major, minor = newest_glibc(bundle)
    tag = f"py3-none-manylinux_{major}_{minor}_{os.uname().machine}"
    about = metadata(bundle, tag)
    base = next(iter(about)).split("/")[0]
    path = os.path.join(folder, f"{base[: -len('.dist-info')]}-{tag}.whl")
    record = ""
    with zipfile.ZipFile(path + ".part", "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, (content, mode) in {**contents(bundle), **about}.items():
            entry = zipfile.ZipInfo(name, TIME)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            record += f'"{name}",sha256={digest.decode()},{len(content)}\n'
        entry = zipfile.ZipInfo(f"{base}/RECORD", TIME)
        entry.external_attr = 0o100644 << 16
        wheel.writestr(entry, record + f"{base}/RECORD,,\n")
    os.rename(path + ".part", path)
    return path


if __name__ == "__main__":
    print(write(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])))
