"""``%hermes fix``"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hermes_jupyter.errors import TurnError

PROPOSED = "The corrected cell stands below; run it in place of [{number}]."


def fix(magics: Any, words: Sequence[str]) -> None:
    """Ask the model about the newest failure, or that of cell N, and propose a corrected cell."""
    from hermes_jupyter.kernel import failures, ran_cells
    from hermes_jupyter.notebook import fixing
    from hermes_jupyter.redaction import redact

    if words and not words[0].isdecimal():
        raise TurnError(
            f"%hermes fix takes the number of a cell, not {words[0]!r} "
            "(a prompt goes into an %%agent cell)"
        )
    ran = ran_cells.noted()
    if ran is None:
        raise TurnError("%hermes fix needs a notebook, or IPython")
    failure = failures.failure_of(ran, int(words[0]) if words else 0)
    cell = failure.cell
    prompt = fixing.question(
        number=cell.number,
        source=cell.source,
        trace=failure.trace,
        values=failure.values,
        versions=failure.versions,
    )
    answer = magics.desktop.run(redact(prompt))
    proposal = fixing.corrected(answer.text, cell.source)
    if proposal is None:
        return
    change = fixing.difference(cell.number, cell.source, proposal)
    said = PROPOSED.format(number=cell.number)
    magics.display(
        {
            "text/plain": f"{said}\n\n{change}",
            "text/markdown": f"{said}\n\n````diff\n{change}````",
        }
    )
    magics.shell.set_next_input(proposal)
