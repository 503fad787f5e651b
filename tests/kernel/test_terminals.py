"""A turn in terminals: IPython and jupyter console, in a real pseudo terminal."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from terminal import Terminal

ASKED = "Enter = no: "
HELD_CLOCK = Path(__file__).with_name("held_clock.py")
LIMIT = 0.3
"""Seconds from Ctrl-C to the next prompt."""


@pytest.fixture(scope="module")
def terminals() -> Iterator[dict[str, Terminal]]:
    opened: dict[str, Terminal] = {}
    yield opened
    for terminal in opened.values():
        terminal.close()


def open_terminal(
    terminals: dict[str, Terminal], program: str, folder: Path, env: dict[str, str]
) -> Terminal:
    """The one that the last test left at its prompt, else a new one."""
    if program == "console":
        pytest.importorskip("jupyter_console")
    if program in terminals and not terminals[program].at_prompt:
        terminals.pop(program).close()
    if program not in terminals:
        terminals[program] = loaded(program, folder, env)
    return terminals[program]


def loaded(program: str, folder: Path, env: dict[str, str]) -> Terminal:
    """A program with the extension in it.

    jupyter console does not wait until its subscription stands. Where it misses the first
    *idle*, it waits for it forever; it gets a second start.
    """
    terminal = Terminal(program, cwd=folder, env=env)
    try:
        terminal.run("%load_ext hermes_jupyter")
    except pexpect.TIMEOUT:
        terminal.close()
        if program != "console":
            raise
        warnings.warn("jupyter console did not come back; started again", stacklevel=2)
        terminal = Terminal(program, cwd=folder, env=env)
        terminal.run("%load_ext hermes_jupyter")
    return terminal


@pytest.fixture(params=["ipython", "console"])
def terminal(
    request: pytest.FixtureRequest,
    terminals: dict[str, Terminal],
    folder: Path,
    env: dict[str, str],
) -> Terminal:
    return open_terminal(terminals, request.param, folder, env)


@pytest.fixture
def ipython(terminals: dict[str, Terminal], folder: Path, env: dict[str, str]) -> Terminal:
    return open_terminal(terminals, "ipython", folder, env)


@pytest.fixture
def console(terminals: dict[str, Terminal], folder: Path, env: dict[str, str]) -> Terminal:
    return open_terminal(terminals, "console", folder, env)


def test_the_prompt_shows_the_exact_call_and_yes_runs_it(terminal, log):
    terminal.agent("delete it")
    asked = terminal.until(ASKED)
    for shown in ("I look.", "deletes old.log", "\n      rm old.log\n", f"in {log.parent}"):
        assert shown in asked
    shown = terminal.run("y")
    assert not log.exists()
    assert "Allowed once by you" in shown
    assert shown.count("All is said.") == 1
    assert "2 steps" in shown
    assert "VBox" not in asked + shown
    assert "\n\n\n\n" not in asked + shown


def test_enter_denies(terminal, log):
    terminal.agent("delete it")
    terminal.until(ASKED)
    assert "Denied by you" in terminal.run("")
    assert log.exists()


def test_ctrl_d_at_the_prompt_is_a_no_of_the_person(terminal, log):
    terminal.agent("delete it")
    terminal.until(ASKED)
    terminal.child.sendeof()
    assert "Denied by you" in terminal.until_prompt()
    assert log.exists()


def test_ctrl_c_at_the_prompt_ends_the_turn(terminal, log):
    terminal.agent("delete it")
    terminal.until(ASKED)
    assert terminal.interrupt() < LIMIT
    assert "Interrupted: the turn was stopped" in terminal.shown
    assert "Denied by you" not in terminal.shown
    assert "Traceback" not in terminal.shown
    assert "alive" in terminal.run("print('ali' + 've')")
    assert log.exists()


def test_ctrl_c_during_a_command_ends_the_turn(terminal, folder):
    begin_to_sleep(terminal, folder)
    assert terminal.interrupt() < LIMIT
    assert "◼ interrupted" in terminal.shown
    assert "alive" in terminal.run("print('ali' + 've')")


def begin_to_sleep(terminal, folder, line="--approve off"):
    """Start a turn and wait until its command runs: it opens the pipe."""
    pipe = folder / "started"
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    terminal.agent("sleep", line)
    pipe.read_bytes()


def test_text_appears_while_it_streams(terminal):
    terminal.agent("talk")
    terminal.until("word word")
    assert terminal.interrupt() < LIMIT
    assert terminal.shown.count("word") < 390


def test_the_commands_of_hermes(terminal, log):
    terminal.agent("delete it")
    terminal.until(ASKED)
    terminal.run("")
    assert "session    main" in terminal.run("%hermes status")
    last = terminal.run("%hermes last")
    assert "rm old.log  ⊘ Denied by you" in last
    assert "All is said." in last
    assert "No turn is running" in terminal.run("%hermes attach")


def test_an_awaited_turn_asks_and_hears_ctrl_c(terminal, log, folder):
    turn = "import hermes_jupyter as h; print('got', await h.arun('delete it'))"
    terminal.type(turn)
    terminal.until(ASKED)
    assert terminal.interrupt() < LIMIT
    assert "Traceback" not in terminal.shown
    assert log.exists()
    terminal.type(turn)
    terminal.until(ASKED)
    assert "got All is said." in terminal.run("y")
    assert not log.exists()


def test_a_terminal_shows_colours_and_a_kernel_does_not(terminal, log):
    terminal.agent("delete it")
    terminal.until(ASKED)
    terminal.type("y")
    green = "\x1b[32m  💻 terminal  rm old.log  ✓" in terminal.until_prompt()
    assert green is (terminal.program == "ipython")


def test_a_cell_is_typed_line_by_line(ipython, log):
    ipython.type("%%agent")
    for line in ("delete it", "", ""):
        ipython.until("...: ")
        ipython.type(line)
    ipython.until(ASKED)
    ipython.run("y")
    assert not log.exists()


def test_the_console_waits_for_the_probe_once(console, log):
    console.run("%unload_ext hermes_jupyter")
    console.run("%load_ext hermes_jupyter")
    assert 2 < asking_time(console) < 6
    assert asking_time(console) < 1


def asking_time(terminal):
    began = time.monotonic()
    terminal.agent("delete it")
    terminal.until(ASKED)
    took = time.monotonic() - began
    terminal.run("")
    return took


def test_what_was_typed_ahead_answers_nothing(terminal, log):
    terminal.run(f"%run {HELD_CLOCK}")
    held = log.with_name("held")
    held.touch()
    terminal.agent("talk, then delete")
    terminal.until("word word")
    for _ in range(2):
        terminal.type("y")
    terminal.until(ASKED)
    if terminal.program == "console":  # it keeps the lines itself, and answers with them
        for _ in range(2):
            terminal.until("typed before")
        terminal.until(ASKED)
    held.unlink()
    assert "Denied by you" in terminal.run("n")
    assert log.exists()


def test_a_reason_reaches_the_model(terminal, log, server):
    terminal.agent("delete it")
    terminal.until(ASKED)
    assert "Denied by you: keep the logs" in terminal.run("keep the logs")
    told = [body["messages"][-1]["content"] for _, body in server.requests if body]
    assert any("keep the logs" in str(text) for text in told)


def test_an_edit_is_shown_again_and_runs(terminal, log):
    log.with_name("new.log").write_text("x", encoding="utf-8")
    terminal.agent("delete it")
    terminal.until(ASKED)
    terminal.type("e")
    terminal.until("dit it: " if terminal.program == "ipython" else "Write it anew: ")
    terminal.type("\x15rm new.log")
    assert "      rm new.log\n" in terminal.until(ASKED)
    assert "Edited by you" in terminal.run("y")
    assert log.exists()
    assert not log.with_name("new.log").exists()


def test_tab_completes_and_a_cell_of_the_agents_is_the_next_input(folder, env):
    terminal = Terminal("prompt", cwd=folder, env=env)
    try:
        terminal.type("%load_ext hermes_jupyter")
        terminal.until_prompt("2")
        for typed, offered in (("%hermes re", "restore"), ("%%agent\nuse /run", "run_python")):
            terminal.child.send(f"{typed}\t")
            terminal.until(offered)
            for _ in ("the list", "what was typed"):
                terminal.child.send("\x03")
        terminal.type("%hermes write the next cell, please")
        terminal.until("All is said.")
        terminal.until_prompt("3")
        terminal.until("print")
        terminal.type("")
        terminal.until("4242")
    finally:
        terminal.close()


def test_a_simple_prompt_shows_no_next_input_and_the_model_hears_it(ipython, server):
    ipython.agent("write the next cell")
    ipython.until_prompt()
    told = [body["messages"][-1]["content"] for _, body in server.requests if body]
    assert any("cannot show a text as the next input" in str(text) for text in told)


def test_the_agents_code_works_on_the_variables_of_the_terminal(ipython):
    ipython.run("import hermes_jupyter as h; mine = [1]")
    said = ipython.run("h.call('run_python', code='!echo sh\\nmine.append(2); mine').json()")
    assert "'output': 'sh\\n'" in said
    assert "[1, 2]" in ipython.run("mine")
    waited = "h.call('run_python', code='import asyncio; await asyncio.sleep(0); 7').text"
    assert '"value": "7"' in ipython.run(waited)


@pytest.mark.parametrize("code", ["import time; time.sleep(31)", "await asyncio.sleep(31)"])
def test_ctrl_c_ends_the_agents_code(ipython, code):
    ipython.run("import asyncio, hermes_jupyter as h")
    ipython.type(f"h.call('run_python', code={'print(101 - 1, flush=True); ' + code!r})")
    ipython.until("run_python")
    ipython.until("…")
    assert ipython.interrupt() < LIMIT
    assert "interrupted" in ipython.shown.lower()
    assert "2" in ipython.run("1 + 1")


def test_a_turn_in_the_background_hears_what_is_said_and_stops(terminal, folder):
    begin_to_sleep(terminal, folder, "--background --approve off")
    terminal.until_prompt()
    assert "reads it at its next step" in terminal.run("%hermes say hurry up")
    assert "Stopping." in terminal.run("%hermes stop")


def test_attach_asks_what_a_turn_in_the_background_waits_for(terminal, log):
    terminal.agent("delete it", "--background")
    terminal.until_prompt()
    while "waits for your answer" not in terminal.run("%hermes jobs"):
        continue
    terminal.type("%hermes attach")
    # The console may still be asked whether it shows widgets.
    while "once more" in (said := terminal.until_either(ASKED, "attach once more.")):
        terminal.until_prompt()
        terminal.type("%hermes attach")
    assert "rm old.log" in said
    terminal.run("y")
    while log.exists():
        terminal.run("%hermes jobs")
