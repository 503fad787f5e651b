"""How the shell of every place behaves: state, framing, endings, limits."""

from __future__ import annotations

import threading
import time

import pytest

from tools.environments.base import Environment

LONG = 60


def output_of(shell: Environment, command: str, **options: object) -> str:
    result = shell.execute(command, timeout=LONG, **options)  # type: ignore[arg-type]
    assert not result.timed_out, result.output
    return result.output


# State


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("A=1", "echo $A", "1\n"),
        ("export A='x y'", "sh -c 'echo $A'", "x y\n"),
        ("greet() { echo hello $1; }", "greet you", "hello you\n"),
        ("alias greet='echo hello'", "greet you", "hello you\n"),
        ("umask 027", "umask", "0027\n"),
        ("set -- a b", "echo $2", "b\n"),
        ("mkdir sub; cd sub", 'basename "$PWD"', "sub\n"),
        ("set -u", "echo ${nothing-unset}", "unset\n"),
    ],
)
def test_state_stays_from_command_to_command(shell, before, after, expected):
    assert shell.execute(before, timeout=LONG).exit_code == 0
    assert output_of(shell, after) == expected


@pytest.mark.needs("bash")
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("list=(a 'b c')", "echo ${list[1]}", "b c\n"),
        ("shopt -s nullglob", "echo *.none", "\n"),
        ("A=$'two\\nlines'", 'echo "$A"', "two\nlines\n"),
    ],
)
def test_state_of_bash_stays(shell, before, after, expected):
    assert shell.execute(before, timeout=LONG).exit_code == 0
    assert output_of(shell, after) == expected


@pytest.mark.parametrize("ending", ["exit 3", "set -e; (exit 3)", "exec sh -c 'exit 3'"])
def test_exports_and_folder_survive_a_command_that_ends_the_shell(shell, ending):
    shell.execute("mkdir sub; cd sub; export B='2 3'", timeout=LONG)
    ended = shell.execute(f"echo before; {ending}; echo after", timeout=LONG)
    assert (ended.output, ended.exit_code) == ("before\n", 3)
    assert "ended the shell" in ended.note
    assert output_of(shell, 'echo $B; basename "$PWD"') == "2 3\nsub\n"


@pytest.mark.needs("bash")
@pytest.mark.parametrize("ending", ["exit 3", "set -e; (exit 3)", "exec sh -c 'exit 3'"])
def test_functions_and_aliases_survive_a_command_that_ends_the_shell(shell, ending):
    shell.execute("A=1; f() { echo f$A$1; }; alias g='echo g'", timeout=LONG)
    assert shell.execute(ending, timeout=LONG).exit_code == 3
    assert output_of(shell, "f 1; g") == "f11\ng\n"


def test_what_is_set_in_the_ending_command_survives_too(shell):
    shell.execute("cd /; export A=7; exit 1", timeout=LONG)
    assert output_of(shell, "echo $A $PWD") == "7 /\n"


def test_errexit_is_off_after_it_ended_the_shell(shell):
    shell.execute("set -e; false", timeout=LONG)
    assert output_of(shell, "false; echo here") == "here\n"


def test_state_survives_a_timeout(shell):
    shell.execute("export A=1; mkdir sub; cd sub", timeout=LONG)
    assert "killed" in shell.execute("sleep 60", timeout=0.2).note
    assert output_of(shell, 'echo $A; basename "$PWD"') == "1\nsub\n"


def test_shell_that_was_killed_is_replaced(shell):
    shell.execute("export A=1", timeout=LONG)
    assert shell.execute("kill -9 $$", timeout=LONG).exit_code == 137
    assert output_of(shell, "echo $A") == "1\n"


def test_shell_that_died_between_commands_is_replaced_and_says_so(shell):
    shell.execute("export A=1", timeout=LONG)
    output_of(shell, "(sleep 0.3; kill -9 $$) >/dev/null 2>&1 </dev/null &")
    time.sleep(1.5)  # nobody tells us of this death
    result = shell.execute("echo $A", timeout=LONG)
    assert result.output == "1\n"
    assert "started again" in result.note


# Folders


def test_folder_for_one_command_leaves_the_shell_where_it_is(shell):
    here = shell.cwd
    shell.execute("mkdir sub", timeout=LONG)
    assert output_of(shell, "pwd; cd /", cwd="sub") == f"{here}/sub\n"
    assert output_of(shell, "pwd") == f"{here}\n"
    assert shell.cwd == here


