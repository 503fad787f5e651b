from __future__ import annotations

import re
import time

import pytest

from hermes_jupyter.views.markdown import SEAL_CHARACTERS, StreamedMarkdown, harmless, to_html


def test_raw_html_is_shown_as_text(hostile):
    html = to_html(f"{hostile}\n\n<div onclick=x>\nblock\n</div>\n\n`{hostile[:40]}`")
    assert "<script" not in html
    assert "<img" not in html
    assert "<div" not in html


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "JaVaScript&colon;x", "java&#115;cript:x", "java&Tab;script:x",
     "data:text/html,x", "vbscript:x", "file:///etc/passwd", "\x01javascript:x"],
)  # fmt: skip
def test_links_with_other_schemes_are_dropped(address):
    assert "href" not in to_html(f"[here](<{address}>)")


@pytest.mark.parametrize("address", ["https://a.b/c?d=e", "mailto:a@b.c", "notes/a.md", "#part"])
def test_links_to_the_web_mail_and_files_work(address):
    assert f'href="{address}"' in to_html(f"[here]({address})")


def test_an_image_becomes_a_link_and_is_not_loaded():
    html = to_html("![chart](https://tracker.example/x.png)")
    assert "<img" not in html
    assert 'href="https://tracker.example/x.png"' in html


def test_tables_and_fenced_code_are_rendered():
    html = to_html('| a | b |\n|---|--:|\n| 1 | 2 |\n\n```python"><b>\nx = "<y>"\n```')
    assert "<table>" in html
    assert ' class="language-python&quot;&gt;&lt;b&gt;">x = &quot;&lt;y&gt;&quot;' in html


def test_mathematics_stays_text_and_prices_do_too():
    assert "$a_1*b*c_2 &lt; d$" in to_html("So $a_1*b*c_2 < d$.")
    assert "$5 and <strong>$10</strong>" in to_html("between $5 and **$10**")
    assert "x_i*y*z" in to_html("$$\nx_i*y*z\n$$")


def test_entities_are_read_and_escaped_again():
    assert to_html("a &lt;b&gt; &amp; c") == "<p>a &lt;b&gt; &amp; c</p>\n"


@pytest.mark.parametrize(
    "piece",
    ["[", "*a ", "`", "<", "|a", "> ", "- ", "![", "$a ", "[a](", "**a*", "http://", "[x]: y\n",
     "\n", "a\n", "  - a\n", "_a_b", "<!--", "\\", "```\n", "\ud800", "\x00"],
)  # fmt: skip
def test_long_and_odd_text_is_rendered_in_bounded_time(piece):
    text = piece * (120_000 // len(piece))
    started = time.perf_counter()
    assert isinstance(to_html(text), str)
    harmless(text)
    assert time.perf_counter() - started < 10  # at most 1 s here; a quadratic parser takes minutes


def test_beyond_the_limit_text_is_plain():
    html = to_html("**a** " * 60_000)
    assert html.count("<strong>") < 40_000
    assert "**a** **a**" in html


def test_harmless_markdown_keeps_code_and_disarms_the_rest():
    text = "a `<b>` <b> ![x](y)\n```py\n![x] <b>\n```\n![z](u)"
    assert harmless(text) == "a `<b>` &lt;b> !\\[x](y)\n```py\n![x] <b>\n```\n!\\[z](u)"


@pytest.mark.parametrize(
    "text",
    ["- a\n  ```\n  x\nout ![i](u)", "\\`![i](u)`", "` ![i](u) ``", "```a`b\n![i](u)",
     "    ```\n![i](u)"],
)  # fmt: skip
def test_what_only_looks_like_code_is_disarmed_too(text):
    assert "!\\[i](u)" in harmless(text)


def streamed(text: str, size: int = 3) -> tuple[list[str], str]:
    markdown = StreamedMarkdown()
    for start in range(0, len(text), size):
        markdown.feed(text[start : start + size])
    return markdown.html()


def test_streamed_blocks_are_sealed_one_after_the_other():
    sealed, tail = streamed("# A\n\none\n\ntwo\n\nthr")
    assert sealed == ["<h2>A</h2>\n", "<p>one</p>\n", "<p>two</p>\n"]
    assert tail == "<p>thr</p>\n"


def test_a_fence_and_a_list_are_not_sealed_in_the_middle():
    sealed, _ = streamed("```py\na\n\nb\n```\n\n1. x\n\n   more\n\n2. y\n\nend")
    assert "a\n\nb" in sealed[0]
    assert "".join(sealed).count("<ol>") == 1
    assert "".join(sealed).count("<li>") == 2


def test_streaming_shows_the_same_words_as_rendering_at_once():
    text = "# T\n\npara *one*\n\n- a\n- b\n\n```\ncode\n```\n\n| a |\n|---|\n| 1 |\n\nend **x**"
    sealed, tail = streamed(text)
    assert re.sub(r"\s+", "", "".join(sealed) + tail) == re.sub(r"\s+", "", to_html(text))


def test_what_is_rendered_again_stays_small_even_in_a_long_listing():
    markdown = StreamedMarkdown()
    markdown.feed("```py\n" + "x = 1\n" * 20_000)
    sealed, tail = markdown.html()
    assert len(tail) < 2 * SEAL_CHARACTERS
    assert all(part.startswith("<pre") for part in [*sealed, tail])
    assert sum(part.count("x = 1") for part in [*sealed, tail]) == 20_000
