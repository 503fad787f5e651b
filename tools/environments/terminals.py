"""The terminals of one session: this machine's shell, and the places that were chosen since."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from tools.environments.backends import OpenOptions, backend
from tools.environments.base import Environment
from tools.environments.host import HostError
from tools.environments.local import LocalEnvironment

CHOICE = "TERMINAL_ENV"
LOCAL = "local"


class Terminals:
    """Each is opened when it is chosen for the first time, and stays open until the end.

    Parameters
    ----------
    local
        This machine's.
    settings
        What the user has set, by upstream's names; ``TERMINAL_ENV`` is the first choice.
    options
        What the others are opened for. They share the background processes of ``local``.
    """

    def __init__(
        self, local: LocalEnvironment, settings: Mapping[str, str], options: OpenOptions
    ) -> None:
        self.local = local
        self.settings = settings
        self._options = options
        self._lock = threading.Lock()  # guards the next two
        self._opened: dict[str, Environment] = {LOCAL: local}
        self._chosen = settings.get(CHOICE, "").strip() or LOCAL

    @property
    def chosen(self) -> str:
        """The name of the backend in which commands run."""
        return self._chosen

    @property
    def current(self) -> Environment:
        """Where commands run; opened if it is not yet.

        Raises
        ------
        HostError
            If it cannot be opened. Commands never run elsewhere instead.
        """
        with self._lock:
            return self._open(self._chosen)

    def choose(self, name: str) -> Environment:
        """Have commands run in another place from now on. Where they ran stays open.

        Raises
        ------
        HostError
            If that cannot be opened; the choice stays as it was.
        """
        with self._lock:
            environment = self._open(name)
            self._chosen = name
            return environment

    def beside(self, local: LocalEnvironment) -> Terminals:
        """Other shells in the same places, for somebody who works beside.

        ``local`` is this machine's. Call it where one may wait.

        Raises
        ------
        HostError
            If the place of commands cannot be reached.
        """
        terminals = Terminals(local, self.settings, self._options)
        terminals._chosen = self._chosen
        if self._chosen != LOCAL:
            environment = self.current.beside()
            environment.keep_jobs_in(local.processes)
            terminals._opened[self._chosen] = environment
        return terminals

    def close(self) -> None:
        """End all of them, and their background processes."""
        with self._lock:
            for environment in self._opened.values():
                environment.close()

    def _open(self, name: str) -> Environment:
        if name not in self._opened:
            wanted = backend(name)
            ready, why_not = wanted.available(self.settings)
            if not ready:
                raise HostError(f"{name}: {why_not}")
            environment = wanted.open(self.settings, self._options)
            environment.keep_jobs_in(self.local.processes)
            self._opened[name] = environment
        return self._opened[name]
