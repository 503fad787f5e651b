"""Tool calls that a model prints as text."""

import itertools
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_jupyter.agent.models.text_calls import TextCallFilter

TOOLS = ("read_file", "write_file", "todo")
READ = '{"name": "read_file", "arguments": {"path": "a.txt"}}'
WRITE = '{"name": "write_file", "arguments": {"path": "b", "content": "}</tool_call>"}}'


def split(text, *cuts, tools=TOOLS):
    """Text and calls that come out when ``text`` arrives in pieces."""
    texts = TextCallFilter(tools)
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    pieces = [text[a:b] for a, b in itertools.pairwise(places)]
    shown = "".join(texts.feed(piece) for piece in pieces)
    rest, calls = texts.finish()
    return shown + rest, [(call.name, call.arguments) for call in calls]


def read(path="a.txt"):
    return "read_file", json.dumps({"path": path})


@pytest.mark.parametrize(
    ("text", "prose", "calls"),
    [
        (f"<tool_call>\n{READ}\n</tool_call>", "", [read()]),
        (f"I look.\n<tool_call>\n{READ}\n</tool_call>\n", "I look.", [read()]),
        (f"I look. <tool_call>{READ}</tool_call>", "I look.", [read()]),
        (f"One.\n<tool_call>{READ}</tool_call>\nTwo.", "One.\nTwo.", [read()]),
        (f"<tool_call>{READ}</tool_call><tool_call>{READ}</tool_call>", "", [read(), read()]),
        (f"<tool_call>{READ}", "", [read()]),
        (f"<tool_call>{READ[:-1]}}}}}</tool_call>", "", [read()]),
        (f"<tool_call>[{READ}, {READ}]</tool_call>", "", [read(), read()]),
        (
            f"<tool_call>{WRITE}</tool_call>",
            "",
            [("write_file", '{"path": "b", "content": "}</tool_call>"}')],
        ),
        (READ, "", [read()]),
        (f"\n{READ}\n{READ}\n", "", [read(), read()]),
        (f"[{READ}]", "", [read()]),
        (f"```json\n{READ}\n```\n", "", [read()]),
        (f"```\n{READ}\n```", "", [read()]),
        (READ.replace("arguments", "parameters"), "", [read()]),
        (READ.replace("read_file", "Read_File"), "", [read()]),
        (f'{{"type": "function", "function": {READ}}}', "", [read()]),
        ('{"name": "todo", "arguments": "{\\"a\\": 1}"}', "", [("todo", '{"a": 1}')]),
        (f"<|python_tag|>{READ}; {READ}", "", [read(), read()]),
        (f"[TOOL_CALLS] [{READ}]", "", [read()]),
        ('[TOOL_CALLS]read_file{"path": "a.txt"}', "", [read()]),
        ('Yes.[TOOL_CALLS]read_file[ARGS]{"path": "a.txt"}', "Yes.", [read()]),
        ('<function=read_file>{"path": "a.txt"}</function>', "", [read()]),
    ],
)
def test_a_printed_call_is_a_call(text, prose, calls):
    assert split(text) == (prose, calls)


@pytest.mark.parametrize(
    "tags", [("<tool_call>\n", "\n</tool_call>"), ("", ""), ("", "</tool_call>")]
)
def test_parameters_in_tags_become_json(tags):
    opening, closing = tags
    body = (
        "<function=write_file>\n<parameter=path>\nb\n</parameter>\n<parameter=content>\n"
        "x = '</parameter>'\n\n</parameter>\n</function>"
    )
    prose, ((name, arguments),) = split(f"{opening}{body}{closing}")
    assert (prose, name) == ("", "write_file")
    assert json.loads(arguments) == {"path": "b", "content": "x = '</parameter>'\n"}


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "write_file", "arguments": {"path": "b", "content": "rm -rf',
        "<tool_call>\n<function=write_file>\n<parameter=path>\nb",
    ],
)
def test_a_call_that_was_cut_off_keeps_arguments_that_are_cut_off(text):
    prose, ((name, arguments),) = split(text)
    assert (prose, name) == ("", "write_file")
    with pytest.raises(json.JSONDecodeError):
        json.loads(arguments)


