"""The question about a failed cell, and the cell in the answer."""

import pytest

from hermes_jupyter.notebook.fixing import corrected, difference, identity, question

SOURCE = "x = 1\nprint(y)\n"


@pytest.mark.parametrize(
    ("answer", "cell"),
    [
        ("y is not defined.\n\n```python\nx = 1\nprint(x)\n```", "x = 1\nprint(x)"),
        ("```\nprint(x)\n```\nThat is all.", "print(x)"),
        ("~~~py\nprint(x)\n~~~", "print(x)"),
        ("````python\nprint('```')\n````", "print('```')"),
        ("Before:\n```python\nprint(y)\n```\nAfter:\n```python\nprint(x)\n```", "print(x)"),
        ("```ipython\n%pip install a\n```", "%pip install a"),
        ("Run:\n```python\nprint(x)\n```\nIt prints:\n```text\n1\n```", "print(x)"),
        ("The file is missing. The cell is right.", None),
        ("```bash\nls\n```", None),
        ("```python\nx = 1\nprint(y)\n```", None),
        ("```python\n\n```", None),
        ("```python\nnever closed", None),
        ("", None),
    ],
)
def test_the_last_block_of_python_is_the_cell(answer, cell):
    assert corrected(answer, SOURCE) == cell


def test_the_change_is_a_diff_that_names_the_cell():
    assert difference(4, SOURCE, "x = 1\nprint(x)") == (
        "--- cell [4]\n+++ corrected\n@@ -1,2 +1,2 @@\n x = 1\n-print(y)\n+print(x)\n"
    )


def test_the_question_has_what_is_known_and_stays_small():
    text = question(
        number=4,
        source="a" * 50_000,
        trace="b" * 50_000,
        values={"x": "1"},
        versions={"Python": "3.11", "pandas": "2.2"},
    )
    assert "The cell [4]:" in text
    assert "x = 1" in text
    assert "Python 3.11, pandas 2.2" in text
    assert len(text) < 16_000


def test_it_is_the_same_question_on_another_machine_as_long_as_cell_and_error_are_the_same():
    asked = identity("print(x)\n", "TypeError: <A object at 0x7f12ab>")
    assert asked == identity("print(x)", "TypeError: <A object at 0x55000c>")
    assert asked != identity("print(y)", "TypeError: <A object at 0x7f12ab>")
    assert asked != identity("print(x)", "NameError: x")
