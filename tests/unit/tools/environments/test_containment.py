"""The real walls of this machine, around a real shell. Each test skips where there is none."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tools.environments.bounds import NotContained
from tools.environments.containment import MODES, OFF, Containment, Enclosure, report
from tools.environments.local import LocalEnvironment

Open = Callable[..., LocalEnvironment]


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The workspace, in a home that holds secrets; not below /tmp, of which there is another."""
    home = Path(tempfile.mkdtemp(dir="/var/tmp", prefix="hermes-test-"))
    for name in (".ssh/id_rsa", ".aws/credentials", ".config/gcloud/token", ".hermes/config.yaml"):
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text("secret!", encoding="utf-8")
    (home / ".netrc").write_text("secret!", encoding="utf-8")
    (home / "notes.txt").write_text("plain", encoding="utf-8")
    (home / "work").mkdir()
    monkeypatch.setenv("HOME", str(home))
    yield home / "work"
    shutil.rmtree(home)


@pytest.fixture(params=["bubblewrap", "landlock"])
def opened(request: pytest.FixtureRequest, folder: Path) -> Iterator[Open]:
    """Open an environment in the workspace behind the wall."""
    environments = []

    def open_environment(network: bool = True, **options: object) -> LocalEnvironment:
        wanted = Containment(mode=request.param, network=network)
        possible, why_not = report(wanted, str(folder))
        if not possible:
            pytest.skip(why_not)
        environment = LocalEnvironment(folder, containment=wanted, **options)
        environments.append(environment)
        return environment

    yield open_environment
    for environment in environments:
        environment.close()


@pytest.fixture
def shell(opened: Open) -> LocalEnvironment:
    return opened()


@pytest.fixture
def nap() -> str:
    """Seconds for ``sleep``, by which its process can be told from all others."""
    return f"300.{secrets.randbelow(10**9)}"


def until(holds: Callable[[], bool]) -> bool:
    """Wait for something that no event announces."""
    deadline = time.monotonic() + 10
    while not (held := holds()) and time.monotonic() < deadline:
        threading.Event().wait(0.02)
    return held


