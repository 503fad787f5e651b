"""Whatever comes over the control channel, nothing is approved by accident, and it goes on."""

import json
import uuid

import pytest
from controlling import DELETE, answer, ask, asked, deleting, events
from jupyter_client.session import Session


class Wire:
    """Sends to the control channel what is made by hand, from a socket of its own."""

    def __init__(self, notebook):
        client = notebook.client
        self.socket = client.connect_control(identity=uuid.uuid4().bytes)
        self.session = Session(key=client.session.key, session=uuid.uuid4().hex)

    def frames(self, content, **header):
        """A signed message; ``content`` may be bytes, and parts of the header may be left out."""
        about = {**self.session.msg_header("hermes_request"), **header}
        about = {key: value for key, value in about.items() if value is not None}
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        parts = [json.dumps(about, default=str).encode(), b"{}", b"{}", body]
        return [b"<IDS|MSG>", self.session.sign(parts), *parts]

    def send(self, frames):
        self.socket.send_multipart(frames)

    def reply(self):
        """The next one."""
        assert self.socket.poll(20_000), "no reply came"
        _, parts = self.session.feed_identities(self.socket.recv_multipart())
        return self.session.deserialize(parts)["content"]

    def asks(self, content):
        self.send(self.frames(content))
        return self.reply()


@pytest.fixture
def wire():
    opened = []

    def connect(notebook):
        opened.append(Wire(notebook))
        return opened[-1]

    yield connect
    for each in opened:
        each.socket.close(linger=0)


def allowing(request, **about):
    about = {"request": request["id"], "digest": request["digest"], "choice": "once", **about}
    return {"protocol": 1, "do": "answer", **about}


def denied(notebook, cell, request):
    """Whatever was sent before has decided nothing, and an answer still counts."""
    assert ask(notebook, "pending")["requests"] == [request]
    assert answer(notebook, request, "deny")["status"] == "ok"
    assert notebook.status(cell) == "ok"
    assert (notebook.folder / "old.log").exists()


UNREADABLE = {
    "nothing": lambda wire, good: [b""],
    "no delimiter": lambda wire, good: [b"allow"],
    "unsigned": lambda wire, good: [b"<IDS|MSG>", b"", *wire.frames(good)[2:]],
    "another's signature": lambda wire, good: [b"<IDS|MSG>", b"0" * 64, *wire.frames(good)[2:]],
    "changed later": lambda wire, good: [*wire.frames({})[:-1], json.dumps(good).encode()],
    "cut": lambda wire, good: wire.frames(json.dumps(good).encode()[:-9]),
    "no JSON": lambda wire, good: wire.frames(b"\xff\xfe\x00once"),
    "a hundred thousand lists": lambda wire, good: wire.frames(b"[" * 100_000),
    "lists in the note": lambda wire, good: wire.frames(
        json.dumps({**good, "note": "x"}).encode().replace(b'"x"', b"[" * 50_000 + b"]" * 50_000)
    ),
    "no type": lambda wire, good: wire.frames(good, msg_type=None),
    "no id": lambda wire, good: wire.frames(good, msg_id=None),
}


def test_messages_that_are_none_decide_nothing_and_the_next_is_heard(start, wire):
    notebook, cell, request = deleting(start)
    line = wire(notebook)
    for name, make in UNREADABLE.items():
        line.send(make(line, allowing(request)))
        assert line.asks({"protocol": 1, "do": "pending"})["requests"] == [request], name
    denied(notebook, cell, request)


MALFORMED = [
    (b"null", "invalid"),
    (b"7", "invalid"),
    (b'"once"', "invalid"),
    (b"[]", "invalid"),
    (b"{}", "protocol"),
    (b'{"protocol": 1}', "invalid"),
    ({"protocol": "1"}, "protocol"),
    ({"protocol": [1]}, "protocol"),
    ({"do": ["answer"]}, "invalid"),
    ({"do": "Answer"}, "invalid"),
    ({"do": "_answer"}, "invalid"),
    ({"choice": "Once"}, "invalid"),
    ({"choice": "once\u0000"}, "invalid"),
    ({"choice": True}, "invalid"),
    ({"choice": {"once": 1}}, "invalid"),
    ({"choice": None}, "invalid"),
    ({"request": ["x"]}, "invalid"),
    ({"request": "\ud800"}, "unknown"),
    ({"digest": "\ud800" * 64}, "digest"),
    ({"digest": 0}, "invalid"),
    ({"note": "\udfff"}, "invalid"),
    ({"note": {"a": {"a": {"a": 1}}}}, "invalid"),
    ({"note": "x" * 20_000_000}, "invalid"),
    ({"edited": "x" * 64_001}, "invalid"),
    ({"edited": "\ud800"}, "invalid"),
    ({"edited": ["rm", "old.log"]}, "invalid"),
    ({"edited": ""}, "invalid"),
    ({"x" * 1_000_000: 1}, "invalid"),
    ({"\ud800": 1}, "invalid"),
    ({f"x{n}": n for n in range(10_000)}, "invalid"),
]


