"""Differences as people see them."""

import pytest

from hermes_jupyter.views.differences import MOST_FILES, Difference, bundle_of, in_colour

TEXT = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new <b>\n"
CHANGED = Difference(name="x", how="changed · +1 −1", text=TEXT)


def test_lines_are_coloured_and_the_two_file_names_left_out():
    html = bundle_of([CHANGED], "Turn 1", [])["text/html"]
    assert 'rgba(46,160,67,.22)">+new &lt;b&gt;</span>' in html
    assert 'rgba(218,54,51,.22)">-old</span>' in html
    assert "a/x" not in html
    assert "\x1b[32m    +new <b>\x1b[0m" in in_colour([CHANGED], "Turn 1", [])


@pytest.mark.parametrize("kind", ["text/plain", "text/markdown", "text/html"])
def test_secrets_do_not_get_into_the_notebook(kind):
    key = "sk-" + "Ab1" * 16
    secret = Difference(name="x", how="changed", text=f"--- a\n+++ b\n+KEY={key}\n")
    bundle = bundle_of([secret], "Turn 1", [f"and {key}"])
    assert key not in bundle[kind]


def test_names_and_notes_cannot_act_on_the_page():
    nasty = Difference(name="<img src=x>", how="added")
    bundle = bundle_of([nasty], "a <script>", ["<i>"])
    assert "<img" not in bundle["text/html"]
    assert "<script" not in bundle["text/html"]
    assert "<img" not in bundle["text/markdown"]


def test_no_line_of_a_file_ends_the_block_in_markdown():
    fence = Difference(name="x", how="changed", text="--- a\n+++ b\n+```\n+text\n")
    assert "````diff\n+```\n" in bundle_of([fence], "Turn 1", [])["text/markdown"]


def test_of_very_many_files_the_rest_is_counted():
    many = [Difference(name=str(number), how="added") for number in range(MOST_FILES + 5)]
    assert "… 5 more" in bundle_of(many, "Turn 1", [])["text/plain"]
