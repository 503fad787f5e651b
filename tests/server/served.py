"""A real server with the extension, below a prefix as on JupyterHub, and kernels that it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import front as front_end
from jupyter_client.blocking.client import BlockingKernelClient

TOKEN = "a-token-of-the-tests"
BASE = "/user/anne@example/"
START_SECONDS = 60.0


@dataclass(frozen=True)
class Answer:
    """What the server said."""

    status: int
    headers: Any
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """A server in a process of its own, in a folder of its own."""

    def __init__(self, folder: Path, env: dict[str, str], options: tuple[str, ...] = ()) -> None:
        self.folder, self.home = folder, folder / "hermes"
        self.runtime = folder / "runtime"
        work = folder / "work"
        work.mkdir(parents=True, exist_ok=True)
        self.log = folder / "server.log"
        settings = {
            **{k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")},
            "HERMES_HOME": str(self.home),
            "IPYTHONDIR": str(folder / "ipython"),
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(self.runtime),
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            **env,
        }
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [
                    sys.executable, "-m", "jupyter_server", "--allow-root", "--no-browser",
                    "--ServerApp.port=0", f"--IdentityProvider.token={TOKEN}",
                    f"--ServerApp.base_url={BASE}", f"--ServerApp.root_dir={work}",
                    "--ServerApp.jpserver_extensions={'hermes_jupyter.server': True}", *options,
                ],
                env=settings, cwd=work, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )  # fmt: skip
        self.url = self._address()

    def _address(self) -> str:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            for path in self.runtime.glob(f"jpserver-{self.process.pid}.json"):
                told = json.loads(path.read_text() or "{}")
                if told.get("port") and self._answers(f"http://127.0.0.1:{told['port']}{BASE}"):
                    return f"http://127.0.0.1:{told['port']}{BASE}"
            if self.process.poll() is not None:
                break
            threading.Event().wait(0.05)
        raise TimeoutError(f"the server did not start: {self.log.read_text()[-2000:]}")

    def _answers(self, url: str) -> bool:
        try:
            return self.ask("GET", f"{url}api").status == 200
        except (OSError, ValueError):
            return False

    def ask(
        self,
        method: str,
        path: str,
        told: Any = None,
        *,
        token: str = TOKEN,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """One request. ``told`` goes as JSON, unless it is bytes."""
        body = told if told is None or isinstance(told, bytes) else json.dumps(told).encode()
        sent = {"Content-Type": "application/json"} if body is not None else {}
        if token:
            sent["Authorization"] = f"token {token}"
        url = path if path.startswith("http") else self.url + path
        request = urllib.request.Request(
            url, data=body, method=method, headers={**sent, **(headers or {})}
        )
        try:
            with OPENER.open(request, timeout=20) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.headers, error.read())

    def hermes(self, path: str, told: Any = None, **about: Any) -> Answer:
        """A request to our own routes."""
        return self.ask("GET" if told is None else "POST", f"hermes/{path}", told, **about)

    def wait_for(self, look: Callable[[], Any], what: str, timeout: float = 20.0) -> Any:
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if found := look():
                return found
            threading.Event().wait(0.02)
        raise TimeoutError(f"{what} did not come: {self.log.read_text()[-2000:]}")

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(20)


class _StayHere(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), _StayHere)


@dataclass
class Kernel:
    """A kernel of the server, and a front end of ours on it."""

    server: Server
    id: str
    front: front_end.Front
    folder: Path
    asked: list[Any] = field(default_factory=list)

    def pending(self) -> dict[str, Any]:
        """What the server says of this kernel."""
        kernels = self.server.hermes("api/pending").json["kernels"]
        return next((each for each in kernels if each["kernel"] == self.id), {})

    def request(self) -> dict[str, Any]:
        """The first request that waits in it."""
        found = self.server.wait_for(lambda: self.pending().get("requests"), "the request")
        return dict(found[0])

    def answer(self, request: dict[str, Any], choice: str, **about: Any) -> Answer:
        told = {"request": request["id"], "digest": request["digest"], "choice": choice, **about}
        return self.server.hermes(f"api/kernels/{self.id}/answer", told)


@contextmanager
def kernel_of(server: Server, *, load: bool = True, **env: str) -> Iterator[Kernel]:
    """Start a kernel through the server, with the extension in it."""
    kernel = server.ask("POST", "api/kernels", {"name": "python3"}).json["id"]
    client = BlockingKernelClient(connection_file=str(server.runtime / f"kernel-{kernel}.json"))
    client.load_connection_file()
    client.start_channels()
    front = front_end.Front(None, client)  # type: ignore[arg-type]
    front.until_heard()
    folder = server.folder / f"kernel-{kernel[:8]}"
    folder.mkdir()
    front.run(f"import os; os.chdir({str(folder)!r}); os.environ.update({env!r})")
    if load:
        front.run("%load_ext hermes_jupyter")
    try:
        yield Kernel(server, kernel, front, folder)
    finally:
        front.close()
        client.stop_channels()
        server.ask("DELETE", f"api/kernels/{kernel}")
