"""Wires the extension into a server: what its routes share, and which routes there are."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from jupyter_core.utils import ensure_async
from jupyter_server.utils import url_path_join

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.server.configuration import HermesServer, environment

if TYPE_CHECKING:
    from hermes_jupyter.server.kernels import Kernels
    from hermes_jupyter.server.leases import Leases
    from hermes_jupyter.server.ledger import Ledger
    from hermes_jupyter.server.offered import Offered
    from hermes_jupyter.server.passing import Passing
    from hermes_jupyter.server.reading import Reader

T = TypeVar("T")
THREADS = 2
"""That read the store; one request rarely meets another."""
SERVER_URL, VIA_SERVER = "HERMES_SERVER_URL", "HERMES_VIA_SERVER"
"""Variables of kernels: where the server is, and whether it has their models."""
ON_THE_LINE = (
    "HermesServer.models: a key on the command line can be read by every user of this machine: "
    "use key_env or keyring"
)
MAX_KNOCKS = 8
"""Under way at one time; more are not heard."""


class Extension:
    """What the routes share. Each part is made when it is first needed."""

    def __init__(self, serverapp: Any) -> None:
        self.serverapp = serverapp
        self.log = serverapp.log
        self.settings = HermesServer(parent=serverapp)
        self.models: Mapping[str, Offered] = {}
        self.problem = ""
        """Why there are none, if there should be some."""
        self._knocking: dict[str, asyncio.Task[None]] = {}

    @cached_property
    def kernels(self) -> Kernels:
        from hermes_jupyter.server.kernels import Kernels

        return Kernels(self.serverapp.kernel_manager, self._notebooks)

    @cached_property
    def reader(self) -> Reader:
        from hermes_jupyter.server.reading import Reader

        return Reader(self.settings.home_folder)

    @cached_property
    def leases(self) -> Leases:
        from hermes_jupyter.server.leases import Leases

        return Leases(self.kernels.process, self.settings.lease_seconds)

    @cached_property
    def ledger(self) -> Ledger:
        from hermes_jupyter.server.ledger import Ledger, Limits

        settings = self.settings
        limits = Limits(
            tokens=settings.max_tokens_per_day,
            cost=settings.max_cost_per_day,
            cost_of_all=settings.max_cost_of_all_per_day,
        )
        return Ledger(settings.home_folder, limits)

    @cached_property
    def passing(self) -> Passing:
        from hermes_jupyter.server.passing import Passing

        return Passing(self.models, self.ledger, self.in_thread, self.log)

    @cached_property
    def threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(THREADS, "hermes-server")

    async def in_thread(self, job: Callable[[], T]) -> T:
        """Run what waits for the disk, and not on the server's loop."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, job)

    def offer_models(self) -> None:
        """Take the keys from where the configuration says they are, and keep them here.

        Raises
        ------
        ConfigurationError
        """
        from hermes_jupyter.server.hiding import holding
        from hermes_jupyter.server.offered import offered
        from hermes_jupyter.server.shield import raise_shield

        if self.settings.shield:  # first: there may be keys even if one of them is missing
            raise_shield()
        self.models = offered(self.settings.models, self.settings.prices, environment())
        if holding(dict(enumerate(sys.argv)), [each.key for each in self.models.values()]):
            self.log.warning(ON_THE_LINE)
        # Once the server runs; else the first answer would wait for an import.
        self.serverapp.io_loop.add_callback(lambda: self.passing.warm())

    def environment_of_kernels(self, env: Mapping[str, str]) -> dict[str, str]:
        """What a kernel is started with."""
        from hermes_jupyter.server.starting import address_of

        told = {SERVER_URL: self.settings.kernel_url or address_of(self.serverapp)}
        if self.models and self.settings.hide_keys is not False:
            told[VIA_SERVER] = "1"
        hidden = self.hidden(env)
        return {**{name: value for name, value in env.items() if name not in hidden}, **told}

    def hidden(self, env: Mapping[str, str]) -> frozenset[str]:
        """The variables of this environment that kernels and terminals do not get."""
        from hermes_jupyter.server.hiding import hidden

        return hidden(env, self.settings, [each.key for each in self.models.values()])

    def hide_from_terminals(self) -> None:
        """Have terminals, which another extension opens, start without what kernels do not get."""
        manager = self.serverapp.web_app.settings.get("terminal_manager")
        if manager is not None:
            hidden = self.hidden(environment())
            manager.extra_env = {**(manager.extra_env or {}), **dict.fromkeys(hidden)}

    def knocked(self, kernel: str, nonce: str) -> None:
        """A kernel asks for a token; if it is one, it gets it on its own channel."""
        if kernel not in self.kernels.ids:
            self.log.info("a knock for a kernel that is not here")
        elif kernel not in self._knocking and len(self._knocking) < MAX_KNOCKS:
            task = asyncio.get_running_loop().create_task(self._hand_over(kernel, nonce))
            self._knocking[kernel] = task
            task.add_done_callback(lambda _: self._knocking.pop(kernel))

    async def _hand_over(self, kernel: str, nonce: str) -> None:
        from hermes_jupyter.server.kernels import Refused, Silent, UnknownKernel
        from hermes_jupyter.server.leases import NoLease

        leases, models = self.leases, [each.told for each in self.models.values()]
        before = leases.of(kernel)
        try:
            if not models:
                await self.kernels.ask(kernel, "lease", nonce=nonce, models=[])
                return
            lease = leases.proposed(kernel)
            leases.keep(lease)  # the kernel may use it before its thanks are here
            about = {"token": lease.token, "seconds": leases.seconds, "models": models}
            await self.kernels.ask(kernel, "lease", nonce=nonce, **about)
        except (NoLease, Refused, Silent, UnknownKernel) as problem:
            leases.drop(kernel)
            if before is not None:
                leases.keep(before)
            self.log.info("kernel %s did not take its token: %s", kernel, problem)
        else:
            self.log.info("kernel %s has a token for %d s", kernel, leases.seconds)

    async def _notebooks(self) -> dict[str, str]:
        """Which notebook or console each kernel runs for."""
        sessions = await ensure_async(self.serverapp.session_manager.list_sessions())
        return {
            str(each["kernel"]["id"]): str(each.get("path") or each.get("name") or "")
            for each in sessions
        }


def load(serverapp: Any) -> Extension:
    """Add the routes. Little is imported or opened before the first of them is asked."""
    from hermes_jupyter.server.routing import routes
    from hermes_jupyter.server.starting import change_environment, leave_unwatched

    extension = Extension(serverapp)
    if extension.settings.models:
        try:
            extension.offer_models()
        except ConfigurationError as problem:  # all else goes on; %hermes model says it, too
            extension.problem = str(problem)
            extension.log.error("no models are offered: %s", problem)
    change_environment(serverapp.kernel_manager, extension.environment_of_kernels)
    # Once the server runs: now there may be no manager of terminals yet.
    serverapp.io_loop.add_callback(extension.hide_from_terminals)
    leave_unwatched(serverapp.kernel_manager, "hermes_request", "hermes_reply", "hermes_event")
    base = url_path_join(serverapp.web_app.settings["base_url"], "hermes")
    serverapp.web_app.add_handlers(".*$", routes(base, extension))
    return extension
