"""Says why a case is outside of the limits that a function declared in its `takes`."""
from __future__ import annotations

from typing import Any, List, Mapping

# Defaults of fields. A field that `takes` does not name only has its default. The harness sends no
# other field that `takes` does not name, see harness/worker/PROTOCOL.md.
DEFAULTS = {
    "op": "none",
    "in_place": False,
    "chunk": 0,
    "pending": False,
    "schedule": "in_order",
    "fault": "",
}
# Defaults of fields that `takes` of this package always names.
NAMED_DEFAULTS = {"type": "f32", "input": "general"}


def why_outside(case: Mapping[str, Any], takes: Mapping[str, Any], world: int) -> str:
    """Returns why `takes` does not allow a case of a world of so many ranks. Empty if it does."""
    for name, values in takes.items():
        value = case.get(name, {**DEFAULTS, **NAMED_DEFAULTS}.get(name))
        # The default of an operator's field is not known here. The harness has judged it.
        if isinstance(values, list) and value is not None and value not in values:
            return f"{name}: expected one of {listed(values)}, got {json_like(value)}"
    for name, value in DEFAULTS.items():
        if name not in takes and case.get(name, value) != value:
            return f"{name}: expected {json_like(value)}, got {json_like(case[name])}"
    if not takes["empty"] and 0 in (case.get("counts") or [case.get("count", 0)]):
        return "count: expected no empty part"
    return why_group_outside(case, takes["group"], world)


def why_group_outside(case: Mapping[str, Any], kind: str, world: int) -> str:
    """Returns why a group is not of this kind: any, sorted or world. Empty if it is."""
    group = case.get("group") or list(range(case["ranks"]))
    if kind == "sorted" and group != sorted(group):
        return f"group: expected ascending ranks, got {group}"
    if kind == "world" and group != list(range(world)):
        return f"group: expected the world of {world} ranks, got {group}"
    return ""


def listed(values: List[Any]) -> str:
    """Writes values with spaces between them."""
    return " ".join(json_like(each) for each in values)


def json_like(value: Any) -> str:
    """Writes a value as a case writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value) or "none"
