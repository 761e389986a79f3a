"""Every example of the page of the headers for C++: compiled, and run where it is a program."""
from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from pages import CLIENT, blocks, files_of, make_folder, needs_program, run_example

PAGE = "cpp/README.md"
FILES = files_of(PAGE, "cpp", "//")
HEADERS = os.path.join(CLIENT, "cpp")
# What stands around a part of a program, and as much of CUDA and MPI as the parts call.
AROUND = """
#include <cstring>
#include <stdexcept>

#include <rankcheck/subject.hpp>

using MPI_Comm = void*;
using MPI_Request = void*;
enum { MPI_BYTE, MPI_STATUS_IGNORE };
int MPI_Ibcast(void*, std::size_t, int, int, MPI_Comm, MPI_Request*) { return 0; }
int MPI_Wait(MPI_Request*, int) { return 0; }
enum { cudaSuccess, cudaMemcpyDefault };
int cudaSetDevice(int) { return cudaSuccess; }
int cudaMalloc(void** memory, std::size_t) { *memory = nullptr; return cudaSuccess; }
constexpr MPI_Comm MPI_COMM_NULL = nullptr;
int MPI_Comm_free(MPI_Comm*) { return 0; }
MPI_Comm make_group(const std::vector<int>&) { return nullptr; }
int cudaFree(void*) { return cudaSuccess; }
int cudaMemcpy(void*, const void*, std::size_t, int) { return cudaSuccess; }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = make_folder(tmp_path_factory.mktemp("page"), FILES)
    # The page says `include`, as in the installed folder.
    (path / "include").symlink_to(HEADERS)
    return path


@needs_program
@pytest.mark.parametrize("script", blocks(PAGE, "sh"))
def test_example(folder, script):
    run_example(folder, script)


def test_every_file_is_used():
    commands = "".join(blocks(PAGE, "sh"))
    assert [name for name in FILES if name not in commands] == []


@pytest.mark.parametrize("part", [each for each in blocks(PAGE, "cpp") if each[:2] != "//"])
def test_part_of_a_program_compiles(tmp_path, part):
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("c++ is not on PATH")
    functions, _, statements = part.rpartition("\nsubject.")
    source = tmp_path / "part.cpp"
    source.write_text(
        f"{AROUND}\n{functions}\nvoid describe(rankcheck::Subject& subject) {{\n"
        f"subject.{statements}}}\n"
    )
    words = [compiler, "-std=c++17", "-fsyntax-only", f"-I{HEADERS}", str(source)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout.decode()
