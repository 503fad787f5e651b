"""What works in the kernel is judged by the kernel's own folder, wherever the terminal is."""

import os

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.road.cases import case_of
from tools.entry import ToolEntry
from tools.files.local_place import LOCAL
from tools.safety import Effect, Objection


class Elsewhere:
    """A terminal on another machine that must not be asked."""

    cwd = "/there"

    @property
    def files(self):
        raise AssertionError("asked the other machine")


def test_paths_of_code_in_the_kernel_are_on_this_machine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entry = ToolEntry(
        name="run_python", toolset="notebook", schema={}, handler=str, works_in="kernel"
    )
    effect = Effect("deletes a", kind="deletes", targets=(str(tmp_path / "a"),))
    objection = Objection("deletes a", "x", "x", cwd=os.getcwd(), effects=(effect,))  # noqa: PTH109
    case = case_of(
        entry, ToolCall(id="1", name="run_python"), {"environment": Elsewhere()}, objection
    )
    assert (case.folder, case.files) == (os.path.realpath(tmp_path), LOCAL)
    assert [impact.target for impact in case.impacts] == [str(tmp_path / "a")]
    assert case.risk == "medium"
