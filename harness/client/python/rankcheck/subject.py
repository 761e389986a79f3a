"""A subject: the code under test, and what it offers."""
from __future__ import annotations

import json
import os
import sys
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .arrays import TYPE_NAMES
from .declared import (
    Members,
    Names,
    at_least_one,
    members_of,
    name_of_subject,
    one_of,
    refuse,
    values_of,
    with_known_keywords,
    words_of,
    yes_or_no,
)
from .failures import end_process
from .functions import did_you_mean, place_of, require_arguments, require_ordinary
from .launch import Launch, OneProcess, Processes, one_process
from .operations import OPERATIONS, Function, Operations
from .operators import OPERATOR_FIELDS, OPERATORS, adapted

PACKAGE = os.path.dirname(os.path.abspath(__file__))

OP_NAMES = [
    "sum",
    "prod",
    "min",
    "max",
    "avg",
    "premul_sum",
    # Of integers only.
    "band",
    "bor",
    "bxor",
    "land",
    "lor",
    "lxor",
    # Of complex numbers only: pairs of a value and its index.
    "maxloc",
    "minloc",
    # Of int32 and int64 only, in the order of the ranks.
    "compose",
]
GROUP_KINDS = ["any", "sorted", "world"]
NAN_RULES = ["drops", "propagates", "either", "unspecified"]
# Where the functions of a test's subjects are, for the processes that serve them, as JSON.
PLACES_VARIABLE = "RANKCHECK_PLACES"
# As many as there are groups of 4 ranks.
GROUPS_KEPT = 64
# Kinds of inputs that are drawn, see cases/families/*/INPUTS.md.
INPUT_NAMES = [
    "general",
    "coded",
    "exact",
    "cancelling",
    "wide_range",
    "special",
    "each_special",
    "fine",
    "edge",
]

# What a decorator of an operation takes beside the fields of a case.
OPTIONS = ["types", "inputs", "in_place", "empty", "members", "starts"]

# Fields of a case that every subject takes. The package works out what they mean.
FREE_FIELDS = ["root", "offset", "gap", "pattern", "shift", "outer", "inner", "late"]

# Fields of a collective's case that are 1 unless the decorator gives their values. With a stride,
# the elements of an array lie apart.
STRIDES = ["send_stride", "recv_stride"]


def files_of_callers() -> List[str]:
    """Returns the files of the functions outside of this package that are being called."""
    files: List[str] = []
    frame = sys._getframe(1)
    while frame is not None:
        file = os.path.abspath(frame.f_code.co_filename)
        if os.path.dirname(file) != PACKAGE and file not in files:
            files.append(file)
        frame = frame.f_back  # type: ignore[assignment]
    return files


@dataclass
class Offer:
    """A function of the subject, and the calls that it takes."""

    operation: str
    function: Callable[..., Any]
    ops: List[str]
    types: List[str]
    inputs: List[str]
    in_place: bool
    empty: bool
    # The least and the most ranks of a call. Any number if it is None.
    members: Optional[Tuple[int, int]]
    # Whether the function only starts a call, and returns a function that waits for its end.
    starts: bool
    # The values of fields that do not have all values.
    fields: Dict[str, List[Any]]

    def takes(
        self,
        groups: str,
        world: int,
        has_arrays: Callable[[str], bool] = lambda type_name: True,
        frees: bool = False,
    ) -> Dict[str, Any]:
        """Returns which cases the function takes in a world of so many ranks.

        The result is what the worker protocol calls `takes`.
        """
        free = FREE_FIELDS if self.operation in OPERATIONS else OPERATOR_FIELDS
        takes: Dict[str, Any] = {name: "any" for name in free}
        takes.update(group=groups, empty=self.empty, **self.fields)
        if self.members is not None:
            takes["ranks"] = {"min": self.members[0], "max": self.members[1]}
        if groups == "world":
            # Without groups of its own, a subject needs all ranks that were started.
            takes["ranks"] = {"min": world, "max": world}
        if self.in_place:
            takes["in_place"] = "any"
        if self.starts:
            takes["overlaps"] = "any"
        if frees:
            takes["frees"] = "any"
        # A barrier has no elements, so that it takes cases of every type.
        takes["type"] = "any"
        if self.operation != "barrier":
            takes["type"] = [name for name in self.types if has_arrays(name)]
        if self.ops:
            takes["op"] = self.ops
        if self.inputs != INPUT_NAMES:
            takes["input"] = self.inputs
        return takes

    def summary(self) -> str:
        """Says which function it is."""
        where, place = "", place_of(self.function)
        if place:
            where = f" of {place.rpartition(':')[0]}"
        return f"Calls {getattr(self.function, '__name__', 'a function')}{where}."


