"""Models through the Jupyter server, which keeps their keys: what a kernel has to do for it.

The kernel knocks at the server, and the server hands a token over on the kernel's own control
channel: so nobody else gets it, and no variable and no file holds it. It is worth something at
that server alone, for some minutes, as long as this kernel lives. docs/security.md has more.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hermes_jupyter.control import fields
from hermes_jupyter.errors import ModelError
from hermes_jupyter.kernel.control import Refusal
from hermes_jupyter.model_settings import APIS, prices
from hermes_jupyter.settings import Settings

SECONDS = 5.0
"""Longest wait for the token; it comes in milliseconds."""
RENEWED = 3
"""So often it is asked for anew in the time for which it holds."""
SIGNS = 200
NO_SERVER = (
    "this kernel was not started by a Jupyter server that has hermes_jupyter: models cannot be "
    "asked through it"
)
NO_MODELS = (
    "the Jupyter server offers no models; whoever runs it sets c.HermesServer.models in "
    "jupyter_server_config.py"
)


@dataclass(frozen=True, slots=True)
class Lease:
    """What the server lets this kernel do."""

    url: str
    token: str = field(repr=False)
    ends: float
    """On the monotonic clock."""
    models: Mapping[str, Mapping[str, Any]]


class ServerModels:
    """The models of the server that has started this kernel. Safe to use from any thread.

    Parameters
    ----------
    kernel
        Its id, as the server knows it; empty outside of a server's kernel.
    is_needed
        Does a turn run? As long as one does, the token is kept alive.
    """

    def __init__(
        self,
        kernel: str,
        is_needed: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._kernel, self._is_needed, self._clock = kernel, is_needed, clock
        self._changed = threading.Condition()  # guards the next four
        self._nonce = ""
        self._url = ""
        self._lease: Lease | None = None
        self._keeper: threading.Thread | None = None
        self.in_use = False

    def use(self, settings: Settings) -> Sequence[str]:
        """Ask models through the server from now on; their names.

        Raises
        ------
        ModelError
            If that is not possible; then nothing changes.
        """
        self._fetch(settings.server_url)
        self.in_use = True
        assert self._lease is not None
        return [*self._lease.models]

    def leave(self) -> None:
        """Ask models as the settings say."""
        self.in_use = False

    def ready(self, settings: Settings) -> None:
        """See to it that a turn can begin; the server may have said at the start to use it.

        Raises
        ------
        ModelError
        """
        if settings.via_server and not settings.has_endpoint:
            self.in_use = True
        if self.in_use and not self._is_fresh():
            self._fetch(settings.server_url)
        if self.in_use:
            self._keep_alive()

    def over(self, settings: Settings) -> Settings:
        """The settings with the server's models in the place of what they name."""
        lease = self._lease
        if not self.in_use or lease is None:
            return settings
        name = settings.model or next(iter(lease.models))
        about = lease.models.get(name, {})
        price = about.get("price")
        told = {name: price} if isinstance(price, dict) else {}
        return replace(
            settings,
            model=name,
            base_url=lease.url,
            api_key=lease.token,
            provider=str(about.get("provider") or "custom"),
            api=str(about.get("api") or settings.api),
            prices={**prices(told), **settings.prices},
            context_window=settings.context_window or _window(about),
        )

    def take(self, content: fields.Content) -> fields.Content:
        """The server hands over what was asked for (``lease`` on the control channel).

        Raises
        ------
        Refusal
        """
        fields.only(content, "nonce", "token", "seconds", "models")
        nonce = fields.name(content, "nonce")
        token = fields.text(content, "token", SIGNS) or ""
        seconds, models = content.get("seconds", 0), content.get("models")
        if type(seconds) not in (int, float) or not isinstance(models, list):
            raise Refusal("invalid", "this is no lease")
        found = {str(each["name"]): each for each in models if _is_model(each)}
        with self._changed:
            if not self._nonce or not secrets.compare_digest(self._nonce, nonce):
                raise Refusal("unknown", "this kernel has not asked for that")
            self._nonce = ""
            ends = self._clock() + float(seconds)
            self._lease = Lease(f"{self._url}hermes/v1", token, ends, found)
            self._changed.notify_all()
        return {}

    def _is_fresh(self) -> bool:
        lease = self._lease
        return lease is not None and lease.ends - self._clock() > SECONDS

    def _fetch(self, url: str) -> None:
        if not url or not self._kernel:
            raise ModelError(NO_SERVER, kind="no_model")
        nonce = secrets.token_urlsafe(16)
        with self._changed:
            before, self._nonce, self._url = self._lease, nonce, url
        _knock(f"{url}hermes/knock", {"kernel": self._kernel, "nonce": nonce})
        with self._changed:
            came = self._changed.wait_for(lambda: self._nonce != nonce, SECONDS)
            lease = self._lease
            if lease is None or not lease.models:
                self._lease = before
        if not came:
            said = f"the Jupyter server at {url} gives this kernel no token; its log says why"
            raise ModelError(said, kind="auth")
        if lease is None or not lease.models:
            raise ModelError(NO_MODELS, kind="no_model")

    def _keep_alive(self) -> None:
        with self._changed:
            if self._keeper is None or not self._keeper.is_alive():
                self._keeper = threading.Thread(
                    target=self._renew, name="hermes-lease", daemon=True
                )
                self._keeper.start()

    def _renew(self) -> None:
        """Ask for it anew while turns run: one may take longer than it holds."""
        while self.in_use and (lease := self._lease) is not None:
            time.sleep(max(1.0, (lease.ends - self._clock()) / RENEWED))
            if not self._is_needed():
                return
            try:
                self._fetch(self._url)
            except ModelError:  # the model call says it, with the remedy
                return


def _knock(url: str, told: Mapping[str, str]) -> None:
    body, headers = json.dumps(told).encode(), {"Content-Type": "application/json"}
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        request = urllib.request.Request(url, data=body, headers=headers, method="POST")
        with direct.open(request, timeout=SECONDS) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        error.close()
        said = f"the Jupyter server has no models for kernels (status {error.code} at {url})"
        raise ModelError(said, kind="no_model") from None
    except (OSError, ValueError) as error:
        said = (
            f"the Jupyter server does not answer at {url} ({error}); whoever runs it can set "
            "c.HermesServer.kernel_url"
        )
        raise ModelError(said, kind="connection") from None


def _is_model(told: object) -> bool:
    return (
        isinstance(told, dict)
        and isinstance(told.get("name"), str)
        and (told.get("api") or "") in APIS
    )


def _window(about: Mapping[str, Any]) -> int:
    window = about.get("context_window")
    return window if type(window) is int and window > 0 else 0
