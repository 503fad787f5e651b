"""The doors to the reader of Python: code of a script, and a cell of a notebook."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tools.safety.python_code.glance import is_harmless
from tools.safety.python_code.ipython import run_line
from tools.safety.python_code.ipython_text import as_python, is_python
from tools.safety.python_code.magics import AUTOMAGIC
from tools.safety.python_code.parsing import parsed
from tools.safety.python_code.reader import LONGEST, Reader, Tangled
from tools.safety.python_code.values import Value
from tools.safety.scene import Effect, Scene

REORDERS = re.compile(r"[\x00\x07\x08\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
"""Characters that make a text look other than it is."""
_LATIN = re.compile("[A-Za-z]")
_LOOKS_LATIN = re.compile("[\u0400-\u052f\u0531-\u0586]")
"""Letters of alphabets of which some look like Latin ones."""
_CODING = re.compile(
    r"(?:[ \t\f]*(?:#[^\n]*)?\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*"
    r"(?!(?i:utf[-_]?8(?:-sig)?|ascii|us-ascii|latin[-_]?1|iso-8859-(?:1|15)|cp1252)(?:[^-\w.]|$))[-\w.]"
)
"""A line by which Python reads the text in another encoding than ours."""
TOO_LONG = Effect("is too long or too nested to be judged")
_AUTOMAGIC = re.compile(r"\s*(?P<name>[A-Za-z_!]\w*)(?P<line>(?:[ \t]+(?![=(])[^\n]*)?)\s*$")


def effects_of_python(source: str, scene: Scene) -> list[Effect]:
    """What a script or ``python -c`` with this text would do.

    It judges the text alone, and has an effect for what it cannot read.
    """
    return _effects(source, Reader(scene))


def effects_of_cell(
    text: str, scene: Scene, known: Mapping[str, Value] | None = None
) -> list[Effect]:
    """What a cell of a notebook would do; ``known`` are variables that earlier cells made."""
    if len(text) > LONGEST:
        return [TOO_LONG]
    reader = Reader(scene, in_kernel=True, known=known)
    source = text if is_python(text) else as_python(text)
    automagic = _AUTOMAGIC.match(source) if source.strip().count("\n") == 0 else None
    if automagic and automagic.group("name") in AUTOMAGIC - reader.scopes[0].keys():
        try:
            run_line(automagic.group("name"), automagic.group("line").strip(), reader)
        except (Tangled, RecursionError, MemoryError):
            return [TOO_LONG]
        return [*_signs(text), *reader.effects]
    return _effects(source, reader)


def _signs(text: str) -> list[Effect]:
    if text.isascii() and text.isprintable():
        return []
    effects = []
    if REORDERS.search(text):
        effects.append(Effect("contains characters that make it look other than it is"))
    return effects


def _effects(source: str, reader: Reader) -> list[Effect]:
    if len(source) > LONGEST or reader.scene.depth > 8:
        return [TOO_LONG]
    if _CODING.match(source):
        return [Effect("is written in an encoding in which it reads otherwise", kind="hidden")]
    if is_harmless(source, reader.scene, reader.scopes[0]):
        return []
    effects = _signs(source)
    try:
        reader.block(parsed(source).body)
    except (SyntaxError, ValueError) as error:
        why = TOO_LONG.reason if isinstance(error, Tangled) else "cannot be read as Python"
        effects.append(Effect(why))
    except (RecursionError, MemoryError):
        effects.append(TOO_LONG)
    if reader.copies_of_environment:
        effects.append(Effect("reads the whole environment, which may hold secrets"))
    if not source.isascii() and _mixes_alphabets(source):
        effects.append(Effect("uses a name with unusual letters"))
    return list(dict.fromkeys([*effects, *reader.effects, *reader.definitions]))


def _mixes_alphabets(source: str) -> bool:
    """Is there a name that looks like another one?"""
    names = re.findall(r"\w+", re.sub(r"#[^\n]*|'[^'\n]*'|\"[^\"\n]*\"", "", source))
    return any(_LOOKS_LATIN.search(name) and _LATIN.search(name) for name in names)
