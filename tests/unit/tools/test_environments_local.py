"""The persistent local shell, with a real bash."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tools.environments.local import LocalEnvironment
from tools.environments.output import OutputCollector
from tools.environments.process_tree import session_members
from tools.plain_text import Excerpt, PlainText

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs bash")


@pytest.fixture
def shell(tmp_path):
    with LocalEnvironment(tmp_path) as environment:
        yield environment


def output_of(shell, command, **options):
    return shell.execute(command, timeout=20, **options).output


def wait_for(path: Path) -> str:
    """The content of a file that a running command is about to write."""
    deadline = time.monotonic() + 10
    while not (path.is_file() and path.read_text().endswith("\n")):
        assert time.monotonic() < deadline, f"{path} was never written"
        time.sleep(0.005)
    return path.read_text()


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


# What stays from call to call


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("export A='x y'", "sh -c 'echo $A'", "x y\n"),
        ("A=$'two\\nlines'", 'echo "$A"', "two\nlines\n"),
        ("list=(a 'b c')", "echo ${list[1]}", "b c\n"),
        ("greet() { echo hello $1; }", "greet you", "hello you\n"),
        ("alias greet='echo hello'", "greet you", "hello you\n"),
        ("set -u", "echo $nothing; echo not here", "unbound"),
        ("shopt -s nullglob", "echo *.none", "\n"),
        ("umask 027", "umask", "0027\n"),
        ("mkdir sub; cd sub", 'basename "$PWD"', "sub\n"),
        ("set -- a b", "echo $2", "b\n"),
    ],
)
def test_state_stays_from_call_to_call(shell, before, after, expected):
    assert shell.execute(before).exit_code == 0
    assert expected in output_of(shell, after)


@pytest.mark.parametrize("ending", ["exit 3", "set -e; (exit 3)", "exec sh -c 'exit 3'"])
def test_state_survives_a_command_that_ends_the_shell(shell, tmp_path, ending):
    shell.execute("mkdir sub; cd sub; A=1; export B=2; f() { echo f$1; }; alias g='echo g'")
    ended = shell.execute(f"echo before; {ending}; echo after")
    assert (ended.output, ended.exit_code) == ("before\n", 3)
    assert "ended the shell" in ended.note
    assert output_of(shell, "echo $A $B; f 1; g; pwd") == f"1 2\nf1\ng\n{tmp_path}/sub\n"


def test_what_is_set_in_the_ending_command_survives_too(shell, tmp_path):
    shell.execute("cd /; A=7; exit 1")
    assert output_of(shell, "echo $A $PWD") == "7 /\n"


def test_aliases_are_not_expanded_inside_restored_functions(shell):
    shell.execute("f() { ls -d /; }; alias ls='echo aliased'; exit 0")
    assert output_of(shell, "f; ls") == "/\naliased\n"


def test_errexit_is_off_after_it_ended_the_shell(shell):
    shell.execute("set -e; false")
    assert shell.execute("false; echo here").output == "here\n"


def test_workdir_is_for_one_command(shell, tmp_path):
    (tmp_path / "sub").mkdir()
    assert output_of(shell, "pwd; cd /", cwd="sub") == f"{tmp_path}/sub\n"
    assert output_of(shell, "pwd") == f"{tmp_path}\n"
    with pytest.raises(ValueError, match="no such folder"):
        shell.execute("pwd", cwd="missing")


def test_deleted_folder_falls_back_to_its_nearest_parent(shell, tmp_path):
    shell.execute("mkdir -p a/b; cd a/b")
    (tmp_path / "a/b").rmdir()
    (tmp_path / "a").rmdir()
    result = shell.execute("pwd")
    assert result.output == f"{tmp_path}\n"
    assert "no longer exists" in result.note
    assert shell.cwd == str(tmp_path)


def test_recreated_folder_is_entered_anew(shell, tmp_path):
    shell.execute("mkdir a; cd a")
    (tmp_path / "a").rmdir()
    (tmp_path / "a").mkdir()
    assert shell.execute("touch x").exit_code == 0
    assert (tmp_path / "a/x").is_file()


# Framing


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("printf abc", "abc"),
        ("printf 'a\\0b\\377'", "a\0b�"),
        ("printf '%s\\0%s\\0%s\\0' 1 0 /", "1\x000\0/\0"),
        ("echo 'grün \U0001f40d 日本'", "grün \U0001f40d 日本\n"),
        ("cat <<'X'\n$A `b` \"c\"\nX", '$A `b` "c"\n'),
        ("echo a\n\n# note\necho b", "a\nb\n"),
        ("echo out; echo err >&2", "out\nerr\n"),
        ("alias later='echo hi'\nlater", "hi\n"),
        ("printf '\\033[31mred\\033[0m \\033]0;title\\007end'", "red end"),
        ("exec 10>&1 11>&1 12>&1; echo x", "x\n"),
    ],
)
def test_output_is_what_was_printed(shell, command, output):
    result = shell.execute(command, timeout=20)
    assert (result.output, result.exit_code) == (output, 0)
    assert output_of(shell, "echo next") == "next\n"


@pytest.mark.parametrize("command", ["echo 'abc", 'echo "abc', "if true", "(", "cat <<X\nabc $("])
def test_incomplete_text_is_a_syntax_error_and_no_hang(shell, command):
    result = shell.execute(command, timeout=5)
    assert result.exit_code != 0
    assert not result.timed_out
    assert output_of(shell, "echo next") == "next\n"


def test_line_numbers_in_messages_are_those_of_the_command(shell):
    assert "line 2: nosuch" in output_of(shell, "true\nnosuch")


def test_nul_is_refused(shell):
    with pytest.raises(ValueError, match="NUL"):
        shell.execute("echo \0")


def test_standard_input_is_empty_or_the_given_text(shell):
    assert output_of(shell, "cat; echo end") == "end\n"
    assert output_of(shell, "cat", stdin="grün\n") == "grün\n"


def test_programs_inherit_three_descriptors(shell):
    script = "import os; print([n for n in range(3, 400) if os.path.exists(f'/proc/self/fd/{n}')])"
    command = f'{sys.executable} -c "{script}"'
    outside = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert output_of(shell, command) == outside.stdout == "[]\n"


def test_output_of_a_background_child_does_not_reach_the_next_command(shell, tmp_path):
    started = time.monotonic()
    result = shell.execute("mkfifo go; (read x < go; echo late; echo ok > done) & echo now")
    assert result.output == "now\n"
    assert "background child" in result.note
    assert time.monotonic() - started < 2
    (tmp_path / "go").write_text("x\n")
    wait_for(tmp_path / "done")
    assert output_of(shell, "echo next") == "next\n"


def test_variables_make_programs_plain_and_hide_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k1")
    with LocalEnvironment(tmp_path, {"EXTRA": "e"}) as shell:
        text = "echo [$OPENAI_API_KEY] $EXTRA $TERM $PAGER $GIT_PAGER $PYTHONUNBUFFERED"
        assert output_of(shell, text) == "[] e dumb cat cat 1\n"


def test_shells_and_background_processes_get_a_secret_only_if_somebody_asks_for_it(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("FIRST_TOKEN", "k1")
    monkeypatch.setenv("SECOND_TOKEN", "k2")
    text = "echo [$FIRST_TOKEN] [$SECOND_TOKEN]"
    with LocalEnvironment(tmp_path, passed=["SECOND_*"]) as shell:
        early = shell.spawn(text)
        assert output_of(shell, text) == "[] [k2]\n"
        late = shell.spawn(text)
        assert early.wait(5, lambda: False)
        assert late.wait(5, lambda: False)
        assert early.tail(99) == late.tail(99) == "[] [k2]\n"


# Amounts


def test_long_output_keeps_head_and_tail_and_counts_the_rest(shell):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    result = shell.execute("echo first; yes | head -c 50000000; echo last", timeout=20)
    assert time.monotonic() - started < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000  # kB
    assert result.output.startswith("first\n")
    assert result.output.endswith("last\n")
    assert "[... 46,000,011 of 50,000,011 characters left out here ...]" in result.output
    assert len(result.output) < 4_000_100


def test_pieces_are_told_as_they_come_but_not_too_many(shell, tmp_path):
    os.mkfifo(tmp_path / "go")
    pieces = []

    def listen(piece):
        pieces.append(piece)
        if len(pieces) == 1:
            (tmp_path / "go").write_text("x\n")

    result = shell.execute("echo first; read x < go; seq 20000", timeout=20, on_output=listen)
    assert pieces[0] == "first\n"
    assert len(pieces) < 20
    assert pieces[-1].endswith("20000\n")
    assert result.output.startswith("first\n1\n2\n")


def test_excerpt_counts_exactly():
    excerpt = Excerpt(10, 0.4)
    for piece in ("abc", "defg", "hijklmnop", "q"):
        excerpt.add(piece)
    assert excerpt.text() == "abcd\n[... 7 of 17 characters left out here ...]\nlmnopq"


def test_escapes_and_letters_may_be_cut_anywhere():
    stream = "a\x1b[1;31mü\x1b]8;;http://x\x1b\\b\x1b[0m\x1b(Bc".encode()
    for cut in range(len(stream)):
        plain = PlainText()
        text = plain.feed(stream[:cut]) + plain.feed(stream[cut:]) + plain.feed(b"", final=True)
        assert text == "aübc"


def test_collector_puts_the_last_line_on_a_line_of_its_own():
    collector = OutputCollector()
    collector.feed(b"abc")
    assert collector.finish("[end]") == "abc\n[end]"


# Ends


def test_timeout_keeps_the_output_and_ends_all_processes(shell, tmp_path):
    command = f"echo begun; (setsid sleep 60 & echo $! > {tmp_path}/pid; wait); touch never"
    result = shell.execute(command, timeout=0.5)
    assert (result.exit_code, result.timed_out) == (124, True)
    assert result.output == "begun\n[Command timed out after 0.5s]"
    assert not alive(int((tmp_path / "pid").read_text()))
    assert not (tmp_path / "never").exists()


def test_timeout_ends_what_ignores_a_polite_request(shell, tmp_path):
    result = shell.execute("trap '' TERM; echo $$ > pid; while :; do sleep 1; done", timeout=0.3)
    assert result.timed_out
    assert not alive(int((tmp_path / "pid").read_text()))


def test_state_survives_a_timeout(shell):
    shell.execute("A=1; f() { echo $A; }")
    assert "killed" in shell.execute("sleep 60", timeout=0.1).note
    assert output_of(shell, "f") == "1\n"


@pytest.mark.parametrize("how", ["event", "method"])
def test_interrupt_is_quick_and_later_commands_do_not_run(shell, tmp_path, how):
    cancelled, results = threading.Event(), []

    def run():
        command = "echo begun; echo x > begun; sleep 60; touch never"
        results.append((shell.execute(command, cancelled=cancelled), time.monotonic()))

    thread = threading.Thread(target=run)
    thread.start()
    wait_for(tmp_path / "begun")
    started = time.monotonic()
    cancelled.set() if how == "event" else shell.interrupt()
    thread.join(5)
    result, ended = results[0]
    assert ended - started < 0.3
    assert (result.output, result.exit_code) == ("begun\n[Command interrupted]", 130)
    assert not (tmp_path / "never").exists()
    assert output_of(shell, "echo next") == "next\n"


def test_keyboard_interrupt_kills_the_command(shell, tmp_path):
    def listen(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shell.execute("echo $$ > pid; echo x; sleep 60", on_output=listen)
    assert not alive(int((tmp_path / "pid").read_text()))
    assert output_of(shell, "echo next") == "next\n"


def test_cancelled_call_does_not_wait_for_its_turn(shell, tmp_path):
    running = threading.Thread(target=shell.execute, args=("echo x > begun; sleep 60",))
    running.start()
    wait_for(tmp_path / "begun")
    cancelled = threading.Event()
    cancelled.set()
    assert shell.execute("echo", cancelled=cancelled).interrupted
    shell.interrupt()
    running.join(5)


def test_calls_of_several_threads_take_turns(shell):
    def run():
        shell.execute("n=$((${n:-0} + 1)); m=$n; sleep 0.01; [ $m = $n ] || n=-100")

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert output_of(shell, "echo $n") == "8\n"


def test_shell_that_died_between_calls_is_replaced(shell):
    shell.execute("A=1")
    pid = int(output_of(shell, "echo $$"))
    os.kill(pid, signal.SIGKILL)
    while alive(pid):
        time.sleep(0.002)
    result = shell.execute("echo $A")
    assert result.output == "1\n"
    assert "started again" in result.note


def test_signal_is_told_as_a_shell_would(shell):
    assert shell.execute("kill -9 $$").exit_code == 137
    assert shell.execute("sh -c 'kill -15 $$'").exit_code == 143


def test_removed_private_folder_costs_only_the_variables(shell, tmp_path):
    shell.execute("A=1")
    result = shell.execute('rm -rf "$__hermes_home"; echo x', timeout=5)
    assert (result.output, result.exit_code) == ("x\n", 0)
    assert output_of(shell, "echo [$A] $PWD") == f"[] {tmp_path}\n"


def test_private_folder_may_vanish_between_two_commands(shell):
    shutil.rmtree(output_of(shell, "echo $__hermes_home").strip())
    assert output_of(shell, "echo x") == "x\n"


def test_close_ends_everything_and_refuses_more(tmp_path):
    shell = LocalEnvironment(tmp_path)
    pid = int(output_of(shell, "sleep 60 & echo $!"))
    home = Path(output_of(shell, "echo $__hermes_home").strip())
    assert home.stat().st_mode & 0o777 == 0o700
    shell.close()
    assert not alive(pid)
    assert not home.exists()
    with pytest.raises(RuntimeError, match="closed"):
        shell.execute("true")


def test_forgotten_environment_ends_its_shell(tmp_path):
    shell = LocalEnvironment(tmp_path)
    pid = int(output_of(shell, "echo $$"))
    del shell
    assert not alive(pid)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="counts in /proc")
def test_many_commands_leave_no_descriptors_and_no_zombies(shell):
    shell.execute("true")
    before = open_descriptors()
    for number in range(50):
        shell.execute(f"echo {number} | cat" if number % 10 else "exit 1", timeout=20)
    assert open_descriptors() == before
    stats = [path.read_text() for path in Path("/proc").glob("[0-9]*/stat")]
    mine = [stat.rpartition(")")[2].split() for stat in stats]
    assert not [fields for fields in mine if fields[0] == "Z" and fields[1] == str(os.getpid())]


def test_more_than_a_thousand_open_files_do_no_harm(shell):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        assert output_of(shell, "echo x") == "x\n"
    finally:
        for number in files:
            os.close(number)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks into /proc")
def test_shell_ends_when_its_python_is_killed(tmp_path):
    code = (
        "import sys; from tools.environments.local import LocalEnvironment\n"
        "shell = LocalEnvironment()\n"
        "print(shell.execute('echo $$ $__hermes_home').output, end='', flush=True)\n"
        "sys.stdin.read()"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as python:
        pid, home = python.stdout.readline().decode().split()
        python.kill()
        python.wait()
    deadline = time.monotonic() + 10
    while session_members(int(pid)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert not Path(home).exists()


def test_the_folder_is_known_to_be_gone_before_the_next_command(shell, tmp_path):
    shell.execute("mkdir a; cd a")
    (tmp_path / "a").rmdir()
    assert shell.cwd == str(tmp_path)


def test_what_is_meant_for_one_folder_does_not_run_in_another(shell, tmp_path, monkeypatch):
    shell.execute("true")
    gone = str(tmp_path / "gone")  # removed after we looked
    monkeypatch.setattr(LocalEnvironment, "_start_folder", lambda self, wanted: (gone, []))
    result = shell.execute("touch made")
    assert not (tmp_path / "made").exists()
    assert result.exit_code == 1
    assert "nothing was run" in result.output


def test_a_prepared_shell_is_the_one_that_runs_the_command(shell):
    shell.prepare()
    waiting = shell._shell
    assert waiting.alive
    assert output_of(shell, "echo $$").strip() == str(waiting._process.pid)


def test_preparing_waits_for_no_command_and_leaves_its_shell(shell, tmp_path):
    running = threading.Thread(
        target=output_of, args=(shell, f"echo $$ > {tmp_path}/pid; sleep 30")
    )
    running.start()
    pid = wait_for(tmp_path / "pid").strip()
    shell.prepare()
    shell.interrupt()
    running.join(10)
    assert not alive(int(pid))


def test_a_closed_shell_is_not_prepared(tmp_path):
    environment = LocalEnvironment(tmp_path)
    environment.close()
    environment.prepare()
    assert environment._shell is None
