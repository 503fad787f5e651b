import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hermes_jupyter.agent.tool_search.index import ToolIndex, ToolText


def index_of(*tools):
    return ToolIndex(ToolText(name=name, description=about) for name, about in tools)


def names(index, query, limit=5):
    return [tool.name for tool in index.search(query, limit)]


SMALL = index_of(
    ("read_file", "Read a text file."),
    ("write_file", "Write a text file."),
    ("getHTTPResponse", "Fetch a page."),
    ("删除文件", "删除文件"),
)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("read_file", "read_file"),
        ("readFile", "read_file"),
        ("READ FILE", "read_file"),
        ("reading files", "read_file"),
        ("wrte_file", "write_file"),
        ("http response", "getHTTPResponse"),
        ("responses", "getHTTPResponse"),
        ("resp", "getHTTPResponse"),
        ("httpres", "getHTTPResponse"),
        ("删除", "删除文件"),
    ],
)
def test_a_name_is_found_in_any_spelling(query, name):
    assert names(SMALL, query)[0] == name


def test_the_tool_that_is_named_comes_first_whatever_others_say():
    index = index_of(("send", "Send."), *((f"send_{n}", "send send send") for n in range(9)))
    assert names(index, "send")[0] == "send"


def test_parameters_are_searched_also_inside_of_others():
    inner = {"type": "object", "properties": {"latitude": {"description": "Degrees north."}}}
    about = {"properties": {"places": {"type": "array", "items": inner}, "mode": {"enum": ["car"]}}}
    index = ToolIndex([ToolText(name="a", parameters=about), ToolText(name="b")])
    assert names(index, "latitude") == names(index, "degrees") == names(index, "car") == ["a"]


def test_equal_matches_come_in_the_order_of_their_names():
    index = index_of(*((f"tool{n}", "the same") for n in (3, 1, 2)))
    assert names(index, "same", 2) == ["tool1", "tool2"]


def test_what_has_little_to_do_with_the_query_is_left_out():
    others = [(f"tool{n}", "Work with a file.") for n in range(50)]
    index = index_of(("frobnicate", "Frobnicate a file."), *others)
    assert names(index, "frobnicate file") == ["frobnicate"]


@pytest.mark.parametrize("query", ["", "   ", "???", "zzzzqqq", "を"])
def test_a_query_that_says_nothing_finds_nothing(query):
    assert names(SMALL, query) == []


def test_no_tools_are_no_trouble():
    assert names(ToolIndex([]), "anything") == []


def test_words_that_all_tools_have_still_find_something():
    index = index_of(*((f"get_item_{n}", "Get the item.") for n in range(3_000)))
    assert len(names(index, " ".join(["get the item"] * 20), 20)) == 20


ODD = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["properties", "items", "description", "enum", "x"]), inner, max_size=3
        )
    ),
    max_leaves=12,
)


@given(st.text(max_size=60))
@example("\ud800")
@example("\U0010ffff" * 10)
@example("a" * 100_000)
@example("ｶﾞ" * 9_000)
@example("\n\x00\u202e")
def test_any_text_is_a_query(query):
    assert len(SMALL.search(query, 3)) <= 3


@given(st.text(max_size=20), ODD)
def test_any_schema_can_be_indexed(text, schema):
    index = ToolIndex([ToolText(name=text, source=text, description=text, parameters=schema)])
    assert len(index.search(text, 5)) <= 1
