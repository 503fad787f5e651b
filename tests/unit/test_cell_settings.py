import pytest

from hermes_jupyter.cell_settings import under
from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.settings import Settings
from hermes_jupyter.turn_values import TurnOptions


def chosen(said, *, page=None, settings=None, **options):
    return under(TurnOptions(**options), said, page or {}, settings or Settings())


def turn(said, page, *, settings=None, **options):
    """The settings of a turn."""
    settings = settings or Settings()
    return under(TurnOptions(**options), said, page, settings).over(settings)


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


def test_the_page_says_what_line_and_cell_do_not_and_recordings_are_not_of_it():
    page = {"model": "small", "mode": "plan", "tools": "file", "max_steps": 7, "max_cost": 0.5}
    options = chosen({}, page=page)
    settings = options.over(Settings())
    assert options.line == ""
    assert (settings.model, settings.approvals, settings.toolsets) == ("small", "plan", ("file",))
    assert (settings.max_steps, settings.max_cost) == (7, 0.5)


def test_the_line_counts_before_the_cell_and_the_cell_before_the_page():
    cell, page = {"model": "of cell", "max_steps": 5}, {"model": "of page", "max_steps": 7}
    assert turn(cell, page, model="of line", max_steps=50).model == "of line"
    assert turn(cell, page, model="of line", max_steps=50).max_steps == 50
    assert (turn(cell, page).model, turn(cell, page).max_steps) == ("of cell", 5)
    assert turn({}, page, approve="ask").approvals == "ask"


def test_a_strangers_cell_loosens_nothing_that_the_page_says():
    page = {"mode": "plan", "max_tokens": 100, "tools": "file"}
    loose = turn({"mode": "ask", "max_tokens": 900, "tools": "read_file"}, page)
    assert (loose.approvals, loose.max_tokens, loose.toolsets) == ("plan", 100, ("read_file",))
    with pytest.raises(ConfigurationError, match=r"only leave tools out.*'process'"):
        turn({"tools": "terminal"}, page)


def test_a_page_makes_the_kernels_settings_only_stricter():
    settings = Settings(approvals="deny", max_steps=5, toolsets=("file",))
    stays = turn({}, {"mode": "ask", "max_steps": 50}, settings=settings)
    assert (stays.approvals, stays.max_steps) == ("deny", 5)
    for page in ({"mode": "off"}, {"tools": "terminal"}, {"max_cost": "much"}):
        with pytest.raises(ConfigurationError, match="Settings > Hermes"):
            turn({}, page, settings=settings)
