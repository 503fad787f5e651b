import json

import nbformat
import pytest

from hermes_jupyter.calls import ApprovalRequest, Question, ToolCall, ToolResult, Usage
from hermes_jupyter.errors import StoreError
from hermes_jupyter.events import (
    ApprovalResolved,
    BatchStarted,
    NoticeGiven,
    QuestionAnswered,
    ReasoningStreamed,
    StepFinished,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.exports import export
from hermes_jupyter.exports.turns import Conversation
from hermes_jupyter.store.sessions.catalog import Sessions
from hermes_jupyter.store.sessions.journal import About
from hermes_jupyter.store.sessions.transcript import Transcript

EMOJI = {"terminal": "💻", "write_file": "✏"}
ASK = "Delete the old logs,\nthen tell me what is left.\n\n```\nrm *.log\n```"
ANSWER = (
    "Two files are left:\n\n| file | size |\n|---|---|\n| `a.csv` | 3 kB |\n\n$x^2$ <b>bold</b>"
)


def wire(call):
    function = {"name": call.name, "arguments": json.dumps(dict(call.args))}
    return {"id": call.id, "type": "function", "function": function}


@pytest.fixture
def conversation(tmp_path):
    """One with all that a turn can have, a call by hand, and a turn that broke off."""
    sessions = Sessions(tmp_path / "home")
    journal = sessions.begin(About("log work", "/n/logs.ipynb"))
    transcript = Transcript(journal)
    journal.count = transcript.count_said
    tell = journal.hear
    rm = ToolCall(id="c1", name="terminal", args={"command": "rm *.log"})
    write = ToolCall(id="c2", name="write_file", args={"path": "a.md", "content": "x\n" * 40})
    request = ApprovalRequest(id="r", call=rm, reason="deletes 3 files", shown="rm *.log", cwd="/",
                              grant="", digest="")  # fmt: skip
    tell(TurnStarted(session="main", turn="t1", prompt=ASK, model="gpt-x", steps=90))
    transcript.append({"role": "system", "content": "You are."})
    transcript.append({"role": "user", "content": ASK})
    tell(ReasoningStreamed(text="Which logs?"))
    tell(StepFinished(number=1, text="I delete them."))
    calls = [wire(rm), wire(write)]
    transcript.append({"role": "assistant", "content": "I delete them.", "tool_calls": calls})
    tell(BatchStarted(calls=(rm, write)))
    tell(ApprovalResolved(request=request, decision="once", by="widget"))
    for call, status, text in ((rm, "ok", '{"output": "", "exit_code": 0}'),
                               (write, "error", '{"error": "The disk is full"}')):  # fmt: skip
        tell(ToolCallStarted(call=call))
        tell(ToolCallFinished(result=ToolResult(call=call, text=text, status=status, seconds=0.3)))
        transcript.append({"role": "tool", "tool_call_id": call.id, "content": text})
    question = Question(id="q", text="Also the archive?", choices=("yes", "no"))
    tell(QuestionAnswered(question=question, answer="no", by="widget"))
    tell(NoticeGiven(text="the answer was cut", level="warning"))
    tell(StepFinished(number=2, text=ANSWER))
    transcript.append({"role": "assistant", "content": ANSWER})
    tell(TurnFinished(status="done", text=ANSWER, model="gpt-x", steps=2, seconds=4.2,
                      usage=Usage(prompt_tokens=900, completion_tokens=60)))  # fmt: skip
    hand = ToolCall(id="h", name="terminal", args={"command": "ls"})
    prompt = '%hermes call terminal {"command": "ls"}'
    tell(TurnStarted(session="main", turn="t2", prompt=prompt, model="", steps=0))
    tell(BatchStarted(calls=(hand,)))
    tell(ToolCallFinished(result=ToolResult(call=hand, text='{"output": "a.csv"}')))
    tell(TurnFinished(status="done", text="", seconds=0.1))
    tell(TurnStarted(session="main", turn="t3", prompt="And now?", model="gpt-x", steps=90))
    transcript.append({"role": "user", "content": "And now?"})
    journal.close()
    sessions.reopen(journal.id)
    about = sessions.get(journal.id)
    yield Conversation(about, sessions.entries(about), lambda name: EMOJI.get(name, "⚡"))
    sessions.close()


def test_markdown_reads_as_the_conversation_was(conversation, tmp_path):
    text = export(conversation, str(tmp_path / "chat.md")).read_text()
    order = [
        "# Delete the old logs,\n",
        f"session {conversation.about.id}",
        "## 1 · ",
        "> Delete the old logs,\n> then tell me what is left.\n>\n> ```\n> rm *.log",
        "I delete them.",
        "- 💻 `terminal` `rm *.log` · ✓ done · 0.3 s · Allowed once by you",
        "- ✏ `write_file` `a.md` · ✗ failed",
        "❓ Also the archive?",
        "↳ no",
        "⚠ the answer was cut",
        "| `a.csv` | 3 kB |",
        "*gpt-x · 2 steps · 960 tokens · 4.2 s*",
        "## 2 · ",
        '> `%hermes call terminal {"command": "ls"}`',
        "```\na.csv\n```",
        "## 3 · ",
        "> And now?",
        "**Interrupted: the kernel ended while it ran**",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_the_notebook_is_valid_and_each_turn_a_cell(conversation, tmp_path):
    path = export(conversation, str(tmp_path / "chat.ipynb"))
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    sources = [cell.source for cell in notebook.cells]
    assert sources[0].startswith("# Delete the old logs")
    assert sources[1] == "%load_ext hermes_jupyter"
    assert sources[2] == f"%%agent\n{ASK}"
    assert sources[3] == '%hermes call terminal {"command": "ls"}'
    output = notebook.cells[2].outputs[0].data
    assert "Two files are left" in output["text/html"]
    assert "<script" not in output["text/html"]
    assert "session_id" not in path.read_text()


def test_json_holds_what_the_model_reads_and_what_happened(conversation, tmp_path):
    told = json.loads(export(conversation, str(tmp_path / "chat.json")).read_text())
    assert told["version"] == 1
    assert told["session"]["id"] == conversation.about.id
    roles = [message["role"] for message in told["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "user",
                     "assistant"]  # fmt: skip
    assert told["messages"][2]["tool_calls"][0]["function"]["name"] == "terminal"
    finished = next(event for event in told["events"] if event["type"] == "ToolCallFinished")
    assert finished["result"]["call"]["args"] == {"command": "rm *.log"}


def test_a_format_alone_names_the_file(conversation, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = export(conversation, "md")
    assert path == tmp_path / f"log-work-{conversation.about.id}.md"


@pytest.mark.parametrize(
    ("target", "said"),
    [("chat.docx", "md, json, ipynb"), ("there.md", "is there already"), ("no/where.md", "cannot")],
)
def test_what_cannot_be_written_is_said_and_nothing_lost(conversation, tmp_path, target, said):
    (tmp_path / "there.md").write_text("mine")
    with pytest.raises(StoreError, match=said):
        export(conversation, str(tmp_path / target))
    assert (tmp_path / "there.md").read_text() == "mine"


def test_what_was_masked_stays_masked_and_a_mixed_line_harmless(tmp_path):
    sessions = Sessions(tmp_path / "home")
    journal = sessions.begin(About("x"))
    prompt = "token ghp_abcdefghijABCDEFGHIJ0123456789abcd <script>alert(1)</script>"
    journal.hear(TurnStarted(session="main", turn="t", prompt=prompt, model="m", steps=2))
    journal.hear(TurnFinished(status="done", text="<script>alert(2)</script> ok"))
    about = sessions.get(journal.id)
    told = Conversation(about, sessions.entries(about))
    for name in ("md", "ipynb", "json"):
        text = export(told, str(tmp_path / f"a.{name}")).read_text()
        assert "ghp_abc" not in text
        if name == "md":
            assert "<script" not in text
    sessions.close()


def test_what_children_did_is_read_from_their_own_conversations(tmp_path):
    from hermes_jupyter.calls import Child
    from hermes_jupyter.events import ChildFinished, ChildStarted, ChildTold

    sessions = Sessions(tmp_path / "home")
    child = sessions.begin(About("main/c", parent="x", is_child=True))
    rm = ToolCall(id="c1", name="terminal", args={"command": "wc -l *"})
    child.hear(TurnStarted(session="main/c", turn="c", prompt="count", model="m", steps=50))
    child.hear(BatchStarted(calls=(rm,)))
    child.hear(ToolCallFinished(result=ToolResult(call=rm, text="{}", seconds=0.3)))
    child.hear(TurnFinished(status="done", text="There are 3."))
    about = Child(id="c", number=1, name="1: count", goal="count", session_id=child.id)
    call = ToolCall(id="d", name="delegate_task", args={"goal": "count"})
    parent = sessions.begin(About("main"))
    parent.hear(TurnStarted(session="main", turn="t", prompt="go", model="m", steps=90))
    parent.hear(BatchStarted(calls=(call,)))
    parent.hear(ChildStarted(call_id="d", child=about))
    parent.hear(ChildTold(child="c", event=BatchStarted(calls=(rm,))))
    parent.hear(ChildFinished(call_id="d", child=about, status="completed", text="There are 3."))
    parent.hear(ToolCallFinished(result=ToolResult(call=call, text="{}")))
    parent.hear(TurnFinished(status="done", text="Three."))
    stored = sessions.get(parent.id)

    def children(identity):
        return sessions.entries(sessions.get(identity))

    told = Conversation(stored, sessions.entries(stored), children=children)
    text = export(told, str(tmp_path / "chat.md")).read_text()
    assert "  - **1: count** · ✓ done" in text
    assert text.count("`wc -l *` · ✓ done · 0.3 s") == 1
    without = Conversation(stored, sessions.entries(stored))
    assert "**1: count**" in export(without, str(tmp_path / "other.md")).read_text()
    sessions.close()
