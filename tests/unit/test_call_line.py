import json

import pytest

from hermes_jupyter.call_line import UnclearArgumentsError, parse, values_of


@pytest.mark.parametrize(
    ("line", "name", "rest"),
    [
        ("read_file", "read_file", ""),
        ('read_file {"path": "a b.txt"}', "read_file", '{"path": "a b.txt"}'),
        ('read_file{"path": 1}', "read_file", '{"path": 1}'),
        ("  todo  ", "todo", ""),
        ("", "", ""),
        ("me maybe tomorrow", "me", "maybe tomorrow"),
        ("read_file `{}`", "read_file", "`{}`"),
    ],
)
def test_a_line_is_a_name_and_the_rest_as_it_stands(line, name, rest):
    read = parse(line)
    assert (read.name, read.rest, read.options) == (name, rest, "")


@pytest.mark.parametrize(
    "options",
    ["--tools terminal", "-t file,terminal --plain", "--approve=off", "--background -o x",
     "--session other"],
)  # fmt: skip
def test_options_stand_before_the_name(options):
    read = parse(f'{options}  terminal command="ls --plain"')
    assert (read.options, read.name, read.rest) == (options, "terminal", 'command="ls --plain"')


@pytest.mark.parametrize("line", ["--model x todo", "-x", "--tools", "--plainly todo"])
def test_an_option_that_a_call_does_not_have_is_named(line):
    with pytest.raises(UnclearArgumentsError, match=line.split()[0]):
        parse(line)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("path=a.txt", {"path": "a.txt"}),
        ('command="rm -rf build" timeout=5', {"command": "rm -rf build", "timeout": 5}),
        ("command='echo \"$HOME\"'", {"command": 'echo "$HOME"'}),
        ("done=true nothing=null half=0.5", {"done": True, "nothing": None, "half": 0.5}),
        ('items=["a b", 2] more={"x": [1]}', {"items": ["a b", 2], "more": {"x": [1]}}),
        (r'pattern="\d+ (a|b)"', {"pattern": r"\d+ (a|b)"}),
        (r'text="one\ntwo"', {"text": "one\ntwo"}),
        ("number='5'", {"number": "5"}),
        ('number="5"', {"number": "5"}),
        ("path=", {"path": ""}),
        ("path= limit=3", {"path": "", "limit": 3}),
        ("url=https://a.example/?q=1&r=2", {"url": "https://a.example/?q=1&r=2"}),
        ("value=NaN", {"value": "NaN"}),
        ("glob=*.py", {"glob": "*.py"}),
        ("set={a,b}", {"set": "{a,b}"}),
        ("name=日本語", {"name": "日本語"}),
    ],
)
def test_values_are_json_where_they_are_and_text_elsewhere(text, values):
    assert values_of(text) == values


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("command=rm old.log", "'old.log' is no name=value"),
        ("a=1 a=2", "'a' is given twice"),
        ('command="rm old.log', "a quote is missing"),
        ("command='rm", "a quote is missing"),
        ('a="x"b=1', "a space is missing"),
        ('a="x", b=1', "a space is missing"),
    ],
)
def test_what_cannot_be_read_is_named(text, said):
    with pytest.raises(UnclearArgumentsError, match=said):
        values_of(text)


def test_json_is_handed_on_as_it_was_typed():
    assert parse('x {"a": 1,}').arguments() == '{"a": 1,}'
    assert parse("x").arguments() == ""
    assert json.loads(parse("x a=1 b='c d'").arguments()) == {"a": 1, "b": "c d"}


@pytest.mark.parametrize(
    ("rest", "looks"), [("{}", True), ("a=1", True), ("maybe tomorrow", False), ("", False)]
)
def test_arguments_are_told_from_prose(rest, looks):
    assert parse(f"me {rest}").has_arguments is looks
