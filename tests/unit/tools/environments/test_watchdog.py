"""What a process that is killed outright leaves behind ends, too."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools.environments.births import birth_of, is_alive

pytestmark = pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="looks into /proc")
PROGRAM = """
import os
from tools.environments.local import LocalEnvironment
environment = LocalEnvironment({folder!r})
environment.execute("true")
if {forks} and os.fork() == 0:
    import time
    time.sleep(60)
environment.execute("echo $$ > shell; sleep 600")
"""


def until(holds, seconds=20):
    deadline = time.monotonic() + seconds
    while not (held := holds()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
    return held


def number_in(path):
    return until(lambda: path.exists() and path.read_text().strip() and int(path.read_text()))


@pytest.mark.parametrize("forks", [False, True], ids=["alone", "a fork holds the pipe"])
def test_a_command_and_its_folder_end_with_their_killed_process(tmp_path, forks):
    program = PROGRAM.format(folder=str(tmp_path), forks=forks)
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen([sys.executable, "-c", program], env=env, start_new_session=True)
    try:
        shell = number_in(tmp_path / "shell")
        birth = birth_of(shell)
        assert list(tmp_path.glob("hermes-shell-*"))
        process.kill()
        process.wait()
        until(lambda: not is_alive(shell, birth))
        until(lambda: not list(tmp_path.glob("hermes-shell-*")))
    finally:
        if forks:
            os.killpg(process.pid, signal.SIGKILL)


def test_a_process_that_ends_as_it_should_leaves_no_watchdog(tmp_path):
    program = (
        "from tools.environments.local import LocalEnvironment\n"
        "from tools.environments.watched import WATCHED\n"
        f"environment = LocalEnvironment({str(tmp_path)!r})\n"
        "environment.execute('true')\nprint(WATCHED._dog.pid)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert not birth_of(int(done.stdout))
