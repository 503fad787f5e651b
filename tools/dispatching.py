"""Calling the handler of a tool, so that an answer comes back whatever happens."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import Mapping
from typing import Any

from tools import async_bridge
from tools.answers import tool_error
from tools.entry import ToolEntry

logger = logging.getLogger(__name__)

MAX_ERROR_CHARS = 2_000


def dispatch(entry: ToolEntry, args: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    """Run a tool and wait for its answer. Never raises: errors are answers too.

    Works in any thread, whether or not a loop runs in it. Inside a coroutine prefer
    `adispatch`, which does not block the loop.
    """
    try:
        answer = entry.handler(args, **context)
        if not isinstance(answer, str) and inspect.isawaitable(answer):
            answer = async_bridge.run_async(_on_its_loop(entry, answer, context))
        answer = _without_images(answer, context)
    except BaseException as error:  # a tool may raise anything; the model hears of it
        if _is_from_the_person(error):
            raise
        logger.warning("tool %r failed", entry.name, exc_info=True)
        return _failure(error)
    return _answer(entry, answer)


async def adispatch(entry: ToolEntry, args: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    """The same, awaited: async tools on this loop, others in the shared tool threads."""
    try:
        if entry.is_async:
            answer = entry.handler(args, **context)
        else:
            answer = await async_bridge.in_tool_thread(lambda: entry.handler(args, **context))
        if not isinstance(answer, str) and inspect.isawaitable(answer):
            answer = await _on_its_loop(entry, answer, context)
        if not isinstance(answer, str):
            answer = await async_bridge.in_tool_thread(lambda: _without_images(answer, context))
    except BaseException as error:
        if _is_from_the_person(error):
            raise
        if isinstance(error, asyncio.CancelledError) and _caller_is_cancelled():
            raise
        logger.warning("tool %r failed", entry.name, exc_info=True)
        return _failure(error)
    return _answer(entry, answer)


def _without_images(answer: Any, context: Mapping[str, Any]) -> Any:
    """A figure that a tool returns, or parts with images, as text; who reads it gets the images."""
    show = context.get("on_image")
    if isinstance(answer, str) or show is None:
        return answer
    from tools.images.answers import as_text, is_picture  # wanted by few

    return as_text(answer, show) if is_picture(answer) else answer


def _on_its_loop(entry: ToolEntry, answer: Any, context: Mapping[str, Any]) -> Any:
    """What to await: the coroutine, or its run on the kernel's own loop.

    Only the cell that runs a turn knows that loop, and hands it on as ``kernel_loop``.
    """
    if entry.loop == "agent":
        return answer
    run = context.get("kernel_loop")
    if run is None:
        answer.close()
        raise RuntimeError('a tool with loop="kernel" can only be called in a turn of a notebook')
    return run(answer)


def _is_from_the_person(error: BaseException) -> bool:
    """An interrupt comes in the main thread. Elsewhere the tool has raised it itself."""
    main = threading.main_thread()
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is main


def _caller_is_cancelled() -> bool:
    """A cancellation that nobody asked this task for is a failure inside the tool."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _failure(error: BaseException) -> str:
    message = f"Tool execution failed: {type(error).__name__}: {error}"
    return tool_error(message[:MAX_ERROR_CHARS], error_type=type(error).__name__)


def _answer(entry: ToolEntry, answer: Any) -> str:
    """The contract is text. Anything else is the tool's bug, told to the model as an error."""
    if isinstance(answer, str):
        return answer
    return tool_error(
        f"Tool {entry.name!r} returned {type(answer).__name__} instead of text; "
        "its handler must return tool_result(...) or tool_error(...)",
        error_type="tool_result_contract",
    )
