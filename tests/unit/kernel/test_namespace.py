import pytest

from hermes_jupyter.kernel.namespace import expand_names

NAMESPACE = {"x": 3.14159, "name": "Bob", "d": {"k": 1}, "a": 1, "items": [1, 2], "s": "x" * 9000}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{x}", "3.14159"),
        ("{x:.2f}", "3.14"),
        ("{name!r}", "'Bob'"),
        ("{d['k']}", "1"),
        ('{d["k"]}', "1"),
        ("{len(items)}", "2"),
        ("{a+items[1]}", "3"),
    ],
)
def test_expressions_of_the_namespace_become_values(text, expected):
    assert expand_names(text, NAMESPACE) == expected


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}', '{"a": {"b": name}}', "{a: 1}", "{a, x}", "{{name}}", "{}", "{", "}", "{nope}",
        "x^{2}", "{print}", "{lambda: a}", "{1/0}", "{items[9]}", "{name", "{'a'}",
        "{a if a else x}",
    ],
)  # fmt: skip
def test_everything_else_stays(text):
    assert expand_names(text, NAMESPACE) == text


def test_long_values_are_cut_with_a_count():
    assert expand_names("{s}", NAMESPACE).endswith("… [5000 characters more]")


def test_an_object_whose_text_raises_is_left_alone():
    class Odd:
        def __str__(self):
            raise RuntimeError

    assert expand_names("{o}", {"o": Odd()}) == "{o}"
