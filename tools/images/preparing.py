"""Makes an image fit to be sent: looked at with care, scaled, turned upright, without its place.

Pillow does it, which comes with matplotlib. Without it what is small already is sent as it is.
"""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

from tools.images.headers import GIF, JPEG, PNG, SENDABLE, Header, header_of, is_svg
from tools.images.picture import Picture, UnusableImage

MOST_SOURCE_BYTES = 20_000_000
MOST_PIXELS = 50_000_000
"""Of an image that is decoded: 200 MB in memory."""
LONGEST_SIDE = 1_568
"""Pixels; models see no more of a larger image."""
MOST_BYTES = 1_000_000
"""Of what is sent."""
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
QUALITY = 85
SMALLER = 0.75
"""What its sides are multiplied with, as long as it has too many bytes."""
NO_PILLOW = "it must be {}, for which Pillow is missing: pip install 'hermes-jupyter[images]'"
BROKEN = "the image is damaged or was cut: {}"


def prepared(content: bytes) -> Picture:
    """The image in these bytes, ready to be sent; the first one of an animation.

    Takes a while for large ones: not for a loop's thread.

    Raises
    ------
    UnusableImage
        For anything else than an image, for one that is damaged, and for one so large that to
        decode it would take the memory.
    """
    header = _checked(content)
    library = _pillow()
    if library is None:
        return _as_it_is(content, header)
    try:
        with library.open(io.BytesIO(content), formats=FORMATS) as image:
            _must_be_small(image.width, image.height)
            return _sendable(image, content, header)
    except UnusableImage:
        raise
    except (OSError, SyntaxError, ValueError, TypeError, struct.error, zlib.error) as error:
        raise UnusableImage(BROKEN.format(str(error)[:200])) from None
    except (MemoryError, OverflowError, library.DecompressionBombError):
        raise UnusableImage("the image is too large to be decoded; save a smaller one") from None
    except (AttributeError, LookupError, AssertionError, NotImplementedError) as error:
        # What Pillow raises in places for files that are not as they should be.
        raise UnusableImage(BROKEN.format(type(error).__name__)) from None


def _checked(content: bytes) -> Header:
    if len(content) > MOST_SOURCE_BYTES:
        raise UnusableImage(f"the image has {len(content):,} bytes; {MOST_SOURCE_BYTES:,} may be")
    header = header_of(content)
    if header is None:
        if is_svg(content):
            raise UnusableImage("it is an SVG drawing: read it as text, or save it as PNG")
        raise UnusableImage("it is no image: PNG, JPEG, GIF, WebP, BMP and TIFF are known")
    _must_be_small(header.width, header.height)
    return header


def _must_be_small(width: int, height: int) -> None:
    if width * height > MOST_PIXELS:
        raise UnusableImage(
            f"the image has {width:,} x {height:,} pixels; {MOST_PIXELS:,} in all may be. "
            "Save a smaller one"
        )


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        return None
    return Image


def _as_it_is(content: bytes, header: Header) -> Picture:
    if header.kind not in SENDABLE:
        raise UnusableImage(NO_PILLOW.format("made another kind of"))
    if not header.width or not header.height:
        raise UnusableImage(BROKEN.format("it has no size"))
    if max(header.width, header.height) > LONGEST_SIDE or len(content) > MOST_BYTES:
        raise UnusableImage(NO_PILLOW.format("made smaller"))
    return Picture(header.kind, content, header.width, header.height)


def _sendable(image: Any, content: bytes, header: Header) -> Picture:
    frames = getattr(image, "n_frames", 1)
    was = (image.width, image.height)
    image.load()  # damage is found here
    notes = [f"the first of {frames} frames"] if frames > 1 else []
    is_fit = max(was) <= LONGEST_SIDE and len(content) <= MOST_BYTES
    if is_fit and header.kind == PNG and frames == 1 and not image.getexif() and _is_plain(image):
        return Picture(PNG, content, *was)
    ready = _upright(_in_plain_colours(image))
    kind, written = _written(_scaled(ready, LONGEST_SIDE), lossless=header.kind in (PNG, GIF))
    side = float(LONGEST_SIDE)
    while len(written) > MOST_BYTES and side > 64:
        side = min(side, max(ready.size)) * SMALLER
        kind, written = _written(_scaled(ready, int(side)), lossless=False)
    size = header_of(written) or Header(kind)
    if max(was) > max(size.width, size.height):
        notes.append(f"scaled from {was[0]} x {was[1]}")
    return Picture(kind, written, size.width, size.height, ", ".join(notes))


def _is_plain(image: Any) -> bool:
    return image.mode in ("1", "L", "LA", "P", "RGB", "RGBA")


def _in_plain_colours(image: Any) -> Any:
    """With eight bits a colour, in red, green and blue, or grey."""
    if image.mode in ("RGB", "RGBA", "L"):
        return image
    if image.mode in ("LA", "PA") or (image.mode == "P" and "transparency" in image.info):
        return image.convert("RGBA")
    if image.mode in ("F", "I") or image.mode.startswith("I;16"):
        low, high = image.convert("F").getextrema()
        span = (high - low) or 1.0
        return image.convert("F").point(lambda grey: (grey - low) * 255.0 / span).convert("L")
    return image.convert("L" if image.mode == "1" else "RGB")


def _upright(image: Any) -> Any:
    from PIL import ImageOps

    return ImageOps.exif_transpose(image)


def _scaled(image: Any, longest: int) -> Any:
    if max(image.size) <= longest:
        return image
    share = longest / max(image.size)
    width, height = (max(1, round(side * share)) for side in image.size)
    return image.resize((width, height), reducing_gap=2.0)


def _written(image: Any, *, lossless: bool) -> tuple[str, bytes]:
    """As PNG if that is wanted and small enough, else as JPEG on white."""
    clean = image.copy()
    clean.info = {}  # where and with what a photo was taken is nobody's business
    if lossless:
        png = _saved(clean, "PNG")
        if len(png) <= MOST_BYTES:
            return PNG, png
    if clean.mode == "RGBA":
        from PIL import Image

        white = Image.new("RGB", clean.size, "white")
        white.paste(clean, mask=clean.getchannel("A"))
        clean = white
    return JPEG, _saved(clean, "JPEG", quality=QUALITY)


def _saved(image: Any, form: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()
