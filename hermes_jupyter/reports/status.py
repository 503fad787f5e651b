"""Reports on the kernel's agent as a whole: settings, model, health."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hermes_jupyter import __version__
from hermes_jupyter.agent.models.choice import LOCAL, is_local, profile_of
from hermes_jupyter.agent.models.local import installed
from hermes_jupyter.agent.profiles import FULL
from hermes_jupyter.doctor import examine
from hermes_jupyter.errors import ConfigurationError, ModelError
from hermes_jupyter.model_settings import LEASED
from hermes_jupyter.protection import containment_of
from hermes_jupyter.redaction import redact
from hermes_jupyter.reports.help import HELP
from hermes_jupyter.reports.sessions import messages_of
from hermes_jupyter.reports.terminal import where_of
from hermes_jupyter.surroundings import cell_of_turn, reach
from tools.environments.containment import report


def show_help(magics: Any, _words: Sequence[str]) -> None:
    print(HELP)


def show_status(magics: Any, _words: Sequence[str]) -> None:
    hermes = magics.desktop.hermes
    settings, session = hermes.settings, hermes.session()
    offered = hermes.offered(settings)
    usable = sum(available.ok for _, available in offered)
    rung = magics.desktop.ladder(settings).rung(cell_of_turn(set(), waits=True))
    where = where_of(session)
    print(f"model      {redact(model_line(settings))}{redact(_spares(settings))}")
    print(f"session    {session.name} ({session.id}), {messages_of(session)} messages, in {where}")
    print(f"tools      {usable} of {len(offered)} usable    (%hermes tools --why)")
    print(f"approvals  {settings.approvals}{redact(_rules(settings))}")
    print(f"asks with  {rung.title}: {rung.why}")
    print(f"contained  {_containment(hermes)}")
    print(f"cells      {redact(reach())}")
    print(f"running    {_running(magics.desktop)}")
    if again := _again(settings):
        print(f"turns are  {again}")
    print(f"stored in  {settings.home / 'jupyter'}")
    for found in hermes.discovered:
        if not found.ok:
            print(f"⚠ tool file {found.path} could not be loaded: {redact(str(found.reason))}")


def _running(desktop: Any) -> str:
    names = [turn.session.name for turn in desktop.running]
    behind = len(desktop.background.running())
    more = f"; {behind} in the background (%hermes jobs)" if behind else ""
    return f"{', '.join(names) or 'nothing'}{more}"


def _again(settings: Any) -> str:
    """What happens to turns beside that they are asked."""
    replays = {
        "record": "made again from their recordings; no model and no tool is asked",
        "tools": "made again from their recordings, their tools run again",
    }
    return replays.get(settings.replay, "recorded" if settings.record else "")


def choose_model(magics: Any, words: Sequence[str]) -> None:
    if words and words[0].startswith("--"):
        words = _choose_place(magics, words)
    magics.desktop.server_models.ready(magics.desktop.hermes.plain_settings)
    if words:
        before, magics.model = magics.model, words[0]
        try:
            magics.desktop.hermes.model(magics.desktop.hermes.settings)
        except ModelError as error:
            magics.model = before
            raise ModelError(f"{error}. The model stays as it was.", kind=error.kind) from None
    print(f"model: {redact(model_line(magics.desktop.hermes.settings))}")
    if not words:
        print(
            "Connect another: set OPENAI_API_KEY (and OPENAI_BASE_URL) before the kernel starts,\n"
            "or %config Hermes.base_url = 'http://127.0.0.1:11434/v1', then %hermes model NAME."
        )


def _choose_place(magics: Any, words: Sequence[str]) -> Sequence[str]:
    """Who is asked for models: the Jupyter server, or as the settings say. The rest: a name."""
    option, *rest = words
    desktop = magics.desktop
    if option == "--direct" and not rest:
        desktop.server_models.leave()
        return rest
    if option != "--via-server" or len(rest) > 1:
        raise ConfigurationError("%hermes model [NAME], --via-server [NAME], or --direct")
    offered = desktop.server_models.use(desktop.hermes.plain_settings)
    if rest and rest[0] not in offered:
        desktop.server_models.leave()
        raise ModelError(
            f"the server does not offer {rest[0]!r}, but {', '.join(offered)}", kind="not_found"
        )
    if not rest and magics.model not in offered:
        magics.model = ""
    print(f"The server has the key; it offers {', '.join(offered)}.")
    return rest


def doctor(magics: Any, words: Sequence[str]) -> None:
    """``--ask`` tries the prompt, too, which needs the person."""
    if words not in ([], ["--ask"]):
        raise ConfigurationError(f"%hermes doctor takes --ask, not {' '.join(words)!r}")
    for check in examine(magics.desktop, ask=bool(words)):
        print(f"{check.sign} {check.name:<14} {redact(check.text)}")


def show_version(magics: Any, _words: Sequence[str]) -> None:
    print(f"hermes-jupyter {__version__}")


def model_line(settings: Any) -> str:
    """Which model answers, and where it is."""
    if settings.via_server and not settings.has_endpoint:
        return f"{settings.model or 'the first of the server'}, through the Jupyter server"
    if is_local(settings.model, settings):
        named = "" if settings.model == LOCAL else settings.model
        return f"{named or settings.local_model or installed() or 'none'} (on this machine)"
    name = settings.model or "the endpoint's default"
    if settings.api_key.startswith(LEASED):
        return f"{name} through the Jupyter server"
    helped = "" if profile_of(settings) == FULL else ", helped as a small model"
    return f"{name} at {settings.base_url or settings.provider or 'api.openai.com'}{helped}"


def _spares(settings: Any) -> str:
    """The models that are asked when the first fails."""
    names = [choice.model or choice.provider for choice in settings.fallback_models]
    return f", then {', '.join(names)}" if names else ""


def _containment(hermes: Any) -> str:
    project = hermes.session().project
    holds, said = report(containment_of(hermes.settings, project), project)
    return said if holds else f"⚠ {said}"


def _rules(settings: Any) -> str:
    parts = []
    if settings.allow:
        parts.append(f"{len(settings.allow)} allowed by rule")
    if settings.ask:
        parts.append(f"{len(settings.ask)} asked by rule")
    if settings.deny:
        parts.append(f"{len(settings.deny)} denied by rule")
    return f"  ({', '.join(parts)})" if parts else ""
