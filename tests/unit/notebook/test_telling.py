"""What the model is told of cells."""

import base64
import struct

import pytest

from hermes_jupyter.notebook.cells import SeenCell
from hermes_jupyter.notebook.outputs import text_of
from hermes_jupyter.notebook.telling import limit_for, told


def cell(key, source, number=1, outputs=(), **about):
    about = {"kind": "code", "number": number, **about}
    return SeenCell(key=key, source=source, outputs=lambda: outputs, **about)


def stream(text):
    return {"output_type": "stream", "name": "stdout", "text": text}


def png(width, height):
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    return base64.b64encode(head + bytes(90_000)).decode()


def test_source_output_and_state_are_told_in_order():
    text = told(
        [
            cell("a", "# Title", kind="markdown"),
            cell("b", "print(1)", 3, [stream("1\n")]),
            cell("c", "1 / 0", 4, error="ZeroDivisionError: division by zero"),
            cell("d", "later", 0),
            cell("e", "edited", 5, changed=True),
        ],
        {},
        9_000,
    ).text
    body = text.split("<notebook_cells>\n")[1].split("\n</notebook_cells>")[0]
    assert body == (
        "[markdown]\n# Title\n\n"
        "[code 3]\nprint(1)\n--- output ---\n1\n\n"
        "[code 4]\n1 / 0\n--- failed ---\nZeroDivisionError: division by zero\n\n"
        "[code, not run in this kernel]\nlater\n\n"
        "[code 5, changed since it ran]\nedited"
    )


def test_what_is_known_is_not_told_again():
    known = {}
    first = [cell("a", "x = 1"), cell("b", "y = 1")]
    assert "new or changed" not in told(first, known, 9_000).text
    assert told(first, known, 9_000).text == ""
    text = told([cell("a", "x = 1"), cell("b", "y = 2")], known, 9_000).text
    assert "y = 2" in text
    assert "x = 1" not in text
    assert "new or changed" in text


def test_a_cell_that_ran_again_is_told_again():
    known = {}
    told([cell("a", "x()", 1)], known, 9_000)
    assert "x()" in told([cell("a", "x()", 2)], known, 9_000).text


@pytest.mark.parametrize("limit", [500, 900, 2_000, 9_000, 60_000])
def test_the_limit_holds_and_the_nearest_cell_has_most(limit):
    cells = [
        cell(str(n), f"step_{n}()\n" + "work()\n" * 50, n, [stream("out " * 400)])
        for n in range(1, 200)
    ]
    text = told(cells, {}, limit).text
    assert len(text) < limit + 400
    assert "step_199()" in text
    assert ("earlier cells left out" in text) or limit == 60_000


def test_with_no_room_nothing_is_told_and_nothing_is_known():
    known = {}
    assert told([cell("a", "x")], known, 0).text == ""
    assert known == {}


def test_images_are_named_and_base64_is_not_spelled_out():
    outputs = [
        {
            "output_type": "display_data",
            "data": {"image/png": png(640, 480), "text/plain": "<Figure>"},
        },
        stream("A" * 5_000),
    ]
    text = text_of(outputs, 1_000)
    assert text == "[image/png, 640 x 480]\n[5,000 characters of base64]"


def test_a_broken_image_is_named_all_the_same():
    assert text_of([{"output_type": "display_data", "data": {"image/png": "%%"}}], 99) == (
        "[image/png]"
    )


def test_escapes_are_taken_out_and_long_output_loses_its_middle():
    text = text_of([stream("\x1b[31mred\x1b[0m\n" + "x " * 3_000 + "end")], 300)
    assert text.startswith("red\n")
    assert text.endswith("end")
    assert "left out" in text
    assert len(text) < 360


@pytest.mark.parametrize(
    "output",
    [{}, {"output_type": "stream"}, {"output_type": "display_data", "data": 5}, {"output_type": 3},
     {"output_type": "error"}, {"output_type": "execute_result", "data": {"text/plain": ["a", 1]}}],
)  # fmt: skip
def test_outputs_of_any_shape_do_no_harm(output):
    assert isinstance(text_of([output], 100), str)


def test_a_window_that_nobody_knows_is_taken_for_a_usual_one():
    assert limit_for(0, 10.0) == limit_for(32_000, 10.0) == 9_600
    assert limit_for(1_000_000, 50.0) == 60_000