def test_what_is_malformed_is_refused_and_told_why(start, wire):
    notebook, cell, request = deleting(start)
    line = wire(notebook)
    for wrong, code in MALFORMED:
        content = wrong if isinstance(wrong, bytes) else {**allowing(request), **wrong}
        refused = line.asks(content)
        assert (refused["status"], refused["ename"]) == ("error", code), str(wrong)[:80]
        assert len(refused["evalue"]) < 500
    digest = request["digest"]
    for near in (digest.upper(), f" {digest}", f"{digest}\n", digest[:-1], digest[::-1]):
        assert line.asks(allowing(request, digest=near))["ename"] == "digest", near
    denied(notebook, cell, request)


def test_of_a_thousand_different_answers_at_once_one_counts(start, wire):
    notebook, cell, request = deleting(start)
    pages = {choice: wire(notebook) for choice in ("once", "deny")}
    sent = {
        choice: [page.frames(allowing(request, choice=choice)) for _ in range(500)]
        for choice, page in pages.items()
    }
    for both in zip(*sent.values(), strict=True):
        for page, frames in zip(pages.values(), both, strict=True):
            page.send(frames)
    told = [(choice, page.reply()) for choice, page in pages.items() for _ in range(500)]
    counted = [choice for choice, reply in told if reply["status"] == "ok"]
    assert len(counted) == 1
    assert {reply.get("ename") for _, reply in told} == {None, "answered"}
    assert notebook.status(cell) == "ok"
    assert (notebook.folder / "old.log").exists() is (counted == ["deny"])
    said = notebook.until(lambda: events(notebook, "answered"), "the outcome")
    assert [each["request"]["outcome"]["decision"] for each in said] == counted


def test_an_old_answer_allows_no_new_request_for_the_same(start, wire):
    notebook = start(DELETE, DELETE, "done")
    old = notebook.folder / "old.log"
    old.write_text("x")
    line = wire(notebook)
    cell = notebook.agent("delete")
    notebook.show_widgets()
    first = asked(notebook)
    frames = line.frames(allowing(first))
    line.send(frames)
    assert line.reply()["status"] == "ok"
    second = asked(notebook, 2)
    assert second["what"] == first["what"]
    old.write_text("new")
    line.send(frames)  # bit by bit; ipykernel does not even read it
    assert line.asks(allowing(first))["ename"] == "answered"
    assert line.asks(allowing(second, digest=first["digest"]))["ename"] == "digest"
    assert line.asks(allowing(first, digest=second["digest"]))["ename"] == "answered"
    denied(notebook, cell, second)


def test_an_answer_that_comes_when_the_time_is_over_is_stale(start):
    notebook = start(DELETE, "kept")
    (notebook.folder / "old.log").write_text("x")
    notebook.run("%config Hermes.approval_timeout = 0.2")
    cell = notebook.agent("delete")
    notebook.show_widgets()
    request = asked(notebook)
    (told,) = notebook.until(lambda: events(notebook, "answered"), "the end of its time")
    assert told["request"]["outcome"]["by"] == "timeout"
    assert answer(notebook, request, "once")["ename"] == "stale"
    assert notebook.status(cell) == "ok"
    assert (notebook.folder / "old.log").exists()


def test_an_answer_from_before_a_restart_allows_nothing_after_it(start, wire):
    notebook = start(DELETE)
    (notebook.folder / "old.log").write_text("x")
    notebook.agent("delete")
    notebook.show_widgets()
    request = asked(notebook)
    line = wire(notebook)
    frames = line.frames(allowing(request))
    notebook.manager.restart_kernel(now=True)
    notebook.until_heard()
    notebook.run("%load_ext hermes_jupyter")
    line.send(frames)  # its signature holds: the key is that of before
    assert line.reply()["ename"] == "unknown"
    assert ask(notebook, "pending")["requests"] == []
    assert (notebook.folder / "old.log").exists()
