"""What a small model is shown before the conversation: short manuals and worked examples.

Measured: with examples of the loop itself it solves a quarter more tasks than without, and once
they are in the prompt cache they cost nothing. They must therefore stay the same, byte for byte.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hermes_jupyter.agent.models.local.results import plain

MANUAL = """\
Answer with one JSON object and nothing else.
Either use a tool: {"tool": NAME, "arguments": {...}}
or answer the user: {"final": "a short answer"}
Tools:
%s
Files and commands need a tool; anything else you answer at once with final. A file that the user \
names you read with read_file. write_file replaces all of a file: change a part with patch. Count \
with terminal. Finish every step that the user asked for, then give the final \
answer. Never make up what a file says."""

PLAN_MANUAL = """
Your first reply to a request begins with "plan": the steps that it needs, in a few words."""

SHORT_MANUALS = {
    "read_file": "show a text file; use it whenever the user names the file",
    "write_file": "create a new file",
    "patch": "change a part of a file: old_string, which is in it, becomes new_string",
    "terminal": "run a shell command and show its output",
    "search_files": "find which file holds a text (target content) or has a name (target files)",
}

SHOWN_OPTIONS = {
    "read_file": (),
    "write_file": (),
    "patch": (),
    "terminal": (),
    "search_files": ("target", "path"),
}
"""Optional parameters that are offered; each more is one more to get wrong."""

REQUIRED = {"patch": ("path", "old_string", "new_string")}
"""What a call must have, if a small model shall not choose between several ways to make it."""

RESULT = "TOOL RESULT:\n"
MOST_PARAMETERS = 5  # of a tool that is not named above


@dataclass(frozen=True, slots=True)
class Step:
    """A call and the result that it had."""

    tool: str
    arguments: dict[str, Any]
    result: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Example:
    """A request, how it was worked on, and the answer."""

    request: str
    steps: tuple[Step, ...]
    answer: str

    def fits(self, parameters: dict[str, set[str]]) -> bool:
        """Whether its tools, with its arguments, are offered."""
        return all(set(step.arguments) <= parameters.get(step.tool, set()) for step in self.steps)

    def messages(self) -> list[dict[str, str]]:
        shown = [user(self.request)]
        for step in self.steps:
            shown.append(called(step.tool, step.arguments))
            shown.append(resulted(step.tool, json.dumps(step.result)))
        return [*shown, answered(self.answer)]


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def called(tool: str, arguments: Any, plan: str = "") -> dict[str, str]:
    reply = {"tool": tool, "arguments": arguments}
    text = json.dumps({"plan": plan, **reply} if plan else reply, ensure_ascii=False)
    return {"role": "assistant", "content": text}


def resulted(tool: str, text: str) -> dict[str, str]:
    return user(RESULT + plain(tool, text))


def answered(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": json.dumps({"final": text}, ensure_ascii=False)}


def read(path: str, *lines: str) -> Step:
    numbered = "\n".join(f"{number}|{line}" for number, line in enumerate(lines, 1))
    return Step("read_file", {"path": path}, {"content": numbered, "total_lines": len(lines)})


def ran(command: str, output: str) -> Step:
    return Step("terminal", {"command": command}, {"output": output, "exit_code": 0})


def patched(path: str, old: str, new: str) -> Step:
    arguments = {"path": path, "old_string": old, "new_string": new}
    return Step("patch", arguments, {"diff": f"@@ -1 +1 @@\n-{old}\n+{new}\n"})


EXAMPLES = (
    Example(
        "What is in packing.txt?",
        (read("packing.txt", "2 shirts", "sun hat"),),
        "packing.txt says: 2 shirts, sun hat.",
    ),
    Example("Who wrote Hamlet?", (), "William Shakespeare wrote Hamlet."),
    Example(
        "Find the file that mentions a zebra and tell me who the keeper is.",
        (
            Step(
                "search_files",
                {"pattern": "zebra", "target": "content"},
                {
                    "total_count": 1,
                    "matches": [{"path": "lib/zoo.txt", "line": 3, "content": "a zebra"}],
                },
            ),
            read("lib/zoo.txt", "Zoo", "keeper: Tom", "a zebra"),
        ),
        "lib/zoo.txt says that the keeper is Tom.",
    ),
    Example(
        "Which port does server.ini set?",
        (read("server.ini", "[server]", "host = local", "port = 9000"),),
        "server.ini sets the port 9000.",
    ),
    Example(
        "where.txt tells which file has the colour. Which colour is it?",
        (read("where.txt", "look into box.txt"), read("box.txt", "colour: red")),
        "box.txt says that the colour is red.",
    ),
    Example(
        "Make a script five.sh that prints 5, then run it with bash.",
        (
            Step("write_file", {"path": "five.sh", "content": "echo 5\n"}, {"bytes_written": 7}),
            ran("bash five.sh", "5\n"),
        ),
        "I made five.sh; running it prints 5.",
    ),
    Example(
        "In sign.txt change open to closed.",
        (patched("sign.txt", "open", "closed"),),
        "sign.txt now says closed instead of open.",
    ),
    Example(
        "Add pears at the end of fruit.txt.",
        (ran("echo pears >> fruit.txt", ""),),
        "I added pears at the end of fruit.txt.",
    ),
    Example(
        "Remove the line about rain from week.txt.",
        (ran("sed -i '/rain/d' week.txt", ""),),
        "I removed the line about rain from week.txt.",
    ),
    Example(
        "How many lines of door.log mention Anna?",
        (ran("grep -c Anna door.log", "4\n"),),
        "4 lines of door.log mention Anna.",
    ),
    Example(
        "How many people are in team.csv?",
        (ran("tail -n +2 team.csv | wc -l", "5\n"),),
        "There are 5 people in team.csv.",
    ),
    Example(
        "Delete a.tmp, then tell me which files are left.",
        (ran("rm a.tmp", ""), ran("ls", "b.txt\n")),
        "I deleted a.tmp; b.txt is left.",
    ),
    Example(
        "Remove the folder cache.",
        (
            Step(
                "terminal",
                {"command": "rm -r cache"},
                {"error": "Denied: the user said no. It was not run."},
            ),
        ),
        "You denied the command rm -r cache, so the folder cache was not removed.",
    ),
    Example("Hello, I am Sam.", (), "Hello Sam, what can I do for you?"),
)
