import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_jupyter.agent.names import resolve_name

CASES = Path(__file__).resolve().parents[4] / "shared" / "cases" / "toolnames.jsonl"
TOOLS = [
    "read_file", "write_file", "search_files", "terminal", "web_search", "execute_code", "memory",
    "list_variables", "inspect_variable", "skills_list", "skill_view", "todo", "tool_search",
    "tool_describe", "clarify", "vision_analyze",
]  # fmt: skip
SERVERS = [
    "mcp__tracker__create_issue", "mcp__tracker__list_issues", "mcp__tracker__close_issue",
    "mcp__notes__search", "mcp_calendar_add_event", "read_file",
]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "tool"),
    [
        ("Terminal", "terminal"), ("WRITE-FILE", "write_file"), ("searchFiles", "search_files"),
        ("list variables", "list_variables"), ("ｗｅｂ＿ｓｅａｒｃｈ", "web_search"),
        ("ExecuteCodeTool", "execute_code"), ("clarify_tool_tool", "clarify"),
        ("webSearchFunction", "web_search"), ("call_terminal", "terminal"),
        ("tool_search_tool", "tool_search"), ("memory()", "memory"),
        ("functions.todo:3", "todo"), ("tools/skill_view", "skill_view"), ("tool: todo", "todo"),
        ("multi_tool_use.web_search", "web_search"), ("mcp.read_file", "read_file"),
        ("todo<|im_end|>", "todo"), ("<|channel|>commentary<|message|>", None),
        ("<|start|>assistant<|channel|>commentary to=functions.todo<|message|>", "todo"),
        ("<function=todo>", "todo"), ('<invoke name="todo">', "todo"), ("[todo]", "todo"),
        ('memory{"action": "add"}', "memory"), ("execute_code(code='1')", "execute_code"),
        ("memorymemory", "memory"), ("functions.todofunctions.todo", "todo"),
        ("read\ud800file", "read_file"),
    ],
)  # fmt: skip
def test_spelling_is_mended(written, tool):
    assert resolve_name(written, TOOLS) == tool


@pytest.mark.parametrize(
    ("written", "tool"),
    [
        ("terminl", "terminal"), ("exectue_code", "execute_code"), ("web_serch", "web_search"),
        ("serachFiles", "search_files"), ("list_varibles", "list_variables"),
        ("wirte_file", "write_file"), ("read_fiel", "read_file"), ("memmory", "memory"),
        ("visionanalyse", "vision_analyze"), ("functions.clarfy", "clarify"),
    ],
)  # fmt: skip
def test_one_slip_in_a_long_word_is_mended(written, tool):
    assert resolve_name(written, TOOLS) == tool


@pytest.mark.parametrize(
    ("written", "tool"),
    [
        ("search_file", "search_files"), ("listVariable", "list_variables"),
        ("skill_list", "skills_list"), ("inspect_variables", "inspect_variable"),
    ],
)  # fmt: skip
def test_one_thing_or_several_are_the_same_to_a_tool_that_looks(written, tool):
    assert resolve_name(written, TOOLS) == tool


def test_one_thing_or_several_are_not_the_same_to_a_tool_that_changes_them():
    assert resolve_name("delete_issue", ["delete_issues", "list_issues"]) is None


@pytest.mark.parametrize(
    "written",
    [
        # another operation, a synonym, an opposite
        "create_file", "remove_file", "append_file", "list_files", "file_search", "read_cell",
        "bash", "python", "search", "write", "kill_terminal", "forget", "web_fetch", "file_read",
        # another number or form
        "read_files", "read_file_2", "todos", "execute_codes",
        # a slip in a short word, or more than one
        "tod", "raed_flie", "red_file", "terminator", "mem", "reed_file",
        # two tools, or none
        "web_searchread_file", "read_file, write_file", "todo<|channel|>memory", "readwrite_file",
        "tool", "functions.", "assistant", "", " ", "(", "_", "*" * 1_000, "x" * 100_000,
        # somebody else's tool
        "mcp__disk__read_file", "google.search", "git.terminal",
    ],
)  # fmt: skip
def test_another_meaning_is_not_mended(written):
    assert resolve_name(written, TOOLS) is None


