"""The verdict on a command line: what its parts do that a person should know."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path

from tools.files.protected import secret_at
from tools.safety import programs
from tools.safety.code_signs import (
    CODE,
    FORK_BOMB,
    HIDDEN_TEXT,
    LOADERS,
    LOOKALIKE,
    PERSISTENT,
    RAW_DISK,
)
from tools.safety.forbidden import forbidden_effect
from tools.safety.lookup import effects_by_table
from tools.safety.objection import Objection
from tools.safety.scene import Effect, Scene, program_name
from tools.safety.shell_program import Redirection, SimpleCommand, Unreadable, Word
from tools.safety.shell_text import CHANGES_VARIABLES, parse

DEEPEST = 8
LONGEST = 100_000
LONGEST_REASON = 160
GRANT = "this exact command in this folder"
EXPANDED_AGAIN = re.compile(
    r"@P\}|\w\[[^\]\n]{0,200}(?:\$\(|`)"  # a prompt, and an index of an array, run what they hold
)
BEFORE_PATH = re.compile(r"[=@:,]|^-\w(?=[~/.])")
UNSEEN = Effect("runs text that cannot be seen")

NOT_PROGRAMS = frozenset(("for", "case", "select", "[[", "[", "test", "function"))
NAMES_ONLY = frozenset(["echo", "printf", "ls", "stat", "test", "touch", "find"])
"""Programs that do not read the files they are given."""
PATTERN_FIRST = frozenset(["grep", "rg", "git"])
SHOWS_ENVIRONMENT = frozenset(["env", "set", "export", "declare"])
RUNS_FILES = frozenset(["source", ".", *programs.SHELLS, *programs.INTERPRETERS])
PROGRAM_TEXT = re.compile(r"\.(?:sh|bash|zsh|py|pl|rb|js|mjs|ps1)$|(?:^|/)Makefile$")
FIND_ACTIONS = frozenset(
    ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch")
)


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
    scene = Scene(cwd, variables={"HOME": str(Path.home()), "PWD": cwd})
    effects = _effects_of_text(command, scene)
    if not effects:
        return None
    forbidden = [effect for effect in effects if effect.forbidden]
    reason = "; ".join(dict.fromkeys(effect.reason for effect in forbidden or effects))
    if len(reason) > LONGEST_REASON:
        reason = f"{reason[: LONGEST_REASON - 1]}…"
    return Objection(reason, command, GRANT, forbidden=bool(forbidden))


def _effects_of_text(text: str, scene: Scene) -> list[Effect]:
    if scene.depth > DEEPEST or len(text) > LONGEST:
        return [Effect("is too long or too nested to be judged")]
    if FORK_BOMB.search(text):
        return [Effect("multiplies processes until the host stops", forbidden=True)]
    hidden = HIDDEN_TEXT.search(text)
    effects = [Effect("contains characters that cannot be seen")] if hidden else []
    effects += [UNSEEN] if EXPANDED_AGAIN.search(text) else []
    try:
        program = parse(text, scene.variables)
    except Unreadable as error:
        return [*effects, Effect(f"cannot be judged: {error}")]
    except RecursionError:
        return [*effects, Effect("is too nested to be judged")]
    for nested in program.nested:
        effects += _effects_of_text(nested, scene.inner())
    folders: list[str] = []  # in which the subshells around a command were entered
    for command in program.commands:
        folders += [scene.cwd] * (command.depth - len(folders))
        while len(folders) > command.depth:
            scene.cwd = folders.pop()
        effects += _effects_of_command(command, scene)
    return effects + ([UNSEEN] if _runs_what_it_writes(program.commands) else [])


def _runs_what_it_writes(commands: list[SimpleCommand]) -> bool:
    written = {each.target.text for command in commands for each in command.redirections}
    return any(
        word.text.removeprefix("./") in {path.removeprefix("./") for path in written}
        for command in commands
        for number, word in enumerate(command.words)
        if not number or program_name(command.words[0].text) in RUNS_FILES
    )


def _effects_of_command(command: SimpleCommand, scene: Scene) -> list[Effect]:
    effects = [
        effect for each in command.redirections if (effect := _effect_of_redirection(each, scene))
    ]
    effects += [_loads(name) for name in command.assignments if name in LOADERS]
    if command.words and command.words[0].text in CHANGES_VARIABLES:
        names = [word.text.partition("=")[0] for word in command.words[1:] if "=" in word.text]
        effects += [_loads(name) for name in names if name in LOADERS]
    if command.words:
        effects += _effects_of_words(command.words, command, scene)
    return effects


def _effect_of_redirection(redirection: Redirection, scene: Scene) -> Effect | None:
    operator, path = redirection.operator, redirection.target.text
    if operator in ("<<", "<<<") or (operator == ">&" and (path.isdigit() or path == "-")):
        return None
    if path.startswith(("/dev/tcp/", "/dev/udp/")):
        return Effect(f"talks to another host through {path}")
    if operator in ("<", "<&"):
        return _reads_secret(path) if _names_secret(path, scene) else None
    if RAW_DISK.match(path):
        return Effect(f"writes to the device {path}", forbidden=True)
    if path.startswith(("/dev/null", "/dev/std", "/dev/fd/", "/dev/tty")):
        return None
    if PERSISTENT.search(path) or PERSISTENT.search(scene.path(path)):
        return Effect(f"changes {path}, which runs or configures other things")
    if operator not in (">>", "&>>"):
        return Effect(f"overwrites {path}")
    return Effect(f"adds to the program {path}") if PROGRAM_TEXT.search(path) else None


def _effects_of_words(words: list[Word], command: SimpleCommand, scene: Scene) -> list[Effect]:
    head, arguments = words[0], words[1:]
    if head.text in NOT_PROGRAMS and not head.dynamic:
        return []
    if head.dynamic or (len(head.text) > 1 and set(head.text) & set("*?{")):
        return [Effect(f"runs {head.text}, whose meaning is not known before it runs")]
    if LOOKALIKE.fullmatch(head.text):
        return [Effect(f"runs {head.text!r}, a name with unusual letters")]
    name = program_name(head.text)
    texts = [word.text for word in arguments]
    # Behind a program inside, or behind ``--``, it is no longer an option of this one.
    options = texts[:1] if name in INNER_TEXTS else itertools.takewhile(lambda t: t != "--", texts)
    if "--help" in options and name not in programs.WRAPPERS:
        return []
    if name in ("cd", "pushd"):
        _change_folder(arguments, scene)
        return []
    if forbidden := forbidden_effect(name, texts, scene):
        return [forbidden]
    inner = INNER_TEXTS.get(name) or (_code if name.startswith("python") else None)
    effects = _secrets_among(name, texts, scene) + (
        inner(name, arguments, command, scene) if inner else []
    )
    return effects + effects_by_table(name, texts)


def _change_folder(arguments: list[Word], scene: Scene) -> None:
    target = next((word for word in arguments if not word.text.startswith("-")), None)
    if target is None:
        scene.cwd = str(Path.home())
    elif not target.dynamic:
        scene.cwd = scene.path(target.text)


def _secrets_among(name: str, texts: list[str], scene: Scene) -> list[Effect]:
    if name in SHOWS_ENVIRONMENT and not [text for text in texts if text != "-p"]:
        return [Effect("shows the whole environment, which may hold secrets")]
    if name in NAMES_ONLY:
        return []
    read = texts[1:] if name in PATTERN_FIRST else texts
    return [_reads_secret(text) for text in read if " " not in text and _names_secret(text, scene)]


def _names_secret(text: str, scene: Scene) -> bool:
    """Is the word, or a part of it (``@FILE``, ``--option=FILE``, ``host:FILE``), such a path?"""
    home = str(Path.home())
    paths = [part for part in BEFORE_PATH.split(text) if part and not part.startswith("-")]
    return any(secret_at(scene.path(path), home) for path in paths)


def _reads_secret(path: str) -> Effect:
    return Effect(f"reads {path}, which may hold secrets")


def _loads(variable: str) -> Effect:
    return Effect(f"sets {variable}, which may run other code")


def _wrapped(
    name: str, arguments: list[Word], command: SimpleCommand, scene: Scene
) -> list[Effect]:
    """Of a program that runs another one."""
    effects: list[Effect] = []
    rest = list(arguments)
    while rest:
        text = rest[0].text
        if name in ("command", "pipenv") and text in ("-v", "-V", "--version"):
            return effects
        if text in ("-c", "-S", "--split-string") and name in ("flock", "env") and len(rest) > 1:
            return effects + _effects_of_text(rest[1].text, scene.inner())
        if name == "env" and (found := re.match(r"(?:-S|--split-string=)(.+)", text, re.DOTALL)):
            return effects + _effects_of_text(found.group(1), scene.inner())
        if text.startswith("-") and text != "-":
            rest = rest[2:] if text in programs.WRAPPERS[name].split() else rest[1:]
        elif name in ("env", "sudo", "doas") and re.match(r"[A-Za-z_]\w*=", text):
            variable = text.partition("=")[0]
            effects += [_loads(variable)] if variable in LOADERS else []
            rest = rest[1:]
        else:
            break
    rest = rest[programs.OWN_WORDS.get(name, 0) :]
    if name == "coproc" and any(word.text == "{" for word in rest[:2]):
        rest = rest[[word.text for word in rest].index("{") + 1 :]
    if not rest:
        return effects
    if name == "xargs" and _is_shell_text(rest):
        effects.append(UNSEEN)
    if name == "watch" and len(rest) == 1:
        return effects + _effects_of_text(rest[0].text, scene.inner())
    if rest[0].text == "-c" and len(rest) > 1:
        return effects + _effects_of_text(rest[1].text, scene.inner())
    return effects + _effects_of_words(rest, command, scene)


def _is_shell_text(words: list[Word]) -> bool:
    names_text = any(word.text.endswith("c") for word in words[1:2])
    return program_name(words[0].text) in programs.SHELLS and names_text


def _remote(name: str, arguments: list[Word], command: SimpleCommand, scene: Scene) -> list[Effect]:
    """Of a command line for the shell of another host."""
    rest = list(arguments)
    while rest and rest[0].text.startswith("-"):
        rest = rest[2:] if rest[0].text in programs.SSH_OPTIONS_WITH_VALUE else rest[1:]
    return _effects_of_text(" ".join(word.text for word in rest[1:]), scene.inner())


def _shell(name: str, arguments: list[Word], command: SimpleCommand, scene: Scene) -> list[Effect]:
    """Of ``bash -c TEXT``, a script file, or text from standard input."""
    rest = list(arguments)
    while rest:
        text = rest[0].text
        if re.fullmatch(r"-[a-z]*c[a-z]*", text):
            following = rest[2:] if "o" in text else rest[1:]
            while following and following[0].text.startswith(("-", "+")):
                has_value = following[0].text in programs.SHELL_OPTIONS_WITH_VALUE
                following = following[2:] if has_value else following[1:]
            inner = following[0] if following else Word("")
            if inner.dynamic and re.match(r"\s*[\"']?[$`]", inner.text):
                return [UNSEEN]
            return _effects_of_text(inner.text, scene.inner())
        if text in ("--version", "-n"):
            return []
        if not text.startswith(("-", "+")):
            return [UNSEEN] if rest[0].dynamic or text.startswith("/dev/") else []
        rest = rest[2:] if text in programs.SHELL_OPTIONS_WITH_VALUE else rest[1:]
    return _standard_input(command, scene, "")


def _source(name: str, arguments: list[Word], command: SimpleCommand, scene: Scene) -> list[Effect]:
    hidden = any(word.dynamic or word.text.startswith("/dev/") for word in arguments[:1])
    return [UNSEEN] if hidden else []


def _eval(name: str, arguments: list[Word], command: SimpleCommand, scene: Scene) -> list[Effect]:
    if any(word.dynamic for word in arguments):
        return [UNSEEN]
    return _effects_of_text(" ".join(word.text for word in arguments), scene.inner())


def _later(name: str, arguments: list[Word], command: SimpleCommand, scene: Scene) -> list[Effect]:
    """Of ``alias`` and ``trap``, whose text runs at another time."""
    texts = [word.text.partition("=")[2] or word.text for word in arguments]
    return [effect for text in texts for effect in _effects_of_text(text, scene.inner())]


def _standard_input(command: SimpleCommand, scene: Scene, language: str) -> list[Effect]:
    """Of code that an interpreter reads from its standard input; language "" is the shell."""
    for redirection in command.redirections:
        if redirection.operator in ("<<", "<<<"):
            text = redirection.target
            if text.dynamic:
                return [UNSEEN]
            if not language:
                return _effects_of_text(text.text, scene.inner())
            return _signs_in(text.text, language)
        if redirection.operator == "<":
            return []  # a script file, as if it were named
    return [UNSEEN] if command.piped else []


def _code(name: str, arguments: list[Word], command: SimpleCommand, scene: Scene) -> list[Effect]:
    """Of an interpreter with code among its arguments."""
    language, options = programs.INTERPRETERS.get(name, ("program", "-c"))
    texts = _inline_code(
        arguments, options.split(), first_is_code=language in ("awk", "sed", "sql")
    )
    effects = [effect for text in texts for effect in _signs_in(text.text, language)]
    if any(text.dynamic and "$(" in text.text for text in texts):
        effects.append(Effect("runs code that cannot be seen"))
    if texts or language != "program":
        return effects
    plain = [word for word in arguments if not word.text.startswith("-") or word.text == "-"]
    module = next((i for i, word in enumerate(arguments) if word.text == "-m"), None)
    if module is not None and module + 1 < len(arguments):
        return effects + _module(arguments[module + 1].text, arguments[module + 2 :])
    if plain and plain[0].text != "-":
        script, given = plain[0].text, [word.text for word in plain[1:]]
        return [UNSEEN] if "<(" in script else effects_by_table(program_name(script), given)
    asks = any(word.text in ("--version", "-V", "-h", "-v") for word in arguments)
    return effects if asks else effects + _standard_input(command, scene, language)


def _inline_code(arguments: list[Word], options: list[str], *, first_is_code: bool) -> list[Word]:
    """The words that are code."""
    letters = "".join(option[1] for option in options if re.fullmatch(r"-\w", option))
    texts = []
    for index, word in enumerate(arguments):
        following = arguments[index + 1 : index + 2]
        if word.text in options:
            texts += following
        elif letters and (found := re.fullmatch(rf"-[A-Za-z]*?[{letters}](.*)", word.text, re.S)):
            texts += [Word(found.group(1), word.dynamic)] if found.group(1) else following
    if not texts and first_is_code:
        plain = [word for word in arguments if not word.text.startswith("-")]
        texts = plain if "-c" not in options and not options else plain[:1]
    return texts


def _signs_in(text: str, language: str) -> list[Effect]:
    found = CODE[language].search(text)
    return [Effect(f"runs code with {found.group().strip()!r}")] if found else []


def _module(module: str, arguments: list[Word]) -> list[Effect]:
    if module == "http.server":
        return [Effect("serves this folder to the network")]
    return effects_by_table(module, [word.text for word in arguments])


def _find(name: str, arguments: list[Word], command: SimpleCommand, scene: Scene) -> list[Effect]:
    """Of the programs that ``find -exec`` and ``fd -x`` run."""
    effects = []
    for index, word in enumerate(arguments):
        action, _, program = word.text.partition("=")
        if action in FIND_ACTIONS:
            rest = [*([Word(program)] if program else []), *arguments[index + 1 :]]
            end = next((i for i, each in enumerate(rest) if each.text in (";", "+")), len(rest))
            if rest[:end]:
                effects += _effects_of_words(rest[:end], SimpleCommand(), scene)
    return effects


Inner = Callable[[str, list[Word], SimpleCommand, Scene], list[Effect]]
INNER_TEXTS: dict[str, Inner] = {
    **dict.fromkeys(programs.INTERPRETERS, _code),
    **dict.fromkeys(programs.SHELLS, _shell),
    **dict.fromkeys(programs.WRAPPERS, _wrapped),
    **dict.fromkeys(("source", "."), _source),
    **dict.fromkeys(("alias", "trap"), _later),
    **dict.fromkeys(("find", "fd", "fdfind"), _find),
    "eval": _eval,
    "ssh": _remote,
}
"""Programs with programs inside."""
