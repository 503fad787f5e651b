"""How a keeper starts its job: a session of its own, with pipes or a terminal."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False  # not of typing, which takes long to import
if TYPE_CHECKING:
    from typing import TypedDict

    class Order(TypedDict):
        """What a keeper is told."""

        argv: list[str]
        cwd: str
        env: dict[str, str]
        inherited: list[int]
        folder: str
        pty: bool
        longest: float
else:
    Order = dict

ROWS, COLUMNS = 30, 120


def start(order: Order) -> tuple[int, int, int]:
    """Start the job; its pid, what it prints to and what it reads from (of a terminal the same).

    Raises
    ------
    OSError
    """
    if order["pty"]:
        output, slave = os.openpty()
        _set_size(slave)
        to_job, job_in, job_out = output, slave, slave
    else:
        job_in, to_job = os.pipe()
        output, job_out = os.pipe()
    failed, failing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(order, job_in, job_out, failing)
    for number in {job_in, job_out, failing, *order["inherited"]}:
        os.close(number)
    with open(failed, "rb") as pipe:  # noqa: PTH123
        if said := pipe.read():
            raise OSError(said.decode("utf-8", "replace"))
    os.set_blocking(to_job, False)
    return pid, output, to_job


def _set_size(terminal: int) -> None:
    import fcntl
    import struct
    import termios

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))


def _become(order: Order, job_in: int, job_out: int, failing: int) -> None:
    """In the forked child: turn into the job."""
    try:
        signal.set_wakeup_fd(-1)
        # What the keeper, or Python, treats in a way of its own.
        for ours in (signal.SIGHUP, signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(ours, signal.SIG_DFL)
        os.setsid()
        if order["pty"]:
            import fcntl
            import termios

            fcntl.ioctl(job_in, termios.TIOCSCTTY, 0)
        for wanted, number in enumerate((job_in, job_out, job_out)):
            os.dup2(number, wanted)
        for number in order["inherited"]:
            os.set_inheritable(number, True)
        os.chdir(order["cwd"])
        os.execvpe(order["argv"][0], order["argv"], order["env"])
    except BaseException as error:  # noqa: BLE001 - there is nobody above
        os.write(failing, (str(error) or type(error).__name__).encode("utf-8", "replace"))
    os._exit(127)
