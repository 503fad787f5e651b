"""Differences that a person approves are coloured, and nothing else is."""

import re

from hermes_jupyter.views.diff_lines import exact_listing

DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n same\n--- an old comment\n+<b>new</b>\n"


def kinds(html):
    return re.findall(r'<span class="hermes-line-(\w+)">(.*?)\n</span>', html)


def test_each_line_of_a_difference_says_what_it_is():
    assert kinds(exact_listing(DIFF)) == [
        ("place", "--- a/x.py"),
        ("place", "+++ b/x.py"),
        ("place", "@@ -1,3 +1,3 @@"),
        ("same", " same"),
        ("removed", "--- an old comment"),
        ("added", "+&lt;b&gt;new&lt;/b&gt;"),
    ]


def test_a_command_with_dashes_has_no_colours():
    assert kinds(exact_listing("rm old.log\n-rf\n+x")) == []


def test_the_keyboard_can_scroll_what_is_approved():
    assert all('<pre tabindex="0"' in exact_listing(text) for text in (DIFF, "rm old.log"))
