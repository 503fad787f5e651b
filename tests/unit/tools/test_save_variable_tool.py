import json

import pytest

from hermes_jupyter.store.handles import Handles
from tests.unit.tools.live_kernel import Variables
from tools.registry import registry
from tools.save_variable_tool import save_variable


@pytest.fixture
def context(tmp_path):
    live = Variables(rows=[{"a": 1}], number=7)
    return {"live": live, "cwd": str(tmp_path), "written": set()}


def save(context, **args):
    return json.loads(save_variable(args, **context))


def objection(context, **args):
    return registry.get_entry("save_variable").guard_fn(args, **context)


def test_a_variable_becomes_a_file(context, tmp_path):
    assert objection(context, name="rows", path="out/rows.csv") is None
    answer = save(context, name="rows", path="out/rows.csv")
    assert (tmp_path / "out" / "rows.csv").read_text() == "a\n1\n"
    assert answer["bytes_written"] == 4
    assert answer["files_modified"] == [str(tmp_path / "out" / "rows.csv")]


def test_a_file_that_is_there_is_replaced_only_with_consent(context, tmp_path):
    (tmp_path / "rows.json").write_text("[]")
    said = objection(context, name="rows", path="rows.json")
    assert "replaces rows.json" in said.reason
    assert "rows (list of 1)" in said.shown
    save(context, name="rows", path="rows.json")
    assert objection(context, name="rows", path="rows.json") is None  # it is the session's own now


@pytest.mark.parametrize("path", ["/etc/rows.json", "~/.ssh/rows.json", "../rows.json"])
def test_outside_of_the_workspace_it_asks(context, path, tmp_path):
    context["cwd"] = str(tmp_path / "deep")
    (tmp_path / "deep").mkdir()
    outside = path if path != "../rows.json" else "/opt/rows.json"
    assert objection(context, name="rows", path=outside) is not None


def test_a_value_becomes_a_variable(context):
    assert objection(context, name="fresh", value=[1]) is None
    assert save(context, name="fresh", value=[1])["value"] == "[1]"
    assert context["live"].there["fresh"] == [1]


def test_a_variable_of_the_user_is_replaced_only_with_consent(context):
    said = objection(context, name="number", value=8)
    assert said.reason == "replaces your variable number"
    assert said.shown == "number was: 7"


def test_its_own_variable_it_may_replace_until_the_user_changes_it(context):
    save(context, name="fresh", value=[1])
    assert objection(context, name="fresh", value=[2]) is None
    context["live"].there["fresh"] = {"the": "user's"}
    assert objection(context, name="fresh", value=[2]) is not None


def test_a_long_result_becomes_a_variable_whole(context, tmp_path):
    handles = Handles(tmp_path / "home", "main")
    handle = handles.keep(json.dumps({"rows": list(range(1000))}))
    save({**context, "handles": handles}, name="result", handle=handle)
    assert context["live"].there["result"]["rows"][-1] == 999
    handles.close()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"name": "x"}, "pass path"),
        ({"name": "rows", "path": "a.csv", "value": 1}, "two things"),
        ({"name": "none", "path": "a.csv"}, "no variable"),
        ({"name": "rows", "path": "a"}, "no ending"),
        ({"name": "number", "path": "a.csv"}, "takes"),
        ({"name": "a b", "value": 1}, "no name"),
        ({"name": "_x", "value": 1}, "no name"),
        ({"name": "print", "value": 1}, "means something"),
        ({"name": "x", "handle": "h"}, "no results"),
    ],
)
def test_what_cannot_be_saved_is_an_answer(context, args, said):
    assert said in save(context, **args)["error"]


def test_without_a_notebook_it_says_so():
    assert "no notebook" in save_variable({"name": "x"})
