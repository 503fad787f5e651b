"""Masks secrets in what we log, before any handler of the program sees it."""

from __future__ import annotations

import logging
import traceback


class MaskingHandler(logging.Handler):
    """Writes nothing: it masks each record on its way to the handlers further up.

    A filter would do so for one logger only, and not for those below it.
    """

    def emit(self, record: logging.LogRecord) -> None:
        from hermes_jupyter.redaction import redact  # at the first record, not at load

        try:
            said = record.getMessage()
        except (TypeError, ValueError):  # a slip in the call; whoever writes it will say so
            return
        if (masked := redact(said)) != said:
            record.msg, record.args = masked, ()
        if record.exc_info and record.exc_info[0] is not None:
            told = "".join(traceback.format_exception(*record.exc_info)).rstrip()
            if (masked := redact(told)) != told:
                record.exc_text, record.exc_info = masked, None