def processes_with(text: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes()
        except OSError:
            continue
        if text.encode() in line.split(b"\0"):
            found.append(path.parent.name)
    return found


def test_the_workspace_may_be_written_to(shell, folder):
    assert shell.execute("echo hi > a && mkdir b && mv a b/c && cat b/c").output == "hi\n"
    assert (folder / "b" / "c").read_text(encoding="utf-8") == "hi\n"


@pytest.mark.parametrize(
    "place", ["../notes.txt", "../new.txt", "/etc/new", "/usr/bin/new", "/new"]
)
def test_the_rest_may_not(shell, folder, place):
    before = (folder.parent / "notes.txt").read_bytes()
    assert shell.execute(f"echo x >> {place}").exit_code != 0
    assert (folder.parent / "notes.txt").read_bytes() == before
    assert not Path(folder, place).exists() or place == "../notes.txt"


def test_the_rest_may_be_read(shell):
    assert shell.execute("cat ../notes.txt").output == "plain"
    assert shell.execute("ls / ~ /etc > names && wc -l < names").exit_code == 0


def test_nothing_outside_can_be_removed_moved_or_linked_away(shell, folder):
    for command in (
        "rm ../notes.txt",
        "mv ../notes.txt .",
        "ln ../notes.txt own",
        ": > ../notes.txt",
    ):
        assert shell.execute(command).exit_code != 0, command
    assert shell.execute("ln -s ../notes.txt link && echo x >> link").exit_code != 0
    assert (folder.parent / "notes.txt").read_text(encoding="utf-8") == "plain"


@pytest.mark.parametrize(
    "name",
    [".ssh/id_rsa", ".aws/credentials", ".config/gcloud/token", ".hermes/config.yaml", ".netrc"],
)
def test_secrets_of_the_home_cannot_be_read(shell, name):
    for command in (f"cat ~/{name}", f"ln -s ~/{name} s; cat s", f"cp ~/{name} t && cat t"):
        result = shell.execute(command)
        assert "secret!" not in result.output
    assert shell.execute(f"cat ~/{name}").exit_code != 0


def test_further_places_can_be_hidden(folder):
    (folder.parent / "keys").mkdir()
    (folder.parent / "keys" / "one").write_text("secret!", encoding="utf-8")
    wanted = Containment(mode="auto", hidden=(str(folder.parent / "keys"),))
    if not report(wanted, str(folder))[0]:
        pytest.skip("no wall here")
    with LocalEnvironment(folder, containment=wanted) as shell:
        assert shell.execute("cat ~/keys/one").exit_code != 0


def test_temporary_files_are_this_sessions_own(shell):
    made = shell.execute('f=$(mktemp) && echo t > "$f" && cat "$f" && echo "$f"')
    assert made.output.startswith("t\n")
    assert not Path(made.output.split()[1]).is_file() or "hermes-tmp-" in made.output
    assert shell.execute('cat "$f"').output == "t\n"


def test_state_stays_from_command_to_command(shell, folder):
    shell.execute("mkdir deep && cd deep && export A=1; f() { echo f$A; }; alias g=f")
    assert shell.execute("pwd; f; g").output == f"{folder}/deep\nf1\nf1\n"
    assert shell.cwd == str(folder / "deep")


def test_state_outlives_the_shell(shell):
    shell.execute("A=7; f() { echo f$A; }")
    assert "ended" in shell.execute("exit 3").note
    assert shell.execute("f").output == "f7\n"
    assert shell.execute("exit 3").exit_code == 3


def test_a_folder_below_tmp_keeps_its_meaning(opened):
    shell = opened()
    shell.execute('mkdir -p "$TMPDIR/x" && cd "$TMPDIR/x" && echo here > file')
    assert shell.execute("cat file").output == "here\n"
    assert Path(shell.cwd, "file").read_text(encoding="utf-8") == "here\n"


def test_shells_within_shells_are_contained_as_well(shell, folder):
    inner = "bash -c 'sh -c \"echo x >> ../notes.txt; cat ~/.ssh/id_rsa; echo in > nested\"'"
    assert "secret!" not in shell.execute(inner).output
    assert (folder / "nested").exists()
    assert (folder.parent / "notes.txt").read_text(encoding="utf-8") == "plain"


def test_a_background_process_is_contained_and_can_be_ended(shell, folder, nap):
    shell.execute("export A=state")
    text = f"echo $A; cat ~/.ssh/id_rsa; echo x >> ../notes.txt; echo b > bg; exec sleep {nap}"
    process = shell.spawn(text)
    assert until(lambda: (folder / "bg").exists())
    assert until(lambda: bool(processes_with(nap)))
    process.kill()
    assert process.status == "exited"
    assert until(lambda: not processes_with(nap))
    assert "state" in process.tail(1000)
    assert "secret!" not in process.tail(1000)
    assert (folder.parent / "notes.txt").read_text(encoding="utf-8") == "plain"


def test_a_timeout_ends_all_that_a_command_started(shell, nap):
    result = shell.execute(f"setsid sleep {nap} & sleep {nap}", timeout=1)
    assert result.timed_out
    assert until(lambda: not processes_with(nap))
    assert shell.execute("echo on").output == "on\n"


def test_nothing_leaves_bubblewrap_alive(opened, nap):
    shell = opened()
    if not shell.bounds()[1].startswith("bubblewrap"):
        pytest.skip("landlock has no processes of its own")
    shell.execute(f"(setsid sleep {nap} &)")
    assert until(lambda: bool(processes_with(nap)))
    shell.close()
    assert until(lambda: not processes_with(nap))


def test_an_interrupt_ends_a_command(shell, nap):
    timer = threading.Timer(0.5, shell.interrupt)
    timer.start()
    assert shell.execute(f"sleep {nap}").interrupted
    assert until(lambda: not processes_with(nap))


def test_no_program_gains_rights(shell):
    said = shell.execute("grep -E 'NoNewPrivs|CapEff|CapBnd' /proc/self/status").output.split()
    assert said[said.index("NoNewPrivs:") + 1] == "1"
    assert int(said[said.index("CapEff:") + 1], 16) == 0


def test_settings_of_the_kernel_cannot_be_changed(shell):
    place = Path("/proc/sys/kernel/core_pattern")
    before = place.read_bytes()
    # To what it is: a wall that failed should not harm the machine of the tests.
    assert shell.execute(f"cat {place} > {place}").exit_code != 0
    assert place.read_bytes() == before


def test_this_process_cannot_be_signalled_or_looked_into(shell):
    assert shell.execute(f"kill -0 {os.getpid()}").exit_code != 0
    environment = shell.execute(f"cat /proc/{os.getpid()}/environ")
    assert environment.exit_code != 0


SEND = """
import socket, sys
for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as out:
        out.settimeout(2)
        out.connect(("127.0.0.1", int(sys.argv[1])))
        out.send(b"x")
"""


@pytest.mark.parametrize("network", [True, False])
def test_the_network_is_off_if_that_is_asked_for(opened, folder, network):
    shell = opened(network=network)
    if shell.execute(f"test -x {sys.executable}").exit_code:
        pytest.skip("this Python is in a folder that the bounds hide")
    (folder / "send.py").write_text(SEND, encoding="utf-8")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(type=socket.SOCK_DGRAM) as heard,
    ):
        heard.bind(server.getsockname())
        heard.settimeout(1)
        sent = shell.execute(f"{sys.executable} send.py {server.getsockname()[1]}")
        assert (sent.exit_code == 0) is network, sent.output
        if network:
            assert heard.recv(1) == b"x"
        else:
            with pytest.raises(TimeoutError):
                heard.recv(1)


