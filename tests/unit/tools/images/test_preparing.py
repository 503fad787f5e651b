"""Images made ready to be sent, whatever they are like."""

from __future__ import annotations

import builtins
import io
import struct
import zlib

import pytest

from tools.images import preparing
from tools.images.headers import header_of
from tools.images.picture import Picture, UnusableImage, decoded
from tools.images.preparing import LONGEST_SIDE, MOST_BYTES, prepared

Image = pytest.importorskip("PIL.Image")


def saved(image, form="PNG", **options):
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def plain(mode="RGB", size=(40, 30), colour=None):
    return Image.new(mode, size, colour if colour is not None else 0)


def noise(width, height, mode="RGB"):
    import numpy

    pixels = numpy.random.default_rng(0).integers(0, 256, (height, width, len(mode)), "uint8")
    return Image.fromarray(pixels)


def opened(picture):
    return Image.open(io.BytesIO(picture.content))


def png_header(width, height):
    body = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + body
    check = struct.pack(">I", zlib.crc32(chunk))
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", len(body)) + chunk + check


def test_a_small_png_is_sent_as_it_is():
    content = saved(plain())
    assert prepared(content) == Picture("image/png", content, 40, 30)


def test_a_large_image_is_scaled_and_says_so():
    picture = prepared(saved(plain(size=(4_000, 1_000))))
    assert (picture.width, picture.height) == (LONGEST_SIDE, LONGEST_SIDE // 4)
    assert picture.note == "scaled from 4000 x 1000"


def test_what_has_too_many_bytes_is_made_smaller_until_it_fits():
    content = saved(noise(1_500, 1_500))
    assert len(content) > 5 * MOST_BYTES
    picture = prepared(content)
    assert len(picture.content) <= MOST_BYTES
    assert opened(picture).size == (picture.width, picture.height)


def test_a_line_of_pixels_keeps_its_width():
    picture = prepared(saved(plain(size=(9_000, 1))))
    assert (picture.width, picture.height) == (LONGEST_SIDE, 1)


@pytest.mark.parametrize("cut", [9, 30, 60, 200, -30])
def test_a_cut_png_is_told(cut):
    with pytest.raises(UnusableImage, match=r"damaged|no image"):
        prepared(saved(noise(60, 60))[:cut])


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
def test_damaged_bytes_are_told_and_nothing_else_happens(form):
    content = bytearray(saved(noise(60, 60), form))
    for at in range(0, len(content), max(1, len(content) // 60)):
        broken = bytes(content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :])
        try:
            prepared(broken)
        except UnusableImage:
            continue


@pytest.mark.parametrize("kind", ["png", "bmp", "gif", "jpeg"])
def test_an_image_of_thirty_thousand_by_thirty_thousand_is_refused_before_it_is_decoded(
    kind, monkeypatch
):
    monkeypatch.setattr(preparing, "_pillow", lambda: pytest.fail("it was opened"))
    size = struct.pack("<ii", 30_000, 30_000)
    content = {
        "png": png_header(30_000, 30_000) + bytes(100),
        "bmp": b"BM" + bytes(16) + size + bytes(100),
        "gif": b"GIF89a" + struct.pack("<HH", 30_000, 30_000) + bytes(100),
        "jpeg": b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08" + struct.pack(">HH", 30_000, 30_000),
    }[kind]
    with pytest.raises(UnusableImage, match="30,000 x 30,000 pixels"):
        prepared(content)


def test_a_bomb_is_refused():
    """A million zeros to a byte: it would be 2.7 GB."""
    rows = zlib.compress(bytes(30_000_000), 9)
    chunk = b"IDAT" + rows
    data = struct.pack(">I", len(rows)) + chunk + struct.pack(">I", zlib.crc32(chunk))
    with pytest.raises(UnusableImage, match="pixels"):
        prepared(png_header(30_000, 30_000) + data)


def test_a_tiff_that_is_too_large_is_refused():
    content = bytearray(saved(plain("1", (8_000, 100)), "TIFF", compression="group4"))
    at = content.index(b"\x01\x01")  # the tag of the height
    content[at + 8 : at + 12] = struct.pack("<I", 10_000)
    with pytest.raises(UnusableImage, match=r"pixels|damaged"):
        prepared(bytes(content))


def test_too_many_bytes_are_refused():
    with pytest.raises(UnusableImage, match="bytes"):
        prepared(b"\x89PNG\r\n\x1a\n" + bytes(preparing.MOST_SOURCE_BYTES))


def test_of_an_animation_the_first_image_is_sent():
    frames = [plain("RGB", (20, 20), colour) for colour in ("red", "green", "blue")]
    picture = prepared(saved(frames[0], "GIF", save_all=True, append_images=frames[1:]))
    assert picture.note == "the first of 3 frames"
    assert getattr(opened(picture), "n_frames", 1) == 1


def test_a_cmyk_jpeg_becomes_red_green_and_blue():
    picture = prepared(saved(plain("CMYK", colour=(0, 255, 255, 0)), "JPEG"))
    image = opened(picture)
    assert image.mode == "RGB"
    red, green, blue = image.getpixel((5, 5))
    assert (red > 180, green < 80, blue < 80) == (True, True, True)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16", "I", "F", "YCbCr", "LAB"])
def test_every_mode_can_be_sent(mode):
    form = "PNG" if mode in ("1", "L", "LA", "P", "RGBA", "I;16") else "TIFF"
    picture = prepared(saved(plain(mode), form))
    assert opened(picture).size == (40, 30)


def test_sixteen_bits_are_spread_over_eight():
    image = Image.new("I;16", (2, 1))
    image.putpixel((1, 0), 60_000)
    picture = prepared(saved(image.resize((40, 20), 0), "TIFF"))
    assert opened(picture).convert("L").getextrema() == (0, 255)


def test_the_place_where_a_photo_was_taken_is_not_sent():
    exif = Image.Exif()
    exif[0x010F] = "MakerOfTheCamera"
    exif[0x0112] = 6  # lies on its side
    picture = prepared(saved(plain(size=(40, 30)), "JPEG", exif=exif))
    assert b"MakerOfTheCamera" not in picture.content
    assert (picture.width, picture.height) == (30, 40)


def test_the_name_does_not_decide_what_it_is():
    """A JPEG in a file called .png is a JPEG."""
    picture = prepared(saved(plain(), "JPEG"))
    assert header_of(picture.content).kind == picture.kind == "image/jpeg"


@pytest.mark.parametrize(
    "content", [b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"<?xml version='1.0'?>\n<SVG>"]
)
def test_svg_is_not_sent(content):
    with pytest.raises(UnusableImage, match="SVG"):
        prepared(content)


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7", b"hello", b"\0" * 100])
def test_what_is_no_image_is_told(content):
    with pytest.raises(UnusableImage, match="no image"):
        prepared(content)


@pytest.fixture
def no_pillow(monkeypatch):
    real = builtins.__import__

    def importing(name, *rest, **more):
        if name.partition(".")[0] == "PIL":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", importing)


def test_without_pillow_small_images_are_sent(no_pillow):
    content = png_header(40, 30) + bytes(100)
    assert prepared(content).width == 40


@pytest.mark.parametrize("content", [png_header(4_000, 30), b"BM" + bytes(100)])
def test_without_pillow_it_is_said_what_to_install(no_pillow, content):
    with pytest.raises(UnusableImage, match=r"pip install 'hermes-jupyter\[images\]'"):
        prepared(content)


def test_an_image_is_named_by_its_content():
    one, other = prepared(saved(plain())), prepared(saved(plain(colour=9)))
    assert one.name == prepared(saved(plain())).name != other.name
    assert one.words == f"{one.name} (PNG, 40 x 30)"
    assert decoded(one.uri, 10_000) == one.content


@pytest.mark.parametrize("uri", ["data:image/png;base64,AAA", "data:image/png,abc", "data:,x"])
def test_a_broken_data_address_is_told(uri):
    with pytest.raises(UnusableImage, match="data:"):
        decoded(uri, 10_000)
