"""Background jobs through a `Host` that has nothing but a shell."""

import os
import select
import subprocess
import time
from pathlib import Path

import pytest

from tools.environments.host import (
    Channel,
    Completed,
    Health,
    Host,
    HostError,
    Isolation,
    Piece,
)
from tools.environments.jobs import JobError, JobOptions, JobRecord, plain
from tools.environments.remote_jobs import RemoteJob, RemoteOrder, start_job
from tools.environments.remote_pty import start_pty_job

SHELLS = [["sh"], ["bash", "--posix"], ["busybox", "sh"]]


class Terminal(Channel):
    """A process at a pseudo terminal of this machine."""

    def __init__(self, argv, env):
        self._master, slave = os.openpty()
        self._process = subprocess.Popen(
            ["setsid", "-c", *argv], stdin=slave, stdout=slave, stderr=slave, env=env
        )
        os.close(slave)

    def write(self, data):
        os.write(self._master, data)

    def read(self, timeout):
        if not select.select([self._master], [], [], timeout)[0]:
            return None
        try:
            return Piece("out", os.read(self._master, 65_536))
        except OSError:
            self._process.wait(5)
            return None

    def close_input(self):
        pass

    @property
    def exit_code(self):
        code = self._process.poll()
        return code if code is None or code >= 0 else 128 - code

    def close(self):
        if self._master >= 0:
            os.close(self._master)
            self._master = -1


class Place(Host):
    """This machine, reached by a shell only, with a home of its own."""

    isolation = Isolation(isolated=True)
    terminals = True

    def __init__(self, home, shell):
        self._home, self._shell, self.reachable = home, shell, True

    def run(self, argv, *, stdin=b"", timeout=30.0):
        if not self.reachable:
            raise HostError("no route to the place")
        assert list(argv) == ["sh"]
        env = {"HOME": str(self._home), "PATH": os.environ["PATH"]}
        done = subprocess.run(
            self._shell, input=stdin, env=env, capture_output=True, timeout=timeout, check=False
        )
        return Completed(done.returncode, done.stdout, done.stderr)

    def open(self, argv, *, cwd=None, env=None, pty=False):
        if not self.terminals:
            raise HostError("this place has no terminals")
        return Terminal(argv, {"HOME": str(self._home), "PATH": os.environ["PATH"]})

    def get(self, path):
        return Path(path).read_bytes()

    def put(self, path, content, mode=0o644):
        Path(path).write_bytes(content)

    def home(self):
        return str(self._home)

    def health(self):
        return Health(self.reachable, "")

    def close(self):
        pass


@pytest.fixture(params=SHELLS, ids=lambda shell: shell[0])
def place(request, tmp_path):
    return Place(tmp_path, request.param)


@pytest.fixture
def start(place, tmp_path):
    started = []

    def begin(command, **order):
        record = JobRecord(
            id=f"proc_{len(started)}", command=command, cwd=str(tmp_path), place="there",
            owner="k", session="main", started_at=time.time(), pid=0, birth="",
            options=JobOptions(),
        )  # fmt: skip
        filled = {"cwd": str(tmp_path), "env": {}, **order}
        started.append(start_job(place, RemoteOrder(command=command, **filled), record))
        return started[-1]

    yield begin
    for job in started:
        job.kill()


