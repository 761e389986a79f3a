"""The collectives that a subject can offer: the shapes of their buffers, and the decorators."""
from __future__ import annotations

from typing import Any, Callable, Dict, NamedTuple, Optional, TypeVar

from .declared import Members, Names

Function = TypeVar("Function", bound=Callable[..., Any])


class Shapes(NamedTuple):
    """The shapes of the buffers of an operation, and whether it reduces.

    `one` has count elements, and `rows` has such a row for each rank. `own` has the count of this
    rank. `blocks` is a list of arrays. `own_axis`, `all_axis` and `one_axis` have three axes; the
    middle one has the length of this rank, the sum of all lengths, or 1.
    """

    send: str
    recv: str
    reduces: bool


OPERATIONS: Dict[str, Shapes] = {
    "all_gather": Shapes("one", "rows", False),
    "all_gather_axis": Shapes("own_axis", "all_axis", False),
    "all_gather_v": Shapes("own", "blocks", False),
    "all_reduce": Shapes("one", "one", True),
    "all_reduce_list": Shapes("blocks", "blocks", True),
    "all_to_all": Shapes("rows", "rows", False),
    "all_to_all_v": Shapes("blocks", "blocks", False),
    "barrier": Shapes("none", "none", False),
    "broadcast": Shapes("one", "one", False),
    "broadcast_list": Shapes("blocks", "blocks", False),
    "gather": Shapes("one", "rows", False),
    "gather_axis": Shapes("own_axis", "all_axis", False),
    "gather_v": Shapes("own", "blocks", False),
    "reduce": Shapes("one", "one", True),
    "reduce_axis": Shapes("own_axis", "one_axis", True),
    "reduce_list": Shapes("blocks", "blocks", True),
    "reduce_scatter": Shapes("rows", "one", True),
    "reduce_scatter_v": Shapes("blocks", "own", True),
    "scatter": Shapes("rows", "one", False),
    "scatter_v": Shapes("blocks", "own", False),
    "send_recv": Shapes("one", "one", False),
}


def decorator(operation: str, what: str) -> Callable[..., Any]:
    """Returns the method of Operations that decorates the function of a collective."""

    def moves(
        self: Any,
        function: Optional[Function] = None,
        *,
        types: Optional[Names] = None,
        inputs: Optional[Names] = None,
        in_place: bool = False,
        empty: bool = True,
        members: Members = None,
        starts: bool = False,
        **fields: Any,
    ) -> Any:
        return self._offer(
            operation, function, None, types, inputs, in_place, empty, members, starts, fields
        )

    def reduces(
        self: Any,
        function: Optional[Function] = None,
        *,
        ops: Names = "sum prod min max",
        types: Optional[Names] = None,
        inputs: Optional[Names] = None,
        in_place: bool = False,
        empty: bool = True,
        members: Members = None,
        starts: bool = False,
        **fields: Any,
    ) -> Any:
        return self._offer(
            operation, function, ops, types, inputs, in_place, empty, members, starts, fields
        )

    method: Any = reduces if OPERATIONS[operation].reduces else moves
    method.__name__, method.__doc__ = operation, what
    method.__qualname__ = f"Operations.{operation}"
    chosen: Callable[..., Any] = method
    return chosen


class Operations:
    """A decorator for each collective.

    The function gets `(call, send, recv)`. `ops`, `types` and `inputs` are names with spaces
    between them, or lists of names; `types` and `inputs` are the subject's if they are left out.
    Calls in place are refused unless `in_place` is true. Counts may be 0 unless `empty` is false.
    `members` are the least and the most ranks of a call. With `starts`, the function only starts
    the call, and returns a function that waits for its end. Further keywords are the values that a
    field of a case may have, for example `root=[0, 1]` or `gap=0`. Subject has the method `_offer`,
    which keeps the function.
    """

    all_gather = decorator("all_gather", "Row q of recv becomes send of rank q.")
    all_gather_axis = decorator(
        "all_gather_axis",
        "The arrays of all ranks are joined along axis 1.",
    )
    all_gather_v = decorator("all_gather_v", "Block q of recv becomes send of rank q.")
    all_reduce = decorator("all_reduce", "recv becomes the reduction of send over all ranks.")
    all_reduce_list = decorator(
        "all_reduce_list",
        "Array l of recv becomes the reduction of array l of send over all ranks.",
    )
    all_to_all = decorator("all_to_all", "Row q of recv becomes row `call.rank` of send of rank q.")
    all_to_all_v = decorator(
        "all_to_all_v",
        "Block q of recv becomes block `call.rank` of send of rank q.",
    )

    def barrier(
        self: Any,
        function: Optional[Function] = None,
        *,
        members: Members = None,
        starts: bool = False,
    ) -> Any:
        """No rank leaves before all have entered. The function gets the call only."""
        return self._offer("barrier", function, None, None, None, False, True, members, starts, {})

    broadcast = decorator(
        "broadcast",
        "recv becomes send of the root. send is None on other ranks.",
    )
    broadcast_list = decorator(
        "broadcast_list",
        "Array l of recv becomes array l of send of the root. send is None on other ranks.",
    )
    gather = decorator("gather", "On the root, row q of recv becomes send of rank q.")
    gather_axis = decorator(
        "gather_axis",
        "On the root, the arrays of all ranks are joined along axis 1.",
    )
    gather_v = decorator("gather_v", "On the root, block q of recv becomes send of rank q.")
    reduce = decorator("reduce", "On the root, recv becomes the reduction of send over all ranks.")
    reduce_axis = decorator(
        "reduce_axis",
        "On the root, recv becomes the reduction along axis 1 of the arrays of all ranks.",
    )
    reduce_list = decorator(
        "reduce_list",
        "On the root, array l of recv becomes the reduction of array l of send over all ranks.",
    )
    reduce_scatter = decorator(
        "reduce_scatter",
        "recv becomes the reduction of row `call.rank` of send over all ranks.",
    )
    reduce_scatter_v = decorator(
        "reduce_scatter_v",
        "recv becomes the reduction of block `call.rank` of send over all ranks.",
    )
    scatter = decorator(
        "scatter",
        "recv becomes row `call.rank` of send of the root. send is None on other ranks.",
    )
    scatter_v = decorator(
        "scatter_v",
        "recv becomes block `call.rank` of send of the root. send is None on other ranks.",
    )
    send_recv = decorator(
        "send_recv",
        "recv becomes send of rank `call.source`. send is None if `call.target` is None.",
    )
