"""Operators of ptychography: functions that get named arrays and return named arrays."""
from __future__ import annotations

import functools
import math
from typing import Any, Callable, Dict, List, Optional

from .call import Call, Scene
from .functions import is_from_the_call_itself, why_not_callable

OPERATORS = """
    alternating_projections_step conjugate_gradient_step crop difference_map_step epie_step
    extract fuse gaussian_cost gaussian_gradients halo_accumulate halo_blend halo_replace
    illuminate illuminate_adjoint_object illuminate_adjoint_probe insert intensity
    lsqml_step momentum_step multislice multislice_adjoint_object multislice_adjoint_probe
    object_preconditioner orthogonalize_modes pad partition_compact partition_consecutive
    partition_equal_stripes partition_grid partition_interlaced partition_quadrants
    partition_random partition_stripes poisson_conjugate_gradient_step poisson_cost
    poisson_gradients probe_preconditioner propagate propagate_fresnel
    propagate_fresnel_adjoint propagate_inverse redistribute rpie_step shift shift_back
""".split()
# Fields of a case that a function of an operator takes with any value, unless it says otherwise.
OPERATOR_FIELDS = [
    "offset",
    "modes",
    "slices",
    "varying_probe",
    "wavelength",
    "distance",
    "tile_cols",
    "halo",
]


def scene_of(case: Dict[str, Any]) -> Scene:
    """Returns the sizes of a case, with their defaults."""
    names = Scene.__dataclass_fields__
    return Scene(**{name: case[name] for name in names if name in case})


def views_of(arrays: Any, image: Any, buffer: Optional[Dict[str, Any]]) -> Dict[str, Any]:
    """Returns the arrays of a buffer by name, as views on the image."""
    views: Dict[str, Any] = {}
    if buffer is None:
        return views
    for (start, size), array in zip(buffer["blocks"], buffer["arrays"]):
        begin = buffer["offset"] + start
        views[array["name"]] = arrays.view(image[begin : begin + size], array["type"]).reshape(
            array["shape"]
        )
    return views


def results_by_name(call: Call, result: Any, names: List[str]) -> Dict[str, Any]:
    """Returns what a function has returned by the names of the outputs."""
    if result is None and names:
        raise TypeError(
            f"{call.operation}: got None, expected {', '.join(names)}: did the function return "
            "nothing?"
        )
    if isinstance(result, dict):
        results = result
    elif len(names) == 1:
        results = {names[0]: result}
    elif isinstance(result, (tuple, list)) and len(result) == len(names):
        results = dict(zip(names, result))
    else:
        raise TypeError(
            f"{call.operation}: got {type(result).__name__}, expected {len(names)} results "
            f"({', '.join(names)}) as a tuple or a dict"
        )
    if sorted(results) != sorted(names):
        raise ValueError(
            f"{call.operation}: got the results {', '.join(results)}, expected {', '.join(names)}"
        )
    return results


def adapted(function: Callable[..., Any]) -> Callable[..., None]:
    """Returns a function that gets the call, the inputs and views of the outputs."""

    def run(call: Call, inputs: Dict[str, Any], outputs: Dict[str, Any]) -> None:
        try:
            result = function(call, **inputs)
        except TypeError as error:
            why = why_not_callable(call.operation, function, ["call"], list(inputs))
            if not why or not is_from_the_call_itself(error):
                raise
            raise TypeError(why) from None
        results = results_by_name(call, result, list(outputs))
        for name, out in outputs.items():
            got = tuple(getattr(results[name], "shape", ()))
            expected = tuple(out.shape)
            # A number is as good as an array of one number.
            if got != expected and not (got == () and math.prod(expected) == 1):
                raise ValueError(f"{call.operation}: {name}: got shape {got}, expected {expected}")
            out[...] = results[name]

    functools.update_wrapper(run, function)
    return run
