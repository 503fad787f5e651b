from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import tools
from tools.environments.local import LocalEnvironment
from tools.environments.sudo import Sudo, asking
from tools.terminal_tool import terminal

RIGHT = "Corr3ct horse"
STAND_IN = r"""#!/bin/bash
# As much of sudo as matters here; each try of a password is counted.
folder=$(dirname "$0")
[[ $1 == -A ]] || { echo "a terminal is required" >&2; exit 1; }
shift
[[ $1 != -n ]] || exit 1
for try in 1 2 3; do
    if ! word=$("$SUDO_ASKPASS"); then
        echo "sudo: a password is required" >&2
        exit 1
    fi
    echo x >>"$folder/tries"
    if [[ $word == "$(cat "$folder/password")" ]]; then
        if [[ $1 == -v ]]; then exit 0; fi
        exec "$@"
    fi
    echo "Sorry, try again." >&2
done
echo "sudo: 3 incorrect password attempts" >&2
exit 1
"""


class Person:
    """Answers questions with the next of the words; None when there is none left."""

    def __init__(self, *words: str) -> None:
        self.words = list(words)
        self.asked: list[str] = []

    def __call__(self, text: str) -> str | None:
        self.asked.append(text)
        return self.words.pop(0) if self.words else None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the stand-in for sudo lies."""
    place = tmp_path / "stand-in"
    place.mkdir()
    (place / "real-sudo").write_text(STAND_IN)
    (place / "real-sudo").chmod(0o755)
    (place / "password").write_text(RIGHT)
    return place


@pytest.fixture
def seen() -> list[str]:
    """The passwords that were told, to be masked."""
    return []


@pytest.fixture
def sudo(folder: Path, seen: list[str]) -> Sudo:
    return Sudo(seen.append, program=str(folder / "real-sudo"))


@pytest.fixture
def shell(tmp_path: Path, sudo: Sudo) -> Iterator[LocalEnvironment]:
    with LocalEnvironment(tmp_path, sudo=sudo) as environment:
        yield environment
    sudo.close()


def run(
    shell: LocalEnvironment, command: str, person: Person | None = None, **args: object
) -> dict:
    text = terminal({"command": command, **args}, environment=shell, ask_secret=person)
    return json.loads(text)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("sudo echo done", "done\n"),
        ("echo text | sudo tee note; cat note", "text\ntext\n"),
        ("sudo cat <<'END'\nfrom here\nEND", "from here\n"),
        ("sudo echo one && sudo echo two", "one\ntwo\n"),
        ("sudo echo a | sudo tr a b", "b\n"),
        ("printf 'x y' | xargs -n1 sudo echo", "x\ny\n"),
        ("bash -c 'sudo echo inside'", "inside\n"),
        ("(sudo echo beside & wait)", "beside\n"),
    ],
)
def test_a_person_enters_the_password_once_and_input_stays_the_commands_own(shell, command, output):
    person = Person(RIGHT)
    answer = run(shell, command, person)
    assert (answer["output"], answer["exit_code"]) == (output, 0)
    assert len(person.asked) == 1
    assert command in person.asked[0]


def test_the_password_is_kept_for_the_session_until_it_is_forgotten(shell, sudo):
    person = Person(RIGHT, RIGHT)
    run(shell, "sudo true", person)
    run(shell, "sudo true", person)
    assert len(person.asked) == 1
    sudo.forget()
    run(shell, "sudo true", person)
    assert len(person.asked) == 2


def test_a_wrong_password_is_dropped_and_asked_for_again(shell, sudo, folder):
    person = Person("wrong", RIGHT)
    answer = run(shell, "sudo echo done", person)
    assert answer["output"] == "Sorry, try again.\ndone\n"
    assert "not accepted" in person.asked[1]
    (folder / "password").write_text("changed")
    assert run(shell, "sudo echo done", Person())["exit_code"] == 1
    assert not sudo.is_known


def test_nobody_to_ask_ends_at_once_and_says_what_to_do(shell):
    for nobody in (None, Person()):
        answer = run(shell, "sudo echo done", nobody, timeout=20)
        assert answer["exit_code"] == 1
        assert "SUDO_PASSWORD" in answer["note"]


def test_the_variable_answers_where_nobody_does(shell, monkeypatch):
    monkeypatch.setenv("SUDO_PASSWORD", RIGHT)
    assert run(shell, "sudo echo done; echo [$SUDO_PASSWORD]")["output"] == "done\n[]\n"


def test_a_wrong_variable_is_not_tried_twice(shell, monkeypatch, folder):
    monkeypatch.setenv("SUDO_PASSWORD", "wrong")
    run(shell, "sudo echo done")
    run(shell, "sudo echo done")
    assert (folder / "tries").read_text().count("x") == 1


def test_the_password_is_in_no_environment_command_line_or_state_of_a_shell(shell, seen):
    person = Person(RIGHT)
    look = "env; declare -p; cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"
    answer = run(shell, f"sudo true; sudo bash -c '{look}'; {look}", person)
    assert RIGHT not in answer["output"]
    assert seen[0] == RIGHT


def test_background_processes_get_it_though_nobody_is_asked_for_them(shell):
    person = Person(RIGHT)
    started = run(shell, "sudo echo done", person, background=True)
    process = shell.processes.get(started["session_id"])
    assert process.wait(10, lambda: False)
    assert process.tail(99) == "done\n"
    assert person.asked == ["Your password for sudo, to run: sudo echo done"]
    refused = run(shell, "sudo echo done", None, background=True)
    assert refused["exit_code"] == 0  # it is known by now


def test_a_background_process_without_a_password_is_not_started(shell):
    answer = run(shell, "sudo echo done", None, background=True)
    assert "SUDO_PASSWORD" in answer["error"]
    assert shell.processes.all() == []


def test_a_program_that_uses_sudo_unseen_needs_the_person_each_time(shell, tmp_path):
    (tmp_path / "install.sh").write_text("sudo echo done\n")
    person = Person(RIGHT, RIGHT)
    run(shell, "bash install.sh", person)
    run(shell, "bash install.sh", person)
    assert len(person.asked) == 2
    assert "A program started by this command" in person.asked[0]


@pytest.mark.parametrize(
    "command", ["echo pw | sudo -S ls", "sudo -kS -p '' ls", "sudo --stdin ls"]
)
def test_a_password_has_no_place_in_a_command(shell, command):
    assert "Leave -S out" in run(shell, command)["error"]


def test_the_time_of_the_person_is_not_the_commands(shell):
    def slow(_: str) -> str:
        subprocess.run(["sleep", "1.5"], check=True)
        return RIGHT

    with asking(slow):
        assert shell.execute("sudo echo done", timeout=1).output == "done\n"


def test_nothing_is_left_behind(tmp_path, sudo):
    with LocalEnvironment(tmp_path, sudo=sudo) as environment:
        place = Path(environment.execute("echo $SUDO_ASKPASS").output.strip()).parent
        assert place.stat().st_mode & 0o777 == 0o700
        assert all(RIGHT not in each.read_text() for each in place.glob("**/*") if each.is_file())
    sudo.close()
    assert not place.exists()


# With a real sudo, as a user who is made for it

PYTHON = "/usr/bin/python3"
SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from tools.environments.local import LocalEnvironment
from tools.environments.sudo import Sudo, asking
asked = []
def ask(text):
    asked.append(text)
    return words.pop(0) if words else None
with LocalEnvironment(sys.argv[1], sudo=Sudo()) as shell:
    words = ["wrong", "Corr3ct horse"]
    with asking(ask):
        print(repr(shell.execute("echo x | sudo tee /root/hermes-note; sudo id -un").output))
        print(len(asked))
        print(repr(shell.execute("sudo -k; sudo id -un").output), len(asked))
    shell._sudo.forget()
    result = shell.execute("sudo -k; sudo id -un", timeout=20)
    print(result.exit_code, result.note)
"""


