"""What must not run even if somebody approves it, where a model cannot say so."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator

from tools.safety.arguments import Arguments
from tools.safety.effect import Effect
from tools.safety.places import is_vital
from tools.safety.scene import Scene
from tools.safety.shell import syntax

FORK_BOMB = re.compile(
    r"fork\s*(?:\(\s*\))?\s*;?\s*(?:while|until|for)\b"
    r"|(?:while|until|for|loop)\b[^;}]{0,80}?[\s{(:.]fork\b",
    re.DOTALL,
)
"""In code of other languages."""
NO_FILTERS = frozenset((
    "-delete", "-type", "-depth", "-d", "-mindepth", "-maxdepth", "-xdev", "-mount", "-exec",
    "-execdir", "-ok", "-print", "-print0", "-ignore_readdir_race", "-follow", "-L", "-H", "-P",
    "-f", "-rf", "-fr", "-r", "-R", "-v", "-ls",
))  # fmt: skip
DELETERS = frozenset(("rm", "unlink", "rmdir", "shred", "-delete"))
CHANGERS = frozenset(("chmod", "chown", "chgrp"))
EVERY_PROCESS = re.compile(r"\.?\*?|\^|\.\+|\[a-z\]\*?|''")


def effect_of(name: str, arguments: Arguments, scene: Scene) -> Effect | None:
    """Why the program must not run with these arguments, if it must not."""
    check = CHECKS.get(name)
    reason = check(arguments, scene) if check else ""
    return Effect(reason, True, "system") if reason else None


def _found_tree(arguments: Arguments, scene: Scene) -> str:
    texts = [word.text.rpartition("/")[2] for word in arguments.words]
    texts = _without_open_tests(texts)
    verb = ""
    if DELETERS.intersection(texts):
        verb = "deletes"
    elif CHANGERS.intersection(texts):
        verb = "changes the permissions of"
    others = [a for a, b in itertools.pairwise(texts) if a in ("-o", "-or") and b == "-delete"]
    if not verb or (
        not others
        and any(
            text.startswith("-")
            and text not in NO_FILTERS
            and not re.fullmatch(r"-\d+|--[\w-]*", text)
            for text in texts
        )
    ):
        return ""
    roots = []
    for word in arguments.words:
        if word.text.startswith(("-", "(", "!")) and word.text not in ("-L", "-H", "-P"):
            break
        roots.append(word)
    vital = next((word.text for word in roots or [] if is_vital(word.text, scene)), "")
    if not roots and is_vital(".", scene):
        vital = scene.cwd
    return f"{verb} everything in {vital}" if vital else ""


def _without_open_tests(texts: list[str]) -> list[str]:
    """Without ``-name '*'``, which leaves nothing out."""
    open_tests = {
        at
        for at, (name, pattern) in enumerate(itertools.pairwise(texts))
        if name in ("-name", "-iname", "-path") and pattern in ("*", "**", "?*")
    }
    return [text for at, text in enumerate(texts) if at not in open_tests]


def _all_processes(arguments: Arguments, scene: Scene) -> str:
    texts = [word.text for word in arguments.words]
    has_signal = bool(texts) and (texts[0].startswith("-") or texts[0] == "--")
    return "ends all processes" if "-1" in texts[1:] and has_signal else ""


def _matching_processes(arguments: Arguments, scene: Scene) -> str:
    patterns = [word.text for word in arguments.operands]
    users = [v.text for name, v in arguments.options if name in ("-u", "-U") and v is not None]
    if users and set(users) - {"root", "0"}:
        return ""
    limits = any(map(arguments.has_exactly, ("-P", "-t", "-g", "-G", "--ns", "-x")))
    everything = bool(patterns) and all(map(EVERY_PROCESS.fullmatch, patterns))
    return "ends all processes" if everything and not limits else ""


def _emptied(arguments: Arguments, scene: Scene) -> str:
    if not any(name.startswith("--del") for name, _ in arguments.options):
        return ""
    if any(map(arguments.has_exactly, ("-n", "--dry-run"))):
        return ""
    target = arguments.operands[-1].text if len(arguments.operands) > 1 else ""
    vital = target and ":" not in target and is_vital(target, scene)
    return f"deletes what else is in {target}" if vital else ""


CHECKS: dict[str, Callable[[Arguments, Scene], str]] = {
    "find": _found_tree,
    "kill": _all_processes,
    "pkill": _matching_processes,
    "rsync": _emptied,
}


def multiplies(function: syntax.Function) -> bool:
    """Does a function start itself more than once, or beside itself?"""
    calls = backgrounds = 0
    for node, ending in _nodes(function.body):
        if isinstance(node, syntax.Simple) and node.words[:1] == (function.name,):
            calls += 1
            backgrounds += ending == "&"
        elif isinstance(node, syntax.Pipeline):
            backgrounds += ending == "&"
    return calls >= 2 and bool(backgrounds)


def _nodes(node: syntax.Node, ending: str = "") -> Iterator[tuple[syntax.Node, str]]:
    yield node, ending
    match node:
        case syntax.Sequence(parts):
            for each, behind in parts:
                yield from _nodes(each, behind)
        case syntax.Pipeline(stages):
            for each in stages:
                yield from _nodes(each)
        case syntax.Subshell(body) | syntax.Redirected(body, _):
            yield from _nodes(body, ending)
        case syntax.Branch(first, maybe):
            for each in (*first, *maybe):
                yield from _nodes(each)
        case syntax.Loop():
            yield from _nodes(node.body)
