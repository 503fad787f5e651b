"""What only git's own grammar tells."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tools.safety.arguments import Arguments
from tools.safety.effect import Effect
from tools.safety.launching import Check, own_words
from tools.safety.models import model_of
from tools.safety.scene import Scene
from tools.safety.shell.values import Command, Word

if TYPE_CHECKING:
    from tools.safety.judge import Judge

RISKY_GIT_SETTING = re.compile(
    r"(?i)(?:alias|credential|filter|diff|merge|difftool|mergetool|include|includeif|protocol|url"
    r"|http|remote|submodule|gpg|sendemail|uploadpack|core|init|safe|man|web|browser|sequence)\."
    r"(?!.*(?:abbrev|quotepath|autocrlf|excludesfile|filemode|ignorecase|editor=(?:true|:)|pager="
    r"(?:cat|less|)$|renames|algorithm|context|conflictstyle|ff|stat|colormoved|noprefix|"
    r"mnemonicprefix|defaultbranch|followredirects|longpaths|precomposeunicode))"
    r"|core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy)|\w+\.program|pager\."
)
PLAIN_GIT_SETTING = re.compile(
    r"(?i)(?:user|color|advice|column|log|status|blame|grep|push|pull|"
    r"branch|fetch|rebase|commit|format|i18n|gui|help|interactive|rerere|tag|stash|core\.(?:abbrev|"
    r"quotepath|autocrlf|filemode|ignorecase|whitespace|excludesfile|longpaths)|init\.defaultbranch|"
    r"merge\.(?:ff|conflictstyle)|diff\.(?:algorithm|renames|colormoved))"
)
VERSION = re.compile(r"(?:[\w-]+[/-])?v?\d+(?:\.\d+)+(?:[a-z-]+\d*)?")
"""A tag or a branch rather than a file: ``v1.2``, ``release-3.0rc1``."""


def _git(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    for name, value in arguments.options:
        if name in ("-c", "--config-env") and value is not None:
            _git_setting(judge, value.text, scene)
    words = list(arguments.words)
    model = model_of("git")
    assert model is not None
    at, _ = own_words(model, words, "git")
    rest = words[at:]
    match [word.text for word in rest[:2]]:
        case ["config", *_]:
            _git_config(judge, rest[1:], scene)
        case ["checkout", *_]:
            _git_checkout(judge, rest[1:])
        case ["submodule", "foreach"]:
            text = " ".join(word.text for word in rest[2:] if word.text != "--recursive")
            judge.text(text, scene.inner())
        case ["bisect", "run"]:
            if rest[2:]:
                judge.words(rest[2:], replace(command, words=rest[2:]), scene.inner())
        case ["rebase" | "filter-branch" | "difftool" | "grep" | "clone" | "fetch", *_]:
            pass
    for word in rest[1:]:
        if re.match(r"ext::|--upload-pack|--receive-pack|-u\b.*[;|&$`]", word.text):
            judge.add(Effect(f"runs a command: {word}", kind="runs"))


def _git_setting(judge: Judge, text: str, scene: Scene) -> None:
    name, _, value = text.partition("=")
    if RISKY_GIT_SETTING.match(text):
        judge.add(Effect(f"runs git with {name}, which may run a program", kind="runs"))
    if value.startswith("!"):
        judge.text(value[1:], scene.inner())


def _git_config(judge: Judge, words: list[Word], scene: Scene) -> None:
    texts = [word.text for word in words]
    operands = [t for t in texts if not t.startswith("-") and t not in ("set", "get", "list")]
    asks = {"--get", "--get-all", "--list", "-l", "--get-regexp", "get", "list", "--show-origin"}
    if asks.intersection(texts) or "unset" in texts:
        return
    if len(operands) > 1:
        if operands[1].startswith("!"):
            judge.text(operands[1][1:], scene.inner())
        setting = f"{operands[0]}={operands[1]}"
        plain = PLAIN_GIT_SETTING.match(setting) and not RISKY_GIT_SETTING.match(setting)
        scope = {"--global", "--system"}.intersection(texts)
        if not plain or scope:
            reason = f"changes git settings: {setting}"
            judge.add(Effect(reason, kind="persistence", targets=(operands[0],)))


def _git_checkout(judge: Judge, words: list[Word]) -> None:
    texts = [word.text for word in words]
    if {"-b", "--orphan", "--help", "-t", "--track"}.intersection(texts):
        return
    operands = [text for text in texts if not text.startswith("-")]
    files = [
        t
        for t in operands
        if (("." in t and not VERSION.fullmatch(t)) or "*" in t or t.startswith(":"))
        and not re.fullmatch(r"[\w/.-]+(?:[~^@]\S*)?", t.partition(".")[0] * ("." not in t))
    ]
    if "--" in texts or files or len(operands) > 1:
        what = " ".join(files or operands)
        judge.add(Effect(f"discards changes of {what}", kind="discards", targets=tuple(files)))


CHECKS: dict[str, Check] = {
    "git": _git,
}