@pytest.mark.parametrize(
    ("written", "tools"),
    [
        ("ha_st_state", ["ha_get_state", "ha_set_state"]),
        ("http_put", ["http_get", "http_post"]),
        ("board_lnk", ["board_list", "board_link"]),
        ("remote_file", ["remove_file"]),
        ("upload_file", ["unload_file"]),
        ("clone_issue", ["close_issue"]),
        ("git_stage", ["git_stash", "git_state"]),
        ("unlock_door", ["lock_door"]),
        ("readFile", ["read_file", "readfile"]),
        ("browser_clik", ["browser_click", "browser_clip"]),
        ("天气查询", ["天气删除"]),
        ("", ["天气"]),
    ],
)
def test_near_words_of_another_meaning_stay_apart(written, tools):
    assert resolve_name(written, tools) is None


@pytest.mark.parametrize(
    ("written", "tool"),
    [
        ("create_issue", "mcp__tracker__create_issue"),
        ("tracker.createIssue", "mcp__tracker__create_issue"),
        ("mcp_tracker_create_issue", "mcp__tracker__create_issue"),
        ("functions.mcp__Tracker__create-issue", "mcp__tracker__create_issue"),
        ("search", "mcp__notes__search"),
        ("calendar_add_event", "mcp_calendar_add_event"),
        ("add_event", "mcp_calendar_add_event"),
        ("mcp__board__create_issue", None),
        ("mcp__tracker__delete_issue", None),
        ("mcp__tracker__list_issue", "mcp__tracker__list_issues"),
        ("mcp__tracker__close_issues", None),
        ("mcp__tracker__read_file", None),
        ("tracker", None),
        ("event", None),
    ],
)
def test_a_servers_name_may_be_missing_but_not_another(written, tool):
    assert resolve_name(written, SERVERS) == tool


@pytest.mark.parametrize(
    ("written", "tools", "withheld"),
    [
        ("write_file", ["read_file"], ["write_file"]),
        ("WriteFile_tool", ["read_file", "write"], ["write_file"]),
        ("terminl", ["terminal"], ["termina"]),
        ("create_issue", ["mcp__a__create_issue"], ["mcp__b__create_issue"]),
        ("tracker.search", ["search"], ["mcp__tracker__search"]),
        ("web_searchh", ["web_search"], ["web_searches"]),
        ("readFile", ["read_file"], ["readFile"]),
    ],
)
def test_what_is_close_to_a_withheld_tool_is_not_mended(written, tools, withheld):
    assert resolve_name(written, tools, withheld) is None


def test_a_name_that_fits_exactly_is_taken_beside_withheld_ones():
    assert resolve_name("read_file", ["read_file"], ["read_files"]) == "read_file"


@given(st.text(max_size=60), st.lists(st.text(max_size=12), max_size=5))
def test_any_name_gives_a_tool_or_nothing(written, tools):
    assert resolve_name(written, tools, ["write_file"]) in (None, *tools)


def test_ten_thousand_tools_are_searched_in_passing():
    many = [f"mcp__server_{number}__tool_{number}" for number in range(10_000)]
    began = time.process_time()
    assert resolve_name("server_7__tool_7", many, TOOLS) == many[7]
    assert resolve_name("x" * 300, many, TOOLS) is None
    assert time.process_time() - began < 3


@pytest.mark.skipif(not CASES.is_file(), reason="the shared cases are not beside this project")
def test_the_shared_cases_come_out_as_expected():
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    assert not [row["id"] for row in rows if outcome(**row["input"]) != row["expected"]]


def outcome(name, registered, withheld=()):
    return resolve_name(name, registered, withheld)
