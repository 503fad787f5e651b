"""Which calls may run side by side. Files, links and folders are real ones."""

import json
import os
import sys

import pytest

from hermes_jupyter.agent.known_tools import annotated_effects
from hermes_jupyter.agent.places import ignores_case
from hermes_jupyter.agent.planning import next_batch, plan
from hermes_jupyter.calls import ToolCall
from tools.registry import ToolRegistry

V4A = "*** Begin Patch\n*** {}\n*** End Patch"


@pytest.fixture
def project(tmp_path):
    """A folder with files, links to them, and a home folder beside it."""
    for name in ("work/a.txt", "work/b.txt", "work/d/x.txt", "work/d/e/y.txt", "home/h.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for name, target in (
        ("link.txt", "a.txt"),
        ("chain.txt", "link.txt"),
        ("linked", "d"),
        ("deep", "d/e"),
        ("dangling", "new/file"),
        ("out", "../home/h.txt"),
        ("loop", "loop2"),
        ("loop2", "loop"),
    ):
        (tmp_path / "work" / name).symlink_to(target)
    os.link(tmp_path / "work/a.txt", tmp_path / "work/d/hard.txt")
    return tmp_path / "work"


def step(*texts):
    """Calls from lines such as ``write a.txt``; other names carry their arguments as JSON."""
    return [_call(str(number), *text.partition(" ")[::2]) for number, text in enumerate(texts, 1)]


def _call(number, name, rest):
    if name == "broken":
        return ToolCall(id=number, name="web_search", error="no JSON")
    if name in ("read", "write"):
        return ToolCall(id=number, name=f"{name}_file", args={"path": rest})
    args = json.loads(rest) if rest.startswith("{") else {"query": rest}
    return ToolCall(id=number, name=name, args=args)


def batches(project, *texts, registry=None):
    found = plan(
        step(*texts), registry or ToolRegistry(), str(project), str(project.parent / "home")
    )
    return " ".join("".join(call.id for call in batch) for batch in found)


def search(path=None):
    return "search_files " + json.dumps({"pattern": "x"} | ({"path": path} if path else {}))


def patched(*headers, **args):
    text = V4A.format("\n+x\n*** ".join(headers))
    return "patch " + json.dumps({"mode": "patch", "patch": text, **args})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.txt", "a.txt"),
        ("a.txt", "./a.txt"),
        ("a.txt", "d/../a.txt"),
        ("a.txt", "d//..//a.txt"),
        ("a.txt", "missing/../a.txt"),
        ("a.txt", "{work}/a.txt"),
        ("a.txt", "../work/a.txt"),
        ("a.txt", "link.txt"),
        ("a.txt", "chain.txt"),
        ("link.txt", "chain.txt"),
        ("d/x.txt", "linked/x.txt"),
        ("d/new.txt", "linked/new.txt"),
        ("d/new/deep.txt", "linked/new/deep.txt"),
        ("d/x.txt", "deep/../x.txt"),  # not deep/.., which is here, but above where deep leads
        ("new/file", "dangling"),
        ("new", "dangling"),
        ("a.txt", "d/hard.txt"),
        ("link.txt", "linked/hard.txt"),
        ("d", "d/x.txt"),
        ("d/", "linked/e/y.txt"),
        (".", "a.txt"),
        (".", "new.txt"),
        ("/", "a.txt"),
        ("new", "new/b"),
        ("new/b", "new/b/c/d"),
        ("a.txt", "a.txt/below"),
        ("~/h.txt", "../home/h.txt"),
        ("~/new.txt", "{work}/../home/new.txt"),
        ("~", "~/h.txt"),
        ("~/h.txt", "out"),
        ("~/../work/a.txt", "a.txt"),
        ("loop", "loop"),
        ("ä.txt", "ä.txt"),
    ],
)
def test_paths_to_one_place_are_written_one_after_the_other(project, one, other):
    one, other = one.format(work=project), other.format(work=project)
    assert batches(project, f"write {one}", f"write {other}") == "1 2"
    assert batches(project, f"read {one}", f"write {other}") == "1 2"
    assert batches(project, f"write {one}", f"read {other}") == "1 2"
    assert batches(project, f"read {one}", f"read {other}") == "12"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.txt", "b.txt"),
        ("a.txt", "a.txt.bak"),
        ("d/x", "d/x.txt"),
        ("d/x.txt", "d/y.txt"),
        ("d", "dd/x"),
        ("new/a", "new/b"),
        ("new/a", "new2/a"),
        ("x.txt", "deep/../x.txt"),  # the same text without the link would be the same place
        ("a.txt", "deep/../a.txt"),
        ("link.txt", "b.txt"),
        ("~/a.txt", "a.txt"),
        ("./~/h.txt", "~/h.txt"),
        ("$HOME/h.txt", "~/h.txt"),
        ("a.txt ", "a.txt"),
        ("a\\..\\b.txt", "b.txt"),
        ("%61.txt", "a.txt"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="these are other names there")
