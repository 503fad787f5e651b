"""The verdict on a command line: what its parts do that a person should know."""

from __future__ import annotations

import fnmatch
import re

from tools.safety import languages, launching, programs, unknown, variables
from tools.safety.effect import Effect, Judgement
from tools.safety.forbidden import multiplies
from tools.safety.hidden import hidden_text
from tools.safety.models import model_of
from tools.safety.objection import Objection
from tools.safety.places import (
    is_device,
    is_harmless_device,
    is_persistent,
    place_of,
    secret_in_word,
)
from tools.safety.scene import Scene, program_name
from tools.safety.shell.reading import LONGEST, read_program
from tools.safety.shell.runner import Runner
from tools.safety.shell.syntax import Function
from tools.safety.shell.values import Command, Redirection, Unreadable, Word
from tools.safety.telling import told

DEEPEST = 8
GRANT = "this exact command in this folder"
UNSEEN = Effect("runs text that cannot be seen", kind="unseen")
EXPANDED_AGAIN = re.compile(
    r"@P\}|\w\[[^\]\n]{0,200}(?:\$\(|`)"  # a prompt, and an index of an array, run what they hold
)
PROGRAM_TEXT = re.compile(r"\.(?:sh|bash|zsh|py|pl|rb|js|mjs|ps1)$|(?:^|/)(?:Makefile|Dockerfile)$")
DESCRIPTOR = re.compile(r"\d+-?|-|\$\{COPROC\[[01]\]\}")
CMDLET = re.compile(r"[A-Z][a-z]+-[A-Z][A-Za-z]+")
"""A command of PowerShell."""
DANGEROUS = ("rm", "chmod", "chown", "chgrp", "dd", "find", "shred", "mv", "kill", "reboot")


def inspect_command(command: str, cwd: str) -> Objection | None:
    """Why a shell command needs a person's consent, or None if it is harmless.

    It judges the text alone, and asks when it cannot read it.

    Parameters
    ----------
    command
        Text for bash.
    cwd
        The folder in which it would run.
    """
    judgement = judge_command(command, cwd)
    if judgement.verdict == "safe":
        return None
    return Objection(
        judgement.reason,
        command,
        GRANT,
        forbidden=judgement.verdict == "block",
        effects=judgement.effects,
    )


def judge_command(command: str, cwd: str) -> Judgement:
    """What a shell command would do in the folder ``cwd``, and whether it may."""
    judge = Judge()
    judge.text(command, Scene.at(cwd))
    effects = tuple(judge.effects)
    if not effects:
        return Judgement("safe")
    forbidden = any(effect.forbidden for effect in effects)
    return Judgement("block" if forbidden else "ask", effects, told(effects))


def effects_of_shell(text: str, scene: Scene) -> list[Effect]:
    """Of shell text that something else runs at this point of the scene."""
    judge = Judge()
    judge.text(text, scene.inner())
    return list(judge.effects)


