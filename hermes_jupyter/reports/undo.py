"""Undo, redo, restore, and the differences that turns made."""

from __future__ import annotations

import shlex
import sqlite3
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.redaction import redact
from hermes_jupyter.store.checkpoints import rows
from hermes_jupyter.store.checkpoints.planning import Step
from hermes_jupyter.store.checkpoints.rows import Change, Turn
from hermes_jupyter.store.checkpoints.states import State, content
from hermes_jupyter.store.checkpoints.undoing import name_of
from hermes_jupyter.undoable import Item
from hermes_jupyter.undoing import Taken, Taking, Undoing
from hermes_jupyter.views.differences import Difference, bundle_of, in_colour
from hermes_jupyter.views.sanitize import one_line
from hermes_jupyter.views.words import count
from tools.files import diffs
from tools.files.changes import Change as FileChange
from tools.files.problems import shown

FORCE, PREVIEW = "--force", "--preview"
SHOWN = 30
MOST_LISTED = 40
MOST_LINES = 400
MOST_CHARS = 40_000
"""Of the difference of one file."""
MOST_BYTES = 2 << 20
"""Larger files are not compared line by line."""
UNDOES = {"added": "removes", "changed": "puts back", "removed": "brings back"}


def undo(magics: Any, words: Sequence[str]) -> None:
    """``undo [N] [--force] [--preview]``: take back what a turn changed."""
    at, (named, flags) = _acting(magics), _read(words, most=1)
    turn = at.find(named[0]) if named else at.last()
    taking = magics.desktop.attend(lambda: at.plan(turn, force=FORCE in flags))
    _take(magics, at, taking, f"Undo of {_title(turn)}", flags)


def redo(magics: Any, words: Sequence[str]) -> None:
    """``redo [N] [--force] [--preview]``: take an undo back."""
    at, (named, flags) = _acting(magics), _read(words, most=1)
    turn = at.last_undo(*named)
    taking = magics.desktop.attend(lambda: at.plan(turn, force=FORCE in flags))
    _take(magics, at, taking, f"Redo of {_title(turn)}", flags)


def restore(magics: Any, words: Sequence[str]) -> None:
    """``restore N [PATH ...] [--force] [--preview]``: files as they were before turn N."""
    at, (named, flags) = _acting(magics), _read(words, most=len(words))
    if not named:
        raise ConfigurationError(
            "from which turn? %hermes restore N; %hermes checkpoints lists them"
        )
    turn = at.find(named[0])
    taking = at.plan_restore(turn, named[1:], force=FORCE in flags)
    _take(magics, at, taking, f"Files as before {_title(turn)}", flags)


def show_checkpoints(magics: Any, words: Sequence[str]) -> None:
    """The turns that changed something, oldest first."""
    at = _here(magics)
    turns = at.store.turns()
    for turn in turns[-SHOWN:]:
        print(_line(turn, at.items(turn)))
    if len(turns) > SHOWN:
        print(f"and {len(turns) - SHOWN} older ones")
    print(
        "%hermes diff N shows one, undo N takes it back, restore N also all that came after it"
        if turns
        else "No turn in this folder has changed anything that is known."
    )


def show_diff(magics: Any, words: Sequence[str]) -> None:
    """``diff [N]``: what a turn changed."""
    at, (named, _) = _here(magics), _read(words, most=1)
    turn = at.find(named[0]) if named else at.last()
    with at.store.database.read() as connection:
        found = [
            _difference(connection, each, name_of(each.path, at.root))
            for each in rows.changes(connection, turn.number)
            if not _is_folder(each)
        ]
    found += [
        _item_difference(kind, item) for kind, items in at.items(turn).items() for item in items
    ]
    title = f"What {_title(turn)} changed"
    if sys.stdout.isatty():
        print(in_colour(found, title, turn.notes))
    else:
        magics.display(bundle_of(found, title, turn.notes))


def _here(magics: Any) -> Undoing:
    hermes = magics.desktop.hermes
    return Undoing(hermes, hermes.session())


def _acting(magics: Any) -> Undoing:
    """The same, if no turn runs that might change files just now."""
    at = _here(magics)
    at.must_be_quiet()
    return at


