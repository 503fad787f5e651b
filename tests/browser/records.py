"""Records of turns as notebooks have them, made by what makes them in a kernel."""

from __future__ import annotations

from typing import Any

from hermes_jupyter.calls import ApprovalRequest, Child, Question, ToolCall, ToolResult, Usage
from hermes_jupyter.events import (
    ApprovalResolved,
    BatchStarted,
    ChildFinished,
    ChildrenPlanned,
    ChildStarted,
    ChildTold,
    Event,
    MessageSaid,
    NoticeGiven,
    QuestionAnswered,
    StepFinished,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from hermes_jupyter.views.record import MIME, Record

DIFF = """--- a/report.py
+++ b/report.py
@@ -1,3 +1,4 @@
 import csv
-total = 1
+total = sum(range(10))
+print(total)
 done = True
"""
ANSWER = """# The report

It sums **ten numbers** now, see `report.py`.

| month | sold |
|---|---|
| March | 5 |
| April | 7 |

```python
total = sum(range(10))
```

<img src="http://127.0.0.1:1/spy.png"> ![spy](http://127.0.0.1:1/spy.png) and $x^2$.
"""
EMOJI = {"terminal": "💻", "read_file": "📖", "patch": "🔧", "delegate_task": "👥"}


def bundle(*events: Event) -> dict[str, Any]:
    record = Record(emoji=lambda name: EMOJI.get(name, "⚡"))
    for event in events:
        record(event)
    return record.bundle()


def rich() -> dict[str, Any]:
    """A turn with something of everything."""
    return bundle(*_events())


def long(number: int = 1_000) -> dict[str, Any]:
    """A turn of so many parts, in other words: text, a call, text, a call."""
    made = rich()
    said = next(part for part in made[MIME]["events"] if part["type"] == "said")
    call = next(part for part in made[MIME]["events"] if part["type"] == "called")
    made[MIME]["events"] = [
        {**call, "id": f"c{n}", "short": f"part{n}.txt"}
        if n % 2
        else {**said, "text": f"Now **part {n}** of the report, in `part{n}.txt`."}
        for n in range(number)
    ]
    return made


def _events() -> list[Event]:
    read = tuple(_call(f"r{n}", "read_file", {"path": f"part{n}.txt"}) for n in range(3))
    patch = _call("p", "patch", {"path": "report.py", "mode": "replace"})
    remove = _call("t", "terminal", {"command": "rm old.log"})
    share = _call("d", "delegate_task", {"tasks": [{"goal": "a"}, {"goal": "b"}]})
    many = tuple(_call(f"m{n}", "read_file", {"path": f"log{n}.txt"}) for n in range(7))
    asked = ApprovalRequest(
        id="a", call=remove, reason="deletes a file", shown="rm old.log", cwd="/work",
        grant="", digest="x",
    )  # fmt: skip
    return [
        TurnStarted(session="default", turn="ab12cd34ef56", prompt="Tidy up", model="qwen3",
                    steps=90, session_id="s1", at=100.0),
        StepFinished(number=1, text="First I look at the parts.",
                     reasoning="There are three parts. " * 20),
        BatchStarted(calls=read),
        *(ToolCallStarted(call=call, at=101.0 + n) for n, call in enumerate(read)),
        *(ToolCallFinished(result=ToolResult(call=call, text=f"{call.args['path']}: 12 lines\n" * 3,
                                             seconds=2.0 + n)) for n, call in enumerate(read)),
        StepFinished(number=2, text="Then the report."),
        *_called(patch, 107.0, ToolResult(call=patch, text=DIFF, seconds=0.2)),
        BatchStarted(calls=(remove,)),
        ApprovalResolved(request=asked, decision="once", by="widget"),
        ToolCallStarted(call=remove, at=110.0),
        ToolCallFinished(result=ToolResult(call=remove, text="rm: cannot remove", seconds=0.1,
                                           exit_code=1)),
        QuestionAnswered(question=Question(id="q", text="Which **colour**?"), answer="blue",
                         by="widget"),
        MessageSaid(text="Please be quick."),
        BatchStarted(calls=(share,)),
        ToolCallStarted(call=share, at=112.0),
        ChildrenPlanned(call_id="d", number=3),
        *_child(1, "1: tidy the logs", 112.0, 9.0, "completed"),
        *_child(2, "2: count the lines of every part", 112.0, 4.0, "completed"),
        *_child(3, "3: write the summary", 116.2, 6.0, "failed"),
        ToolCallFinished(result=ToolResult(call=share, text="done", seconds=11.0)),
        BatchStarted(calls=many),
        *(ToolCallFinished(result=ToolResult(call=call, text="no such file", seconds=0.1,
                                             status="error" if call.id == "m3" else "ok"))
          for call in many),
        NoticeGiven(text="The model was asked twice", level="warning"),
        StepFinished(number=3, text=ANSWER),
        TurnFinished(status="done", text=ANSWER, model="qwen3", steps=3, seconds=31.4,
                     usage=Usage(prompt_tokens=5200, completion_tokens=840, model_calls=3,
                                 cost=0.0132, price_source="OpenRouter"),
                     changed={"file": 2}, tools=("read_file", "patch", "terminal")),
    ]  # fmt: skip


def _call(name: str, tool: str, args: dict[str, Any]) -> ToolCall:
    return ToolCall(id=name, name=tool, args=args)


def _called(call: ToolCall, at: float, result: ToolResult) -> list[Event]:
    return [
        BatchStarted(calls=(call,)),
        ToolCallStarted(call=call, at=at),
        ToolCallFinished(result=result),
    ]


def _child(number: int, name: str, at: float, seconds: float, status: Any) -> list[Event]:
    child = Child(id=f"k{number}", number=number, name=name, goal=name[3:])
    call = _call(f"k{number}c", "terminal", {"command": f"wc -l part{number}.txt"})
    inside = [*_called(call, at, ToolResult(call=call, text="12 lines, a needle", seconds=1.0)),
              StepFinished(number=1, text=f"The needle of {name}.")]  # fmt: skip
    return [
        ChildStarted(call_id="d", child=child, at=at),
        *(ChildTold(child=child.id, event=event) for event in inside),
        ChildFinished(call_id="d", child=child, status=status, text=f"**{name}**: all done.",
                      steps=2, seconds=seconds, usage=Usage(prompt_tokens=900),
                      reason="no steps left" if status == "failed" else ""),
    ]  # fmt: skip
