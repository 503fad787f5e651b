"""Fifty kernels, some of which do not answer, lie, or go."""

import asyncio

import pytest
from stand_ins import WAITING, Manager

from hermes_jupyter.server import kernels as server_kernels
from hermes_jupyter.server import listing
from hermes_jupyter.server.kernels import Kernels, Silent, UnknownKernel, Unloaded


@pytest.fixture
def run():
    """Do something with the lines to kernels that answer so."""

    def go(replies, work):
        with Manager(*replies) as manager:

            async def main():
                there = Kernels(manager, names)
                try:
                    return await asyncio.wait_for(work(there, manager), 60)
                finally:
                    there.close()

            return asyncio.run(main())

    return go


async def names():
    return {"k0": "work.ipynb"}


def states(told):
    return [each["state"] for each in told]


def test_fifty_kernels_are_listed_with_what_waits_in_each(run):
    async def work(there, _):
        await there.pending()  # of those that nobody knows yet none is waited for long
        return await there.pending()

    told = run(["pending"] * 50, work)
    assert states(told) == ["answers"] * 50
    assert all(each["requests"] == WAITING["requests"] for each in told)
    assert told[0]["notebook"] == "work.ipynb"


def test_one_that_does_not_answer_or_lies_keeps_nobody_waiting(run):
    async def work(there, _):
        await there.pending()
        return await asyncio.wait_for(there.pending(), listing.SECONDS)

    told = run(["pending", "silence", "garbage", "list", "lies", "pending"], work)
    assert states(told) == ["answers", *["silent"] * 3, "answers", "answers"]
    assert told[4]["requests"] == told[4]["turns"] == []


def test_a_kernel_that_goes_while_it_is_asked_is_told_to_be_gone(run):
    async def work(there, manager):
        asking = asyncio.ensure_future(there.ask("k0", "answer", request="r"))
        await asyncio.sleep(0)
        del manager.kernels["k0"]
        with pytest.raises(UnknownKernel):
            await there.ask("k0", "answer", request="r")
        with pytest.raises(Silent):
            await asking

    run(["silence"], work)


def test_who_watches_hears_of_kernels_that_come_go_and_start_anew(run, monkeypatch):
    monkeypatch.setattr(server_kernels, "LOOK_SECONDS", 0.01)

    async def work(there, manager):
        told = asyncio.Queue()
        with there.watched(told.put_nowait):
            kept = manager.kernels.pop("k0")
            assert await told.get() == {"event": "gone", "kernel": "k0"}
            manager.kernels["k0"] = kept
            assert await told.get() == {"event": "came", "kernel": "k0"}
            kept.provisioner.pid = 2
            assert await told.get() == {"event": "restarted", "kernel": "k0"}

    run(["silence", "silence"], work)


def test_events_come_with_the_kernel_that_told_them(run):
    async def work(there, manager):
        told = asyncio.Queue()
        with there.watched(told.put_nowait):
            there.open()
            while told.empty():  # until the subscription has come to the other side
                manager.kernels["k1"].tell({"event": "asked", "request": {"id": "r"}})
                await asyncio.sleep(0.01)
            return told.get_nowait()

    told = run(["pending", "pending"], work)
    assert told == {"event": "asked", "request": {"id": "r"}, "kernel": "k1"}


def test_an_unsigned_event_is_not_believed(run):
    async def work(there, manager):
        told = asyncio.Queue()
        with there.watched(told.put_nowait):
            there.open()
            one = manager.kernels["k0"]
            forged = [b"hermes_event", b"<IDS|MSG>", b"0" * 64, b"{}", b"{}", b"{}", b"{}"]
            while told.empty():
                one.iopub.send_multipart(forged)
                one.tell({"event": "turn"})
                await asyncio.sleep(0.01)
            return told.get_nowait()

    assert run(["pending"], work)["event"] == "turn"


def test_behind_a_gateway_it_is_said_that_kernels_are_not_reached(run):
    async def work(there, manager):
        manager.kernels["k0"] = object()
        with pytest.raises(Silent, match="gateway"):
            await there.ask("k0", "pending")
        return await there.pending()

    assert states(run(["pending"], work)) == ["unreachable"]