def test_missing_folder_is_refused_and_nothing_runs(shell):
    with pytest.raises(ValueError, match="no such folder"):
        shell.execute("touch made", cwd="missing", timeout=LONG)
    assert output_of(shell, "ls") == ""


def test_deleted_folder_falls_back_to_its_nearest_parent(shell):
    here = shell.cwd
    shell.execute("mkdir -p a/b; cd a/b", timeout=LONG)
    shell.execute(f"rm -r {here}/a", cwd=here, timeout=LONG)
    result = shell.execute("pwd", timeout=LONG)
    assert result.output == f"{here}\n"
    assert "no longer exists" in result.note
    assert shell.cwd == here


def test_recreated_folder_is_entered_anew(shell):
    here = shell.cwd
    shell.execute("mkdir a; cd a", timeout=LONG)
    shell.execute("rmdir a; mkdir a", cwd=here, timeout=LONG)
    assert shell.execute("touch x", timeout=LONG).exit_code == 0
    assert output_of(shell, "ls a", cwd=here) == "x\n"


def test_folders_may_have_odd_names(shell):
    here = shell.cwd
    name = "ä b'\"$x\n%b\\0"
    shell.put(f"{here}/name", name.encode())
    shell.execute('mkdir "$(cat name)"; cd "$(cat name)"', timeout=LONG)
    assert shell.cwd == f"{here}/{name}"
    assert output_of(shell, "touch x; ls") == "x\n"


def test_previous_folder_is_kept(shell):
    here = shell.cwd
    shell.execute("cd /", timeout=LONG)
    assert output_of(shell, "cd - >/dev/null; pwd") == f"{here}\n"


# Framing


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("printf abc", "abc"),
        ("printf 'a\\000b\\377'", "a\0b�"),
        ("printf '%s\\000%s\\000%s\\000' 1 0 /", "1\x000\0/\0"),
        ("echo 'grün \U0001f40d 日本'", "grün \U0001f40d 日本\n"),
        ("cat <<'X'\n$A `b` \"c\" \\n \\0101 %s\nX", '$A `b` "c" \\n \\0101 %s\n'),
        ("echo a\n\n# note\necho b", "a\nb\n"),
        ("echo out; echo err >&2", "out\nerr\n"),
        ("printf '\\033[31mred\\033[0m \\033]0;title\\007end'", "red end"),
        ("exec 8>&1 9>&1; echo x", "x\n"),
        ("-x 2>/dev/null || echo dash", "dash\n"),
    ],
)
def test_output_is_what_was_printed(shell, command, output):
    result = shell.execute(command, timeout=LONG)
    assert (result.output, result.exit_code) == (output, 0)
    assert output_of(shell, "echo next") == "next\n"


@pytest.mark.parametrize("command", ["echo 'abc", 'echo "abc', "if true", "(", "fi"])
def test_incomplete_text_is_a_syntax_error_and_no_hang(shell, command):
    result = shell.execute(command, timeout=LONG)
    assert result.exit_code != 0
    assert not result.timed_out
    assert output_of(shell, "echo next") == "next\n"


@pytest.mark.needs("bash")
def test_line_numbers_in_messages_are_those_of_the_command(shell):
    assert "line 2: nosuch" in output_of(shell, "true\nnosuch")


def test_unknown_program_is_127(shell):
    result = shell.execute("no-such-program-here", timeout=LONG)
    assert result.exit_code == 127
    assert "not found" in result.output


def test_exit_codes_come_through(shell):
    assert [shell.execute(f"(exit {n})", timeout=LONG).exit_code for n in (0, 1, 42, 255)] == [
        0, 1, 42, 255,
    ]  # fmt: skip


def test_signal_is_told_as_a_shell_would(shell):
    assert shell.execute("sh -c 'kill -15 $$'", timeout=LONG).exit_code == 143


def test_nul_is_refused(shell):
    with pytest.raises(ValueError, match="NUL"):
        shell.execute("echo \0")


def test_long_command_arrives_whole(shell):
    lines = "\n".join(f"line {number} ü" for number in range(3000))
    assert output_of(shell, f"cat <<'X'\n{lines}\nX") == f"{lines}\n"


def test_nothing_printed_can_be_taken_for_the_end(shell):
    text = "cat /proc/$$/cmdline /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' | tail -n 3; set"
    assert shell.execute(text, timeout=LONG).exit_code == 0
    assert output_of(shell, "echo next") == "next\n"


# Input and variables


