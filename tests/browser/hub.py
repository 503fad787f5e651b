"""A real JupyterHub with its proxy, and the servers that it starts for its users."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "/research/"
PASSWORD = "of-the-tests"
START_SECONDS = 60.0
PROXY = ROOT / ".cache" / "hub" / "node_modules" / ".bin" / "configurable-http-proxy"
CONFIGURATION = """
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = {password!r}
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {homes!r}
c.JupyterHub.bind_url = "http://127.0.0.1:{ports[0]}{prefix}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{ports[1]}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.ConfigurableHTTPProxy.command = [{proxy!r}]
c.ConfigurableHTTPProxy.pid_file = {folder!r} + "/proxy.pid"
c.JupyterHub.db_url = "sqlite:///" + {folder!r} + "/hub.sqlite"
c.JupyterHub.cookie_secret_file = {folder!r} + "/cookie_secret"
c.Spawner.cmd = [{python!r}, "-m", "jupyterhub.singleuser"]
c.Spawner.args = ["--allow-root", "--LabApp.expose_app_in_browser=True", "--LabApp.news_url=None"]
c.Spawner.default_url = "/lab"
c.Spawner.environment = {environment!r}
"""


def missing() -> str:
    """What to install before these tests can run; empty if all is there."""
    if importlib.util.find_spec("jupyterhub") is None:
        return "no JupyterHub: make test-hub"
    return "" if _proxy() else "no configurable-http-proxy: make test-hub"


def _proxy() -> str | None:
    return str(PROXY) if PROXY.is_file() else shutil.which("configurable-http-proxy")


class Hub:
    """Runs until `close`.

    Parameters
    ----------
    environment
        Of the users' servers.
    settings
        Their ``jupyter_server_config.py``.
    """

    def __init__(
        self, folder: Path, ports: tuple[int, int, int], environment: dict[str, str], settings: str
    ) -> None:
        self.folder, self.log = folder, folder / "hub.log"
        (folder / "config").mkdir()
        (folder / "config" / "jupyter_server_config.py").write_text(settings)
        theirs = {
            "JUPYTER_CONFIG_PATH": f"{folder / 'config'}:{ROOT / 'jupyter-config'}",
            "PYTHONPATH": str(ROOT),
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            **environment,
        }
        (folder / "jupyterhub_config.py").write_text(
            CONFIGURATION.format(
                password=PASSWORD, homes=str(folder / "homes" / "{username}"), ports=ports,
                prefix=PREFIX, proxy=_proxy(), folder=str(folder), python=sys.executable,
                environment=theirs,
            )
        )  # fmt: skip
        self.url = f"http://127.0.0.1:{ports[0]}{PREFIX}"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jupyterhub", "-f", "jupyterhub_config.py"],
                cwd=folder, env={**os.environ, "JUPYTERHUB_CRYPT_KEY": ""}, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        self._wait_until_up()

    def home(self, user: str) -> Path:
        path = self.folder / "homes" / user
        path.mkdir(parents=True, exist_ok=True)
        return path

    def of(self, user: str) -> str:
        """The address of a user's server."""
        return f"{self.url}user/{user}/"

    def login(self, page: Any, user: str) -> None:
        """Log in, and wait until the user's server runs."""
        page.goto(f"{self.url}hub/login")
        page.fill("#username_input", user)
        page.fill("#password_input", PASSWORD)
        page.click("#login_submit")
        page.wait_for_url(f"**/user/{user}/lab*", timeout=60_000)

    def close(self) -> None:
        """End the hub, which ends its proxy and its users' servers."""
        os.kill(self.process.pid, signal.SIGTERM)
        self.process.wait(30)

    def _wait_until_up(self) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                urllib.request.urlopen(f"{self.url}hub/api/", timeout=5).close()
                return
            except (urllib.error.URLError, ConnectionError):
                threading.Event().wait(0.1)
        raise TimeoutError(f"JupyterHub did not start: {self.log.read_text()[-2000:]}")
