"""A call that works on another machine: the policy looks at the paths there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.road.cases import Case, case_of
from hermes_jupyter.road.grants import Grants
from hermes_jupyter.road.guard import objection_of
from tools import read_file_tool  # noqa: F401  it registers itself
from tools.environments.host import HostError
from tools.files.local_place import LocalPlace
from tools.registry import registry


class Elsewhere(LocalPlace):
    """A machine whose folder ``/there`` is a folder of this one."""

    name = "docker:x"

    def __init__(self, root: Path) -> None:
        self.root = root
        self.is_lost = False

    def home(self) -> str:
        return "/there/home"

    def expand(self, path: str) -> str:
        return path.replace("~", "/there/home", 1)

    def real(self, path: str) -> str:
        if self.is_lost:
            raise ConnectionError("the container is gone")
        found = super().real(path.replace("/there", str(self.root), 1))
        return found.replace(str(self.root), "/there", 1)


class Kept:
    """Rules that always hold."""

    def __init__(self, *rules: str) -> None:
        self.added = list(rules)

    def rules(self) -> list[str]:
        return self.added

    def add(self, rule: str) -> None:
        self.added.append(rule)


@pytest.fixture
def place(tmp_path: Path) -> Elsewhere:
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "link").symlink_to(tmp_path / "home")
    return Elsewhere(tmp_path)


def case_in(place: Any, **args: Any) -> Case:
    entry = registry.get_entry("read_file")
    assert entry is not None
    environment = SimpleNamespace(files=place, cwd="/there/work", workspace="/there/work")
    call = ToolCall(id="1", name="read_file", args=args)
    return case_of(entry, call, {"environment": environment, "workspace": "/elsewhere"}, None)


def test_paths_are_those_that_are_there(place):
    case = case_in(place, path="link/secret")
    assert (case.folder, case.workspace) == ("/there/work", "/there/work")
    assert [each.target for each in case.impacts] == ["/there/home/secret"]
    assert {"/there/home/secret", "/there/work/link/secret"} <= case.places


def test_the_project_of_this_machine_is_none_there(place):
    assert case_in(place, path="a.txt").risk == "medium"
    assert case_in(place, path="/elsewhere/a.txt").risk == "high"


def test_what_was_allowed_on_one_machine_is_not_allowed_on_another(place, tmp_path):
    grants = Grants()
    grants.allow_exactly(case_in(place, path="a.txt"))
    other = Elsewhere(tmp_path)
    other.name = "docker:y"
    assert grants.has_exactly(case_in(place, path="a.txt"))
    assert not grants.has_exactly(case_in(other, path="a.txt"))


def test_what_is_always_allowed_here_is_not_allowed_there(place):
    case = case_in(place, path="a.txt")
    grants = Grants(Kept("read_file(path:/there/work/a.txt)"))
    assert grants.always(case) is None
    assert grants.offered(case) == ""


def test_a_person_is_asked_if_the_place_cannot_be_looked_at(place):
    place.is_lost = True
    said = case_in(place, path="a.txt").objection
    assert said is not None
    assert said.firm
    assert "the container is gone" in said.reason


def test_a_guard_that_cannot_look_asks(place):
    place.is_lost = True
    entry = registry.get_entry("read_file")
    assert entry is not None
    environment = SimpleNamespace(files=place, cwd="/there/work")
    call = ToolCall(id="1", name="read_file", args={"path": "a.txt"})
    said = objection_of(entry, call, {"environment": environment})
    assert said is not None
    assert "could not be checked" in said.reason


def test_an_environment_that_cannot_tell_its_folder_is_asked_about():
    class Lost:
        @property
        def cwd(self) -> str:
            raise HostError("no route to host")

    entry = registry.get_entry("read_file")
    assert entry is not None
    call = ToolCall(id="1", name="read_file", args={"path": "a.txt"})
    said = case_of(entry, call, {"environment": Lost()}, None).objection
    assert said is not None
    assert "no route to host" in said.reason
