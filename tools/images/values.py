"""Figures and arrays in variables, drawn as images. The libraries are those that the user has."""

from __future__ import annotations

import io
from typing import Any

from tools.images.headers import header_of
from tools.images.picture import UnusableImage
from tools.images.preparing import LONGEST_SIDE, MOST_PIXELS
from tools.values.types import full_name, is_instance, is_of

GREYS = (1, 3, 4)
"""How many values a pixel may have: grey; red, green, blue; and how opaque it is."""


def is_drawable(value: object) -> bool:
    """Is it something that `drawn` knows?"""
    return (
        _is_matplotlib(value)
        or is_of(value, "plotly.basedatatypes", "BaseFigure")
        or is_of(value, "PIL.Image", "Image")
        or is_of(value, "IPython.core.display", "Image")
        or is_of(value, "seaborn.axisgrid", "Grid")
    )


def drawn(value: object) -> bytes:
    """The bytes of an image of this value. To draw a figure runs its code, as showing it would.

    Raises
    ------
    UnusableImage
        If it is nothing that can be seen. The message is for the model.
    """
    if is_of(value, "seaborn.axisgrid", "Grid"):
        value = value.figure  # type: ignore[attr-defined]
    if is_instance(value, bytes) and header_of(value[:4_096]):  # type: ignore[index]
        return bytes(value)  # type: ignore[call-overload, no-any-return]
    if is_of(value, "IPython.core.display", "Image"):
        return _content_of(value)
    if _is_matplotlib(value):
        return _figure(value)
    if is_of(value, "plotly.basedatatypes", "BaseFigure"):
        return _plotly(value)
    if is_of(value, "PIL.Image", "Image"):
        return _saved(value)
    if is_of(value, "numpy", "ndarray"):
        return _array(value)
    raise UnusableImage(
        f"a {full_name(type(value))} is nothing to be seen: figures of matplotlib and plotly, "
        "images of Pillow and arrays of pixels are"
    )


def _is_matplotlib(value: object) -> bool:
    return is_of(value, "matplotlib.figure", "FigureBase") or is_of(
        value, "matplotlib.axes", "Axes"
    )


def _figure(value: Any) -> bytes:
    figure = value if is_of(value, "matplotlib.figure", "Figure") else value.get_figure(root=True)
    longest = max(float(side) for side in figure.get_size_inches())
    buffer = io.BytesIO()
    dpi = min(float(figure.dpi), LONGEST_SIDE / max(longest, 0.01))
    try:
        figure.savefig(buffer, format="png", dpi=dpi, bbox_inches="tight")
    except Exception as error:
        raise _undrawn(error) from error
    return buffer.getvalue()


def _plotly(value: Any) -> bytes:
    try:
        return bytes(value.to_image(format="png"))
    except Exception as error:
        if "kaleido" in str(error).lower():
            raise UnusableImage(
                "to draw a figure of plotly needs kaleido: pip install kaleido"
            ) from error
        raise _undrawn(error) from error


def _undrawn(error: Exception) -> UnusableImage:
    return UnusableImage(f"the figure cannot be drawn: {type(error).__name__}: {str(error)[:300]}")


def _content_of(value: Any) -> bytes:
    content = value.data
    if isinstance(content, bytes):
        return content
    raise UnusableImage("this Image holds no bytes, only an address: name that")


def _saved(image: Any) -> bytes:
    if image.width * image.height > MOST_PIXELS:
        raise UnusableImage(f"the image has {image.width:,} x {image.height:,} pixels: too many")
    plain = image if image.mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16") else None
    buffer = io.BytesIO()
    (plain or image.convert("RGB")).save(buffer, "PNG")
    return buffer.getvalue()


def _array(array: Any) -> bytes:
    """Grey values, or red, green and blue; others than 0 to 255 and 0 to 1 are spread."""
    import numpy

    pixels = array[0] if array.ndim in (3, 4) and array.shape[0] == 1 else array
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if not (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] in GREYS)):
        raise UnusableImage(
            f"an array of shape {tuple(array.shape)} is no image: (height, width), or that with "
            "3 or 4 colours behind, is one"
        )
    if 0 in pixels.shape or pixels.dtype.kind not in "buif":
        raise UnusableImage(f"an array of {pixels.dtype} with shape {tuple(array.shape)} is none")
    step = max(1, max(pixels.shape[:2]) // (2 * LONGEST_SIDE))
    return _pillow_array(_spread(pixels[::step, ::step], numpy))


def _spread(pixels: Any, numpy: Any) -> Any:
    if pixels.dtype == numpy.uint8:
        return numpy.ascontiguousarray(pixels)
    values = pixels.astype(numpy.float64)
    finite = values[numpy.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if pixels.dtype.kind == "b" or (pixels.dtype.kind == "f" and low >= 0 and high <= 1):
        low, high = 0.0, 1.0
    elif pixels.dtype.kind in "iu" and low >= 0 and high <= 255:
        low, high = 0.0, 255.0
    scaled = (values - low) * (255.0 / ((high - low) or 1.0))
    return numpy.nan_to_num(scaled, nan=0.0, posinf=255.0, neginf=0.0).clip(0, 255).astype("uint8")


def _pillow_array(pixels: Any) -> bytes:
    try:
        from PIL import Image
    except ImportError:
        raise UnusableImage(
            "to draw an array needs Pillow: pip install 'hermes-jupyter[images]'"
        ) from None
    return _saved(Image.fromarray(pixels))
