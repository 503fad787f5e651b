"""A person runs a notebook again: answers stay, and a turn becomes a cell of code."""

import json

from applications import ONE_IS_ENOUGH
from playwright.sync_api import expect

pytestmark = ONE_IS_ENOUGH

PROMPT = "batch: read all four parts"


def asked(model):
    return len([1 for _, body in model.requests if body.get("messages")])


def test_run_all_keeps_the_answer_and_fresh_asks_anew(notebook, model):
    page = notebook(f"%%agent\n{PROMPT}", f"%%agent --fresh\n{PROMPT}")
    page.run_all()
    for number in (1, 2):
        expect(page.output(number)).to_contain_text("Four parts, all read.", timeout=60_000)
        page.until_idle(number)
    before = asked(model)
    page.restart()
    page.run_all()
    expect(page.output(1)).to_contain_text("--fresh asks anew", timeout=60_000)
    expect(page.output(1)).to_contain_text("Four parts, all read.")
    page.until_idle(2)
    assert asked(model) == before + 2  # the second cell alone, in two steps
    expect(page.output(2)).not_to_contain_text("--fresh asks anew")
    page.shot("kept-answer")


def test_a_turn_is_ejected_into_the_next_cells(notebook):
    page = notebook(f"%%agent\n{PROMPT}", "%hermes eject", "print('last')")
    page.run_all()
    expect(page.output(1)).to_contain_text("Four parts, all read.", timeout=60_000)
    expect(page.output(2)).to_contain_text("cells below; nothing was run", timeout=60_000)
    page.save()
    cells = page.saved()["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    assert [cell["cell_type"] for cell in cells[3:5]] == ["markdown", "code"]
    assert f"> {PROMPT}" in sources[3]
    assert all(f"part{n}.txt" in "".join(sources[4:-1]) for n in range(4))
    assert sources[-1] == "print('last')"
    assert "vnd.hermes.turn+json" in json.dumps(page.saved())
