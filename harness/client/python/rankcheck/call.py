"""What the functions of a subject get."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple


class Blocks(List[Any]):
    """The arrays of a buffer with several blocks. It is a list of one-dimensional views.

    Attributes:
        whole: One view of the whole buffer, with the gaps between the blocks.
        starts: The element of `whole` at which each block begins.
        counts: The number of elements of each block.
    """

    def __init__(self, whole: Any, starts: List[int], counts: List[int]) -> None:
        super().__init__(whole[start : start + n] for start, n in zip(starts, counts))
        self.whole = whole
        self.starts = starts
        self.counts = counts


@dataclass
class Me:
    """A process of the subject.

    Attributes:
        rank: The process's rank. It is 0 if one process hosts all ranks.
        world: The number of ranks of the world.
        ranks: The world ranks that this process hosts.
        url: A file that all processes share, as torch's `init_method` wants it.
    """

    rank: int
    world: int
    ranks: Tuple[int, ...]
    url: str


@dataclass
class Scene:
    """The sizes of a call of an operator of ptychography, in pixels.

    cases/families/ptycho/INPUTS.md explains them.
    """

    rows: int = 0
    cols: int = 0
    window: int = 0
    detector: int = 0
    modes: int = 1
    slices: int = 1
    varying_probe: bool = False
    tile_cols: int = 1
    halo: int = 0
    wavelength: float = 0.0
    distance: float = 0.0


@dataclass
class Call:
    """One call of a collective or of an operator on one rank.

    Attributes:
        operation: The name of the collective.
        op: The reduction: none, sum, prod, min, max, avg or premul_sum. For integers also band, bor,
            bxor, land, lor or lxor, for complex numbers maxloc or minloc, for int32 and int64
            compose.
        rank: The place of this rank in the group.
        size: The number of members of the group.
        root: The place of the root in the group.
        ranks: The world ranks of the members, in group order.
        group: What the function of `@subject.group` returned, or `ranks` if there is none.
        count: The number of elements of a block.
        counts: The numbers of elements of unequal blocks, or of the arrays of a list.
        type: The name of the element type.
        in_place: Whether send and recv overlap.
        target, source: Of send_recv: the places of the ranks that get this rank's elements, and
            whose elements this rank gets. None if there is no such rank.
        scalar: Of premul_sum: the factor of this rank.
        scene: Of operators of ptychography: the sizes.
        case: All fields of the case, as the harness sent them.
    """

    operation: str
    op: str
    rank: int
    size: int
    root: int
    ranks: Tuple[int, ...]
    group: Any
    count: int
    counts: List[int]
    type: str
    in_place: bool
    target: Optional[int] = None
    source: Optional[int] = None
    scalar: Any = None
    scene: Scene = field(default_factory=Scene)
    case: Dict[str, Any] = field(default_factory=dict)

    @property
    def is_root(self) -> bool:
        """Whether this rank is the root."""
        return self.rank == self.root
