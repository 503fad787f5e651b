"""The reports on what the agent remembers and what it knows how to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.redaction import redact
from hermes_jupyter.store.memory import FILES, TITLES, Change, MemoryProblem
from hermes_jupyter.store.skills import SkillProblem
from hermes_jupyter.views.sanitize import clean


def show_memory(magics: Any, words: Sequence[str]) -> None:
    """All that is remembered, with ids; ``forget ID`` removes an entry."""
    memory = magics.desktop.hermes.session().memory
    if words:
        if len(words) != 2 or words[0] != "forget":
            raise ConfigurationError("say %hermes memory, or %hermes memory forget ID")
        _forget(memory, words[1])
        return
    for target in FILES:
        try:
            entries = memory.entries(target)
        except MemoryProblem as problem:
            print(f"⚠ {problem}")
            continue
        print(f"{TITLES[target]} ({memory.path(target)}): {memory.usage(target, entries)}")
        for entry in entries:
            text = clean(redact(entry.text)).replace("\n", "\n            ")
            print(f"  {entry.id}  {text}" + (f"  ({entry.written})" if entry.written else ""))
    print(
        "The agent reads this from its next conversation on. %hermes memory forget ID removes one."
    )


def _forget(memory: Any, entry_id: str) -> None:
    for target in FILES:
        found = [entry for entry in memory.entries(target) if entry.id == entry_id]
        if found:
            memory.change(target, [Change("remove", old=entry_id)])
            print(f"forgotten: {clean(redact(found[0].text))}")
            return
    raise ConfigurationError(
        f"nothing remembered has the id {entry_id!r}; %hermes memory shows them"
    )


def show_skills(magics: Any, words: Sequence[str]) -> None:
    """All skills; with a name, the text of that one."""
    skills = magics.desktop.hermes.session().skills
    if words:
        try:
            print(clean(skills.text(skills.get(words[0]))))
        except SkillProblem as problem:
            raise ConfigurationError(str(problem)) from None
        return
    found = skills.all()
    for skill in found:
        name = f"{skill.category}/{skill.name}" if skill.category else skill.name
        missing = [*skill.missing_commands, *skill.missing_variables]
        needs = f"  (needs {', '.join(missing)})" if missing else ""
        print(f"{name:<32} {clean(' '.join(skill.description.split()))[:100]}{needs}")
    print(f"{len(found)} skills in {skills.root}" if found else f"no skills yet in {skills.root}")
