"""Arrays and tensors: shape, type, memory, the first values, and their range if they are few."""

from __future__ import annotations

from typing import Any

from tools.values.frames import size_text
from tools.values.plain import told
from tools.values.types import is_of, library

FIRST = 10
MOST_SUMMED = 1_000_000
"""So many values are looked at for their range."""

Details = dict[str, Any]


def is_array(value: object) -> bool:
    return is_of(value, "numpy", "ndarray", "generic") or is_of(value, "torch", "Tensor")


def describe_array(value: Any) -> Details:
    return _tensor(value) if is_of(value, "torch", "Tensor") else _array(value)


def _array(value: Any) -> Details:
    numpy = library("numpy")
    if not is_of(value, "numpy", "ndarray"):
        return {"dtype": str(value.dtype), "value": told(value.item())}
    array = numpy.ndarray.view(value, numpy.ndarray)
    details: Details = {
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "memory": size_text(int(array.nbytes)),
        "first": [_item(array, place) for place in range(min(FIRST, array.size))],
    }
    if array.dtype.names:
        details["fields"] = list(array.dtype.names)[:FIRST]
    if array.dtype.kind in "iuf" and 0 < array.size <= MOST_SUMMED:
        details |= _range(numpy, array)
    return details


def _range(numpy: Any, array: Any) -> Details:
    if array.dtype.kind != "f":
        return {"min": told(array.min().item()), "max": told(array.max().item())}
    missing = int(numpy.isnan(array).sum())
    if missing == array.size:
        return {"missing": missing}
    return {
        "min": told(float(numpy.nanmin(array))),
        "max": told(float(numpy.nanmax(array))),
        "mean": told(float(f"{numpy.nanmean(array, dtype=float):.6g}")),
        **({"missing": missing} if missing else {}),
    }


def _item(array: Any, place: int) -> str:
    """One value; ``flat`` copies nothing."""
    item = array.flat[place]
    return told(item.item() if is_of(item, "numpy", "generic") and item.nbytes <= 64 else item, 60)


def _tensor(value: Any) -> Details:
    torch = library("torch")
    details: Details = {
        "shape": list(torch.Tensor.size(value)),
        "dtype": str(value.dtype),
        "device": str(value.device),
        "requires_grad": bool(value.requires_grad),
        "memory": size_text(int(value.nelement() * value.element_size())),
    }
    if value.device.type == "cpu" and not value.is_sparse and type(value) is torch.Tensor:
        flat = value.detach().as_strided((min(FIRST, value.nelement()),), (1,))
        details["first"] = [told(each, 60) for each in flat.tolist()]
    return details