class Judge:
    """Collects the effects of a text and of all texts within it."""

    def __init__(self) -> None:
        self.effects: dict[Effect, None] = {}
        self._seen: set[tuple[object, ...]] = set()

    def add(self, *effects: Effect) -> None:
        self.effects.update(dict.fromkeys(effects))

    def text(self, text: str, scene: Scene, upstream: Command | None = None) -> None:
        """Judge shell text."""
        if len(text) > LONGEST or scene.depth > DEEPEST:
            self.add(Effect("is too long or too nested to be judged"))
            return
        if hidden := hidden_text(text):
            self.add(hidden)
        runs = "[" in text and ("$(" in text or "`" in text)
        if (runs or "@P" in text) and EXPANDED_AGAIN.search(text):
            self.add(UNSEEN)
        try:
            program = read_program(text)
            if program.doubt:
                self.add(Effect(f"cannot be judged: {program.doubt}"))
            Runner(self.visit, self._define).run(program.body, scene, upstream)
        except Unreadable as error:
            self.add(Effect(f"cannot be judged: {error}"))
        except RecursionError:
            self.add(Effect("is too nested to be judged"))

    def inner_text(self, word: Word, scene: Scene, upstream: Command | None = None) -> None:
        """Judge a word that a nested shell runs."""
        if word.dynamic:
            self.add(UNSEEN)
        elif word.computed:
            self.add(Effect("runs text that another command made", kind="unseen"))
        self.text(word.text, scene.inner(), upstream)

    def _define(self, function: Function) -> None:
        if multiplies(function):
            self.add(Effect("multiplies processes until the host stops", True, "processes"))

    def visit(self, command: Command, scene: Scene) -> None:
        """Judge one command of a program."""
        if command.redirections:
            for each in command.redirections:
                self._redirection(each, scene)
        if command.assignments:
            self.add(*variables.loaded(command.assignments, scene))
        if command.words and not self._is_known(command, scene):
            for word in command.words:
                if word.dynamic:
                    self.add(*variables.shown(command.words[0].text, word))
            self.words(command.words, command, scene)

    def _is_known(self, command: Command, scene: Scene) -> bool:
        """Was the same command judged before, in the same place?"""
        if command.redirections or command.assignments:
            return False
        if command.upstream and programs.may_read_input(program_name(command.words[0].text)):
            return False
        key = (*command.words, scene.cwd, len(scene.written), len(scene.functions), scene.elsewhere)
        known = key in self._seen
        self._seen.add(key)
        return known

    def _redirection(self, redirection: Redirection, scene: Scene) -> None:
        operator, word = redirection.operator, redirection.target
        path = word.text
        if operator.startswith("<<") or operator.endswith("&-"):
            return
        if operator in (">&", "<&") and DESCRIPTOR.fullmatch(path):
            return
        if path.startswith(("/dev/tcp/", "/dev/udp/")):
            host = path.split("/")[3] or "another host"
            self.add(Effect(f"opens a connection to {host}", kind="sends", targets=(host,)))
        elif operator.startswith("<"):
            if secret := secret_in_word(path, scene):
                self.add(programs.reads_secret(secret, scene))
        elif not word.dynamic or not path.startswith(">("):
            self.writes(word, scene, appends=operator in (">>", "&>>"))

    def writes(self, word: Word, scene: Scene, *, appends: bool = False, what: str = "") -> None:
        """Something is written to a path."""
        path = scene.path(word.text)
        targets = (path,)
        if is_harmless_device(path):
            return
        if is_device(path):
            self.add(Effect(f"writes to the device {word}", True, "system", targets, "device"))
            return
        scene.written.add(path)
        place = place_of(path, scene)
        if path == "/proc/sysrq-trigger":
            self.add(Effect("stops the host", True, "system", targets))
        elif is_persistent(path, scene.home):
            reason = f"changes {word}, which runs or configures other things"
            self.add(Effect(reason, False, "persistence", targets, place))
        elif not appends:
            self.add(Effect(what or f"overwrites {word}", False, "writes", targets, place))
        elif PROGRAM_TEXT.search(path) or place in ("system", "device"):
            self.add(Effect(f"adds to {word}", False, "writes", targets, place))

    def words(self, words: list[Word], command: Command, scene: Scene) -> None:
        """Judge a program with its arguments."""
        head = words[0]
        name = program_name(head.text)
        if self._odd_head(words, command, scene) or name in scene.functions:
            return
        if scene.path(head.text) in scene.written and "/" in head.text:
            self.add(UNSEEN)
        model = model_of(name)
        if model is None:
            name = launching.family_of(name)
            model = model_of(name)
        if model is None:
            if CMDLET.fullmatch(name):
                self.code("powershell", Word(" ".join(word.text for word in words)), scene)
            self.add(*unknown.effects_of_unknown(head.text, name, words[1:], scene))
        else:
            programs.judge_known(self, name, model, words, command, scene)

    def _odd_head(self, words: list[Word], command: Command, scene: Scene) -> bool:
        """Is the name of the program not the plain name of one?"""
        head = words[0]
        if head.dynamic or head.computed or (head.glob and head.text != "["):
            reason = f"runs {head.text}, whose meaning is not known before it runs"
            self.add(Effect(reason, kind="unseen"))
            if head.glob and len(words) > 1:
                self._any_of_glob(words, command, scene)
            return head.dynamic or head.glob
        if not head.text.isascii():
            self.add(Effect(f"runs {head.text!r}, a name with unusual letters", kind="hidden"))
        return False

    def _any_of_glob(self, words: list[Word], command: Command, scene: Scene) -> None:
        pattern = program_name(words[0].text)
        for name in (name for name in DANGEROUS if fnmatch.fnmatchcase(name, pattern)):
            judge = Judge()
            judge.words([Word(name), *words[1:]], command, scene.copy())
            self.add(*(effect for effect in judge.effects if effect.forbidden))

    def code(self, language: str, word: Word, scene: Scene) -> None:
        """Judge code in some language."""
        if language == "shell":
            self.inner_text(word, scene)
            return
        if word.dynamic and ("$(" in word.text or "`" in word.text or word.text[:1] == "$"):
            self.add(Effect("runs code that cannot be seen", kind="unseen"))
        self.add(*languages.effects_of_code(language, word.text, scene, effects_of_shell))
