import pytest

from hermes_jupyter.cell_settings import under
from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.settings import Settings
from hermes_jupyter.turn_values import TurnOptions


def chosen(said, *, settings=None, **options):
    return under(TurnOptions(**options), said, settings or Settings())


def test_a_cell_without_settings_leaves_the_options_as_they_are():
    assert chosen({}) == TurnOptions()


def test_the_metadata_say_what_the_line_does_not():
    said = {"model": "big", "max_steps": 7, "tools": "file, todo", "mode": "plan"}
    options = chosen(said, model="small")
    assert (options.model, options.max_steps) == ("small", 7)
    assert (options.tools, options.approve) == (("file", "todo"), "plan")


@pytest.mark.parametrize("mode", ["off", "auto", "edits", "manual", "OFF", "off ", 3, ["off"]])
@pytest.mark.parametrize("approvals", ["ask", "off"])
def test_no_metadata_loosen_approvals(mode, approvals):
    with pytest.raises(ConfigurationError, match=r"hermes\.mode|stricter"):
        chosen({"mode": mode}, settings=Settings(approvals=approvals))


@pytest.mark.parametrize(
    ("approvals", "mode", "expected"),
    [("ask", "ask", ""), ("ask", "deny", "deny"), ("plan", "ask", ""), ("deny", "plan", ""),
     ("off", "ask", "ask"), ("auto", "plan", "plan"), ("edits", "ask", "ask")],
)  # fmt: skip
def test_the_stricter_mode_counts(approvals, mode, expected):
    assert chosen({"mode": mode}, settings=Settings(approvals=approvals)).approve == expected


def test_what_the_line_says_of_approvals_is_seen_and_counts():
    assert chosen({"mode": "deny"}, approve="ask").approve == "ask"


@pytest.mark.parametrize(("limit", "said", "expected"), [(0, 9, 9), (5, 9, 5), (9, 5, 5)])
def test_limits_only_become_lower(limit, said, expected):
    settings = Settings(max_tokens=limit, max_cost=float(limit), max_steps=limit or 90)
    options = chosen({"max_tokens": said, "max_cost": said, "max_steps": said}, settings=settings)
    assert (options.max_tokens, options.max_cost, options.max_steps) == (expected,) * 3


def test_tools_are_only_left_out():
    settings = Settings(toolsets=("file",))
    assert chosen({"tools": ["read_file"]}, settings=settings).tools == ("read_file",)
    with pytest.raises(ConfigurationError, match="only leave tools out"):
        chosen({"tools": ["terminal"]}, settings=settings)


@pytest.mark.parametrize(
    "said",
    [{"model": 3}, {"model": "a\nb"}, {"model": "x" * 300}, {"tools": 3}, {"tools": [3]},
     {"tools": "no_such_tool"}, {"max_steps": -1}, {"max_steps": "many"}, {"max_steps": True},
     {"max_cost": float("inf")}, {"max_cost": float("nan")}],
)  # fmt: skip
def test_what_nobody_understands_is_refused_with_the_remedy(said):
    with pytest.raises(ConfigurationError, match="metadata"):
        chosen(said)