def _read(words: Sequence[str], *, most: int) -> tuple[list[str], list[str]]:
    """What is named, and the options."""
    try:
        split = shlex.split(" ".join(words))
    except ValueError as error:
        raise ConfigurationError(f"a quote is not closed: {error}") from None
    flags = [word for word in split if word.startswith("--")]
    if unknown := [flag for flag in flags if flag not in (FORCE, PREVIEW)]:
        raise ConfigurationError(f"no option {unknown[0]!r}; there are {FORCE} and {PREVIEW}")
    named = [word for word in split if not word.startswith("--")]
    if len(named) > most:
        raise ConfigurationError(f"only one turn can be named, not {' '.join(named)!r}")
    return named, flags


def _take(magics: Any, at: Undoing, taking: Taking, title: str, flags: Sequence[str]) -> None:
    print(title)
    for line in (*_plan_lines(at, taking), *taking.turn.notes):
        print(f"  {line}")
    if PREVIEW in flags and not taking.is_nothing:
        print("Nothing was changed: this was a preview.")
    elif taking.is_nothing:
        if taking.is_whole and taking.files.kind == "undo" and PREVIEW not in flags:
            at.carry_out(taking)  # somebody else took it back: the one before it is the next
        print(_nothing(taking))
    else:
        taken = magics.desktop.attend(lambda: at.carry_out(taking))
        for line in _problem_lines(at, taking, taken):
            print(f"  {line}")
        print(f"{_summary(taking, taken)}{_hint(taking)}")


def _plan_lines(at: Undoing, taking: Taking) -> list[str]:
    steps = [step for step in taking.files.steps if step.verdict != "same"]
    lines = [_step_line(step, at.root) for step in steps if not _is_quiet(step)]
    lines += [_item_line(kind, item) for kind, items in taking.items.items() for item in items]
    left_out = len(lines) - MOST_LISTED
    return [*lines[:MOST_LISTED], *([f"… {left_out:,} more"] if left_out > 0 else [])]


def _is_quiet(step: Step) -> bool:
    """Folders come and go with their files."""
    return step.verdict == "do" and "folder" in (step.now.kind, step.wanted.kind)


def _step_line(step: Step, root: bytes) -> str:
    name = shown(name_of(step.path, root))
    if step.verdict != "do":
        return f"not {name}: {step.why}"
    if step.wanted.kind == "absent":
        return f"removes {name}"
    return f"{'brings back' if step.now.kind == 'absent' else 'puts back'} {name}"


def _item_line(kind: str, item: Item) -> str:
    name = one_line(redact(item.name), 80)
    return (
        f"not {kind} {name}: {item.problem}"
        if item.problem
        else f"{UNDOES[item.how]} {kind} {name}"
    )


def _problem_lines(at: Undoing, taking: Taking, taken: Taken) -> list[str]:
    """What was left although it was planned."""
    files = [
        f"left {shown(name_of(path, at.root))}: {why}" for path, why in taken.files.problems.items()
    ]
    known = {(kind, i.name) for kind, items in taking.items.items() for i in items if i.problem}
    return files + [
        f"left {kind} {one_line(redact(item.name), 80)}: {item.problem}"
        for kind, items in taken.items.items()
        for item in items
        if item.problem and (kind, item.name) not in known
    ]


def _summary(taking: Taking, taken: Taken) -> str:
    done = [step for step in taking.files.to_do if step.path not in taken.files.problems]
    files = sum(not _is_quiet(step) for step in done)
    counted = [count(files, "file")] if files else []
    for kind, items in taken.items.items():
        if number := sum(not item.problem for item in items):
            counted.append(count(number, kind))
    again = (
        "%hermes redo"
        if taking.files.kind == "undo" and taking.turn.kind != "undo"
        else "%hermes undo"
    )
    return f"Done: {', '.join(counted) or 'folders only'}. {again} takes this back."


def _nothing(taking: Taking) -> str:
    """Why nothing is done, and what to do instead."""
    if not taking.is_whole:
        return f"Nothing was changed.{_hint(taking)}"
    if taking.files.kind != "undo":
        return "Nothing to do: the files are as they were then."
    if taking.turn.kind == "undo":
        return "Nothing to do: all of it has been done again already."
    return (
        "Nothing to do: all of it was taken back already, in the notebook's page or by hand. "
        "The next %hermes undo takes back the turn before."
    )


