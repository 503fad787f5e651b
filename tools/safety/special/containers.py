"""What runs in a container or a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.safety.arguments import Arguments
from tools.safety.effect import Effect
from tools.safety.launching import Check, language_of, own_words
from tools.safety.models import model_of
from tools.safety.scene import Scene, program_name
from tools.safety.shell.values import Command, Word

if TYPE_CHECKING:
    from tools.safety.judge import Judge


def _docker(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    """What runs in a container, with the folders of this host that are mounted into it."""
    words = list(arguments.words)
    model = model_of("docker")
    assert model is not None
    at, _ = own_words(model, words, "docker")
    rest = words[at:]
    if rest and rest[0].text == "compose":
        at, _ = own_words(model, rest[1:], "docker")
        rest = rest[1 + at :]
    elif rest and rest[0].text == "container":
        rest = rest[1:]
    if not rest or rest[0].text not in ("exec", "run"):
        return
    at, _ = own_words(model, rest[1:], "docker")
    own, inner = rest[1 : 1 + at], rest[2 + at :]
    if not inner:
        return
    _lone_shell(judge, inner)
    inside = scene.inner()
    inside.elsewhere, inside.cwd = True, "/…"
    mounts = Arguments(own, model.values, long_dash=False)
    pairs = [v.text.split(":")[:2] for n, v in mounts.options if v and n in ("-v", "--volume")]
    mapped = [_mounted(w, [(a, b) for a, b in filter(lambda p: len(p) == 2, pairs)]) for w in inner]
    throwaway = rest[0].text == "run" and mapped == inner
    before = set(judge.effects)
    judge.words(mapped, Command(mapped, {}, command.redirections, command.upstream), inside)
    if throwaway:  # nothing of this host, nor of a container that lasts
        for effect in [e for e in judge.effects if e not in before and e.forbidden]:
            del judge.effects[effect]


def _mounted(word: Word, mounts: list[tuple[str, str]]) -> Word:
    for here, there in mounts:
        if word.text == there or word.text.startswith(there.rstrip("/") + "/"):
            return word._replace(text=(here.rstrip("/") + word.text[len(there) :]) or "/")
    return word


def _lone_shell(judge: Judge, words: list[Word]) -> None:
    if len(words) == 1 and language_of(program_name(words[0].text)):
        judge.add(Effect("opens a shell in a container", kind="containers"))


def _kubectl(judge: Judge, arguments: Arguments, command: Command, scene: Scene) -> None:
    words = list(arguments.words)
    texts = [w.text for w in words]
    if "exec" in texts and "--" in texts:
        rest = words[texts.index("--") + 1 :]
        inside = scene.inner()
        inside.elsewhere, inside.cwd = True, "/…"
        if rest:
            _lone_shell(judge, rest)
            judge.words(rest, Command(rest, {}, command.redirections, command.upstream), inside)
    elif "exec" in texts:
        judge.add(Effect("runs a program in a container", kind="containers"))
    shows = {"secret", "secrets"}.intersection(texts) and {"get", "describe"}.intersection(texts)
    if shows and any(text.startswith(("-o", "--output", "--template")) for text in texts):
        judge.add(Effect("shows secrets of the cluster", kind="secrets"))


CHECKS: dict[str, Check] = {
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose"), _docker),
    **dict.fromkeys(("kubectl", "oc"), _kubectl),
}
