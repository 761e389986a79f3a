"""Views of the bytes of an image as arrays of numpy or torch. Nothing is copied."""
from __future__ import annotations

import importlib
from typing import Any, Dict, List, Optional

import numpy as np

from .call import Blocks

NUMPY_NAMES = {
    "int8": "int8",
    "int32": "int32",
    "int64": "int64",
    "uint8": "uint8",
    "uint32": "uint32",
    "uint64": "uint64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "complex64": "complex64",
    "complex128": "complex128",
}
ML_NAMES = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}
TORCH_NAMES = {**NUMPY_NAMES, **ML_NAMES}
TYPE_NAMES = [*NUMPY_NAMES, *ML_NAMES]
ALIGNMENT = 64
# An array of bytes.
Memory = Any


def aligned_bytes(size: int) -> Memory:
    """Returns an array of `size` bytes that begins at a multiple of 64.

    The harness places buffers relative to the image's beginning, so elements are aligned then.
    """
    block = np.empty(size + ALIGNMENT, dtype=np.uint8)
    start = -block.ctypes.data % ALIGNMENT
    return block[start : start + size]


def element_bytes(type_name: str) -> int:
    """Returns the bytes of an element."""
    sizes = {"bf16": 2, "f8e4m3": 1, "f8e5m2": 1}
    return sizes.get(type_name) or np.dtype(NUMPY_NAMES[type_name]).itemsize


class NumpyArrays:
    """Makes views that are arrays of numpy."""

    def __init__(self) -> None:
        self._types: Dict[str, Any] = {n: np.dtype(name) for n, name in NUMPY_NAMES.items()}
        try:
            extra = importlib.import_module("ml_dtypes")
        except ImportError:
            return
        self._types.update({n: np.dtype(getattr(extra, name)) for n, name in ML_NAMES.items()})

    def why_not(self, type_name: str) -> str:
        """Returns why there are no arrays of this type. Empty if there are."""
        if type_name in self._types:
            return ""
        return f"type: {type_name} needs the package ml_dtypes, which cannot be imported"

    def view(self, memory: Memory, type_name: str) -> Any:
        """Returns a view of these bytes with elements of the type."""
        return memory.view(self._types[type_name])


class TorchArrays:
    """Makes views that are tensors of torch on the CPU."""

    def __init__(self) -> None:
        self._torch = importlib.import_module("torch")

    def why_not(self, type_name: str) -> str:
        """Returns why there are no tensors of this type. Empty if there are."""
        if hasattr(self._torch, TORCH_NAMES[type_name]):
            return ""
        return f"type: torch {self._torch.__version__} has no {TORCH_NAMES[type_name]}"

    def view(self, memory: Memory, type_name: str) -> Any:
        """Returns a view of these bytes with elements of the type."""
        dtype = getattr(self._torch, TORCH_NAMES[type_name])
        # torch takes no empty bytes to view as a wider type.
        if memory.size == 0:
            return self._torch.empty(0, dtype=dtype)
        if type_name in NUMPY_NAMES:
            return self._torch.from_numpy(memory.view(NUMPY_NAMES[type_name]))
        carrier = memory.view(np.int16 if type_name == "bf16" else np.uint8)
        return self._torch.from_numpy(carrier).view(dtype)


def make_arrays(kind: str) -> Any:
    """Returns the maker of views for `arrays="numpy"` or `arrays="torch"`."""
    return TorchArrays() if kind == "torch" else NumpyArrays()


def shape_of(shape: str, case: Dict[str, Any], place: int, size: int) -> List[int]:
    """Returns the lengths of an array whose shape has this name, see operations.py."""
    counts = case.get("counts", [])
    count = case.get("count", 0)
    outer, inner = case.get("outer", 1), case.get("inner", 1)
    if shape == "one":
        return [count]
    if shape == "rows":
        return [size, count]
    if shape == "own":
        return [counts[place]]
    if shape == "own_axis":
        return [outer, counts[place], inner]
    return [outer, sum(counts) if shape == "all_axis" else 1, inner]


def view_blocks(whole: Any, buffer: Dict[str, Any], case: Dict[str, Any], element: int) -> Blocks:
    """Returns the blocks of a buffer that consists of several arrays."""
    if buffer["blocks"]:
        starts = [start // element for start, _ in buffer["blocks"]]
        return Blocks(whole, starts, [bytes_ // element for _, bytes_ in buffer["blocks"]])
    # The call must leave the buffer alone. Its arrays are where they would be on the root.
    counts = case.get("counts", [])
    starts = []
    end = 0
    for count in counts:
        starts.append(end)
        end += count + case.get("gap", 0)
    return Blocks(whole, starts, counts)


def view_buffer(
    arrays: Any,
    image: Memory,
    buffer: Optional[Dict[str, Any]],
    shape: str,
    case: Dict[str, Any],
    place: int,
    size: int,
) -> Any:
    """Returns a buffer of a member's image as one array, or as Blocks.

    A buffer without elements that the call would leave alone is not in the image. It becomes
    arrays without elements, so that a function can treat all ranks alike.
    """
    type_name = case.get("type", "f32")
    if buffer is None:
        buffer = {"offset": 0, "bytes": 0, "blocks": []}
    stride = buffer.get("stride", 1)
    memory = image[buffer["offset"] : buffer["offset"] + buffer["bytes"] * stride]
    whole = arrays.view(memory, type_name)[::stride]
    if shape == "blocks":
        return view_blocks(whole, buffer, case, element_bytes(type_name))
    return whole.reshape(shape_of(shape, case, place, size))