def test_other_places_are_written_side_by_side(project, one, other):
    assert batches(project, f"write {one}", f"write {other}") == "12"
    assert batches(project, f"read {one}", f"write {other}") == "12"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["read a.txt", "write b.txt", "web_search q", "skills_list {}"], "1234"),
        (["write a.txt", "write a.txt", "write b.txt", "write a.txt"], "1 23 4"),
        (["read a.txt", "read b.txt", "write a.txt", "read a.txt"], "12 3 4"),
        (["write a.txt", "read b.txt", "write d/x.txt", "read d"], "123 4"),
        (["read a.txt"] * 9, "123456789"),
        (["write a.txt"] * 3, "1 2 3"),
        (["web_search a", "terminal ls", "web_search b", "web_search c"], "1 2 34"),
        (["web_search a", "clarify {}", "clarify {}", "web_search b"], "1 2 3 4"),
        (["todo {}", "memory {}", "never_heard_of_it {}"], "1 2 3"),
        (["web_search a", "broken", "web_search b", "web_search c"], "1 2 34"),
        (["Read_File {}", "web_search q"], "1 2"),
        (["mcp__docs__search {}", "web_search q"], "1 2"),
        ([], ""),
    ],
)
def test_batches_keep_the_order_and_are_as_few_as_can_be(project, texts, expected):
    assert batches(project, *texts) == expected


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"path": ""},
        {"path": "  \n"},
        {"path": None},
        {"path": 5},
        {"path": ["a.txt"]},
        {"path": {"path": "a.txt"}},
        {"path": "a\0.txt"},
        {"path": "a\ud800.txt"},
        {"path": "a/" * 5_000},
        {"file": "a.txt"},
    ],
    ids=lambda args: repr(args)[:30],
)
@pytest.mark.parametrize("name", ["read_file", "write_file", "patch"])
def test_call_whose_path_cannot_be_used_runs_alone(project, name, args):
    calls = [*step("web_search a"), ToolCall(id="9", name=name, args=args), *step("web_search b")]
    assert [len(batch) for batch in plan(calls, ToolRegistry(), str(project))] == [1, 1, 1]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (None, "1 2"),
        ("", "1 2"),
        (".", "1 2"),
        ("..", "1 2"),
        ("d", "1 2"),
        ("linked", "1 2"),
        ("d/new.txt", "1 2"),
        ("d/e", "12"),
        ("deep", "12"),
        ("~", "12"),
        (["d"], "1 2"),
    ],
)
def test_search_covers_its_folder_or_else_the_working_folder(project, path, expected):
    assert batches(project, "write d/new.txt", search(path)) == expected
    assert batches(project, search(path), search(path)) == ("1 2" if path == ["d"] else "12")


def test_search_without_a_path_does_not_cover_other_folders(project):
    assert batches(project, "write ~/new.txt", search()) == "12"


def test_writing_through_a_link_changes_the_folder_of_the_link_too(project):
    assert batches(project, "write out", search(".")) == "1 2"


