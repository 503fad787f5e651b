"""The one place where errors of the file tools become answers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tools.answers import tool_error
from tools.files.problems import Problem, describe, shown
from tools.secrets.placeholders import masked, secrets_of


def answering(**extra: Any) -> Callable[[Callable[..., str]], Callable[..., str]]:
    """Make a handler answer a `Problem` or an error of the system with `tool_error`."""

    def wrap(handler: Callable[..., str]) -> Callable[..., str]:
        @functools.wraps(handler)
        def handle(args: dict[str, Any], **context: Any) -> str:
            try:
                return handler(args, **context)
            except Problem as problem:
                said = masked({"error": shown(str(problem)), **problem.extra}, secrets_of(context))
                return tool_error(said.pop("error"), **{**extra, **said})
            except OSError as error:
                return tool_error(describe(error), **extra)

        return handle

    return wrap
