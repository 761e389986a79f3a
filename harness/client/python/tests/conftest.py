"""Lets tests find the package and the helpers beside them."""
import contextlib
import functools
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]

from fork_server import forked_python  # noqa: E402


@pytest.fixture(scope="session")
def forking_python(tmp_path_factory):
    """Returns the path of a Python that starts quickly with a module, see fork_server.py."""
    with contextlib.ExitStack() as servers:

        @functools.lru_cache(maxsize=None)
        def with_module(module="numpy"):
            folder = str(tmp_path_factory.mktemp("fork"))
            return servers.enter_context(forked_python(folder, module))

        yield with_module


@pytest.fixture
def quick_starts(monkeypatch, forking_python):
    """Lets subjects be served by a Python that starts quickly."""
    monkeypatch.setattr(sys, "executable", forking_python())