@pytest.mark.parametrize(
    ("patch", "path", "expected"),
    [
        (patched("Update File: a.txt"), "a.txt", "1 2"),
        (patched("Update File: a.txt"), "b.txt", "12"),
        (patched("Update File: a.txt", "Add File: new/b.txt"), "new/b.txt", "1 2"),
        (patched("Delete File: linked/x.txt"), "d/x.txt", "1 2"),
        (patched("Move File: a.txt -> n.txt"), "n.txt", "1 2"),
        (patched("Move File: a.txt -> n.txt"), "a.txt", "1 2"),
        (patched("Update File: a.txt", "Move to: n.txt"), "n.txt", "1 2"),
        (patched("Update File: a -> b.txt"), "a -> b.txt", "1 2"),
        (patched(" update  FILE:a.txt"), "a.txt", "1 2"),
        (patched("Update File: a.txt\r"), "a.txt", "1 2"),
        (patched("Update File: a.txt", path="b.txt"), "a.txt", "1 2"),
        (patched("Update File: a.txt", path=""), "b.txt", "12"),
        (patched("Update File: a.txt", mode="replace"), "a.txt", "1 2"),
        (patched("Update File:"), "b.txt", "1 2"),
        (patched("nothing"), "b.txt", "1 2"),
        (patched("nothing", path="a.txt"), "b.txt", "1 2"),
        (patched("x", patch=None, path="a.txt"), "b.txt", "1 2"),
        (patched("x", patch=["*** Update File: a.txt"]), "b.txt", "1 2"),
    ],
)
def test_patch_touches_all_files_that_its_text_names(project, patch, path, expected):
    assert batches(project, patch, f"read {path}") == expected


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"image": "i.png"}, "1 2"),
        ({"image_url": "file://{work}/i.png"}, "1 2"),
        ({"images": ["a.png", "./i.png"]}, "1 2"),
        ({"image_url": "https://example.org/i.png"}, "12"),
        ({"image": "j.png"}, "12"),
    ],
)
def test_image_on_disk_is_looked_at_after_it_is_written(project, args, expected):
    text = json.dumps(args).replace("{work}", str(project))
    assert batches(project, "write i.png", f"vision_analyze {text}") == expected


def test_paths_are_of_the_folder_in_which_the_calls_run(project):
    assert batches(project / "d", "write x.txt", f"write {project}/d/x.txt") == "1 2"
    assert batches(project / "linked", "write ../a.txt", f"write {project}/a.txt") == "1 2"
    assert batches(project / "deep", "write ../a.txt", f"write {project}/a.txt") == "12"


def test_folder_that_is_gone_makes_no_difference(project):
    assert batches(project / "gone", "write a", "write b", "read a") == "12 3"


def test_names_in_another_case_are_other_files_where_the_system_says_so(project):
    expected = "1 2" if ignores_case(str(project)) else "12"
    assert batches(project, "write New.txt", "write new.TXT") == expected


def test_names_in_another_case_are_one_file_in_a_folder_that_ignores_case(project):
    """A folder in which one file answers to both its names looks like one that ignores case."""
    folder = project / "folded"
    folder.mkdir()
    (folder / "kept").touch()
    if not (folder / "KEPT").exists():
        os.link(folder / "kept", folder / "KEPT")
    assert ignores_case(str(folder))
    assert batches(folder, "write New/ä.txt", "write new/Ä.txt") == "1 2"
    assert batches(folder, "write new/a.txt", "read NEW") == "1 2"
    assert batches(folder, "write new/a.txt", "write NEW/b.txt") == "12"


