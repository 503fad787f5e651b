"""Programs that talk to other hosts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tools.safety.arguments import Arguments
from tools.safety.effect import Effect
from tools.safety.launching import Check, standard_input
from tools.safety.scene import Scene
from tools.safety.shell.values import Command
from tools.safety.telling import listed

if TYPE_CHECKING:
    from tools.safety.judge import Judge

REMOTE_PATH = re.compile(r"(?:[\w.-]+@)?[\w.-]+::?(?!\d+$)(?!\\)")
SSH_RUNS = re.compile(
    r"(?i)(?:proxycommand|localcommand|permitlocalcommand|knownhostscommand|"
    r"proxyusefdpass)\s*[= ]\s*(?!none|no)(.*)"
)
HOST = re.compile(r"(?:\w+://)?(?:[^/@\s]*@)?(?P<host>[\w-]+(?:\.[\w-]+)*)")
SENT_FILE = re.compile(r"(?:[\w.-]+=)?[@<](?P<file>[^-;].*?)(?:;.*)?", re.DOTALL)
WHOLE_FILES = frozenset(("-T", "--upload-file", "--post-file", "--body-file"))
CURL_SENDS = frozenset((
    "-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii", "-F",
    "--form", "--form-string", "-T", "--upload-file", "--json",
))  # fmt: skip
WGET_SENDS = frozenset(("--post-data", "--post-file", "--body-data", "--body-file"))
ASKS_NAMES = frozenset(("dig", "nslookup", "host", "ping"))
NAME_WITH_CONTENT = re.compile(r"\$\{?\w+\}?\.[\w-]+\.\w")
SENT_OUTPUT = re.compile(r"(?:\$\(|`)(?!\s*(?:date|basename|dirname|echo|seq|nproc|uname|arch)\b)")


def host_of(text: str) -> str:
    """The host in an address, without a name and a password before it."""
    found = HOST.match(text)
    return found.group("host") if found else "another host"


def _hosts(arguments: Arguments) -> tuple[str, ...]:
    given = [v for name, v in arguments.options if name == "--url" and v is not None]
    hosts = [host_of(word.text) for word in (*given, *arguments.operands)]
    return tuple(dict.fromkeys(hosts)) or ("another host",)


def _sent(judge: Judge, arguments: Arguments, options: frozenset[str]) -> None:
    """Of options that send data: which files, and to whom."""
    values = [v for name, v in arguments.options if name in options and v is not None]
    files = [found for v in values if (found := SENT_FILE.fullmatch(v.text))]
    names = [found.group("file") for found in files]
    names += [
        v.text for name, v in arguments.options if name in WHOLE_FILES and v and name in options
    ]
    if values:
        what, hosts = listed(names) if names else "data", _hosts(arguments)
        judge.add(Effect(f"sends {what} to {' '.join(hosts)}", kind="sends", targets=hosts))


def _remote_copy(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    remote = [w for w in arguments.operands if REMOTE_PATH.match(w.text) or "://" in w.text]
    if remote:
        hosts = tuple(host_of(w.text) for w in remote)
        reason = f"copies files from {hosts[0]}"
        if arguments.operands[-1] in remote:
            names = [w.text for w in arguments.operands[:-1]]
            reason = f"sends {listed(names) if names else 'files'} to {hosts[-1]}"
        judge.add(Effect(reason, kind="sends", targets=hosts))
    elif command.words[0].text.rpartition("/")[2] in ("scp", "pscp"):
        for word in arguments.operands[-1:]:
            judge.writes(word, scene, what=f"may overwrite {word}")


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
    _sent(judge, arguments, WGET_SENDS)
    for option in ("-O", "--output-document", "-o", "--output-file", "-a"):
        value = arguments.value(option)
        if value is not None and value.text not in ("-", "/dev/stdout"):
            judge.writes(value, scene)


def _curl(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    _asked(judge, arguments, command, scene)
    if not any(map(arguments.has_exactly, ("-G", "--get"))):
        _sent(judge, arguments, CURL_SENDS)
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
                judge.writes(value, scene)
    for name, value in arguments.options:
        if value is None:
            continue
        if name in ("-X", "--request") and value.text.upper() not in ("GET", "HEAD", "OPTIONS"):
            hosts = _hosts(arguments)
            reason = f"sends a {value} request to {' '.join(hosts)}"
            judge.add(Effect(reason, kind="sends", targets=hosts))
        if name in ("-H", "--header", "--proxy-header") and re.match(
            r"(?i)\s*(?:authorization|cookie|x-api-key|private-token|x-auth|api-key)|@", value.text
        ):
            hosts = _hosts(arguments)
            reason = f"sends a credential to {' '.join(hosts)}"
            judge.add(Effect(reason, kind="sends", targets=hosts))


def _http(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    texts = [w.text for w in arguments.operands]
    if any(re.match(r"[\w.-]+(?::=|=|@|:=@)(?!=)", text) for text in texts[1:]):
        hosts = tuple(map(host_of, texts[:1]))
        judge.add(Effect(f"sends data to {' '.join(hosts)}", kind="sends", targets=hosts))


def _nc(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    if any(map(arguments.has_exactly, ("-z",))) and not any(
        map(arguments.has_exactly, ("-e", "-c", "-l", "--exec", "--sh-exec"))
    ):
        return
    names = " ".join(word.text for word in arguments.operands)
    if arguments.has_exactly("-l"):
        judge.add(Effect(f"opens a way in from the network: {names}", kind="listens"))
        return
    files = [str(each.target) for each in command.redirections if each.operator == "<"]
    host = arguments.operands[0].text if arguments.operands else "another host"
    sends = bool(files) or command.piped
    what = f"sends {listed(files) if files else 'data'} to {host}" if sends else f"talks to {host}"
    judge.add(Effect(what, kind="sends", targets=(host,)))


def _asked(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    """Programs that ask another host for something: the question itself may carry data."""
    if any(w.dynamic and SENT_OUTPUT.search(w.text) for w in arguments.words):
        judge.add(Effect("sends the output of a command", kind="sends"))
    elif command.words[0].text in ASKS_NAMES and any(
        w.dynamic and NAME_WITH_CONTENT.search(w.text) for w in arguments.words
    ):
        judge.add(Effect("sends a value as part of a name", kind="sends"))


CHECKS: dict[str, Check] = {
    **dict.fromkeys(("rsync", "scp", "pscp", "sftp"), _remote_copy),
    "ssh": _ssh,
    "wget": _wget,
    "curl": _curl,
    **dict.fromkeys(("http", "https", "xh"), _http),
    **dict.fromkeys(("ping", "dig", "nslookup", "host", "aria2c", "lynx", "w3m"), _asked),
    **dict.fromkeys(("nc", "ncat", "netcat"), _nc),
}
