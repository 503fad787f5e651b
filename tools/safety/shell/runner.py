"""Go through a program as the shell would, and show each command with what is known there."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from tools.safety.scene import Scene
from tools.safety.shell import builtin, syntax
from tools.safety.shell.expansion import LONGEST_VALUE, Expansion
from tools.safety.shell.reading import read_program
from tools.safety.shell.values import Command, Redirection, Unreadable, Word

MOST_COMMANDS = 1_000
MOST_WORDS = 5_000
MOST_ROUNDS = 16
DEEPEST_CALLS = 4
Visit = Callable[[Command, Scene], None]
UNKNOWN_SOURCE = Command([Word("{", dynamic=True)], {})


class Runner:
    """Goes through programs; ``visit`` sees the commands, ``note`` hears what is odd."""

    def __init__(self, visit: Visit, define: Callable[[syntax.Function], None]) -> None:
        self._visit = visit
        self._define = define
        self._commands = self._words = 0
        self._met: dict[int, syntax.Node] = {}
        self._idle: dict[int, tuple[Scene, int]] = {}
        """Statements that changed nothing, with what was known before them."""

    def run(
        self, node: syntax.Node, scene: Scene, upstream: Command | None = None, ending: str = ""
    ) -> Command | None:
        """The last simple command of ``node``, after all of it has been shown."""
        if isinstance(node, syntax.Simple):
            return self._simple(node, scene, upstream, ending)
        match node:
            case syntax.Sequence(parts):
                return self._sequence(parts, scene, upstream)
            case syntax.Pipeline(stages):
                return self._pipeline(stages, scene, upstream, ending)
            case syntax.Subshell(body):
                self.run(body, scene.copy(), upstream)
            case syntax.Redirected(body, redirects):
                self._redirected(body, redirects, scene, upstream)
            case syntax.Branch(first, maybe):
                for each in first:
                    self.run(each, scene, upstream)
                self._perhaps(maybe, scene, upstream)
            case syntax.Loop():
                self._loop(node, scene, upstream)
            case syntax.Function(name, body):
                self._function(node, name, body, scene)
            case syntax.Test(inside, name):
                for substitution in inside:
                    self._substitution(substitution, scene)
                if name:
                    self._show(Command([Word(name)], {}, (), upstream, ending), scene)
        return None

    def _sequence(
        self, parts: Iterable[tuple[syntax.Node, str]], scene: Scene, upstream: Command | None
    ) -> Command | None:
        last = None
        before = ""
        for node, ending in parts:
            if before in ("&&", "||"):
                known = dict(scene.variables)
                last = self.run(node, scene, upstream, ending)
                _doubt_changes(scene, known)
            else:
                inside = scene.copy() if ending == "&" else scene
                last = self._statement(node, inside, upstream, ending)
            before = ending
        return last

    def _statement(
        self, node: syntax.Node, scene: Scene, upstream: Command | None, ending: str
    ) -> Command | None:
        """One that is met again where nothing is different need not be gone through again."""
        known = self._idle.get(id(node))
        if known is not None and known == (scene, len(scene.written)) and upstream is None:
            return None
        if id(node) not in self._met or upstream is not None:
            self._met[id(node)] = node
            return self.run(node, scene, upstream, ending)
        before = scene.copy(), len(scene.written)
        last = self.run(node, scene, upstream, ending)
        if before == (scene, len(scene.written)):
            self._idle[id(node)] = before
        return last

    def _pipeline(
        self,
        stages: tuple[syntax.Node, ...],
        scene: Scene,
        upstream: Command | None,
        ending: str,
    ) -> Command | None:
        known: dict[int, list[Word]] = {}
        for number, stage in enumerate(stages, 1):
            behind = ending if number == len(stages) else "|"
            if (words := known.get(id(stage))) is not None:
                if 2 < number < len(stages) and stages[number - 3] is stages[number - 2] is stage:
                    self._count(words)  # the third of its kind gets what the second got
                    continue
                upstream = Command(words, {}, (), upstream, behind)
                self._show(upstream, scene)
                continue
            last = self.run(stage, scene.copy(), upstream, behind)
            upstream = UNKNOWN_SOURCE
            if isinstance(stage, syntax.Simple) and last is not None:
                upstream = last
                if _is_constant(stage) and not builtin.changes(last, scene):
                    known[id(stage)] = last.words
        return upstream

    def _perhaps(
        self, nodes: Iterable[syntax.Node], scene: Scene, upstream: Command | None
    ) -> None:
        known = dict(scene.variables)
        for each in nodes:
            self.run(each, scene, upstream)
        _doubt_changes(scene, known)

    def _loop(self, loop: syntax.Loop, scene: Scene, upstream: Command | None) -> None:
        if loop.condition is not None:
            self.run(loop.condition, scene, upstream)
        expansion = Expansion(scene, self._substitution)
        values = [word for each in loop.values for word in expansion.words(each)]
        known = dict(scene.variables)
        rounds: list[Word | None] = [*values[:MOST_ROUNDS]] or [None]
        for value in rounds:
            if loop.variable:
                written = Word(f"${loop.variable}", dynamic=True)
                scene.variables[loop.variable] = value or written
            self.run(loop.body, scene, upstream)
        if len(values) > MOST_ROUNDS:
            raise Unreadable("its loop has too many rounds")
        _doubt_changes(scene, known)

    def _redirected(
        self,
        body: syntax.Node,
        redirects: tuple[syntax.Redirect, ...],
        scene: Scene,
        upstream: Command | None,
    ) -> None:
        around = Command([], {}, self._redirections(redirects, scene), upstream)
        self._show(around, scene)
        reads = any(each.operator.startswith("<") for each in around.redirections)
        source = Command([Word("cat")], {}, around.redirections) if reads else upstream
        self.run(body, scene, source)

    def _function(self, node: syntax.Function, name: str, body: syntax.Node, scene: Scene) -> None:
        self._define(node)
        scene.functions[name] = body
        # It may be called by a later text, so it counts even if nothing here calls it.
        if len(scene.running) < DEEPEST_CALLS:
            inside = scene.copy()
            inside.positional, inside.running = None, (*scene.running, name)
            for number in range(1, 10):
                inside.variables.pop(str(number), None)
            self.run(body, inside)

    def _simple(
        self, node: syntax.Simple, scene: Scene, upstream: Command | None, ending: str
    ) -> Command | None:
        expansion = Expansion(scene, self._substitution)
        if scene.aliases:
            node = self._without_alias(node, scene)
        words = [each for word in node.words for each in expansion.words(word)]
        assigned = {each.name: self._assigned(each, expansion, scene) for each in node.assignments}
        if node.declares and any(builtin.NAME_OF.fullmatch(word.text) for word in words):
            assigned = {name: Word(f"${name}", dynamic=True) for name in assigned}
        command = Command(
            words, assigned, self._redirections(node.redirects, scene), upstream, ending
        )
        if (not words or node.declares) and assigned:
            scene.variables.update(assigned)
        self._show(command, scene)
        if words:
            self._after(command, scene)
        return command

    def _show(self, command: Command, scene: Scene) -> None:
        self._count(command.words)
        self._visit(command, scene)

    def _count(self, words: list[Word]) -> None:
        self._commands += 1
        self._words += len(words)
        if self._commands > MOST_COMMANDS or self._words > MOST_WORDS:
            raise Unreadable("it has too many parts")

    def _after(self, command: Command, scene: Scene) -> None:
        """What it leaves behind for the commands after it."""
        words = builtin.meant(command.words)
        name = words[0].text
        if name in scene.functions and words is command.words:
            self._call(name, command, scene)
        elif name == "eval" and not any(word.dynamic for word in words):
            scene.depth += 1
            if scene.depth < DEEPEST_CALLS * 2:
                text = " ".join(word.text for word in words[1:])
                self.run(read_program(text).body, scene, command.upstream)
        else:
            builtin.apply(command, scene)

    def _call(self, name: str, command: Command, scene: Scene) -> None:
        if name in scene.running or len(scene.running) >= DEEPEST_CALLS:
            return
        before, scene.running = scene.running, (*scene.running, name)
        outer, scene.positional = scene.positional, command.words[1:]
        for number, word in enumerate(command.words[1:10], 1):
            scene.variables[str(number)] = word
        self.run(scene.functions[name], scene, command.upstream)
        scene.running, scene.positional = before, outer

    def _without_alias(self, node: syntax.Simple, scene: Scene) -> syntax.Simple:
        name = node.words[0] if node.words else ""
        text = scene.aliases.get(name) if isinstance(name, str) else None
        if text is None:
            return node
        meant = read_program(text).body
        if not isinstance(meant, syntax.Simple):
            return node
        return node._replace(
            words=meant.words + node.words[1:], redirects=meant.redirects + node.redirects
        )

    def _assigned(self, assignment: syntax.Assignment, expansion: Expansion, scene: Scene) -> Word:
        if assignment.items is not None:
            items = [word for each in assignment.items for word in expansion.words(each)]
            before = scene.arrays.get(assignment.name, []) if assignment.append else []
            scene.arrays[assignment.name] = [*before, *items]
            return items[0] if items else Word("")
        value = expansion.value(assignment.value)
        if len(value.text) > LONGEST_VALUE:
            raise Unreadable("its variables become too long")
        if assignment.indexed:
            scene.arrays.pop(assignment.name, None)
            return value._replace(computed=True)
        if assignment.append:
            before_it = scene.variables.get(assignment.name, Word("", dynamic=True))
            return value._replace(
                text=before_it.text + value.text,
                dynamic=before_it.dynamic or value.dynamic,
                computed=before_it.computed or value.computed,
            )
        if value.text[:1] == "~":
            return value._replace(text=scene.path(value.text))
        return value

    def _redirections(
        self, redirects: tuple[syntax.Redirect, ...], scene: Scene
    ) -> tuple[Redirection, ...]:
        if not redirects:
            return ()
        expansion = Expansion(scene, self._substitution)
        return tuple(
            Redirection(each.operator, expansion.value(each.target), each.descriptor)
            for each in redirects
        )

    def _substitution(self, part: syntax.Substitution, scene: Scene) -> str | None:
        inside = scene.copy()
        last = self.run(part.body, inside)
        alone = isinstance(part.body, syntax.Simple | syntax.Pipeline)
        return last.output() if alone and last is not None else None


def _is_constant(node: syntax.Simple) -> bool:
    """Does it mean the same wherever it stands?"""
    if node.assignments or node.redirects:
        return False
    return all(
        isinstance(word, str) or all(isinstance(part, syntax.Literal) for part in word)
        for word in node.words
    )


def _doubt_changes(scene: Scene, known: dict[str, Word]) -> None:
    """What was set by something that may not have run is only one of the possible values."""
    for name, value in itertools.chain(scene.variables.items()):
        if known.get(name) != value:
            scene.variables[name] = value._replace(computed=True)


def commands_of(text: str, cwd: str = "/") -> list[Command]:
    """The commands that a text may run, in order, their words as the shell would pass them.

    Statements that are repeated and change nothing may be left out.

    Raises
    ------
    Unreadable
        If it is no complete shell text, or too tangled.
    """
    program = read_program(text)
    if program.doubt:
        raise Unreadable(program.doubt)
    found: list[Command] = []
    runner = Runner(lambda command, scene: found.append(command), lambda function: None)
    runner.run(program.body, Scene.at(cwd))
    return [command for command in found if command.words]
