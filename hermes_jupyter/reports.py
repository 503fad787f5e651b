"""What the ``%hermes`` subcommands print."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hermes_jupyter import __version__
from hermes_jupyter.agent.models.choice import LOCAL, is_local
from hermes_jupyter.agent.models.local import installed
from hermes_jupyter.doctor import examine
from hermes_jupyter.errors import ConfigurationError, ModelError
from hermes_jupyter.kernel.shell import current_kernel
from hermes_jupyter.magics import HELP
from tools.registry import DEFAULT_EMOJI


def show_help(magics: Any, _words: Sequence[str]) -> None:
    print(HELP)


def show_status(magics: Any, _words: Sequence[str]) -> None:
    hermes = magics.desktop.hermes
    settings, session = hermes.settings, hermes.session()
    offered = hermes.offered(settings)
    usable = sum(available.ok for _, available in offered)
    running = [turn.session.name for turn in magics.desktop.running]
    print(f"model      {_model_line(settings)}")
    print(f"session    {session.name}, {_messages(session)} messages, in {session.environment.cwd}")
    print(f"tools      {usable} of {len(offered)} usable    (%hermes tools --why)")
    print(f"approvals  {settings.approvals}{_rules(settings)}")
    print(f"running    {', '.join(running) or 'nothing'}")
    print(f"stored in  {settings.home / 'jupyter'}")
    for found in hermes.discovered:
        if not found.ok:
            print(f"⚠ tool file {found.path} could not be loaded: {found.reason}")


def _model_line(settings: Any) -> str:
    if is_local(settings.model, settings):
        named = "" if settings.model == LOCAL else settings.model
        return f"{named or settings.local_model or installed() or 'none'} (on this machine)"
    name = settings.model or "the endpoint's default"
    return f"{name} at {settings.base_url or 'api.openai.com'}"


def _messages(session: Any) -> int:
    return sum(message["role"] != "system" for message in session.transcript)


def _rules(settings: Any) -> str:
    parts = []
    if settings.allow:
        parts.append(f"{len(settings.allow)} allowed by rule")
    if settings.deny:
        parts.append(f"{len(settings.deny)} denied by rule")
    return f"  ({', '.join(parts)})" if parts else ""


def show_tools(magics: Any, words: Sequence[str]) -> None:
    if words and words[0] != "--why":
        raise ConfigurationError(f"%hermes tools takes --why, not {words[0]!r}")
    hermes = magics.desktop.hermes
    for entry, available in hermes.offered(hermes.settings):
        if available.ok:
            about = entry.description.split(". ")[0].rstrip(".")
            print(f"{entry.emoji or DEFAULT_EMOJI} {entry.name:<16} {about[:90]}")
        elif words:
            remedy = f"; {available.remedy}" if available.remedy else ""
            print(f"✗ {entry.name:<17} {available.reason}{remedy}")
    if not words:
        print("\nWhat is missing, and why: %hermes tools --why")


def choose_model(magics: Any, words: Sequence[str]) -> None:
    if words:
        before, magics.model = magics.model, words[0]
        try:
            magics.desktop.hermes.model(magics.desktop.hermes.settings)
        except ModelError as error:
            magics.model = before
            raise ModelError(f"{error}. The model stays as it was.", kind=error.kind) from None
    print(f"model: {_model_line(magics.desktop.hermes.settings)}")
    if not words:
        print(
            "Connect another: set OPENAI_API_KEY (and OPENAI_BASE_URL) before the kernel starts,\n"
            "or %config Hermes.base_url = 'http://127.0.0.1:11434/v1', then %hermes model NAME."
        )


def new_session(magics: Any, words: Sequence[str]) -> None:
    session = magics.desktop.hermes.new_session(*words)
    magics.desktop.hermes.current = session.name
    print(f"A new conversation: {session.name}")


def list_sessions(magics: Any, _words: Sequence[str]) -> None:
    hermes = magics.desktop.hermes
    hermes.session()
    for session in hermes.sessions():
        mark = "*" if session.name == hermes.current else " "
        state = "  (busy)" if session.busy else ""
        print(f"{mark} {session.name}  {_messages(session)} messages{state}")


def attach(magics: Any, _words: Sequence[str]) -> None:
    kernel = current_kernel()
    parent = kernel.get_parent("shell") if kernel is not None else None
    if not magics.desktop.attach(parent):
        print("No turn is running. The last one: %hermes last")


def stop(magics: Any, _words: Sequence[str]) -> None:
    print("Stopping." if magics.desktop.stop() else "No turn is running.")


def show_last(magics: Any, _words: Sequence[str]) -> None:
    if magics.desktop.last is None:
        print("There is no turn yet.")
    else:
        magics.display(magics.desktop.last.bundle())


def show_usage(magics: Any, _words: Sequence[str]) -> None:
    for session in magics.desktop.hermes.sessions():
        usage = session.usage
        print(
            f"{session.name}: {usage.prompt_tokens:,} tokens read "
            f"({usage.cached_tokens:,} from the cache), {usage.completion_tokens:,} written, "
            f"{usage.model_calls} model calls"
        )


def doctor(magics: Any, _words: Sequence[str]) -> None:
    for check in examine(magics.desktop):
        print(f"{'✓' if check.ok else '✗'} {check.name:<14} {check.text}")


def show_version(magics: Any, _words: Sequence[str]) -> None:
    print(f"hermes-jupyter {__version__}")


COMMANDS: dict[str, Callable[[Any, Sequence[str]], None]] = {
    "help": show_help,
    "status": show_status,
    "tools": show_tools,
    "model": choose_model,
    "new": new_session,
    "reset": new_session,
    "list": list_sessions,
    "attach": attach,
    "stop": stop,
    "last": show_last,
    "usage": show_usage,
    "doctor": doctor,
    "version": show_version,
}