def _hint(taking: Taking) -> str:
    conflict = any(step.verdict == "conflict" for step in taking.files.steps) or any(
        item.problem == "changed since" for items in taking.items.values() for item in items
    )
    if not conflict:
        return ""
    return f" {FORCE} also takes what is left; it is kept, too. Older turns: %hermes checkpoints."


def _title(turn: Turn) -> str:
    what = {"turn": "turn", "undo": "undo", "restore": "restore"}[turn.kind]
    at = datetime.fromtimestamp(turn.began)
    return f"{what} {turn.number} ({at:%Y-%m-%d %H:%M}, “{one_line(turn.title, 80)}”)"


def _line(turn: Turn, items: dict[str, list[Item]]) -> str:
    at = datetime.fromtimestamp(turn.began)
    counted = [count(turn.files, "file")] if turn.files else []
    counted += [count(len(each), kind) for kind, each in items.items()]
    what = (
        ""
        if turn.kind == "turn"
        else f"{turn.kind} {'of' if turn.kind == 'undo' else 'to'} {turn.undoes} "
    )
    state = f"  (undone by {turn.undone})" if turn.undone else ""
    notes = f"  ({'; '.join(turn.notes)})" if turn.notes else ""
    title = f"“{one_line(turn.title, 60)}”"
    return (
        f"{turn.number:>5}  {at:%Y-%m-%d %H:%M}  {', '.join(counted) or 'folders':<22}  "
        f"{what}{title}{state}{notes}"
    )


def _item_difference(kind: str, item: Item) -> Difference:
    how, text = [kind, item.how], ""
    if item.before != item.after:
        before, after = (
            f"{each}\n".encode() if each else None for each in (item.before, item.after)
        )
        text = _diff(item.name, before, after)
        added, removed = diffs.count_changes(text)
        how.append(f"+{added} −{removed}")
    return Difference(
        name=redact(item.name), how=" · ".join(filter(None, (*how, item.problem))), text=text
    )


def _is_folder(change: Change) -> bool:
    kinds = {change.was.kind, (change.now or change.was).kind}
    return kinds <= {"folder", "absent"}


def _difference(connection: sqlite3.Connection, change: Change, name: str) -> Difference:
    was, now = change.was, change.now or change.was
    how = [_how(was, now)]
    text = ""
    if was.digest != now.digest or was.kind != now.kind:
        before, after = (_content(connection, state) for state in (was, now))
        if max(was.size, now.size) > MOST_BYTES:
            how.append(f"{was.size:,} → {now.size:,} bytes")
        elif _is_missing(was, before) or _is_missing(now, after):
            how.append("the content was not kept")
        else:
            text = _diff(name, before, after)
            if text.startswith("Binary"):
                how.append(f"binary, {was.size:,} → {now.size:,} bytes")
                text = ""
            else:
                added, removed = diffs.count_changes(text)
                how.append(f"+{added} −{removed}")
    if was.kind == now.kind == "file" and was.mode != now.mode:
        how.append(f"mode {was.mode:o} → {now.mode:o}")
    return Difference(name=shown(name), how=" · ".join(how), text=text)


def _diff(name: str, before: bytes | None, after: bytes | None) -> str:
    text = redact(FileChange(path=name, before=before, after=after).diff(name))
    return diffs.capped(text, MOST_LINES, MOST_CHARS)


def _how(was: State, now: State) -> str:
    if was.kind == "absent":
        return "added" if now.kind == "file" else f"added {now.kind}"
    if now.kind == "absent":
        return "removed" if was.kind == "file" else f"removed {was.kind}"
    return "changed" if was.kind == now.kind else f"{was.kind} → {now.kind}"


def _content(connection: sqlite3.Connection, state: State) -> bytes | None:
    found = content(connection, state) if state.size <= MOST_BYTES else None
    return found + b"\n" if found is not None and state.kind == "link" else found


def _is_missing(state: State, found: bytes | None) -> bool:
    return state.kind in ("file", "link") and found is None