def test_a_kernel_without_the_extension_is_asked_for_its_info_once_and_nothing_else(run):
    async def work(there, manager):
        with there.watched(lambda event: None):
            told = [await there.pending() for _ in range(3)]
            with pytest.raises(Unloaded, match="%load_ext hermes_jupyter"):
                await there.ask("k0", "answer", request="r")
        return told[-1], manager.kernels["k0"].heard

    told, heard = run(["plain", "pending"], work)
    assert states(told) == ["unloaded", "answers"]
    assert heard == ["kernel_info_request"]


def test_a_kernel_for_another_language_is_asked_for_nothing_but_heard(run):
    async def work(there, manager):
        told, one = asyncio.Queue(), manager.kernels["k0"]
        with there.watched(told.put_nowait):
            listed = await there.pending()
            while told.empty():
                one.tell({"event": "asked", "request": {"id": "r"}})
                await asyncio.sleep(0.01)
        return states(listed), one.heard

    assert run(["R"], work) == (["unloaded"], [])


def test_one_that_loads_the_extension_is_asked_as_soon_as_it_says_so(run):
    async def work(there, manager):
        told, one = asyncio.Queue(), manager.kernels["k0"]
        with there.watched(told.put_nowait):
            assert states(await there.pending()) == ["unloaded"]
            one.replies = "pending"
            while told.empty():  # until the subscription has come to the other side
                one.tell({"event": "ready"})
                await asyncio.sleep(0.01)
            assert states(await there.pending()) == ["answers"]
            one.replies = "plain"
            one.tell({"event": "unloaded"})
            while (await told.get())["event"] != "unloaded":
                pass
            return await there.pending(), one.heard

    told, heard = run(["plain"], work)
    assert states(told) == ["unloaded"]
    assert heard == ["kernel_info_request", "hermes_request"]


def test_who_watches_is_told_when_a_kernel_that_hung_answers(run):
    async def work(there, manager):
        told = asyncio.Queue()
        with there.watched(told.put_nowait):
            assert states(await there.pending()) == ["silent"]
            manager.kernels["k0"].wake()
            assert await told.get() == {"event": "came", "kernel": "k0"}
            return await there.pending()

    assert run(["late"], work)[0]["requests"] == WAITING["requests"]


@pytest.mark.parametrize(
    "event",
    [
        {"event": "pending", "kernels": [{"kernel": "k1", "state": "answers", **WAITING}]},
        {"event": "gone", "kernel": "k1"},
        {"event": ["asked"]},
        {"event": None},
    ],
)
def test_a_kernel_tells_nothing_of_others_and_nothing_that_only_the_server_knows(run, event):
    async def work(there, manager):
        told = asyncio.Queue()
        with there.watched(told.put_nowait):
            there.open()
            while told.empty():
                manager.kernels["k0"].tell(event)
                manager.kernels["k0"].tell({"event": "turn"})
                await asyncio.sleep(0.01)
            return told.get_nowait()

    assert run(["pending", "pending"], work) == {"event": "turn", "kernel": "k0"}


EVENT = b'{"msg_id": "1", "msg_type": "hermes_event"}'
NONSENSE = {
    "header": [b"[]", b"{}", b"{}", b"{}"],
    "type": [b'{"msg_id": "1"}', b"{}", b"{}", b"{}"],
    "parent": [EVENT, b"[]", b"{}", b"{}"],
    "number": [EVENT, b"{}", b"{}", b"7"],
    "bytes": [EVENT, b"{}", b"{}", b"\xff"],
    "nan": [EVENT, b"{}", b"{}", b'{"event": "turn", "n": NaN}'],
    "deep": [EVENT, b"{}", b"{}", b"[" * 100_000],
    "short": [],
}


@pytest.mark.parametrize("frames", NONSENSE.values(), ids=NONSENSE)
def test_a_kernel_that_sends_nonsense_is_heard_when_it_does_not(run, caplog, frames):
    async def work(there, manager):
        told, one = asyncio.Queue(), manager.kernels["k0"]
        with there.watched(told.put_nowait):
            there.open()
            while told.empty():
                signed = [b"<IDS|MSG>", one.own.sign(frames), *frames]
                one.iopub.send_multipart([b"hermes_event", *signed])
                one.tell({"event": "turn"})
                await asyncio.sleep(0.01)
            return told.get_nowait()

    assert run(["pending"], work) == {"event": "turn", "kernel": "k0"}
    assert not [each for each in caplog.records if each.levelname == "ERROR"]
