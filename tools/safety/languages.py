"""Effects of inline code in languages other than the shell."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tools.safety.code_signs import STRINGS, only_reads_in_powershell, sign_in
from tools.safety.effect import Effect
from tools.safety.forbidden import FORK_BOMB
from tools.safety.places import is_vital
from tools.safety.scene import Scene
from tools.safety.sql import changing_statements

ShellEffects = Callable[[str, Scene], list[Effect]]
RUNS_SHELL = re.compile(
    r"(?:\b(?:system|exec|popen|popen2|spawn|qx|shell_exec|passthru|proc_open|execSync|execute|run"
    r"|sh|Command|getoutput|getstatusoutput|sys)\s*[({]?|`|\|\s*|:!|\bsilent!?\s*!|^!|\\!)\s*"
    r"(?:(?P<quote>[\"'`])(?P<quoted>(?:\\.|(?!(?P=quote))[^\\])*)(?P=quote)"
    r"|(?<=[`!{])(?P<plain>[^`}\n]+))",
    re.MULTILINE | re.DOTALL,
)
REMOVES_TREE = re.compile(
    r"(?:rmtree|rm_rf|rm_r|remove_tree|rmSync|rmdirSync|rimraf|remove_entry\w*|deleteTree|unlink|rm"
    r"|removeSync)[\s(]*(?:Pathname\(|Path\(|path\()?\s*(?P<quote>[\"'])(?P<path>[^\"']+)(?P=quote)"
)
TREE_SURE = re.compile(r"rmtree|rm_rf|rm_r|remove_tree|recursive|rimraf|removeSync|deleteTree")
DOUBLE_QUOTED = re.compile(r'"(?:\\.|[^"\\])*"')
STANDARD_STREAM = re.compile(r'>>?\s*"?/dev/(?:std\w+|null|tty)"?')
AWK_RUNS = re.compile(r"\bsystem\s*\(|\|\s*getline|\|&|\bprintf?\b[^;}\n]*\|\s*[\"\w(]")
AWK_WRITES = re.compile(r"\bprintf?\b[^;}\n|]*>>?\s*[\"$(\w]")
AWK_READS_ENVIRONMENT = re.compile(r"\bENVIRON\b")


def effects_of_code(language: str, text: str, scene: Scene, of_shell: ShellEffects) -> list[Effect]:
    """Effects of code, with those of the shell texts in it.

    ``of_shell`` judges shell text.
    """
    if language == "python":
        # Twenty modules that most commands, and the loading of the extension, can do without.
        from tools.safety.python_code import effects_of_python

        return effects_of_python(text, scene)
    effects = LANGUAGES[language](text) if language in LANGUAGES else _signs_in(text, language)
    if FORK_BOMB.search(text):
        effects.append(Effect("multiplies processes until the host stops", True, "processes"))
    if not effects or language == "sql":
        return effects
    for match in RUNS_SHELL.finditer(text[:20_000]):
        inner = match.group("quoted") or match.group("plain") or ""
        effects += [each for each in of_shell(inner, scene) if each.forbidden]
    return effects + _removed_trees(text, scene)


def _removed_trees(text: str, scene: Scene) -> list[Effect]:
    if not TREE_SURE.search(text):
        return []
    return [
        Effect(f"deletes {match.group('path')}", True, "deletes", (match.group("path"),), "vital")
        for match in REMOVES_TREE.finditer(text)
        if is_vital(match.group("path"), scene)
    ]


def _signs_in(text: str, language: str) -> list[Effect]:
    found = sign_in(text, language)
    return [Effect(f"runs code with {found!r}", kind="runs")] if found else []


def _awk(text: str) -> list[Effect]:
    plain = DOUBLE_QUOTED.sub('""', STANDARD_STREAM.sub("", text))
    plain = re.sub(r"/(?:\\.|[^/\\\n])+/", "//", plain)
    for _ in range(5):
        plain = re.sub(r"\(([^()]*)\)", lambda m: "(" + re.sub("[<>|]", " ", m[1]) + ")", plain)
    if AWK_RUNS.search(plain):
        return [Effect("runs a command from awk", kind="runs")]
    if AWK_WRITES.search(plain):
        return [Effect("overwrites files from awk", kind="writes")]
    if AWK_READS_ENVIRONMENT.search(plain):
        return [Effect("reads the environment, which may hold secrets", kind="secrets")]
    return []


def _sed(text: str) -> list[Effect]:
    """Of the commands ``w``, ``W``, ``e`` and the flags ``w``, ``e`` of ``s``."""
    at, length = 0, len(text)
    while at < length:
        at = _behind_address(text, at)
        if at >= length:
            break
        letter = text[at]
        at += 1
        if letter in "sy":
            at, flags = _behind_substitution(text, at)
            if letter == "s" and re.search(r"e", flags.partition("w")[0]):
                return [Effect("runs what it finds, from sed", kind="runs")]
            if "w" in flags and "/dev/std" not in flags:
                return [Effect(f"overwrites {flags.partition('w')[2].strip()}", kind="writes")]
        elif letter in "eF" and letter == "e":
            return [Effect("runs a command from sed", kind="runs")]
        elif letter in "wW":
            name = text[at:].partition("\n")[0].strip()
            if not name.startswith("/dev/std"):
                return [Effect(f"overwrites {name}", kind="writes")]
            at += len(name) + 1
        elif letter in "aicrRbtT:#":
            end = text.find("\n", at)
            while letter in "aic" and end > 0 and text[end - 1] == "\\":  # its text goes on
                end = text.find("\n", end + 1)
            if letter in "btT:" and ";" in text[at : end if end > 0 else length]:
                end = text.index(";", at)
            at = length if end < 0 else end
    return []


def _behind_address(text: str, at: int) -> int:
    while at < len(text):
        character = text[at]
        if character in " \t\n;,!{}$0123456789~+":
            at += 1
        elif character in "/\\":
            mark = "/" if character == "/" else text[at + 1 : at + 2]
            at += 1 if character == "/" else 2
            at = _behind_mark(text, at, mark)
            while text[at : at + 1] in ("I", "M"):
                at += 1
        else:
            return at
    return at


def _behind_mark(text: str, at: int, mark: str) -> int:
    in_class = False
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == "[":
            in_class = True
        elif text[at] == "]":
            in_class = False
        elif text[at] == mark and not (in_class and mark != text[at]):
            return at + 1
        at += 1
    return at


def _behind_substitution(text: str, at: int) -> tuple[int, str]:
    mark = text[at : at + 1]
    at = _behind_mark(text, _behind_mark(text, at + 1, mark), mark)
    end = at
    while end < len(text) and text[end] not in ";}\n":
        if text[end] == "w":
            end = text.find("\n", end) if "\n" in text[end:] else len(text)
            break
        end += 1
    return end, text[at:end]


def _sql(text: str) -> list[Effect]:
    return [
        Effect(f"changes a database: {statement}", kind="database")
        for statement in changing_statements(text)
    ]


def _powershell(text: str) -> list[Effect]:
    plain = STRINGS.sub("", re.sub(r"^\s*(?:/[a-zA-Z]\s+)+", "", text))
    reads = all(
        not each.strip() or only_reads_in_powershell().match(each)
        for each in re.split(r"[;|&\n{}]+", plain)
    )
    if reads and ">" not in plain:
        return []
    return [Effect(f"runs {' '.join(text.split()[:4])}", kind="runs")]


LANGUAGES: Mapping[str, Callable[[str], list[Effect]]] = {
    "awk": _awk,
    "sed": _sed,
    "sql": _sql,
    "powershell": _powershell,
}
