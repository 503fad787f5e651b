"""Programs that talk to other hosts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tools.safety.arguments import Arguments
from tools.safety.effect import Effect
from tools.safety.launching import Check, standard_input
from tools.safety.scene import Scene
from tools.safety.shell.values import Command

if TYPE_CHECKING:
    from tools.safety.judge import Judge

REMOTE_PATH = re.compile(r"(?:[\w.-]+@)?[\w.-]+::?(?!\d+$)(?!\\)")
SSH_RUNS = re.compile(
    r"(?i)(?:proxycommand|localcommand|permitlocalcommand|knownhostscommand|"
    r"proxyusefdpass)\s*[= ]\s*(?!none|no)(.*)"
)
ASKS_NAMES = frozenset(("dig", "nslookup", "host", "ping"))
NAME_WITH_CONTENT = re.compile(r"\$\{?\w+\}?\.[\w-]+\.\w")
SENT_OUTPUT = re.compile(r"(?:\$\(|`)(?!\s*(?:date|basename|dirname|echo|seq|nproc|uname|arch)\b)")


def _remote_copy(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    remote = [w for w in arguments.operands if REMOTE_PATH.match(w.text) or "://" in w.text]
    if remote:
        targets = tuple(w.text.partition(":")[0] for w in remote)
        judge.add(Effect(f"copies to or from {remote[0]}", kind="sends", targets=targets))


def _ssh(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    if any(map(arguments.has_exactly, ("-V", "-G", "-Q"))):
        return
    for name, value in arguments.options:
        if name == "-o" and value is not None and (match := SSH_RUNS.match(value.text)):
            judge.add(Effect(f"runs {match.group(1)} to connect", kind="runs"))
            judge.text(match.group(1), scene.inner())
    if len(arguments.operands) < 2 and not arguments.has_exactly("-G"):
        host = arguments.operands[0].text if arguments.operands else "a host"
        judge.add(Effect(f"talks to another host: {host}", kind="remote", targets=(host,)))
        if command.piped or command.redirections:
            inside = scene.inner()
            inside.elsewhere = True
            standard_input(judge, "shell", command, inside)


def _wget(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    _asked(judge, arguments, command, scene)
    for option in ("-O", "--output-document", "-o", "--output-file", "-a"):
        value = arguments.value(option)
        if value is not None and value.text not in ("-", "/dev/stdout"):
            judge.writes(value, scene)


def _curl(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    _asked(judge, arguments, command, scene)
    for option in (
        "-o",
        "--output",
        "-D",
        "--dump-header",
        "-c",
        "--cookie-jar",
        "--trace*",
        "--stderr",
    ):
        for name, value in arguments.options:
            if name == option and value is not None and value.text != "-":
                judge.writes(value, scene, what=f"sends or stores data: overwrites {value}")
    for name, value in arguments.options:
        if value is None:
            continue
        if name in ("-X", "--request") and value.text.upper() not in ("GET", "HEAD", "OPTIONS"):
            judge.add(Effect(f"sends a {value} request", kind="sends"))
        if name in ("-H", "--header", "--proxy-header") and re.match(
            r"(?i)\s*(?:authorization|cookie|x-api-key|private-token|x-auth|api-key)|@", value.text
        ):
            judge.add(Effect("sends or stores data: a credential", kind="sends"))


def _http(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    texts = [w.text for w in arguments.operands]
    if any(re.match(r"[\w.-]+(?::=|=|@|:=@)(?!=)", text) for text in texts[1:]):
        judge.add(Effect("sends or stores data", kind="sends"))


def _nc(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    if any(map(arguments.has_exactly, ("-z",))) and not any(
        map(arguments.has_exactly, ("-e", "-c", "-l", "--exec", "--sh-exec"))
    ):
        return
    kind = "opens a way in from the network" if arguments.has_exactly("-l") else "talks to a host"
    judge.add(Effect(f"{kind}: {' '.join(w.text for w in arguments.operands)}", kind="sends"))


def _asked(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    """Programs that ask another host for something: the question itself may carry data."""
    if any(w.dynamic and SENT_OUTPUT.search(w.text) for w in arguments.words):
        judge.add(Effect("sends the output of a command", kind="sends"))
    elif command.words[0].text in ASKS_NAMES and any(
        w.dynamic and NAME_WITH_CONTENT.search(w.text) for w in arguments.words
    ):
        judge.add(Effect("sends a value as part of a name", kind="sends"))


CHECKS: dict[str, Check] = {
    **dict.fromkeys(("rsync", "scp", "sftp"), _remote_copy),
    "ssh": _ssh,
    "wget": _wget,
    "curl": _curl,
    **dict.fromkeys(("http", "https", "xh"), _http),
    **dict.fromkeys(("ping", "dig", "nslookup", "host", "aria2c", "lynx", "w3m"), _asked),
    **dict.fromkeys(("nc", "ncat", "netcat"), _nc),
}