def test_standard_input_is_empty_or_the_given_text(shell):
    assert output_of(shell, "cat; echo end") == "end\n"
    assert output_of(shell, "cat", stdin="grün\n\0x") == "grün\n\0x"
    assert output_of(shell, "cat") == ""


def test_much_input_arrives_whole(shell):
    assert output_of(shell, "wc -c", stdin="x" * 1_000_000).strip() == "1000000"


def test_variables_for_one_command_reach_what_it_starts_and_do_not_stay(shell):
    command = "echo $A; sh -c 'echo $A'"
    assert output_of(shell, command, env={"A": "it's ü"}) == "it's ü\nit's ü\n"
    assert output_of(shell, "echo [$A]") == "[]\n"


def test_names_that_are_no_variables_are_refused(shell):
    with pytest.raises(ValueError, match="not a variable"):
        shell.execute("true", env={"A;B": "1"})


def test_programs_are_asked_to_be_plain(shell):
    assert output_of(shell, "echo $TERM $PAGER $GIT_PAGER $PYTHONUNBUFFERED") == "dumb cat cat 1\n"


def test_secrets_of_this_process_do_not_travel(shell, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k1-very-secret")
    assert output_of(shell, "exit 0; true") == ""  # the next shell starts with what is there now
    assert "k1-very-secret" not in output_of(shell, "env; set")


def test_programs_inherit_three_descriptors(shell):
    text = "ls -l /proc/self/fd | grep -c -e pipe -e fifo -e output; true"
    assert int(output_of(shell, text).split()[-1]) <= 3


# Background children


def test_output_of_a_background_child_does_not_reach_the_next_command(shell):
    result = shell.execute("(sleep 0.7; echo late; echo ok >done) & echo now", timeout=LONG)
    assert result.output == "now\n"
    assert "background child" in result.note
    seen = [shell.execute("sleep 0.3; echo next", timeout=LONG).output for _ in range(4)]
    assert seen == ["next\n"] * 4
    assert output_of(shell, "cat done") == "ok\n"  # it was not killed by a broken pipe


def test_background_child_that_prints_much_is_not_stopped(shell):
    script = "(sleep 0.5; head -c 300000 /dev/zero; echo ok >done) & echo now"
    assert shell.execute(script, timeout=LONG).output == "now\n"
    assert output_of(shell, "wait; cat done") == "ok\n"


def test_wait_waits_for_the_children_of_the_user_alone(shell):
    started = time.monotonic()
    assert output_of(shell, "sleep 0.2 & wait; echo done") == "done\n"
    assert output_of(shell, "wait; jobs; echo done") == "done\n"
    assert time.monotonic() - started < 20


def test_children_that_end_at_once_are_heard(shell):
    assert output_of(shell, "(echo child) & wait; echo parent") == "child\nparent\n"


# Amounts


def test_long_output_keeps_head_and_tail_and_counts_the_rest(shell):
    result = shell.execute("echo first; yes | head -c 9000000; echo last", timeout=LONG)
    assert result.output.startswith("first\ny\n")
    assert result.output.endswith("y\nlast\n")
    assert "[... 5,000,011 of 9,000,011 characters left out here ...]" in result.output


def test_output_comes_while_the_command_runs(shell):
    pieces: list[tuple[float, str]] = []
    command = "echo first; sleep 1; echo second"
    result = shell.execute(
        command, timeout=LONG, on_output=lambda piece: pieces.append((time.monotonic(), piece))
    )
    ended = time.monotonic()
    assert pieces[0][1] == "first\n"
    assert ended - pieces[0][0] > 0.7
    assert "".join(piece for _, piece in pieces) == result.output == "first\nsecond\n"


def test_what_waits_without_a_line_break_is_shown(shell):
    pieces: list[str] = []
    shell.execute("printf 'name? '; sleep 1", timeout=LONG, on_output=pieces.append)
    assert pieces[0] == "name? "


def test_many_commands_work(shell):
    assert [output_of(shell, f"echo {number}") for number in range(40)] == [
        f"{number}\n" for number in range(40)
    ]


# Ends


def alive(shell: Environment, pid: str) -> bool:
    text = f"[ -r /proc/{pid}/stat ] && grep -q -v ') Z' /proc/{pid}/stat"
    return shell.execute(text, timeout=LONG).exit_code == 0


def test_timeout_keeps_the_output(shell):
    result = shell.execute("echo begun; sleep 60; touch never", timeout=1)
    assert (result.exit_code, result.timed_out) == (124, True)
    assert result.output == "begun\n[Command timed out after 1s]"
    assert output_of(shell, "ls") == ""


def test_timeout_comes_in_time(shell):
    shell.execute("true", timeout=LONG)
    started = time.monotonic()
    assert shell.execute("sleep 60", timeout=0.5).timed_out
    assert time.monotonic() - started < 6


def test_timeout_ends_children_and_their_children(shell):
    shell.execute("(sh -c 'echo $$ >pid; sleep 61' ; true) & (sleep 62 | sleep 63)", timeout=1)
    pid = output_of(shell, "cat pid").strip()
    assert pid
    assert not alive(shell, pid)


def test_timeout_ends_what_left_for_its_own_session(shell):
    shell.execute("setsid sh -c 'echo $$ >pid; sleep 61' & wait", timeout=1)
    pid = output_of(shell, "cat pid").strip()
    assert pid
    assert not alive(shell, pid)


def test_timeout_ends_what_ignores_a_polite_request(shell):
    command = "sh -c \"trap '' TERM; echo \\$\\$ >pid; while :; do sleep 1; done\""
    assert shell.execute(command, timeout=1).timed_out
    pid = output_of(shell, "cat pid").strip()
    assert pid
    assert not alive(shell, pid)


def test_what_may_tidy_up_is_asked_politely_first(shell):
    command = "sh -c 'trap \"echo tidy >done; exit\" TERM; while :; do sleep 0.01; done'"
    assert shell.execute(command, timeout=1).timed_out
    assert output_of(shell, "cat done") == "tidy\n"


@pytest.mark.parametrize("how", ["event", "method"])
def test_interrupt_is_quick_and_the_shell_goes_on(shell, how):
    cancelled, results = threading.Event(), []
    begun = threading.Event()

    def run() -> None:
        command = "echo begun; sleep 60; touch never"
        result = shell.execute(
            command, on_output=lambda _: begun.set(), cancelled=cancelled, timeout=LONG
        )
        results.append((result, time.monotonic()))

    thread = threading.Thread(target=run)
    thread.start()
    assert begun.wait(20)
    started = time.monotonic()
    cancelled.set() if how == "event" else shell.interrupt()
    thread.join(20)
    result, ended = results[0]
    assert ended - started < 5
    assert (result.output, result.exit_code) == ("begun\n[Command interrupted]", 130)
    assert output_of(shell, "ls; echo next") == "next\n"


def test_keyboard_interrupt_kills_the_command(shell):
    def listen(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shell.execute("echo $$ >pid; echo x; sleep 60", on_output=listen, timeout=LONG)
    assert not alive(shell, output_of(shell, "cat pid").strip())


def test_calls_of_several_threads_take_turns(shell):
    def run() -> None:
        shell.execute("n=$((${n:-0} + 1)); m=$n; sleep 0.02; [ $m = $n ] || n=-100", timeout=LONG)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert output_of(shell, "echo $n") == "8\n"


def test_cancelled_call_does_not_wait_for_its_turn(shell):
    begun = threading.Event()
    running = threading.Thread(
        target=shell.execute,
        args=("echo x; sleep 60",),
        kwargs={"on_output": lambda _: begun.set(), "timeout": LONG},
    )
    running.start()
    assert begun.wait(20)
    cancelled = threading.Event()
    cancelled.set()
    assert shell.execute("echo", cancelled=cancelled).interrupted
    shell.interrupt()
    running.join(20)
    assert not running.is_alive()


# Meddling


def test_command_that_closes_its_streams_does_no_harm(shell):
    result = shell.execute("exec >&- 2>&- </dev/null; echo lost", timeout=LONG)
    assert not result.timed_out
    assert output_of(shell, "echo next") == "next\n"


def test_builtin_names_may_be_taken_by_functions(shell):
    shell.execute("read() { :; }; printf() { :; }; cd() { :; }; alias echo=false", timeout=LONG)
    assert output_of(shell, "command printf ok") == "ok"


def test_removed_private_folder_costs_only_the_state(shell):
    result = shell.execute('A=1; rm -rf "$__hermes_home"; echo x', timeout=LONG)
    assert (result.output, result.exit_code) == ("x\n", 0)
    assert output_of(shell, "echo [$A]") == "[]\n"


def test_output_of_a_trap_of_the_user_is_shown(shell):
    assert output_of(shell, "trap 'echo bye' EXIT; exit 5") == "bye\n"


def test_trap_of_the_user_does_not_hide_the_end(shell):
    result = shell.execute("trap 'echo bye' EXIT; exit 5", timeout=LONG)
    assert result.exit_code == 5
    assert output_of(shell, "echo next") == "next\n"
