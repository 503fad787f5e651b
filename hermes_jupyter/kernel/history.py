"""IPython's own record of what was entered: a secret in a prompt is masked there, too.

IPython stores a cell before it runs. So this comes after the fact: in ``In`` and its friends, and
in the database, from which the old text is wiped and not only unlinked. The cell itself belongs
to the front end, and stays as it was typed.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from typing import Any

logger = logging.getLogger(__name__)

SECONDS_TO_WAIT = 2.0


def mask_newest_input(shell: Any, mask: Callable[[str], str]) -> None:
    """Mask the input that runs now wherever IPython keeps it."""
    history = shell.history_manager
    if not history.input_hist_raw:
        return
    for inputs in (history.input_hist_parsed, history.input_hist_raw):
        inputs[-1] = mask(inputs[-1])
    history._i00 = mask(history._i00)
    name = f"_i{len(history.input_hist_raw) - 1}"
    if isinstance(shell.user_ns.get(name), str):
        shell.user_ns[name] = mask(shell.user_ns[name])
    try:
        _mask_stored(history, mask)
    except (sqlite3.Error, OSError):
        logger.warning("IPython's history keeps a secret of a prompt", exc_info=True)


def _mask_stored(history: Any, mask: Callable[[str], str]) -> None:
    if not history.enabled or history.hist_file == ":memory:":
        return
    history.writeout_cache()
    place = (history.session_number, len(history.input_hist_raw) - 1)
    with sqlite3.connect(history.hist_file, timeout=SECONDS_TO_WAIT) as database:
        database.execute("PRAGMA secure_delete = ON")
        found = database.execute(
            "SELECT source, source_raw FROM history WHERE session = ? AND line = ?", place
        ).fetchone()
        if found is not None:
            database.execute(
                "UPDATE history SET source = ?, source_raw = ? WHERE session = ? AND line = ?",
                (*map(mask, found), *place),
            )
    database.close()