def test_what_the_shell_finds_cannot_lead_python_out_of_the_bounds(shell, folder):
    """The folder through which we speak with it may hold no link that we would follow."""
    told = "$__hermes_home"
    target = folder.parent / "notes.txt"
    for text in (
        f"rm -f {told}/command; ln -s {target} {told}/command",
        f"ln -sf {target} {told}/stdin",
        f"rm -f {told}/pipes/*; ln -s {target} {told}/pipes/output.999",
        f"mv {told} {told}.old",
    ):
        shell.execute(text)
    assert shell.execute("cat", stdin="given").output == "given"
    assert target.read_text(encoding="utf-8") == "plain"


def test_a_link_in_place_of_the_saved_state_is_not_followed(shell, folder):
    (folder.parent / ".ssh" / "id_rsa").write_text("echo leaked", encoding="utf-8")
    shell.execute('__hermes_save() { rm -f "$1"; ln -s ~/.ssh/id_rsa "$1"; }')
    shell.execute("true")
    with pytest.raises(OSError, match=r".+"):
        shell.spawn("true")
    assert "leaked" not in shell.execute("exec bash -c true; echo").output
    assert "leaked" not in shell.execute("echo").output


def test_contained_processes_die_with_this_one(folder, nap):
    possible, why_not = report(Containment(mode="bubblewrap"), str(folder))
    if not possible:
        pytest.skip(why_not)
    code = (
        "import os, sys; from tools.environments.local import LocalEnvironment as E\n"
        "from tools.environments.containment import Containment as C\n"
        f"e = E({str(folder)!r}, containment=C(mode='bubblewrap'))\n"
        f"e.spawn('sleep {nap}')\nsys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        assert until(lambda: bool(processes_with(nap)))
        child.kill()
    assert until(lambda: not processes_with(nap))


def test_processes_outlive_the_thread_that_started_them(opened, folder):
    shell = opened()
    thread = threading.Thread(target=shell.execute, args=("A=1",))
    thread.start()
    thread.join()
    starter = threading.Thread(target=shell.spawn, args=("sleep 1; echo > late",))
    starter.start()
    starter.join()
    assert shell.execute("echo $A").output == "1\n"
    assert until(lambda: (folder / "late").exists())


def test_other_bounds_begin_with_an_empty_state(shell, folder):
    shell.execute("ls() { echo trap; }; cd ..")
    shell.contain(OFF)
    result = shell.execute("ls work; pwd")
    assert "trap" not in result.output
    assert "containment is now: off" in result.note
    assert str(folder.parent) in result.output


def test_what_is_asked_for_but_impossible_runs_nothing(folder, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    with LocalEnvironment(folder, containment=Containment(mode="bubblewrap")) as shell:
        with pytest.raises(NotContained, match="bubblewrap is not installed"):
            shell.execute("touch ran")
        with pytest.raises(NotContained):
            shell.spawn("touch ran")
        assert shell.bounds()[0] is False
    assert not (folder / "ran").exists()


def test_a_wall_that_the_system_refuses_says_why(folder, monkeypatch, tmp_path):
    bwrap = tmp_path / "bwrap"
    bwrap.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n"
    )
    bwrap.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    possible, why_not = report(Containment(mode="bubblewrap"), str(folder))
    assert not possible
    assert "No permissions to create new namespace" in why_not


@pytest.mark.parametrize("place", ["/", "~", "/etc", "/tmp", "~/.ssh"])
def test_a_folder_that_is_too_large_a_thing_is_no_workspace(folder, place):
    with pytest.raises(NotContained, match=r"home|system|temporary|must not see"):
        Enclosure(Containment(mode="auto"), os.path.expanduser(place))  # noqa: PTH111


def test_off_is_the_default(folder):
    with LocalEnvironment(folder) as shell:
        assert shell.bounds() == (True, "off")
        assert shell.execute("cat ~/.netrc").output == "secret!"
    assert MODES[0] == OFF.mode
