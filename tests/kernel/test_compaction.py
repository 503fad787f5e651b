"""A long conversation is made shorter while the agent works, and on demand."""

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

ANY_KERNEL = True

NOTES = "## Task\nread the files\n## Finished\nfile 0 was read"
SCRIPT = (
    conversation("<conversation>", NOTES),
    *(
        conversation(
            f"read {n}", (call("read_file", path=f"{n}.txt"),), f"Read {n}. " + "Yes. " * 400
        )
        for n in range(5)
    ),
    conversation("go on", "I go on."),
)


def prepared(start, share):
    notebook = start(*SCRIPT)
    for n in range(5):
        (notebook.folder / f"{n}.txt").write_text(f"line {n}\n" * 500)
    notebook.run("%config Hermes.context_window = 12000")
    notebook.run(f"%config Hermes.compaction = {share}")
    return notebook


def contents(notebook):
    return [notebook.prompt(message) for message in notebook.requests()[-1]["messages"]]


def test_on_demand_the_older_part_becomes_notes(start):
    notebook = prepared(start, 0)
    for n in range(5):
        assert notebook.status(notebook.agent(f"read {n}")) == "ok"
    assert not any("left out" in each for each in contents(notebook))
    shown = notebook.run("%hermes compact")
    assert "the conversation was made shorter" in shown
    assert notebook.status(notebook.agent("go on")) == "ok"
    sent = contents(notebook)
    assert sent[1] == "read 0"
    assert sent[-1] == "go on"
    assert sum(map(len, sent)) < 20_000
    assert any(each.startswith("[Notes on the conversation so far") for each in sent)
    assert any("file 0 was read" in each for each in sent)


def test_unasked_when_its_share_of_the_window_is_full(start):
    notebook = prepared(start, 50)
    for n in range(5):
        request = notebook.agent(f"read {n}", "--plain")
        assert notebook.status(request) == "ok"
    assert "the conversation was made shorter" in notebook.text(request)
    assert notebook.status(notebook.agent("go on")) == "ok"
    assert contents(notebook)[-1] == "go on"


def test_a_short_conversation_is_left_alone(start):
    notebook = start("hello")
    assert notebook.status(notebook.agent("hello")) == "ok"
    assert "nothing to make shorter" in notebook.run("%hermes compact")


def test_an_interrupt_while_notes_are_written_drops_nothing(start):
    slow = conversation("<conversation>", NOTES + " more" * 400, delay=0.05)
    notebook = start(slow, *SCRIPT[1:])
    for n in range(5):
        (notebook.folder / f"{n}.txt").write_text(f"line {n}\n" * 500)
    notebook.run("%config Hermes.compaction = 0")
    for n in range(5):
        assert notebook.status(notebook.agent(f"read {n}")) == "ok"
    asked = len(notebook.requests())
    request = notebook.execute("%hermes compact")
    notebook.until(lambda: len(notebook.requests()) > asked, "the notes being asked for")
    notebook.interrupt()
    assert notebook.status(request) == "error"
    assert notebook.status(notebook.agent("go on")) == "ok"
    sent = contents(notebook)
    assert [each for each in sent if each.startswith("read ")] == [f"read {n}" for n in range(5)]
    assert not any("Notes on the conversation" in each for each in sent)
