"""What the scripted model of the browser tests says, by a word of the prompt."""

from __future__ import annotations

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

PLOT = """import matplotlib.pyplot as plt
plt.figure(figsize=(5, 2))
plt.bar(list(sales), list(sales.values()))
plt.title("Sales")
print("drawn")
max(sales, key=sales.get)"""
ASLEEP = "import os, time\nwhile os.path.exists('old.log'): time.sleep(0.05)"
BUSY = """import time
while True:
    time.sleep(0.05)"""
SWEEP = """from hermes_tools import search_files, terminal
print(len(search_files(pattern="*", target="files")))
print(terminal(command="rm old.log")["exit_code"])"""
MODEL = (
    conversation("lanes", tuple(call("nap", seconds=n) for n in (1, 2, 3)), "Rested."),
    conversation(
        "delete",
        ("I delete the old log.\n", call("terminal", command="rm old.log")),
        "Done: `old.log` is **gone**.",
    ),
    conversation(
        r"print\(misspeled\)",
        "The name has two of them.\n\n```python\nmisspelled = 3\nprint(misspelled)\n```",
    ),
    conversation(
        "both logs",
        tuple(call("write_file", path=f"{name}.log", content="new") for name in ("old", "new")),
        "Both are looked at.",
    ),
    conversation(
        "batch",
        tuple(call("read_file", path=f"part{n}.txt") for n in range(4)),
        "Four parts, all read.",
    ),
    conversation(
        "stream",
        "# A report\n\nText that *streams*, with a table:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "```python\nprint('code')\n```\n\n" + "And one more sentence. " * 12,
        delay=0.004,
    ),
    conversation("stay busy", (call("run_python", code=BUSY),), "never said"),
    conversation("until friday", "It stays until **Friday**."),
    conversation(
        "tidy the logs",
        ("First I look what is there.", call("terminal", command="ls")),
        (call("terminal", command="rm old.log"),),
        "`old.log` is **gone**; nothing else was changed.",
    ),
    conversation(
        "count the lines",
        tuple(call("read_file", path=f"part{n}.txt") for n in range(2)),
        (call("nap", seconds=3),),
        "Both parts have **12 lines**.",
    ),
    conversation(
        "write a long",
        (call("search_files", pattern="word", target="content"),),
        "A report that takes a while to write. " * 100,
        delay=0.01,
    ),
    conversation(
        "share",
        (
            call(
                "delegate_task",
                tasks=[
                    {"goal": "tidy the logs"},
                    {"goal": "count the lines of all parts of the report, however many"},
                    {"goal": "write a long report about the words"},
                    {"goal": "count the lines once more"},
                ],
            ),
        ),
        "The logs are tidy, and the parts are counted.",
    ),
    conversation(
        "plot sales",
        ("First I look at it.\n", call("inspect_variable", name="sales")),
        ("Now the plot.\n", call("run_python", code=PLOT)),
        (call("run_python", code="sales['none']"),),
        "April is the best month, with **7** sold.",
    ),
    conversation(
        "sleep until it is gone",
        (call("run_python", code=ASLEEP),),
        "I slept until it was gone.",
    ),
    conversation(
        "paint",
        (call("clarify", question="Which colour?", choices=["red", "blue"]),),
        (call("terminal", command="rm old.log"),),
        "Painted.",
    ),
    conversation("what is in the picture", "A rising line."),
    conversation(
        "tidy the far end",
        (call("read_cells"),),
        (call("edit_cell", cell="cell-250", source="far = 'edited'"),),
        (call("insert_cell", source="# New", type="markdown", after="cell-280"),),
        (call("delete_cell", cells=["cell-290", "cell-291"]),),
        "Tidied.",
    ),
    conversation(
        "rearrange",
        (call("edit_cell", cell="first-01", source="a = 10"),),
        (call("insert_cell", source="# Between", type="markdown", after="first-01"),),
        (call("move_cell", cell="third-01", before="first-01"),),
        (call("delete_cell", cells=["second-1"]),),
        (call("run_cell", cell="show-001"),),
        "Rearranged.",
    ),
    conversation(
        "change the first",
        (call("edit_cell", cell="first-01", source="a = 'the agent'"),),
        "It is as far as I get.",
    ),
    conversation("a cell here", (call("insert_cell", source="here = 1"),), "Inserted."),
    conversation(
        "sweep",
        (call("execute_code", code=SWEEP),),
        "The old log is gone.",
    ),
    conversation(
        "rewrite",
        (
            call(
                "patch",
                mode="replace",
                path="report.py",
                old_string="total = 1",
                new_string="total = sum(range(10))",
            ),
        ),
        (call("terminal", command="echo '# Notes' > notes.md"),),
        "Rewritten.",
    ),
    conversation(
        "ask", (call("clarify", question="Which colour?", choices=["red", "blue"]),), "ok"
    ),
)
