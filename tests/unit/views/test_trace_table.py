import re
from dataclasses import replace

import pytest

from hermes_jupyter.trace import Dispatch
from hermes_jupyter.views.trace_table import bundle_of

READ = Dispatch(
    turn="t",
    at=1_700_000_000.0,
    tool="read_file",
    args='{"path": "a.txt", "limit": "5"}',
    changes=('limit: "5" -> 5',),
    status="ok",
    exit_code=0,
    seconds=0.25,
    chars=1_204,
    handle="",
    decisions=(),
    error="",
)
TITLE = "1 call of tools"


def test_every_rendering_tells_what_was_asked_coerced_and_answered():
    bundle = bundle_of([READ], TITLE)
    for mime, text in bundle.items():
        for said in ("read_file", "a.txt", "1,204 chars", "done", TITLE):
            plain = re.sub(r"&#(\d+);", lambda found: chr(int(found[1])), text)
            assert said in plain, mime
    assert 'coerced limit: "5" -> 5' in bundle["text/plain"]
    assert "coerced limit: &quot;5&quot; -&gt; 5" in bundle["text/html"]


def test_who_approved_and_where_a_cut_answer_lies_are_told():
    seen = replace(READ, decisions=(("once", "widget"),), handle="r7")
    text = bundle_of([seen], TITLE)["text/plain"]
    assert "Allowed once by you" in text
    assert "kept as r7" in text


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.0004, "0.4 ms"), (0.0123, "12 ms"), (2.5, "2.5 s"), (0.0, "✓ done  ")]
)
def test_the_time_is_exact_where_it_ran(seconds, said):
    assert said in bundle_of([replace(READ, seconds=seconds)], TITLE)["text/plain"]


def test_an_error_is_told():
    seen = replace(READ, status="error", error="there is no tool 'raed'")
    assert "there is no tool 'raed'" in bundle_of([seen], TITLE)["text/plain"]


def test_html_needs_no_script_no_style_sheet_and_no_colour_of_its_own():
    html = bundle_of([READ], TITLE)["text/html"]
    assert "<script" not in html
    assert "<style" not in html
    assert not re.search(r"(?<!-)color:(?!inherit)|#[0-9a-f]{3}", html)


@pytest.mark.parametrize("field", ["tool", "args", "error", "handle"])
def test_hostile_text_stays_text(hostile, field):
    bundle = bundle_of([replace(READ, **{field: hostile + "| x |\n# y"})], TITLE)
    assert "<script" not in bundle["text/html"]
    assert "<img" not in bundle["text/html"]
    rows = bundle["text/markdown"].splitlines()
    assert len(rows) == 5
    assert rows[-1].count("|") == 6
    assert "<script" not in bundle["text/markdown"]
    assert not any("\x1b" in text or "\x00" in text for text in bundle.values())
