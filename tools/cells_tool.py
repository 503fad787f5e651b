"""Read and change the cells of the notebook that the turn belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from tools.cells import (
    KINDS,
    MISSING,
    NEEDS_PAGE,
    Cell,
    CellProblem,
    NotebookCells,
    Spot,
    cells_of,
    find,
    name_of,
)
from tools.files import arguments, diffs
from tools.files.hidden import resolved
from tools.files.problems import Problem
from tools.live import is_there
from tools.registry import registry, tool_error, tool_result
from tools.safety import Effect, Objection
from tools.secrets.placeholders import masked, secrets_of

MAX_SOURCE = 6_000
OUTLINE_CHARS = 100
FEW = 30
"""Of more cells those far from the agent's own are told by their first line."""
MANY = 3
"""Only a person lets so many cells go at once, empty ones, too."""
SHOWN_LINES = 200
SHOWN_CHARS = 20_000
PLACES = {
    "after": {"type": "string", "description": "Id of the cell it goes behind."},
    "before": {"type": "string", "description": "Id of the cell it goes before."},
}
CELL = {"type": "string", "description": "Id of the cell, as read_cells gives it."}


def _schema(
    name: str, description: str, properties: Mapping[str, Any], required: Sequence[str] = ()
) -> dict[str, Any]:
    parameters = {"type": "object", "properties": dict(properties), "required": list(required)}
    return {"name": name, "description": description, "parameters": parameters}


READ = _schema(
    "read_cells",
    "Read the cells of the user's notebook: ids, texts, outputs in short. The ids are needed to "
    "change cells. Without arguments all cells; of a long notebook those near yours in full.",
    {
        "cells": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Ids of the cells to read in full.",
        }
    },
)
INSERT = _schema(
    "insert_cell",
    "Insert a cell into the user's notebook, below yours unless you say where. It is not run.",
    {
        "source": {"type": "string", "description": "Its text."},
        "type": {"type": "string", "enum": list(KINDS), "default": "code"},
        **PLACES,
    },
    ["source"],
)
EDIT = _schema(
    "edit_cell",
    "Replace the text of a cell. The user sees the difference and can undo it.",
    {"cell": CELL, "source": {"type": "string", "description": "The whole new text."}},
    ["cell", "source"],
)
MOVE = _schema("move_cell", "Move a cell to another place.", {"cell": CELL, **PLACES}, ["cell"])
DELETE = _schema(
    "delete_cell",
    "Delete cells. The user is asked.",
    {"cells": {"type": "array", "items": {"type": "string"}, "minItems": 1}},
    ["cells"],
)

Handler = Callable[..., str]


def _handler(work: Callable[..., dict[str, Any]]) -> Handler:
    """Give it the cells; problems become answers, secrets are masked."""

    @wraps(work)
    def handle(args: dict[str, Any], **context: Any) -> str:
        there = cells_of(context)
        if there is None:
            return tool_error(MISSING)
        if (checkpoint := context.get("checkpoint")) is not None:
            there.tell(checkpoint)
        try:
            answer = work(args, there, context)
        except (CellProblem, Problem) as problem:
            return tool_error(str(problem))
        return tool_result(masked(answer, secrets_of(context)))

    return handle


@_handler
def read_cells(args: dict[str, Any], there: NotebookCells, _: Mapping[str, Any]) -> dict[str, Any]:
    cells = there.read()
    if wanted := args.get("cells"):
        return {"cells": [_whole(find(cells, str(name))) for name in wanted]}
    near = _near(cells)
    told = [_whole(cell) if place in near else _outline(cell) for place, cell in enumerate(cells)]
    answer: dict[str, Any] = {"cells": told, "count": len(cells)}
    if len(near) < len(cells):
        answer["note"] = "Cells far from yours have only their first line: read them by id."
    if not there.can_edit:
        answer["note_on_edits"] = there.can_insert or NO_PAGE
    return answer


NO_PAGE = (
    "No page is connected: this is the notebook as it was saved and run. Cells can be inserted "
    "below yours (at the end of the turn), but not changed."
)
APPEARS = "It appears below your cell, or as the user's next input, when your turn has ended."