@pytest.fixture
def user() -> Iterator[str]:
    """A throw-away user, who may use sudo with a password."""
    if os.geteuid() or not all(map(shutil.which, ("sudo", "useradd", "chpasswd"))):
        pytest.skip("needs root, sudo and useradd")
    version = subprocess.run([PYTHON, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"])
    if version.returncode:
        pytest.skip("needs a Python that other users may run")
    name = f"hermes{os.getpid()}"
    subprocess.run(["useradd", "--create-home", name], check=True)
    rule = Path("/etc/sudoers.d", name)
    try:
        subprocess.run(["chpasswd"], input=f"{name}:{RIGHT}", text=True, check=True)
        rule.write_text(f"{name} ALL=(ALL) ALL\n")
        yield name
    finally:
        rule.unlink(missing_ok=True)
        subprocess.run(["userdel", "--remove", name], check=True, capture_output=True)
        Path("/root/hermes-note").unlink(missing_ok=True)


def test_a_real_sudo_gets_the_password_from_the_person(user):
    home = Path(pwd.getpwnam(user).pw_dir)
    shutil.copytree(Path(tools.__file__).parent, home / "tools")
    shutil.chown(home / "tools", user)
    ran = subprocess.run(
        [PYTHON, "-c", SCRIPT, str(home)],
        user=user,
        group=user,
        extra_groups=[],
        cwd=home,
        env={"PATH": "/usr/bin:/bin", "HOME": str(home), "LC_ALL": "C"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.stderr == ""
    first, count, second, third = ran.stdout.splitlines()
    assert first == r"'Sorry, try again.\nx\nroot\n'"
    assert count == "2"
    assert second == r"'root\n' 2"
    assert third.startswith("1 sudo needs a password and nobody entered one")
    assert Path("/root/hermes-note").read_text() == "x\n"