def test_broken_argument_text_is_left_for_the_repair():
    text = '<tool_call>{"name": "read_file", "arguments": {"path": "a.txt",}}</tool_call>'
    assert split(text) == ("", [("read_file", '{"path": "a.txt",}')])


def test_quotes_that_do_not_close_end_at_the_tag():
    text = '<tool_call>{"name": "read_file", "arguments": {"path": "a}}</tool_call> '
    assert split(text) == ("", [("read_file", '{"path": "a}')])


@pytest.mark.parametrize(
    "text",
    [
        "Models write <tool_call> and then JSON.",
        f"Like so: `<tool_call>{READ}</tool_call>`",
        f"Like so:\n```xml\n<tool_call>{READ}</tool_call>\n```\n",
        f"~~~\n<tool_call>{READ}</tool_call>\n~~~",
        f"The format is <tool_call>{READ}</tool_call>, no more.",
        READ.replace("read_file", "erase_disk"),
        f"<tool_call>{READ.replace('read_file', 'erase_disk')}</tool_call>",
        f"Sure: {READ}",
        f"{READ} is what I would call.",
        f"```json\n{READ}\n```\nThis is what a call looks like.",
        '{"name": "read_file"}',
        '{"name": "read_file", "arguments": {}, "size": 3}',
        '{"name": "read_file", "parameters": {"type": "object", "properties": {}}}',
        '{"answer": 42}',
        '{"name": ["read_file"], "arguments": {}}',
        "[1, 2, 3]",
        "[docs](https://example.org) say so",
        "```python\nprint({'name': 1})\n```",
        "<function=read_file>",
        "<function=read_file> is a tag",
        "[TOOL_CALLS] is a token",
        "{",
        "",
        " \n ",
        "a < b << c <",
        "<tool_call>",
    ],
)
def test_other_text_stays_as_it_is(text):
    assert split(text) == (text, [])


def test_no_tools_means_no_calls():
    assert split(READ, tools=()) == (READ, [])


@pytest.mark.parametrize(
    "text",
    ["Hello, ", "a < b", "`code` and more", '{"answer": 42', "```python\nx", "[link](", "{x"],
)
def test_ordinary_text_is_shown_at_once(text):
    assert TextCallFilter(TOOLS).feed(text) == text.rstrip()


def test_a_marker_that_may_begin_is_held_until_it_does_not():
    texts = TextCallFilter(TOOLS)
    assert texts.feed("So: <tool") == "So:"
    assert texts.feed("box>") == " <toolbox>"


FRAGMENTS = st.sampled_from(
    [
        READ,
        WRITE,
        *("<tool_call>", "</tool_call>", "<function=todo>", "</function>", "<parameter=a>"),
        *("</parameter>", "<|python_tag|>", "[TOOL_CALLS]", "[ARGS]", "todo", "```", "```json\n"),
        *("`", "~~~", "\n", " ", "{", "}", "[", "]", '"', "\\", ",", ";", "<", "prose", '"name":'),
        *('{"name": "todo", "arguments": {}}', '{"name": "todo", "arguments": {"a": "', "é\u2028"),
    ]
)
TEXTS = st.lists(FRAGMENTS, max_size=12).map("".join)
CUTS = st.lists(st.integers(min_value=0, max_value=2000), max_size=12)


@settings(max_examples=1000, deadline=None)
@given(TEXTS, CUTS)
def test_where_the_text_is_cut_makes_no_difference(text, cuts):
    assert split(text, *cuts) == split(text) == split(text, *range(len(text)))


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_text_without_calls_comes_out_unchanged(text):
    prose, calls = split(text, 3, 17)
    assert calls or prose == text


def test_a_long_call_takes_linear_time():
    arguments = json.dumps({"path": "b", "content": "x = {1: '{'}\n" * 10_000})
    text = f'<tool_call>{{"name": "write_file", "arguments": {arguments}}}</tool_call>'
    start = time.perf_counter()
    assert split(text, *range(0, len(text), 4)) == ("", [("write_file", arguments)])
    assert time.perf_counter() - start < 5