@pytest.fixture
def tools():
    """A registry of tools that say themselves what they do, or only in part."""
    registry = ToolRegistry()
    named = {"type": "object", "properties": {"path": {"type": "string"}, "at": {"type": "array"}}}

    def add(name, effects, resources=None):
        schema = {"parameters": named}
        registry.register(
            name, "test", schema, lambda args, **_: "", effects=effects, resources=resources
        )

    def fail(args):
        raise RuntimeError("no idea")

    def path(args):
        return [args["path"]]

    add("look", "read", path)
    add("change", "write", path)
    add("look_anywhere", "read")
    add("change_anywhere", "write")
    add("look_elsewhere", "read", lambda args: ())
    add("change_elsewhere", "write", lambda args: ())
    add("change_all", "write", lambda args: args["at"])
    add("stray", "write", lambda args: args["path"])
    add("failing", "read", fail)
    add("clarify", "read", lambda args: ())
    add("web_search", "unknown")
    add("read_file", "read", lambda args: [])
    return registry


A, B = '{"path": "a.txt"}', '{"path": "b.txt"}'


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([f"look {A}", f"change {B}", f"look {B}"], "12 3"),
        ([f"look {A}", f"look_anywhere {A}", f"change {B}", f"change {A}"], "12 34"),
        ([f"change {A}", f"look_anywhere {B}"], "1 2"),
        ([f"change {A}", f"look_elsewhere {A}", f"change {B}"], "123"),
        ([f"change_anywhere {A}", f"look_elsewhere {A}"], "1 2"),
        ([f"look {A}", f"change_elsewhere {A}", f"look {B}"], "1 2 3"),
        (['change_all {"at": ["a.txt", "b.txt"]}', f"look {B}"], "1 2"),
        (['change_all {"at": ["a.txt"]}', f"look {B}"], "12"),
        (['change_all {"at": "[\\"b.txt\\"]"}', f"look {B}"], "1 2"),
        (['change {"path": 5}', f"look {B}"], "1 2"),
        ([f"stray {A}", f"look {B}"], "1 2"),
        ([f"failing {A}", f"look {B}"], "1 2"),
        ([f"look_elsewhere {A}", "clarify {}", f"look_elsewhere {B}"], "1 2 3"),
        (["web_search a", "web_search b"], "1 2"),
        ([f"read_file {A}", f"change {A}"], "1 2"),
        (["read_file {}", "look_elsewhere {}"], "1 2"),
    ],
)
def test_what_a_tool_says_of_itself_decides_and_silence_is_the_worst(
    project, tools, texts, expected
):
    assert batches(project, *texts, registry=tools) == expected


def test_call_that_does_not_run_holds_up_nothing(project):
    twin = ToolCall(id="2", name="write_file", args={"path": "a.txt"}, error="same as call 1")
    first, third = step("write a.txt", "read b.txt")
    assert plan([first, twin, third], ToolRegistry(), str(project)) == [[first, twin, third]]


def test_next_batch_sees_the_links_that_the_batch_before_it_made(project):
    made, *rest = step("terminal ln", "write new/x.txt", "read d/x.txt")
    assert next_batch([made, *rest], ToolRegistry(), str(project)) == [made]
    assert next_batch(rest, ToolRegistry(), str(project)) == rest
    (project / "new").symlink_to("d")
    assert next_batch(rest, ToolRegistry(), str(project)) == rest[:1]
    assert next_batch([], ToolRegistry(), str(project)) == []


@pytest.mark.parametrize(
    ("annotations", "effects"),
    [
        ({}, "unknown"),
        ({"readOnlyHint": True}, "read"),
        ({"readOnlyHint": True, "destructiveHint": False, "openWorldHint": True}, "read"),
        ({"readOnlyHint": True, "destructiveHint": True}, "unknown"),
        ({"readOnlyHint": "true"}, "unknown"),
        ({"readOnlyHint": False, "destructiveHint": False}, "unknown"),
        ({"idempotentHint": True}, "unknown"),
    ],
)
def test_mcp_annotations_tell_readers_from_the_rest(annotations, effects):
    assert annotated_effects(annotations) == effects


def test_on_another_machine_a_write_runs_alone_and_reads_side_by_side():
    calls = step("read a", "read b", "search_files {}", "write c", "write d", "read a")
    found = plan(calls, ToolRegistry(), None)
    assert ["".join(call.id for call in batch) for batch in found] == ["123", "4", "5", "6"]
