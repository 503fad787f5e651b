"""Reports on tools: what there is, what is missing and why, and what a tool takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from hermes_jupyter.agent.names import resolve_name
from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.one_call import unknown
from hermes_jupyter.reports.schemas import schema_text
from hermes_jupyter.switched_off import switched_off
from hermes_jupyter.views.sanitize import clean, one_line
from tools.availability import Availability
from tools.entry import ToolEntry
from tools.toolsets import TOOLSETS

ABOUT_CHARS = 76


def show_tools(magics: Any, words: Sequence[str]) -> None:
    hermes = magics.desktop.hermes
    match list(words):
        case []:
            print("\n".join(_listing(hermes)))
        case ["--why"]:
            print("\n".join(_missing(hermes)))
        case ["--schema", name]:
            print(_schema(hermes, name))
        case ["--schema"]:
            raise ConfigurationError(
                "--schema needs the name of a tool: %hermes tools --schema NAME"
            )
        case _:
            wrong = " ".join(words)
            raise ConfigurationError(f"%hermes tools takes --why or --schema NAME, not {wrong!r}")


def _listing(hermes: Any) -> Iterator[str]:
    """The tools that can be used, by toolset."""
    offered = hermes.offered(hermes.settings, hermes.session())
    usable = [entry for entry, available in offered if available.ok]
    width = min(24, max((len(entry.name) for entry in usable), default=0))
    usable.sort(key=lambda entry: (entry.toolset, entry.name))
    for toolset, entries in groupby(usable, key=lambda entry: entry.toolset):
        about = TOOLSETS[toolset].description if toolset in TOOLSETS else ""
        yield f"{one_line(toolset, 60)}{f': {about}' if about else ''}"
        for entry in entries:
            yield _line(entry, width)
    if not usable:
        yield "The agent has no tools."
    missing = len(offered) - len(usable)
    off = len(switched_off(hermes, hermes.settings, hermes.session()))
    rest = [(missing, "not usable now"), (off, "switched off")]
    counts = "".join(f", {number} {what}" for number, what in rest if number)
    yield f"\n{len(usable)} usable{counts}."
    yield "Why: %hermes tools --why    What one takes: %hermes tools --schema NAME"


def _line(entry: ToolEntry, width: int) -> str:
    first = entry.description.strip().split("\n")[0].split(". ")[0].rstrip(".")
    about = one_line(first, ABOUT_CHARS)
    return f"  {clean(entry.emoji)} {one_line(entry.name, 64):<{width}}  {about}".rstrip()


def _missing(hermes: Any) -> Iterator[str]:
    """What an agent could have and has not, with the reason and the remedy."""
    settings, session = hermes.settings, hermes.session()
    offered = hermes.offered(settings, session)
    broken = [
        (entry.name, available) for entry, available in offered if not available.ok
    ]  # fmt: skip
    off = switched_off(hermes, settings, session)
    files = [found for found in hermes.discovered if not found.ok]
    sections: list[tuple[str, Iterable[Any], Callable[[Any], str]]] = [
        ("Cannot be used now:", broken, _unavailable),
        ("Switched off:", off, lambda each: f"○ {each.tool:<16} {each.reason}; {each.remedy}"),
        ("Tool files that could not be loaded:", files,
         lambda found: f"⚠ {found.path}: {one_line(found.reason, 500)}"),
        ("Replaced:", hermes.registry.overrides, lambda each: f"↷ {one_line(str(each), 500)}"),
    ]  # fmt: skip
    if not any(items for _, items, _ in sections):
        yield f"Nothing is missing: all {len(offered)} tools can be used."
    for number, (title, items, line) in enumerate(each for each in sections if each[1]):
        yield f"{chr(10) if number else ''}{title}"
        yield from map(line, items)


def _unavailable(missing: tuple[str, Availability]) -> str:
    name, available = missing
    remedy = f"; {one_line(available.remedy, 300)}" if available.remedy else ""
    return f"✗ {name:<16} {one_line(available.reason, 500)}{remedy}"


def _schema(hermes: Any, name: str) -> str:
    hermes.look_for_tools()
    there = hermes.catalog(hermes.session())
    found = resolve_name(name, there.names)
    entry = there.get_entry(found) if found else None
    if entry is None:
        raise ConfigurationError(unknown(name, there))
    return schema_text(entry)
