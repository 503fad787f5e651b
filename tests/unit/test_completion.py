"""What is offered at the cursor, through IPython's own completer."""

from __future__ import annotations

import sys

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

from hermes_jupyter import loading
from hermes_jupyter.call_line import _FLAGS, _VALUED
from hermes_jupyter.completion import CALLING, OPTIONS
from hermes_jupyter.known_names import KnownNames
from hermes_jupyter.magics import SUBCOMMANDS
from hermes_jupyter.reports.help import HELP
from tools.discovery import discover_builtin
from tools.registry import registry


@pytest.fixture(scope="module")
def shell():
    shell = InteractiveShell()
    shell.history_manager.enabled = False
    loading.load(shell)
    shell.user_ns.update(frame=1, frames=2, _hidden=3, other=4)
    yield shell
    loading.unload(shell)
    shell.restore_sys_module_state()


@pytest.fixture
def offered(shell):
    """The texts that replace what stands before the cursor, which is ``|``."""

    def offered(text):
        with provisionalcompleter():
            found = shell.Completer.completions(text.replace("|", "", 1), text.index("|"))
            return [text[each.start : text.index("|")] + " > " + each.text for each in found]

    return offered


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%%agent\nclean @fra|", ["@fra > @frame", "@fra > @frames"]),
        ("%%agent --new\nfirst\n(@fra| and more", ["@fra > @frame", "@fra > @frames"]),
        ("%%agent\nthe mean of {frame|}", ["frame > frame", "frame > frames"]),
        ("%%agent\nuse /run_p|", ["/run_p > /run_python"]),
        ("%hermes clean @oth|", ["@oth > @other"]),
        ("x = 1\n%hermes unread|", []),
        ("%hermes und|", ["und > undo"]),
        ("  %hermes re|", [f"re > {n}" for n in ("redo", "rename", "reset", "restore", "resume")]),
        ("%hermes undo 3 --|", ["-- > --force", "-- > --preview"]),
        ("%hermes tools --schema read_f|", ["read_f > read_file"]),
        ("%hermes call inspect|", ["inspect > inspect_variable"]),
        ("%hermes call --app|", ["--app > --approve"]),
        ("%hermes call --approve pl|", ["pl > plan"]),
        ("%hermes terminal loc|", ["loc > local"]),
        ("%hermes memory fo|", ["fo > forget"]),
        ("%%agent --no-|", ["--no- > --no-context", "--no- > --no-tools"]),
        ("%%agent --approve ed|", ["ed > edits"]),
        ("%%agent --approve=ed|", ["ed > edits"]),
        ("%%agent --replay to|", ["to > tools"]),
        ("%%agent --tools file,term|", ["term > terminal"]),
    ],
)
def test_what_fits_is_offered_and_nothing_else(offered, text, expected):
    assert offered(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "%%agent\nbob@fra|", "%%time\n@fra|", "@fra|", "# %%agent\n@fra|", "%%agents\n@fra|",
        "%%agent\na/run_p|", "%hermesx und|",
    ],
)  # fmt: skip
def test_elsewhere_nothing_of_ours_is_offered(offered, text):
    ours = ("@frame", "/run_python", "undo")
    assert not [each for each in offered(text) if each.endswith(ours)]


def test_variables_of_ipython_and_private_ones_are_not_offered(offered):
    assert not {"@ > @_hidden", "@ > @In", "@ > @exit"} & {*offered("%%agent\n@|")}
    assert {"@ > @frame", "@ > @other"} <= {*offered("%%agent\n@|")}


def test_python_goes_on_as_it_was(offered):
    assert "fram > frame" in offered("fram|")


def test_unloading_takes_the_matcher_out_and_loading_twice_makes_no_second_one(shell):
    def ours():
        return [m for m in shell.Completer.custom_matchers if "hermes" in m.matcher_identifier]

    loading.load(shell)
    assert len(ours()) == 1
    loading.unload(shell)
    assert ours() == []
    loading.load(shell)


def test_the_options_are_those_that_there_are():
    assert {*OPTIONS} - {"call"} <= {*SUBCOMMANDS}
    assert {*CALLING} == {each for each in (*_FLAGS, *_VALUED) if each.startswith("--")}
    for command, options in OPTIONS.items():
        if command not in ("call", "redo", "restore"):
            about = HELP[HELP.index(f"%hermes {command}") :]
            assert all(option in about for option in options), command


def test_the_tools_and_toolsets_known_without_an_import_are_those_that_there_are(monkeypatch):
    discover_builtin()
    known = KnownNames(None)
    names, toolsets = {*known.tools()}, {*known.toolsets()}
    own = [each for each in registry.entries() if each.handler.__module__.startswith("tools.")]
    assert own
    monkeypatch.setattr(registry, "_tools", {})
    assert {each.name for each in own} == {*known.tools()} <= names
    assert {each.toolset for each in own} <= {*known.toolsets()} <= toolsets


def test_completing_python_imports_nothing_of_ours(shell, offered, monkeypatch):
    for name in ("hermes_jupyter.completion", "hermes_jupyter.known_names"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    offered("import os; os.pat|")
    assert "hermes_jupyter.completion" not in sys.modules
