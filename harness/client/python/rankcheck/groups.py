"""The communicators that a process keeps."""
from __future__ import annotations

from collections import OrderedDict
from typing import Any, Callable, Optional, Tuple

Ranks = Tuple[int, ...]


class Groups:
    """Makes communicators, and frees those that were not used for the longest time.

    All processes of the world ask for the same groups in the same order, so they also make and
    free them in the same order.
    """

    def __init__(
        self,
        make: Optional[Callable[[Ranks], Any]],
        free: Optional[Callable[[Any], Any]],
        kept: int,
    ) -> None:
        self._make = make
        self._free = free
        self._kept = kept
        self._groups: "OrderedDict[Ranks, Any]" = OrderedDict()

    def get(self, ranks: Ranks, in_use: int = 0) -> Any:
        """Returns the communicator of these ranks, or the ranks if nobody makes communicators.

        So many groups are in use until the run is over, this one among them.
        """
        if self._make is None:
            return ranks
        if ranks in self._groups:
            self._groups.move_to_end(ranks)
            return self._groups[ranks]
        # Without the function, a communicator that is dropped might not be free.
        while self._free is not None and len(self._groups) >= max(self._kept, in_use):
            _, oldest = self._groups.popitem(last=False)
            self._free(oldest)
        group = self._groups[ranks] = self._make(ranks)
        return group

    def drop(self, ranks: Ranks) -> None:
        """Frees the communicator of these ranks."""
        if self._free is not None and ranks in self._groups:
            self._free(self._groups.pop(ranks))

    def forget(self) -> None:
        """Leaves all communicators to those who may still use them. They are not freed."""
        self._groups.clear()
