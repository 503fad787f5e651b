"""The connection to an engine that speaks Docker's API: dockerd, or podman's service."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from tools.environments.host import HostError

MISSING = "the docker backend needs the docker SDK. Run: pip install 'hermes-jupyter[docker]'"
DOCKER_SOCKET = "/var/run/docker.sock"
SECONDS_TO_ANSWER = 20.0
SECONDS_TO_MOVE_DATA = 600.0
_patience = ContextVar("_patience", default=SECONDS_TO_ANSWER)


@contextlib.contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Within this block, how long the engine may think about each request."""
    token = _patience.set(max(seconds, 0.1))
    try:
        yield
    finally:
        _patience.reset(token)


def address_from(settings: Mapping[str, str]) -> str:
    """Where the engine is: ``DOCKER_HOST``, docker's current context, or a usual socket."""
    if given := _variable(settings, "DOCKER_HOST"):
        return given
    sdk = load_sdk()
    with contextlib.suppress(sdk.errors.DockerException, OSError, ValueError, KeyError):
        context = sdk.ContextAPI.get_current_context()
        if context is not None and context.name != "default" and context.Host:
            return str(context.Host)
    runtime = _variable(settings, "XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    podman = f"{runtime}/podman/podman.sock"
    usual = (DOCKER_SOCKET, f"{runtime}/docker.sock", podman, "/run/podman/podman.sock")
    return "unix://" + next((path for path in usual if Path(path).exists()), DOCKER_SOCKET)


class Engine:
    """A client of an engine, made at first use.

    Attributes
    ----------
    address : str
        A URL such as ``unix:///var/run/docker.sock`` or ``tcp://host:2376``.
    """

    def __init__(self, settings: Mapping[str, str]) -> None:
        self._settings = settings
        self._client: Any = None
        self._is_podman: bool | None = None
        self.address = address_from(settings)

    @property
    def api(self) -> Any:
        """The SDK's low-level client.

        Raises
        ------
        HostError
            If there is no SDK, or the engine does not answer.
        """
        if self._client is None:
            with self.translating():
                self._client = self._connect()
        return self._client

    @property
    def is_podman(self) -> bool:
        """Whether it is podman, which speaks Docker's API with an accent.

        Raises
        ------
        HostError
        """
        if self._is_podman is None:
            with self.translating():
                parts = self.api.version().get("Components") or ()
            self._is_podman = any("podman" in str(part.get("Name")).lower() for part in parts)
        return self._is_podman

    @contextlib.contextmanager
    def translating(self) -> Iterator[None]:
        """Turn what the SDK raises into HostError.

        A refusal by the engine (``APIError``) keeps being ``__cause__``, for callers who know it.
        """
        sdk = load_sdk()
        from requests.exceptions import RequestException

        try:
            yield
        except sdk.errors.APIError as error:
            said = error.explanation or str(error)
            raise HostError(f"the container engine refused: {said}") from error
        except (sdk.errors.DockerException, RequestException, OSError, EOFError) as error:
            raise HostError(
                f"the container engine at {self.address} does not answer ({_reason(error)}); "
                "start it, or set DOCKER_HOST to where it listens"
            ) from error

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _connect(self) -> Any:
        sdk = load_sdk()
        if self.address.startswith("ssh://"):
            raise HostError(
                f"DOCKER_HOST {self.address!r}: an engine behind ssh is not supported; set "
                "TERMINAL_ENV=ssh, or forward its socket and set DOCKER_HOST=unix:///..."
            )

        class Client(sdk.APIClient):  # type: ignore[misc,name-defined]
            @property
            def trust_env(self) -> bool:
                """Never: REQUESTS_CA_BUNDLE would be believed instead of DOCKER_CERT_PATH."""
                return False

            @trust_env.setter
            def trust_env(self, _: bool) -> None:
                """A session of requests sets it when it is made."""

            def _set_request_timeout(self, kwargs: dict[str, Any]) -> dict[str, Any]:
                kwargs.setdefault("timeout", _patience.get())
                return kwargs

        names = ("DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH")
        about_tls = {name: _variable(self._settings, name) for name in names}
        given = sdk.utils.kwargs_from_env({"DOCKER_HOST": self.address, **about_tls})
        return Client(**given, version="auto", timeout=SECONDS_TO_ANSWER)


def load_sdk() -> Any:
    """The ``docker`` package.

    Raises
    ------
    HostError
        If it is not installed.
    """
    try:
        import docker
    except ImportError as error:
        raise HostError(MISSING) from error
    return docker


def was_refused(error: HostError) -> bool:
    """Whether the engine answered, but with no."""
    return isinstance(error.__cause__, load_sdk().errors.APIError)


def is_missing(error: HostError) -> bool:
    """Whether the engine knows no such thing."""
    return was_refused(error) and getattr(error.__cause__, "status_code", 0) == 404


def is_conflict(error: HostError) -> bool:
    """Whether the name is taken; podman says so as an error of its own (500)."""
    return was_refused(error) and "already in use" in str(error)


def _reason(error: BaseException) -> str:
    """The innermost cause in a few words: the outer ones are classes of three libraries."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return f"{type(error).__name__}: {error}".removesuffix(": ")[:200]


def _variable(settings: Mapping[str, str], name: str) -> str:
    return settings.get(name) or os.environ.get(name, "")
