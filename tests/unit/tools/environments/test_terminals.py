"""Choosing where commands run."""

import threading

import pytest

from tools.environments import backends as registry
from tools.environments.backends import Backend, OpenOptions
from tools.environments.host import HostError, Isolation
from tools.environments.jobs import JobOptions
from tools.environments.local import LocalEnvironment
from tools.environments.local_host import LocalHost
from tools.environments.remote import RemoteEnvironment
from tools.environments.terminals import Terminals
from tools.terminal_tool import terminal


class Elsewhere(LocalHost):
    name = "elsewhere"
    isolation = Isolation(isolated=True)


def broken(settings, options):
    raise HostError("its engine is not running; start it")


@pytest.fixture
def terminals(tmp_path, monkeypatch):
    def ready(settings):
        return "X" in settings, "set X"

    def here(settings, options):
        return RemoteEnvironment("elsewhere", Elsewhere(), cwd=options.workspace)

    known = {
        "elsewhere": Backend(name="elsewhere", title="t", open=here, available=ready),
        "broken": Backend(name="broken", title="t", open=broken, available=ready),
    }
    monkeypatch.setattr(registry, "backends", lambda: known)
    made = []

    def make(**settings):
        local = LocalEnvironment(tmp_path)
        made.append(Terminals(local, settings, OpenOptions(workspace=str(tmp_path))))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_commands_run_here_unless_somebody_says_otherwise(terminals):
    chosen = terminals()
    assert chosen.current is chosen.local


def test_each_place_keeps_its_state_while_another_is_chosen(terminals):
    chosen = terminals(X="1", TERMINAL_ENV="elsewhere")
    chosen.current.execute("A=there")
    chosen.choose("local").execute("A=here")
    assert chosen.current.execute("echo $A").output == "here\n"
    assert chosen.choose("elsewhere").execute("echo $A").output == "there\n"


def test_what_cannot_be_used_is_never_replaced_by_this_machine(terminals):
    for name, said in [("elsewhere", "set X"), ("nowhere", "'nowhere'")]:
        with pytest.raises(HostError, match=said):
            _ = terminals(TERMINAL_ENV=name).current


def test_a_choice_that_fails_changes_nothing(terminals):
    chosen = terminals(X="1")
    with pytest.raises(HostError, match="start it"):
        chosen.choose("broken")
    assert chosen.current is chosen.local


def test_places_share_their_background_processes(terminals):
    chosen = terminals(X="1")
    here = chosen.current.spawn("sleep 60")
    there = chosen.choose("elsewhere").spawn("echo out; sleep 60")
    assert {job.id for job in chosen.current.processes.all()} == {here.id, there.id}
    chosen.close()
    assert not [job for job in (here, there) if job.status == "running"]


def test_a_background_process_knows_the_state_of_its_shell(terminals):
    shell = terminals(X="1").choose("elsewhere")
    shell.execute("export A=1; f() { echo f$A; }; mkdir sub; cd sub")
    job = shell.spawn("f; pwd")
    assert job.wait(20, lambda: False)
    assert job.tail(99) == f"f1\n{shell.cwd}\n"
    within = shell.spawn("test -t 1 && echo terminal", options=JobOptions(pty=True))
    assert within.wait(20, lambda: False)
    assert within.tail(99).strip() == "terminal"
    with pytest.raises(ValueError, match="no such folder"):
        shell.spawn("true", cwd="missing")


def test_the_terminal_tool_tells_what_is_wrong_with_a_place():
    class Gone(Elsewhere):
        def open(self, argv, **_):
            raise HostError("the machine is gone; start it")

    with RemoteEnvironment("gone", Gone(), cwd="/") as shell:
        answer = terminal({"command": "true"}, environment=shell, cancelled=threading.Event())
    assert "start it" in answer


def test_another_shell_in_the_same_place_keeps_its_own_state_and_leaves_the_place_open(terminals):
    chosen = terminals(X="1", TERMINAL_ENV="elsewhere")
    chosen.current.execute("mkdir deep; cd deep; A=first")
    other = chosen.beside(LocalEnvironment())
    assert other.current.host is chosen.current.host
    assert other.current.cwd == chosen.current.cwd
    assert other.current.files is chosen.current.files
    assert other.current.execute("echo <$A>; cd /").output != "<first>\n"
    job = other.current.spawn("sleep 100")
    other.close()
    assert job.status != "running"
    assert chosen.current.execute("echo $A; basename $PWD").output == "first\ndeep\n"
    with pytest.raises(RuntimeError, match="closed"):
        other.current.execute("true")


def test_on_this_machine_the_shell_beside_is_the_one_that_is_given(terminals):
    local = LocalEnvironment()
    beside = terminals().beside(local)
    assert beside.current is beside.local is local
    local.close()


def test_a_place_with_one_shell_says_so():
    from tools.environments.base import Environment

    class Lonely(Environment):
        backend, cwd = "lonely", "/"
        execute = interrupt = spawn = close = None

    with pytest.raises(HostError, match="'lonely' has one shell only"):
        Lonely().beside()