def ended(job, seconds=20):
    assert job.wait(seconds, lambda: False)
    return job.end


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(holds):
    deadline = time.monotonic() + 10
    while not (held := holds()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return held


def test_it_ends_with_its_output_and_code(start):
    job = start("echo out; echo err >&2; printf '\\377x'; exit 3")
    assert (ended(job).exit_code, ended(job).reason) == (3, "exited")
    assert job.read(0, 100).data == b"out\nerr\n\xffx"
    assert job.read(2, 4).data == b"t\ner"
    assert job.read(-3, 9).data == b"\n\xffx"


def test_it_gets_variables_folder_and_state(start, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "state").write_text("B=2; f() { echo f$1; }\n")
    job = start(
        "echo $A $B; f 1; pwd", cwd=str(tmp_path / "sub"), env={"A": "it's"},
        state=str(tmp_path / "state"),
    )  # fmt: skip
    ended(job)
    assert job.tail(100) == f"it's 2\nf1\n{tmp_path}/sub\n"


def test_input_is_written_and_closed(start):
    job = start("cat; echo end")
    assert job.write("a%s\\ü\n".encode()) == 7
    assert until(lambda: job.read(0, 9).data == "a%s\\ü\n".encode())
    assert job.status == "running"
    job.close_input()
    ended(job)
    assert job.tail(100) == "a%s\\ü\nend\n"
    with pytest.raises(JobError, match="closed"):
        job.write(b"late")


def test_long_output_is_kept_in_part_and_counted_whole(start, tmp_path):
    job = start("seq 1 1500000")
    ended(job)
    whole = "".join(f"{n}\n" for n in range(1, 1_500_001)).encode()
    output = job.read(0, 50)
    assert output.total == len(whole)
    assert output.first > 0
    assert output.data == whole[output.first :][:50]
    assert output.lines_before == whole[: output.first].count(b"\n")
    assert job.read(output.total - 4_000, 100).data == whole[-4_000:][:100]
    kept = sum(f.stat().st_size for f in (tmp_path / ".hermes/jobs/proc_0").glob("out.*"))
    assert 1_000_000 <= kept <= 6_000_000


def test_kill_ends_all_of_it(start):
    job = start("trap '' TERM; setsid sleep 61 & echo $!; sleep 62")
    assert until(lambda: job.tail(20).endswith("\n"))
    child = int(job.tail(20))
    begun = time.monotonic()
    job.kill()
    assert time.monotonic() - begun < 8
    assert until(lambda: not alive(child))
    assert (ended(job).exit_code, ended(job).reason) == (137, "killed")


def test_it_may_tidy_up(start):
    job = start("trap 'echo bye; exit 5' TERM; echo on; while :; do sleep 0.1; done")
    assert until(lambda: job.tail(20) == "on\n")
    job.kill()
    assert ended(job).exit_code == 5
    assert job.tail(20).endswith("bye\n")


def test_it_is_found_again_by_its_record(start, place):
    job = start("read x; echo got $x")
    again = RemoteJob(place, job.record)
    assert again.status == "running"
    again.write(b"it\n")
    ended(again)
    assert plain(again.read(0, 99).data) == "got it\n"


def test_one_whose_processes_vanished_is_lost(start, place, tmp_path):
    job = start("sleep 60")
    (tmp_path / ".hermes/jobs/proc_0/pid").write_text(f"{os.getpid()} 1\n")
    assert RemoteJob(place, job.record).end.reason == "lost"
    (tmp_path / ".hermes/jobs/proc_0/pid").write_text(f"{job.pid} {job.record.birth}\n")


def test_a_place_that_cannot_be_reached_is_said(start, place):
    job = start("sleep 60")
    place.reachable = False
    with pytest.raises(JobError, match="no route"):
        job.read(0, 1)
    assert job.status == "running"
    place.reachable = True


def test_nothing_is_left_of_it(start, tmp_path):
    job = start("true")
    ended(job)
    job.forget()
    assert not list((tmp_path / ".hermes/jobs").iterdir())


@pytest.fixture
def at_terminal(place, tmp_path):
    started = []

    def begin(command):
        folder = tmp_path / "here"
        folder.mkdir(exist_ok=True)
        record = JobRecord(
            id="proc_t", command=command, cwd=str(tmp_path), place="there", owner="k",
            session="main", started_at=time.time(), pid=0, birth="",
            options=JobOptions(pty=True),
        )  # fmt: skip
        order = RemoteOrder(command=command, cwd=str(tmp_path), env={"A": "1"})
        started.append(start_pty_job(place, order, record, folder))
        return started[-1]

    yield begin
    for job in started:
        job.kill()


def test_one_in_a_terminal_takes_keys_and_ends(at_terminal):
    job = at_terminal("test -t 0 && test -t 1 && echo both $A; stty size; read x; echo got $x; cat")
    assert until(lambda: "30 120" in job.tail(200))
    assert "both 1\n" in job.tail(200)
    job.write(b"it\r")
    assert until(lambda: "got it\n" in job.tail(200))
    job.close_input()
    assert (ended(job).exit_code, job.end.reason) == (0, "exited")


def test_one_in_a_terminal_can_be_killed(at_terminal):
    job = at_terminal("trap '' TERM HUP; echo $$; sleep 61; sleep 62")
    assert until(lambda: job.tail(20).endswith("\n"))
    pid = int(job.tail(20))
    job.kill()
    assert until(lambda: not alive(pid))
    assert ended(job).reason == "killed"


def test_a_place_that_gives_no_terminal_though_asked_for_one_is_found_out(
    at_terminal, monkeypatch, tmp_path
):
    monkeypatch.setattr(Terminal, "__init__", given_pipes)
    with pytest.raises(JobError, match="no terminal can be had there"):
        at_terminal("echo ran >ran")
    assert not (tmp_path / "ran").exists()


def given_pipes(self, argv, env):
    self._master, writer = os.pipe()
    self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=writer, env=env)
    os.close(writer)
    self._process.wait(10)


def test_where_no_terminals_are_it_is_said(at_terminal, place):
    place.terminals = False
    with pytest.raises(JobError, match="no terminal can be had there: this place has no terminals"):
        at_terminal("true")
