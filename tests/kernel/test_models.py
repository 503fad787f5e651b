"""What a notebook user is promised when models fail, think or cost money."""

import pytest

from hermes_jupyter.testing import call
from hermes_jupyter.testing.faults import FaultyServer, cut, refused
from hermes_jupyter.testing.scripted_server import conversation
from hermes_jupyter.testing.scripts import Delta

ANY_KERNEL = True

STORY = "The capital of France is Paris, and the river that runs through it is the Seine."


@pytest.fixture
def faulty(start):
    """A notebook whose model plays these faults."""
    opened = []

    def faulty(*script):
        server = FaultyServer(*script)
        opened.append(server.__enter__())
        notebook = start(env={"OPENAI_BASE_URL": server.url})
        notebook.run(f"%config Hermes.base_url = {server.url!r}")
        return notebook, server

    yield faulty
    for server in opened:
        server.__exit__(None, None, None)


def test_a_wait_is_counted_down_in_the_status_line_and_ends_with_an_interrupt(faulty):
    notebook, _server = faulty(refused(429, "slow down", retry_after="40"))
    request = notebook.agent("go")
    notebook.show_widgets()
    notebook.until(lambda: "Trying again in 38" in str(notebook.published), "a countdown")
    notebook.interrupt()
    assert notebook.status(request, timeout=10) == "error"


def test_a_stream_that_broke_leaves_one_answer_in_the_record(faulty):
    notebook, server = faulty(
        cut(STORY, 45), (Delta("reasoning", "Where was I?"), "runs " + STORY[45:])
    )
    request = notebook.agent("go")
    notebook.show_widgets()
    assert notebook.status(request) == "ok"
    markdown = notebook.record(request)["text/markdown"]
    assert markdown.count("capital of France") == 1
    assert len(server.asked) == 2
    assert "Thought, 3 words" in notebook.record(request)["text/html"]


def test_the_next_model_answers_and_the_record_says_so(faulty):
    notebook, _ = faulty(refused(401, "no"))
    with FaultyServer("Paris.") as other:
        choice = [{"model": "spare", "base_url": other.url}]
        notebook.run(f"%config Hermes.fallback_models = {choice!r}")
        request = notebook.agent("go")
        notebook.show_widgets()
        assert notebook.status(request) == "ok"
        notebook.run("%config Hermes.fallback_models = []")
    plain = notebook.record(request)["text/plain"]
    assert "Paris." in plain
    assert "going on with spare" in plain
    assert "spare · 1 step" in plain


def test_a_ceiling_ends_a_turn_with_a_summary(start):
    steps = [(call("terminal", command=f"echo {number}"),) for number in range(40)]
    notebook = start(*steps, "unreachable")
    request = notebook.agent("go", "--max-tokens 14000")
    notebook.show_widgets()
    assert notebook.status(request) == "ok"
    plain = notebook.record(request)["text/plain"]
    assert "Stopped: the next call could pass the ceiling" in plain
    assert "left" in plain.splitlines()[-1]
    assert "from the cache" in notebook.run("%hermes usage --calls")


def test_an_answer_of_a_small_model_that_looked_at_nothing_is_asked_for_again(start):
    read = call("read_file", path="a.txt")
    notebook = start(
        conversation("used no tool", (read,)),
        conversation("", "It is empty.", "It says hello."),
        fresh=True,  # with no tools but its own
    )
    (notebook.folder / "a.txt").write_text("hello\n")
    notebook.run("%config Hermes.profile = 'small'")
    request = notebook.agent("What is in a.txt?")
    notebook.show_widgets()
    assert notebook.status(request) == "ok"
    plain = notebook.record(request)["text/plain"]
    assert "It says hello." in plain
    assert "It is empty." not in plain
    assert "asked again" in str(notebook.published)
    (shown,) = {len(asked["tools"]) for asked in notebook.requests()}
    assert shown == 5
