"""What stands in variables, drawn as images."""

from __future__ import annotations

import sys
import types

import pytest

from tools.images.headers import header_of
from tools.images.picture import UnusableImage
from tools.images.preparing import LONGEST_SIDE, prepared
from tools.images.values import drawn, is_drawable

numpy = pytest.importorskip("numpy")
Image = pytest.importorskip("PIL.Image")


def pixels(array):
    import io

    return Image.open(io.BytesIO(drawn(array)))


@pytest.fixture
def figure():
    figures = pytest.importorskip("matplotlib.figure")
    figure = figures.Figure(figsize=(4, 3), dpi=100)
    figure.subplots().plot([1, 2, 3])
    return figure


def test_a_figure_is_drawn_without_pyplot_and_stays_as_it_was(figure):
    canvas, dpi = figure.canvas, figure.dpi
    assert header_of(drawn(figure)).kind == "image/png"
    assert (figure.canvas, figure.dpi) == (canvas, dpi)
    assert is_drawable(figure)


def test_of_axes_their_whole_figure_is_drawn(figure):
    assert drawn(figure.axes[0]) == drawn(figure)


def test_a_huge_figure_is_drawn_small(figure):
    figure.set_size_inches(2_000, 10)
    found = header_of(drawn(figure))
    assert max(found.width, found.height) <= LONGEST_SIDE + 200


def test_a_figure_that_fails_to_draw_is_told(figure):
    figure.axes[0].set_title("$\\nothing{$")
    with pytest.raises(UnusableImage, match="cannot be drawn"):
        drawn(figure)


@pytest.mark.parametrize(
    ("array", "extrema"),
    [
        (numpy.array([[0, 255]], "uint8"), (0, 255)),
        (numpy.array([[0.0, 1.0]]), (0, 255)),
        (numpy.array([[-5.0, 5.0]]), (0, 255)),
        (numpy.array([[False, True]]), (0, 255)),
        (numpy.array([[1_000, 3_000]], "uint16"), (0, 255)),
        (numpy.array([[numpy.nan, 0.5, numpy.inf]]), (0, 255)),
        (numpy.array([[10, 20]]), (10, 20)),
        (numpy.zeros((2, 2)), (0, 0)),
    ],
)
def test_numbers_are_spread_over_grey_values(array, extrema):
    assert pixels(array).getextrema() == extrema


@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 1), (4, 6, 3), (4, 6, 4), (1, 4, 6)])
def test_arrays_of_pixels_are_images(shape):
    assert pixels(numpy.zeros(shape, "uint8")).size == (6, 4)


@pytest.mark.parametrize("shape", [(4,), (4, 6, 2), (2, 3, 4, 5), (0, 6)])
def test_other_arrays_are_none(shape):
    with pytest.raises(UnusableImage, match="array"):
        drawn(numpy.zeros(shape))


def test_arrays_of_words_are_none():
    with pytest.raises(UnusableImage, match="array"):
        drawn(numpy.array([["a", "b"]]))


def test_a_huge_array_is_thinned_before_it_is_copied():
    array = numpy.broadcast_to(numpy.float32(0.5), (40_000, 40_000))  # 6.4 GB if it were copied
    assert max(pixels(array).size) <= 3 * LONGEST_SIDE


def test_images_of_pillow_and_bytes_are_taken():
    image = Image.new("CMYK", (8, 6))
    content = drawn(image)
    assert prepared(content).width == 8
    assert drawn(content) == content
    assert is_drawable(image)


@pytest.mark.parametrize("value", [None, 5, "a.png", b"no image", [1, 2], object()])
def test_all_else_is_nothing_to_be_seen(value):
    with pytest.raises(UnusableImage, match="nothing to be seen"):
        drawn(value)
    assert not is_drawable(value)


@pytest.fixture
def plotly(monkeypatch):
    """Stands for the library, which is not installed."""
    there = types.ModuleType("plotly.basedatatypes")

    class BaseFigure:
        fails = ""

        def to_image(self, format):
            if self.fails:
                raise ValueError(self.fails)
            return drawn(numpy.zeros((3, 5), "uint8"))

    there.BaseFigure = BaseFigure
    monkeypatch.setitem(sys.modules, "plotly.basedatatypes", there)
    return BaseFigure()


def test_a_figure_of_plotly_is_drawn(plotly):
    assert header_of(drawn(plotly)).width == 5


def test_without_kaleido_it_is_said_what_to_install(plotly):
    plotly.fails = "Image export requires the kaleido package"
    with pytest.raises(UnusableImage, match="pip install kaleido"):
        drawn(plotly)
