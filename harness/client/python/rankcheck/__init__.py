"""Your code under test: a subject of rankcheck in a few lines of Python.

A subject names the collectives that it offers with decorators. The program `rankcheck` then calls
them on cases that it generates and judges the results. README.md beside this package shows how.
"""
from __future__ import annotations

from .call import Blocks, Call, Me, Scene
from .launch import OneProcess, Processes, one_process, processes
from .program import Finding, check
from .subject import Subject

__all__ = [
    "Blocks",
    "Call",
    "Finding",
    "Me",
    "OneProcess",
    "Processes",
    "Scene",
    "Subject",
    "check",
    "one_process",
    "processes",
]
