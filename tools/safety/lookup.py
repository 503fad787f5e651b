"""What the tables say about one program and its arguments."""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections.abc import Callable

from tools.safety.code_signs import PERSISTENT
from tools.safety.programs import ALWAYS, OPTIONS
from tools.safety.scene import Effect, operands_of
from tools.safety.subcommands import SUBCOMMANDS

OPERANDS_SHOWN = 6
REHEARSALS = frozenset(("--dry-run", "--dryrun", "--just-print"))
NEVER_REHEARSE = frozenset(
    ["rm", "mv", "dd", "truncate", "shred", "unlink", "rmdir", "chmod", "kill"]
)
"""To them it is an error, or the name of a file behind ``--``."""
OPTIONS_WITH_VALUE = frozenset({
    "-C", "-c", "-f", "-n", "-R", "--git-dir", "--work-tree", "--namespace", "--context",
    "--prefix", "--profile", "--region", "--project",
})  # fmt: skip
ONLY_ASKS = {
    "dpkg": re.compile(r"-[lLsSI]|--(?:list|status|search)"),
    "rpm": re.compile(r"-[qV]|--query"),
    "kill": re.compile(r"(?:.* )?-[l0](?: |$)"),
    "fuser": re.compile(r"(?!.*-k)"),
}
HARMLESS_REQUEST = re.compile(
    r"(?:-o|-O|--output(?:-document)?)[= ]?(?:/dev/null|-)(?= |$)"
    r"|(?:-X ?|--request[= ]|--method=)(?:GET|HEAD)"
    r"|-H (?!\S*[Aa]uthorization)\S.*?(?= -|$| http)"
)
RISKY_GIT_SETTING = re.compile(
    r"(?i)(?:alias|credential|filter|diff|merge|difftool|mergetool|include|protocol|url|http)\."
    r"|core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy)|\w+\.program|pager\."
)
VERSION = re.compile(r"(?:[\w-]+[/-])?v?\d+(?:\.\d+)+(?:[a-z-]+\d*)?")
"""A tag or a branch rather than a file: ``v1.2``, ``release-3.0rc1``."""
PROGRAM_FILE = re.compile(r"(?:^|.*/)s?bin/[^/]+")
SENDING_REQUEST = re.compile(
    r"(?:^| )(?:-[a-zA-Z]*[dFToOXKJu]\b|-[dFToXKH]"
    r"|--(?:data|form|upload|output|remote|request|json|config|post|body|method))"
)


def effects_by_table(name: str, texts: list[str]) -> list[Effect]:
    """Effects of program ``name`` with the arguments ``texts``."""
    options = texts[: texts.index("--")] if "--" in texts else texts
    if REHEARSALS.intersection(options) and name not in NEVER_REHEARSE:
        return []
    name = "mkfs" if name.startswith("mkfs.") else name
    operands = operands_of(texts)
    found = [
        _filled(_always(name, texts), operands),
        _filled(_by_option(name, texts), operands),
        _filled(_by_subcommand(name, texts), operands[1:]),
        SPECIAL[name](texts) if name in SPECIAL else "",
    ]
    return [Effect(reason) for reason in found if reason]


def _always(name: str, texts: list[str]) -> str:
    asks = ONLY_ASKS.get(name)
    return "" if asks and asks.match(" ".join(texts)) else ALWAYS.get(name, "")


def _by_option(name: str, texts: list[str]) -> str:
    patterns, reason = OPTIONS.get(name, ("", ""))
    hit = any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns.split() for text in texts)
    return "" if hit and name in ("curl", "wget") and _only_reads(texts) else reason if hit else ""


def _only_reads(texts: list[str]) -> bool:
    """A request whose answer is printed or thrown away."""
    return not SENDING_REQUEST.search(HARMLESS_REQUEST.sub("", " ".join(texts)))


def _by_subcommand(name: str, texts: list[str]) -> str:
    entries = SUBCOMMANDS.get(name, ())
    words = _without_own_options(texts, {entry[0] for entry, _ in entries})
    if not words or (name == "git" and _git_is_harmless(words[0], words[1:])):
        return ""
    for (first, *others), reason in entries:
        if fnmatch.fnmatchcase(words[0], first) and all(
            _contains(words[1:], other, anywhere=name == "git") for other in others
        ):
            return reason
    return ""


