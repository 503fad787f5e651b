"""What a run would show below a cell."""

from __future__ import annotations

import json

import nbformat

from hermes_jupyter.kernel.live.outputs import KEPT_CHARS, MOST_PIECES, CellOutputs


def test_pieces_of_one_stream_are_one_output_and_others_stand_between():
    outputs = CellOutputs()
    for text, name in (("a", "stdout"), ("b", "stdout"), ("c", "stderr"), ("d", "stdout")):
        outputs.print(text, name)
    outputs.display({"text/plain": "shown"}, {})
    outputs.print("e", "stdout")
    told = [(each.get("name"), each.get("text")) for each in outputs.all()]
    assert told == [
        ("stdout", "ab"), ("stderr", "c"), ("stdout", "d"), (None, None), ("stdout", "e")
    ]  # fmt: skip


def test_it_is_what_a_notebook_may_hold():
    outputs = CellOutputs()
    outputs.print("x\n", "stdout")
    outputs.display({"image/png": b"\x89PNG", "text/plain": "fig"}, {"image/png": {"width": 3}})
    outputs.result({"text/plain": "1", "application/json": {"a": [1]}}, None)
    outputs.fail("ValueError", "no", ["line 1"])
    cell = nbformat.v4.new_code_cell("x", outputs=json.loads(json.dumps(outputs.all())))
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))
    assert outputs.all()[1]["data"]["image/png"] == "iVBORw=="


def test_an_update_changes_the_display_of_its_name_and_no_other():
    outputs = CellOutputs()
    outputs.display({"text/plain": "one"}, {}, "a")
    outputs.display({"text/plain": "two"}, {}, "b")
    outputs.update({"text/plain": "three"}, {}, "a")
    outputs.update({"text/plain": "lost"}, {}, "nobody")
    assert [each["data"]["text/plain"] for each in outputs.all()] == ["three", "two"]


def test_much_text_is_cut_in_the_middle_and_many_pieces_are_joined():
    outputs = CellOutputs()
    outputs.print("x" * 10 * KEPT_CHARS, "stdout")
    assert len(outputs.all()[0]["text"]) < KEPT_CHARS + 200
    for number in range(10 * MOST_PIECES):
        outputs.print("y", "stderr" if number % 2 else "stdout")
    assert len(outputs.all()) == MOST_PIECES


def test_cleared_outputs_are_gone():
    outputs = CellOutputs()
    outputs.print("x", "stdout")
    outputs.clear()
    outputs.print("y", "stdout")
    assert [each["text"] for each in outputs.all()] == ["y"]
