import asyncio
import signal
import threading
import time

import pytest

from hermes_jupyter.views.withdrawing import withdrawable


@pytest.fixture(autouse=True)
def interrupts():
    """An interrupt raises KeyboardInterrupt, as in a cell."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, usual)


class CellThread:
    """Runs jobs in this thread, and the loop in another."""

    def __init__(self):
        self.job = None
        self.there = threading.Event()
        self.outcome = []

    async def run(self, job):
        self.future = asyncio.get_running_loop().create_future()
        self.job = job
        self.there.set()
        return await self.future

    def ask(self, ask, *, cancel):
        """Ask, and cancel it when ``cancel`` is set."""

        async def main():
            task = asyncio.ensure_future(withdrawable(self.run, ask))
            await asyncio.get_running_loop().run_in_executor(None, cancel.wait)
            task.cancel()
            await asyncio.wait({task})
            self.outcome.append(task.cancelled())

        thread = threading.Thread(target=asyncio.run, args=(main(),))
        thread.start()
        self.there.wait()
        try:
            return self.job()
        finally:
            cancel.set()
            thread.join()


def test_a_prompt_ends_when_it_is_withdrawn():
    asks = threading.Event()

    def prompt():
        asks.set()
        time.sleep(30)
        raise AssertionError("nobody ended it")

    cell = CellThread()
    assert cell.ask(prompt, cancel=asks) == ""
    assert cell.outcome == [True]


def test_a_line_that_comes_with_the_interrupt_is_kept_apart_from_it():
    asks = threading.Event()

    def prompt():
        asks.set()
        return "y"

    for _ in range(50):
        asks.clear()
        assert CellThread().ask(prompt, cancel=asks) in ("y", "")


def test_an_interrupt_of_a_person_stays_one():
    def prompt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        CellThread().ask(prompt, cancel=threading.Event())
