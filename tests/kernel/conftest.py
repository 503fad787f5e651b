"""A real kernel for each test, on each ipykernel that KERNELS names."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_core.utils import ensure_event_loop

from hermes_jupyter.testing.scripted_server import Conversation, ScriptedServer

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

import front as front_end  # noqa: E402
import kernels  # noqa: E402

VERSIONS = os.environ.get("KERNELS", "6.29.5 7.4.0").split()
Start = Callable[..., "Notebook"]


class Notebook(front_end.Front):
    """A front end whose kernel has the extension loaded and a scripted model connected."""

    version: str
    folder: Path
    server: ScriptedServer

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    def agent(self, prompt: str, line: str = "", **options: Any) -> str:
        """Send an ``%%agent`` cell and return at once."""
        return self.execute(f"%%agent {line}\n{prompt}", **options)

    def tool(self, name: str, body: str, **about: Any) -> None:
        """Register a tool in the kernel; ``body`` is the handler's code, indented by four."""
        extra = "".join(f", {key}={value}" for key, value in about.items())
        self.run(
            "from tools.registry import registry\n"
            f"def _{name}(args, **context):\n{body}\n"
            f"registry.register({name!r}, 'mine', {{'description': 'x', 'parameters': "
            f"{{'type': 'object', 'properties': {{}}}}}}, _{name}{extra})"
        )

    def requests(self) -> list[Any]:
        """What the model was asked, as parsed request bodies."""
        return [body for path, body in self.server.requests if path.endswith("completions")]


@pytest.fixture(scope="session", autouse=True)
def _no_loop_is_left() -> Iterator[None]:
    yield
    ensure_event_loop().close()  # jupyter_client made one for the main thread


@pytest.fixture(params=VERSIONS)
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Start]:
    """Start a kernel with these replies of the model; ended after the test."""
    opened: list[Any] = []

    def open_notebook(*replies: Any, load: bool = True, env: dict[str, str] | None = None) -> Any:
        folder = tmp_path / "work"
        folder.mkdir(exist_ok=True)
        server = ScriptedServer(*replies)
        opened.append(server)
        url = server.__enter__().url
        settings = {
            "HERMES_HOME": str(tmp_path / "home"),
            "IPYTHONDIR": str(tmp_path / "ipython"),
            "OPENAI_BASE_URL": url,
            "OPENAI_API_KEY": "",
            **(env or {}),
        }
        context = front_end.kernel(
            path=kernels.folder(request.param),
            env=settings,
            cwd=folder,
            log=tmp_path / "kernel.log",
        )
        opened.append(context)
        notebook = context.__enter__()
        notebook.__class__ = Notebook
        notebook.version, notebook.folder, notebook.server = request.param, folder, server
        if load:
            notebook.run("%load_ext hermes_jupyter")
        return notebook

    yield open_notebook
    for context in reversed(opened):
        context.__exit__(None, None, None)


__all__ = ["Conversation", "Notebook"]