def _near(cells: Sequence[Cell]) -> range:
    own = next((place for place, cell in enumerate(cells) if cell.is_agents), len(cells))
    start = max(0, min(own - FEW * 2 // 3, len(cells) - FEW))
    return range(start, min(len(cells), start + FEW))


def _about(cell: Cell) -> dict[str, Any]:
    about: dict[str, Any] = {"id": cell.id, "type": cell.kind}
    if cell.number:
        about["run"] = cell.number
    if cell.is_agents:
        about["yours"] = True
    return about


def _whole(cell: Cell) -> dict[str, Any]:
    about = {**_about(cell), "source": diffs.capped(cell.source, 500, MAX_SOURCE)}
    return {**about, "output": cell.output} if cell.output else about


def _outline(cell: Cell) -> dict[str, Any]:
    first, _, rest = cell.source.strip().partition("\n")
    lines = rest.count("\n") + 2 if rest else 1
    return {**_about(cell), "first_line": first[:OUTLINE_CHARS], "lines": lines}


@_handler
def insert_cell(
    args: dict[str, Any], there: NotebookCells, context: Mapping[str, Any]
) -> dict[str, Any]:
    source = _source(args, "", context)
    kind: Any = arguments.choice({"type": "code", **args}, "type", KINDS)
    cell = there.insert(source, kind, _spot(args, there))
    if cell is None:
        if tell := context.get("on_details"):
            tell(source)  # not every front end does what it is asked for: here it can be copied
        return {"inserted": True, "note": APPEARS}
    return {"inserted": True, "cell": _about(cell)}


@_handler
def edit_cell(
    args: dict[str, Any], there: NotebookCells, context: Mapping[str, Any]
) -> dict[str, Any]:
    cell = _cell(args, there)
    source = _source(args, cell.source, context)
    if cell.source == source:
        raise CellProblem("the cell has this text already")
    edited = there.edit(cell.id, source, cell.digest)
    diff = diffs.unified_diff(f"{cell.source}\n", f"{edited.source}\n", "before", "after")
    return {"edited": True, "cell": _about(edited), "diff": diffs.capped(diff, 400, MAX_SOURCE)}


@_handler
def move_cell(args: dict[str, Any], there: NotebookCells, _: Mapping[str, Any]) -> dict[str, Any]:
    _must_edit(there)
    spot = _spot(args, there)
    if spot is None:
        raise CellProblem("say where it goes: after or before, with the id of a cell")
    cell = _cell(args, there)
    if cell.id == spot.cell:
        raise CellProblem("a cell cannot be moved next to itself")
    order = [each.id for each in there.move(cell.id, spot)]
    return {"moved": True, "order": order[:200]}


@_handler
def delete_cell(args: dict[str, Any], there: NotebookCells, _: Mapping[str, Any]) -> dict[str, Any]:
    cells = _wanted(args, there)
    left = there.delete({cell.id: cell.digest for cell in cells})
    return {"deleted": [cell.id for cell in cells], "left": len(left)}


def _source(args: Mapping[str, Any], like: str, context: Mapping[str, Any]) -> str:
    """The text that is asked for, with the secrets that stand in ``like``."""
    text = arguments.text(args, "source").replace("\r\n", "\n")
    return resolved(text, like, secrets_of(context))


def _cell(args: Mapping[str, Any], there: NotebookCells) -> Cell:
    _must_edit(there)
    return find(there.read(), arguments.text(args, "cell"))


def _must_edit(there: NotebookCells) -> None:
    if not there.can_edit:
        raise CellProblem(NEEDS_PAGE)


def _wanted(args: Mapping[str, Any], there: NotebookCells) -> list[Cell]:
    _must_edit(there)
    cells = there.read()
    found = {cell.id: cell for cell in (find(cells, str(name)) for name in args["cells"])}
    if any(cell.is_agents for cell in found.values()):
        raise CellProblem("your own cell is running and cannot be deleted")
    return list(found.values())


def _spot(args: Mapping[str, Any], there: NotebookCells) -> Spot | None:
    after, before = (arguments.text(args, name, "") for name in ("after", "before"))
    if after and before:
        raise CellProblem("give after or before, not both")
    if not after and not before:
        return None
    return Spot(find(there.read(), after or before).id, before=bool(before))


# Guards


def edit_objection(args: Mapping[str, Any], **context: Any) -> Objection | None:
    """A cell of the user's is replaced: they see how."""
    there = cells_of(context)
    if there is None:
        return None
    try:
        cell = _cell(args, there)
    except (CellProblem, Problem):
        return None  # the handler says so
    name = _name(cell)
    diff = diffs.unified_diff(
        f"{cell.source}\n", f"{arguments.text(args, 'source', '')}\n", name, name
    )
    if not diff or not cell.source.strip():
        return None
    added, removed = diffs.count_changes(diff)
    reason = f"changes {name} (+{added} −{removed})"
    return Objection(
        reason,
        diffs.capped(diff, SHOWN_LINES, SHOWN_CHARS),
        "changes to this cell in this session",
        effects=(Effect(reason, kind="cell_write", targets=(cell.id,)),),
    )


def delete_objection(args: Mapping[str, Any], **context: Any) -> Objection | None:
    """Cells with text in them go."""
    there = cells_of(context)
    if there is None:
        return None
    try:
        cells = _wanted(args, there)
    except (CellProblem, Problem):
        return None
    is_bulk = len(cells) >= MANY
    filled = [cell for cell in cells if cell.source.strip() or cell.output]
    if not filled and not is_bulk:
        return None
    what = _name(cells[0]) if len(cells) == 1 else f"{len(cells)} cells"
    shown = "\n\n".join(f"# {_name(cell)}\n{cell.source}" for cell in filled)
    ids = tuple(cell.id for cell in cells)
    return Objection(
        f"deletes {what}",
        diffs.capped(shown or "All of them are empty.", SHOWN_LINES, SHOWN_CHARS),
        "deleting exactly these cells",
        firm=is_bulk,
        effects=(Effect(f"deletes {what}", kind="cell_delete", targets=ids),),
    )


def _name(cell: Cell) -> str:
    """For a reason: several of them are told apart by a semicolon and a space."""
    return f"cell {name_of(cell.source, cell.number)}".replace("; ", ";")


def about(args: Mapping[str, Any], **context: Any) -> str:
    """The cells of a call as a person knows them, not by their ids."""
    there = cells_of(context)
    names = there.names if there else {}

    def name(cell: Any) -> str:
        near = [told for each, told in names.items() if len(cell) >= 4 and each.startswith(cell)]
        return names.get(cell) or (near[0] if len(near) == 1 else str(cell))

    given = args.get("cells", [])
    cells = [args["cell"]] if "cell" in args else given if isinstance(given, list) else [given]
    what = ", ".join(name(str(cell)) for cell in cells[:MANY])
    if len(cells) > MANY:
        what += f" and {len(cells) - MANY} more"
    if not cells and "source" in args:
        what = name_of(str(args["source"]))
    places = [f"{where} {name(str(args[where]))}" for where in PLACES if args.get(where)]
    return " ".join([what, *places])


def _nothing(_: Mapping[str, Any]) -> list[str]:
    """Cells are read beside anything; what changes them runs alone, as it says no resources."""
    return []


for schema, handler, emoji, effects, guard in (
    (READ, read_cells, "📖", "read", None),
    (INSERT, insert_cell, "➕", "write", None),
    (EDIT, edit_cell, "✏️", "write", edit_objection),
    (MOVE, move_cell, "↕️", "write", None),
    (DELETE, delete_cell, "🗑️", "write", delete_objection),
):
    registry.register(
        name=str(schema["name"]),
        toolset="cells",
        schema=schema,
        handler=handler,
        emoji=emoji,
        check_fn=is_there,
        guard_fn=guard,
        effects=effects,
        resources=_nothing if effects == "read" else None,
        works_in="kernel",
        about_fn=about,
    )
