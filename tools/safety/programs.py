"""What one program with its arguments does, by its model or, without one, by the look of it."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from tools.safety import forbidden, launching, special
from tools.safety.arguments import Arguments
from tools.safety.effect import Effect, Kind, Place
from tools.safety.hidden import looks_alike
from tools.safety.models import Entry, Model, model_of
from tools.safety.places import (
    VITAL,
    is_persistent,
    is_vital,
    place_of,
    secret_in_word,
)
from tools.safety.scene import Scene
from tools.safety.shell.values import Command, Word
from tools.safety.telling import GIVEN, MOST_NAMES, listed

if TYPE_CHECKING:
    from tools.safety.judge import Judge

REASONS: dict[Kind, str] = {
    "deletes": "deletes {}",
    "moves": "moves {}",
    "writes": "overwrites {}",
    "discards": "discards changes: {}",
    "history": "rewrites history: {}",
    "runs": "runs {}",
    "sends": "sends or stores data: {}",
    "listens": "opens a way in from the network: {}",
    "remote": "changes something elsewhere: {}",
    "installs": "installs or removes {}",
    "permissions": "changes permissions of {}",
    "processes": "ends or changes processes: {}",
    "services": "changes services: {}",
    "accounts": "changes accounts: {}",
    "privilege": "runs with other rights: {}",
    "persistence": "sets up something that runs later: {}",
    "secrets": "reads secrets: {}",
    "system": "changes the system: {}",
    "database": "changes a database: {}",
    "containers": "changes containers: {}",
}
ON_PATHS = frozenset(("deletes", "moves", "writes", "permissions"))
REMOTE_PROGRAM = re.compile(r"https?://|git\+|ssh://")


def judge_known(
    judge: Judge, name: str, model: Model, words: list[Word], command: Command, scene: Scene
) -> None:
    """Judge a program that has a model."""
    given = words[1:]
    if asks_only(name, model, given):
        return
    arguments = Arguments(
        given, model.values, long_dash=model.long_dash, options_first=model.options_first
    )
    rehearses = any(map(arguments.has_exactly, model.rehearses))
    if rehearses and name != "git":
        return
    if effect := forbidden.effect_of(name, arguments, scene):
        judge.add(effect)
    if model.has_commands and arguments.operands and arguments.operands[0].dynamic:
        judge.add(Effect(f"runs {name} with a sub-command that is not known", kind="unclear"))
    for entry in model.entries_for(arguments):
        _judge_entry(judge, entry, model, arguments, scene)
    if name in special.CHECKS:
        special.CHECKS[name](judge, arguments, command, scene)
    if model.reads != "none" and not scene.elsewhere:
        _judge_secrets(judge, model, arguments, given, scene)
    if model.reads != "none" and any(looks_alike(word.text) for word in given):
        judge.add(Effect("uses names with letters that look like others", kind="hidden"))
    launching.judge_inner(judge, name, model, arguments, command, scene)


@functools.lru_cache(maxsize=1024)
def may_read_input(name: str) -> bool:
    """Does it matter what is written to its standard input?"""
    model = model_of(name) or model_of(launching.family_of(name))
    if model is None:
        return False
    runs = model.wraps is not None or model.shell_words is not None
    return runs or bool(model.code or model.stdin or model.shell) or name in special.CHECKS


def asks_only(name: str, model: Model, words: list[Word]) -> bool:
    """Does it only ask for help or a version?"""
    if model.wraps is not None or model.shell_words is not None or not words:
        return False
    for number, word in enumerate(words):
        if word.text == "--":
            return False
        if word.text in ("--help", "-help") and not _is_code(model, words[:number]):
            return True
    if len(words) > 1:
        return False
    text = words[0].text
    return text in ("--version", "-V", "version", "help") or (text == "-h" and name != "shutdown")


def _is_code(model: Model, before: list[Word]) -> bool:
    return any(
        word.text in model.code_options
        or word.text in model.shell
        or (word.text.startswith("-") and not word.text.startswith("--") and word.text[-1:] == "c")
        for word in before
    )


def _judge_entry(
    judge: Judge, entry: Entry, model: Model, arguments: Arguments, scene: Scene
) -> None:
    if entry.kind == "reads":
        return
    words = arguments.targets(entry.target, entry.options, _own_words(entry))
    template = entry.text or REASONS.get(entry.kind, entry.kind + " {}")
    if entry.kind not in ON_PATHS or entry.blocks:
        named = arguments.operands[:MOST_NAMES] if entry is model.other else words
        if not words and entry.words and entry.target != "none":
            named = arguments.operands[: len(entry.words)]  # at least the sub-command
        reason = filled(template, named)
        judge.add(Effect(reason, entry.blocks, entry.kind, tuple(word.text for word in words)))
        return
    if entry.kind == "writes":
        for word in words:
            judge.writes(word, scene, what=filled(template, [word]) if entry.text else "")
        if not words:
            judge.add(Effect(filled(template, words), kind="writes"))
        return
    judge.add(_effect_on_paths(entry.kind, template, words, model, arguments, scene))


def _own_words(entry: Entry) -> int:
    """How many of the operands are words of the entry, and so no targets."""
    if entry.words[:1] == ("...",) or entry.words == ("*",):
        return 0
    return next((n for n, word in enumerate(entry.words) if "/" in word), len(entry.words))


def _effect_on_paths(
    kind: Kind,
    template: str,
    words: list[Word],
    model: Model,
    arguments: Arguments,
    scene: Scene,
) -> Effect:
    targets = tuple(scene.path(word.text) for word in words)
    if any(map(arguments.has, model.recursive)) or model.recursive == ("always",):
        vital = next((word for word in words if is_vital(word.text, scene)), None)
        if vital is not None:
            shown = vital if vital.text[:1] in "/~" else Word(scene.path(vital.text))
            reason = f"{filled(template, [shown])}, {VITAL}"
            return Effect(reason, True, kind, targets, "vital")
    places = {place_of(target, scene) for target in targets}
    place: Place = max(places, key=PLACES.index, default="")
    for target in targets:
        scene.written.add(target)
    lasting = next(
        (w for w, t in zip(words, targets, strict=True) if is_persistent(t, scene.home)), None
    )
    reason = _on_paths(kind, template, words, _where(targets, scene))
    if lasting is not None and len(words) == 1:
        reason = f"{_on_paths(kind, template, words, '')}, which runs or configures other things"
    elif lasting is not None:
        reason += f", and {lasting} runs or configures other things"
    return Effect(reason, False, kind, targets, place)


PLACES: tuple[Place, ...] = ("", "workspace", "outside", "device", "system", "vital")


def _where(targets: tuple[str, ...], scene: Scene) -> str:
    """How many of the paths are outside the workspace."""
    outside = sum(place_of(each, scene) in ("outside", "system") for each in targets)
    if not outside or scene.elsewhere:
        return ""
    count = "" if outside == len(targets) else f", {outside}"
    return f"{count} outside the workspace"


def _on_paths(kind: Kind, template: str, words: list[Word], where: str) -> str:
    if ": {}" in template:  # of branches, containers and the like
        return filled(template, words)
    names = [GIVEN if word.text == "…" else word.text for word in words]
    if kind == "moves" and template == REASONS["moves"] and 1 < len(names) <= MOST_NAMES:
        outside = ", outside the workspace" if where else ""
        return f"moves {', '.join(names[:-1])} to {names[-1]}{outside}"
    return template.replace("{}", listed(names, where))


def filled(template: str, words: list[Word]) -> str:
    """A reason with what it is about, or how much of it."""
    if not words and ": {}" in template:
        return template.replace(": {}", "")
    if len(words) > MOST_NAMES:
        return template.replace("{}", f"{len(words)} things")
    names = " ".join(word.text if word.text != "…" else GIVEN for word in words)
    return template.replace("{}", names or GIVEN)


def _judge_secrets(
    judge: Judge, model: Model, arguments: Arguments, given: list[Word], scene: Scene
) -> None:
    skipped = arguments.operands[0] if model.reads == "rest" and arguments.operands else None
    for word in given:
        if word is skipped or (word.dynamic and "/" not in word.text):
            continue
        if len(word.text) > 3 and (secret := secret_in_word(word.text, scene)):
            judge.add(reads_secret(secret, scene))


def reads_secret(path: str, scene: Scene) -> Effect:
    reason = f"reads {path}, which may hold secrets"
    return Effect(reason, False, "secrets", (scene.path(path),), "outside")
