"""``%hermes fix``"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hermes_jupyter.errors import TurnError

if TYPE_CHECKING:
    from hermes_jupyter.kernel.failures import Failure
    from hermes_jupyter.kernel.ran_cells import RanCells

PROPOSED = "The corrected cell stands below; run it in place of [{number}]."


def fix(magics: Any, words: Sequence[str]) -> None:
    """Ask the model about the newest failure, or that of a cell, and propose a corrected cell.

    ``fix [N | --cell ID]``: the number of the cell, or its id in the notebook. One that another
    kernel has run, before a restart, is looked at as its page shows it.
    """
    from hermes_jupyter.kernel import failures, ran_cells
    from hermes_jupyter.kernel.request import place_of
    from hermes_jupyter.kernel.shell import current_kernel
    from hermes_jupyter.notebook import fixing
    from hermes_jupyter.redaction import redact
    from hermes_jupyter.turn_values import TurnOptions
    from hermes_jupyter.views.differences import Difference, bundle_of

    by_id = len(words) == 2 and words[0] == "--cell"
    if words and not by_id and not words[0].isdecimal():
        raise TurnError(
            f"%hermes fix takes the number of a cell, not {words[0]!r} "
            "(a prompt goes into an %%agent cell)"
        )
    ran = ran_cells.noted()
    if ran is None:
        raise TurnError("%hermes fix needs a notebook, or IPython")
    if by_id:
        failure = _of_cell(magics, ran, words[1])
    else:
        failure = failures.failure_of(ran, int(words[0]) if words else 0)
    cell = failure.cell
    prompt = fixing.question(
        number=cell.number,
        source=cell.source,
        trace=failure.trace,
        values=failure.values,
        versions=failure.versions,
    )
    options = TurnOptions(
        place=place_of(current_kernel(), magics.shell),
        asked_sha256=fixing.identity(cell.source, cell.error),
    )
    answer = magics.desktop.run(redact(prompt), options=magics.for_this_cell(options))
    proposal = fixing.corrected(answer.text, cell.source)
    if proposal is None:
        return
    change = fixing.difference(cell.number, cell.source, proposal)
    said = PROPOSED.format(number=cell.number)
    shown = Difference(name=f"cell [{cell.number}]", how="corrected", text=change)
    magics.display(
        {
            "text/plain": f"{said}\n\n{change}",
            "text/markdown": f"{said}\n\n````diff\n{change}````",
            "text/html": bundle_of([shown], said, ())["text/html"],
        }
    )
    magics.shell.set_next_input(proposal)


def _of_cell(magics: Any, ran: RanCells, cell: str) -> Failure:
    from hermes_jupyter.kernel.failures import NotRun, failure_of, failure_shown
    from hermes_jupyter.kernel.request import page_of
    from hermes_jupyter.kernel.shell import current_kernel
    from hermes_jupyter.surroundings import shown_in

    try:
        return failure_of(ran, cell=cell)
    except NotRun:
        page = page_of(current_kernel())
        shown = magics.desktop.attend(lambda: shown_in(page, cell)) if page is not None else None
        if shown is None:
            raise
        return failure_shown(cell, shown.number, shown.source, shown.outputs or ())