class Subject(Operations):
    """Code under test that rankcheck calls.

    Args:
        name: The subject's name, of letters, digits, '-', '_' and '.'. Reports show it as the
            algorithm.
        launch: rankcheck.one_process(ranks=4), which is the default, or rankcheck.processes().
        arrays: numpy or torch. Buffers are views of this kind on the memory that is judged.
        groups: The groups that the subject takes: any, sorted (ascending world ranks) or world (all
            ranks in order). By default any, or world if it has processes() and no function of
            `@subject.group`, because such a subject has no communicator for a part of its ranks.
        types: The element types, with spaces between them or as a list, out of int8 uint8 int32
            uint32 int64 uint64 f16 bf16 f32 f64 complex64 complex128 f8e4m3 f8e5m2. All that the
            arrays have, if it is left out.
        inputs: The kinds of inputs, with spaces between them, out of general coded exact cancelling
            wide_range special each_special fine edge. All if it is left out. special and
            each_special have infinities, NaN, zeros of both signs and subnormal numbers.
        versions: Versions of the libraries under test, for the report.
        nan_rule: What min and max do with NaN: the result is the extreme of the other inputs
            (drops), NaN (propagates), one of these two (either), or NaN or any input (unspecified).
        zero_rule: The sign of a zero that a reduction of floats gives: ieee or unspecified.
        result_place: Where reduce_scatter in place puts its result: own_block or start.
        rounds: Whether reductions may round where every order of evaluation would be exact, as an
            average that multiplies by 1/n does.
        deterministic: Whether results have the same bits from run to run.
        groups_kept: How many communicators a process keeps if there is a `@subject.free_group`.
    """

    def __init__(
        self,
        name: str,
        launch: Optional[Launch] = None,
        arrays: str = "numpy",
        groups: Optional[str] = None,
        types: Optional[Names] = None,
        inputs: Optional[Names] = None,
        versions: Optional[Mapping[str, str]] = None,
        nan_rule: str = "unspecified",
        zero_rule: str = "unspecified",
        result_place: str = "own_block",
        rounds: bool = False,
        deterministic: bool = False,
        groups_kept: int = GROUPS_KEPT,
    ) -> None:
        self.name = name_of_subject(name)
        self.launch: Launch = one_process() if launch is None else launch
        if not isinstance(self.launch, (OneProcess, Processes)):
            refuse("launch", "rankcheck.one_process() or rankcheck.processes()", launch)
        self.arrays = one_of("arrays", arrays, ["numpy", "torch"])
        self._groups = None if groups is None else one_of("groups", groups, GROUP_KINDS)
        self.types = TYPE_NAMES if types is None else words_of("types", types, TYPE_NAMES)
        self.inputs = INPUT_NAMES if inputs is None else words_of("inputs", inputs, INPUT_NAMES)
        if versions is not None and not isinstance(versions, Mapping):
            refuse("versions", 'a dict such as {"torch": "2.1"}', versions)
        self.versions = {str(key): str(value) for key, value in (versions or {}).items()}
        self.traits: Dict[str, Any] = {
            "name": name,
            "nan_rule": one_of("nan_rule", nan_rule, NAN_RULES),
            "zero_rule": one_of("zero_rule", zero_rule, ["ieee", "unspecified"]),
            "result_place": one_of("result_place", result_place, ["own_block", "start"]),
            "rounds": yes_or_no("rounds", rounds),
            "deterministic": yes_or_no("deterministic", deterministic),
        }
        self.groups_kept = at_least_one("groups_kept", groups_kept)
        self.callers = files_of_callers()
        # A function in another file may have made the subject, see home().
        self.file = self.callers[0]
        self.offers: Dict[str, Offer] = {}
        _SUBJECTS.add(self)
        self.set_up: Optional[Callable[[Any], Any]] = None
        self.tear_down: Optional[Callable[[Any], Any]] = None
        self.make_group: Optional[Callable[[Tuple[int, ...]], Any]] = None
        self.free: Optional[Callable[[Any], Any]] = None

    if not TYPE_CHECKING:
        __init__ = with_known_keywords("Subject", __init__)

        def __getattr__(self, name: str) -> Any:
            # Python calls this function for names that do not exist.
            known = [*OPERATIONS, "operator", "setup", "teardown", "group", "free_group", "serve"]
            text = f"rankcheck.Subject has no {name}"
            if not name.startswith("_"):
                text += did_you_mean(name, known) or f". It has {', '.join(known)}"
            error = AttributeError(text)
            # Python would append a name of its own to the message.
            error.name, error.obj = name, None
            raise error

    def setup(self, function: Function) -> Function:
        """Decorates the function that is called once in each process, with its Me."""
        require_arguments("setup", function, "me")
        self.set_up = function
        return function

    def teardown(self, function: Function) -> Function:
        """Decorates the function that is called before a process ends, with its Me."""
        require_arguments("teardown", function, "me")
        self.tear_down = function
        return function

    def group(self, function: Function) -> Function:
        """Decorates the function that makes a communicator for a tuple of world ranks.

        Its result is kept, and is `call.group` in all calls of the same ranks in the same order.
        With launch=processes(), all processes of the world call it, in the same order, and also
        those that are not in the group.
        """
        require_arguments("group", function, "ranks")
        self.make_group = function
        return function

    def free_group(self, function: Function) -> Function:
        """Decorates the function that frees what the function of `@subject.group` has returned.

        With it, a process keeps at most `groups_kept` communicators. Before it makes one more, it
        frees the one that was not used for the longest time. With launch=processes(), all
        processes of the world call the function, in the same order, and also those that are not
        in the group. Communicators that are left when the process ends are not freed.
        """
        require_arguments("free_group", function, "group")
        self.free = function
        return function

    def _offer(
        self,
        operation: str,
        function: Optional[Function],
        ops: Optional[Names],
        types: Optional[Names],
        inputs: Optional[Names],
        in_place: bool,
        empty: bool,
        members: Members,
        starts: bool,
        fields: Mapping[str, Any],
    ) -> Any:
        own = [*FREE_FIELDS, *STRIDES] if operation in OPERATIONS else OPERATOR_FIELDS
        reduces = [] if ops is None else ["ops"]
        for name in fields:
            one_of(operation, name, [*own, *reduces, *OPTIONS])
        values = {name: values_of(name, each) for name, each in fields.items()}
        ranks = members_of(members)
        is_in_place, may_be_empty = yes_or_no("in_place", in_place), yes_or_no("empty", empty)
        only_starts = yes_or_no("starts", starts)
        op_names = [] if ops is None else words_of("ops", ops, OP_NAMES)
        type_names = self.types if types is None else words_of("types", types, TYPE_NAMES)
        kinds = self.inputs if inputs is None else words_of("inputs", inputs, INPUT_NAMES)

        def take(function: Function) -> Function:
            if operation in self.offers:
                raise ValueError(f"{self.name}: {operation} is decorated twice")
            if operation in OPERATIONS:
                buffers = [] if operation == "barrier" else ["send", "recv"]
                require_arguments(operation, function, "call", *buffers)
            self.offers[operation] = Offer(
                operation,
                function,
                op_names,
                type_names,
                kinds,
                is_in_place,
                may_be_empty,
                ranks,
                only_starts,
                values,
            )
            return function

        return take if function is None else take(function)

    def operator(
        self,
        operation: str,
        types: Names = "f32 f64",
        inputs: Optional[Names] = None,
        empty: bool = True,
        members: Members = None,
        **fields: Any,
    ) -> Callable[[Function], Function]:
        """Decorates the function of an operator of ptychography.

        The function gets the call, and the inputs as keywords. It returns the output, or all
        outputs as a tuple or a dict. cases/families/ptycho/INPUTS.md names them.

        Args:
            operation: The operator, for example "extract".
            types: The element types, with spaces between them or as a list.
            inputs: The kinds of inputs, as for collectives.
            empty: Whether ranks may have no positions.
            members: The least and the most ranks of a call. Any number if it is left out.
            fields: The values that fields of a case may have, for example `modes=[1, 2]` or
                `varying_probe=[False]`. Any if they are left out.
        """
        if not isinstance(operation, str):
            refuse("operator", 'the name of an operator, such as operator("extract")', operation)
        if operation not in OPERATORS:
            # The program shows a part of a long message, so a hint stands without the list.
            hint = did_you_mean(operation, OPERATORS) or f". Known are {', '.join(OPERATORS)}"
            raise ValueError(f"{operation}: is no operator, expected one{hint}")

        def take(function: Function) -> Function:
            require_ordinary(operation, function)
            self._offer(
                operation,
                adapted(function),
                None,
                types,
                inputs,
                False,
                empty,
                members,
                False,
                fields,
            )
            return function

        return take

    def why_not_served(self) -> str:
        """Says what the subject lacks before anything can be called. Empty if it lacks nothing."""
        if self.offers:
            return ""
        text = "offers no operation: decorate a function, for example with @subject.all_reduce"
        return f"{self.name} {text}"

    def serve(self) -> None:
        """Hosts ranks for the harness until it closes the connection.

        With launch=processes(), a program that no launcher started starts its processes here.
        """
        from .worker import serve

        serve(self)

    def home(self) -> str:
        """Returns the file of the module that has the subject as a global variable.

        If there are several, it is the one that has made the subject, or has called a function
        that has made it.
        """
        homes: List[str] = []
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            names = getattr(module, "__dict__", {})
            if file and any(value is self for value in list(names.values())):
                homes.append(os.path.abspath(file))
        callers = [file for file in self.callers if file in homes]
        return [*callers, *sorted(homes), self.file][0]

    def places(self) -> Dict[str, str]:
        """Returns the file and line of the function of each operation."""
        return {name: place_of(offer.function) for name, offer in self.offers.items()}

    def require_places(self, file: str) -> None:
        """Ends the process if this file offers other functions than check() was called with.

        A test may have changed its subject in a file of its own. What this process serves would
        then be another subject.
        """
        all_places = json.loads(os.environ.get(PLACES_VARIABLE, "{}"))
        wanted = all_places.get(f"{os.path.abspath(file)} {self.name}")
        here = self.places()
        if wanted is None or wanted == here:
            return
        for name in sorted({*wanted, *here}):
            if wanted.get(name) != here.get(name):
                # The program shows a part of a long message.
                end_process(
                    f"{name} is {here.get(name, 'not offered')} here, and "
                    f"{wanted.get(name, 'not offered')} where check() was called: give it the file "
                    "that changes the subject"
                )

    @property
    def groups(self) -> str:
        """The groups that the subject takes: any, sorted or world."""
        if self._groups is not None:
            return self._groups
        return "any" if self.is_one_process or self.make_group is not None else "world"

    @property
    def is_one_process(self) -> bool:
        """Whether one process hosts all ranks."""
        return isinstance(self.launch, OneProcess)


# All subjects of this process.
_SUBJECTS: "weakref.WeakSet[Subject]" = weakref.WeakSet()


def places_of_subjects() -> str:
    """Returns the value of PLACES_VARIABLE."""
    return json.dumps({f"{each.home()} {each.name}": each.places() for each in _SUBJECTS})
