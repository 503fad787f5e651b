"""JupyterLab and Notebook 7, each served from a folder of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

ROOT = Path(__file__).resolve().parents[2]
ONE_IS_ENOUGH = pytest.mark.parametrize("jupyter", ["lab"], indirect=True)
"""Both pages do it with the same code, and it takes time."""
ALONE = ("@jupyter/collaboration-extension", "@jupyter/docprovider-extension")
"""Of jupyter-collaboration: what is switched off where notebooks are not shared."""


class Jupyter:
    """A Jupyter server of one application, in a folder of its own; it can be started again.

    Of its extensions, those that are ``off`` are switched off; it gets the variables of ``env``.
    """

    def __init__(
        self,
        app: str,
        home: Path,
        model: str,
        *,
        off: Collection[str] = ALONE,
        env: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.app, self.home, self.root, self.port = app, home, home / "root", free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.root.mkdir()
        self._env = {
            **os.environ,
            "HERMES_HOME": str(home / "hermes"),
            "IPYTHONDIR": str(home / "ipython"),
            "JUPYTER_CONFIG_DIR": str(home / "config"),
            "JUPYTER_CONFIG_PATH": str(ROOT / "jupyter-config"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "JUPYTER_PATH": str(with_labextension(home / "jupyter")),
            "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
            "OPENAI_BASE_URL": model,
            "OPENAI_API_KEY": "",
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            **env,
        }
        quiet = home / "settings" / "@jupyterlab" / "apputils-extension"
        quiet.mkdir(parents=True)
        (quiet / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
        (home / "config" / "labconfig").mkdir(parents=True)
        disabled = {"disabledExtensions": dict.fromkeys(off, True)}
        (home / "config" / "labconfig" / "page_config.json").write_text(json.dumps(disabled))
        self.start()

    def start(self) -> None:
        exposed = {"lab": "LabApp", "notebook": "JupyterNotebookApp"}[self.app]
        command = [
            sys.executable, "-m", "jupyter", self.app, f"--port={self.port}", "--ip=127.0.0.1",
            "--no-browser", "--allow-root", "--IdentityProvider.token=", "--ServerApp.password=",
            "--ServerApp.disable_check_xsrf=True", f"--ServerApp.root_dir={self.root}",
            f"--{exposed}.expose_app_in_browser=True", "--LabApp.news_url=None",
        ]  # fmt: skip
        with (self.home / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, env=self._env, cwd=self.root, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        try:
            _wait_until_up(self.address, self.home / "server.log")
        except RuntimeError:
            self.stop()
            raise

    def kill(self) -> None:
        """As when it crashes: its kernels are left alone."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(20)

    def stop(self) -> None:
        os.killpg(self._process.pid, signal.SIGTERM)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            # Told to end while it reads a file, jupyter-server waits for that thread for ever.
            self.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def with_labextension(path: Path) -> Path:
    """Have the server find the extension that is built in this clone, installed or not."""
    built = ROOT / "labextension" / "built"
    if not (built / "package.json").is_file():
        pytest.skip("labextension/ is not built: python labextension/building.py")
    (path / "labextensions").mkdir(parents=True)
    (path / "labextensions" / "hermes-jupyter-labextension").symlink_to(built)
    return path


def _wait_until_up(address: str, log: Path) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(f"{address}/api/status", timeout=5).close()
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    raise RuntimeError(f"the server did not start: {log.read_text()[-2000:]}")
