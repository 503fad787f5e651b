"""Passes a kernel's request on to a model's provider, with the key that the kernel does not have.

The answer goes through as it comes. What is logged is who asked which model, and what it took;
never what was said.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from hermes_jupyter.agent.models import transport
from hermes_jupyter.agent.models.failures import Endpoint
from hermes_jupyter.agent.models.transport import Transport
from hermes_jupyter.server.asked import PATHS, Asked, NotPassed, read
from hermes_jupyter.server.counting import Counter, guess
from hermes_jupyter.server.ledger import Ledger, NoBudget, Took
from hermes_jupyter.server.masking import Mask, masked
from hermes_jupyter.server.offered import Offered

LOCKED_OUT = frozenset({401, 403})
PASSED = ("retry-after", "retry-after-ms")
"""Headers of a failure that the kernel needs."""

InThread = Callable[[Callable[[], None]], Awaitable[None]]
Begin = Callable[[str], None]
Send = Callable[[bytes], Awaitable[None]]


class Passing:
    """To all providers; their connections stay open.

    Parameters
    ----------
    in_thread
        Runs what waits for the disk.
    log
        Where the server's log goes.
    """

    def __init__(
        self,
        models: Mapping[str, Offered],
        ledger: Ledger,
        in_thread: InThread,
        log: logging.Logger,
    ) -> None:
        self._models, self._ledger, self._in_thread = models, ledger, in_thread
        self._log = log
        self._transports: dict[str, Transport] = {}

    def read(self, kernel: str, api: str, body: bytes) -> Asked:
        """What a request asks.

        Raises
        ------
        NotPassed
            If it asks for something that is not offered.
        """
        return read(kernel, api, body, self._models)

    async def answer(self, asked: Asked, begin: Begin, send: Send) -> None:
        """Ask the provider, and send its answer on.

        Raises
        ------
        NotPassed
        """
        model = asked.model
        guessed = guess(asked.body, asked.written, model.price)
        try:
            self._ledger.admit(asked.kernel, guessed, has_price=model.price is not None)
        except NoBudget as spent:
            raise NotPassed(402, str(spent), "budget") from None
        counter, began = Counter(), time.monotonic()
        said = "ended"  # by the kernel
        try:
            await self._pass(asked, counter, begin, send)
            said = "done"
        except NotPassed as failed:
            said = f"failed with {failed.status}"
            raise
        finally:
            seconds = time.monotonic() - began
            cut_after = seconds if said == "ended" else None
            took = counter.took(guessed, model.price, cut_after)
            settle = self._in_thread(
                lambda: self._ledger.settle(asked.kernel, guessed, model.name, took)
            )
            self._tell(asked, said, took, seconds)
            await asyncio.shield(settle)

    async def warm(self) -> None:
        """Be ready for the first request: what it needs takes a moment to import."""
        for model in self._models.values():
            await self._transport(model).open()

    async def close(self) -> None:
        """Close the connections."""
        for each in self._transports.values():
            await each.close()

    async def _pass(self, asked: Asked, counter: Counter, begin: Begin, send: Send) -> None:
        model = asked.model
        there = self._transport(model)
        await there.open()
        failures = transport.errors()
        has_begun = False
        try:
            async with there.post(PATHS[asked.api], asked.body) as blocks:
                begin("text/event-stream" if asked.streams else "application/json")
                has_begun = True
                mask = Mask(model.key)
                async for block in blocks:
                    counter.add(block)
                    if shown := mask.add(block):
                        await send(shown)
                if rest := mask.end():
                    await send(rest)
        except failures as error:
            failed = _failure(error, model)
            if has_begun:  # the status has gone; the client sees an answer that is not complete
                self._log.warning("an answer of %s broke: %s", model.name, failed)
            raise failed from None

    def _tell(self, asked: Asked, said: str, took: Took, seconds: float) -> None:
        self._log.info(
            "kernel %s asked %s (%s): %s, %d tokens read, %d written, $%.4f, %.1f s",
            asked.kernel, asked.model.name, asked.api, said, took.read, took.written, took.cost,
            seconds,
        )  # fmt: skip

    def _transport(self, model: Offered) -> Transport:
        if model.name not in self._transports:
            timeout = max(model.provider.first_token, model.provider.between_tokens)
            self._transports[model.name] = Transport(
                Endpoint(
                    base_url=model.base_url, model=model.model, api_key=model.key, timeout=timeout
                )
            )
        return self._transports[model.name]


def _failure(error: Exception, model: Offered) -> NotPassed:
    """What went wrong, without the key and without what was said."""
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        return NotPassed(502, f"the provider of {model.name!r} cannot be reached", "connection")
    if status in LOCKED_OUT:
        said = f"the provider of {model.name!r} does not accept the key that the server has"
        return NotPassed(502, said, "server_key")
    response: Any = getattr(error, "response", None)
    headers = {name: response.headers[name] for name in PASSED if name in response.headers}
    failed = NotPassed(status, "", "", headers)
    body = json.dumps({"error": getattr(error, "body", None)})
    failed.body = json.loads(masked(body, model.key))
    return failed


__all__ = ["Asked", "NotPassed", "Passing"]