def _without_own_options(texts: list[str], known: set[str]) -> list[str]:
    words = list(texts)
    while words and words[0].startswith("-") and words[0] not in known:
        words = words[2:] if words[0] in OPTIONS_WITH_VALUE else words[1:]
    return words


def _contains(words: list[str], wanted: str, *, anywhere: bool) -> bool:
    candidates = words if anywhere or wanted.startswith("-") else operands_of(words)[:3]
    if re.fullmatch(r"-[A-Za-z]", wanted):  # may stand among other letters: -rf
        letters = [word for word in candidates if re.fullmatch(r"-[A-Za-z]+", word)]
        return any(wanted[1] in word for word in letters)
    return any(fnmatch.fnmatchcase(word, wanted) for word in candidates)


def _git_is_harmless(subcommand: str, rest: list[str]) -> bool:
    """Forms of a git command that only tell, or that can be undone."""
    match subcommand:
        case "clean" | "push" | "rm":
            before = itertools.takewhile(lambda word: word not in ("--", "-e", "-o"), rest)
            return "-n" in before
        case "checkout":
            names = operands_of(rest)
            return "-b" in rest or (bool(names) and all(map(VERSION.fullmatch, names)))
        case "restore":
            return "--staged" in rest and "--worktree" not in rest
        case "config":
            asks = {"--get", "--get-all", "--list", "-l"}.intersection(rest)
            return bool(asks) or (len(operands_of(rest)) < 2 and "--unset" not in rest)
    return False


def _filled(reason: str, operands: list[str]) -> str:
    return reason.replace("{}", " ".join(operands[:OPERANDS_SHOWN]) or "what it is given")


def _copies_over(texts: list[str]) -> str:
    if any(re.fullmatch(r"-[A-Za-z]*n[A-Za-z]*|--no-clobber|--update=none", t) for t in texts):
        return ""
    operands = operands_of(texts)
    return f"may overwrite {operands[-1]}" if operands else ""


def _tee(texts: list[str]) -> str:
    targets = [text for text in operands_of(texts) if not text.startswith("/dev/")]
    if lasting := next((text for text in targets if PERSISTENT.search(text)), ""):
        return f"changes {lasting}, which runs or configures other things"
    appends = any(re.fullmatch(r"-[a-z]*a[a-z]*|--append", text) for text in texts)
    return f"overwrites {' '.join(targets)}" if targets and not appends else ""


def _rsync(texts: list[str]) -> str:
    remote = next((t for t in texts if re.match(r"(?:[\w.-]+@)?[\w.-]+:(?!\d+$)", t)), "")
    return f"copies to or from {remote}" if remote else ""


def _crontab(texts: list[str]) -> str:
    return "" if texts == ["-l"] else "changes scheduled jobs"


def _tar(texts: list[str]) -> str:
    extracts = bool(texts) and "x" in texts[0] and not texts[0].startswith("--")
    targets = [b for a, b in itertools.pairwise(texts) if a == "-C" and b.startswith("/")]
    return f"unpacks over {targets[0]}" if extracts and targets else ""


def _git(texts: list[str]) -> str:
    settings = [b for a, b in itertools.pairwise(texts) if a == "-c"]
    risky = next((text for text in settings if RISKY_GIT_SETTING.match(text)), "")
    return f"runs git with {risky}, which may run a program" if risky else ""


def _link(texts: list[str]) -> str:
    program = next((text for text in operands_of(texts) if PROGRAM_FILE.fullmatch(text)), "")
    return f"gives {program} another name" if program else _lasting(texts)


def _lasting(texts: list[str]) -> str:
    lasting = next((text for text in texts[-1:] if PERSISTENT.search(text)), "")
    return f"changes {lasting}, which runs or configures other things" if lasting else ""


SPECIAL: dict[str, Callable[[list[str]], str]] = {
    "cp": _copies_over,
    "install": _copies_over,
    "git": _git,
    "tee": _tee,
    "rsync": _rsync,
    "crontab": _crontab,
    "tar": _tar,
    "ln": _link,
    "touch": _lasting,
}
