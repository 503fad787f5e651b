"""A real kernel for each test, on each ipykernel that KERNELS names.

A kernel is used again by the next test, after the extension was unloaded and loaded anew; a test
that would leave its mark asks for a ``fresh`` one. What does not hang on how ipykernel is built
says ``ANY_KERNEL = True``, and runs on the installed one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from jupyter_core.utils import ensure_event_loop

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import Conversation, ScriptedServer, conversation

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

import front as front_end  # noqa: E402
import kernels  # noqa: E402
from page import Page, cells  # noqa: E402

VERSIONS = os.environ.get("KERNELS", "6.29.5 7.4.0").split()
Start = Callable[..., "Notebook"]
CLEAN = """
import sys
get_ipython().run_line_magic('unload_ext', 'hermes_jupyter')
get_ipython().config.pop('Hermes', None)
if 'tools.registry' in sys.modules:
    from tools.registry import registry
    for name in registry.get_tool_names_for_toolset('mine'):
        registry.deregister(name)
get_ipython().run_line_magic('reset', '-f')
"""


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

    def prompt(self, message: Any) -> str:
        """What the person has said in a message, without the cells above it."""
        return str(message["content"]).rpartition("</notebook_cells>")[2].strip()

    def requests(self) -> list[Any]:
        """What the model was asked, as parsed request bodies."""
        return [body for path, body in self.server.requests if path.endswith("completions")]


class Kernels:
    """The kernels that are used again, by version."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, tuple[Notebook, ExitStack]] = {}

    def start(self, version: str, env: dict[str, str]) -> tuple[Notebook, ExitStack]:
        stack = ExitStack()
        notebook: Any = stack.enter_context(
            front_end.kernel(
                path=kernels.folder(version),
                env={**env, "IPYTHONDIR": str(self._folder / "ipython")},
                cwd=self._folder,
                log=self._folder / f"kernel-{version}.log",
            )
        )
        notebook.__class__ = Notebook
        notebook.version = version
        return notebook, stack

    def take(self, version: str) -> tuple[Notebook, ExitStack]:
        return self._open.pop(version, None) or self.start(version, {})

    def give_back(self, notebook: Notebook, stack: ExitStack) -> None:
        """Keep a kernel for the next test if it can be cleaned."""
        try:
            notebook.run(CLEAN, timeout=10)
        except (TimeoutError, RuntimeError):
            stack.close()
            return
        notebook.forget()
        self._open[notebook.version] = (notebook, stack)

    def close(self) -> None:
        for _, stack in self._open.values():
            stack.close()


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernels]:
    opened = Kernels(tmp_path_factory.mktemp("kernels"))
    yield opened
    opened.close()
    ensure_event_loop().close()  # jupyter_client made one for the main thread


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """On every version; a module that says ``ANY_KERNEL`` only on the installed one."""
    if "start" in metafunc.fixturenames:
        once = getattr(metafunc.module, "ANY_KERNEL", False)
        versions = [v for v in VERSIONS if v == version("ipykernel")] if once else VERSIONS
        metafunc.parametrize("start", versions, indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What hangs on no version runs where KERNELS names the installed one, and only there."""
    if version("ipykernel") in VERSIONS:
        return
    rest = [item for item in items if HERE in item.path.parents and not _versions(item)]
    config.hook.pytest_deselected(items=rest)
    items[:] = [item for item in items if item not in rest]


def _versions(item: pytest.Item) -> list[str]:
    spec = getattr(item, "callspec", None)
    return [each for each in spec.params.values() if each in VERSIONS] if spec else []


@pytest.fixture
def start(request: pytest.FixtureRequest, pool: Kernels, tmp_path: Path) -> Iterator[Start]:
    """Get a kernel with these replies of the model.

    ``fresh`` starts a new one, which is ended after the test; ``load=False`` does not load the
    extension into it; ``env`` holds variables that differ.
    """
    after = ExitStack()

    def open_notebook(
        *replies: Any, load: bool = True, fresh: bool = False, env: dict[str, str] | None = None
    ) -> Notebook:
        folder = tmp_path / "work"
        folder.mkdir(exist_ok=True)
        server = after.enter_context(ScriptedServer(*replies))
        settings = {
            "HERMES_HOME": str(tmp_path / "home"),
            "OPENAI_BASE_URL": server.url,
            "OPENAI_API_KEY": "",
            **(env or {}),
        }
        if fresh or not load:
            notebook, stack = pool.start(request.param, settings)
            after.push(stack)
        else:
            notebook, stack = pool.take(request.param)
            after.callback(pool.give_back, notebook, stack)
        notebook.folder, notebook.server = folder, server
        notebook.run(f"import os; os.chdir({str(folder)!r}); os.environ.update({settings!r})")
        if load:
            notebook.run("%load_ext hermes_jupyter")
        notebook.forget()
        return notebook

    with after:
        yield open_notebook


@pytest.fixture
def paged(start: Start) -> Iterator[Callable[..., tuple[Notebook, Page]]]:
    """Get a notebook whose page is connected, with these replies of the model."""
    opened = []

    def paged(*replies: Any, there: Any = None, **about: Any) -> tuple[Notebook, Page]:
        notebook = start(*replies)
        page = Page(notebook, cells() if there is None else there, **about).until_ready()
        opened.append(page)
        return notebook, page

    yield paged
    for page in opened:
        page.close()


SCRIPT = (
    conversation(
        "then delete",
        ("word " * 200, call("terminal", command="rm old.log")),
        "All is said.",
        delay=0.005,
    ),
    conversation("delete", ("I look.", call("terminal", command="rm old.log")), "All is said."),
    conversation("sleep", (call("terminal", command="echo > started; sleep 31"),), "never"),
    conversation("talk", "word " * 400, delay=0.005),
    conversation("grow", "word " * 60, delay=0.006),
    conversation("next cell", (call("insert_cell", source="print(6 * 707)"),), "All is said."),
)


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(*SCRIPT) as server:
        yield server


@pytest.fixture(scope="module")
def env(server: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables of everything that is started here."""
    home = tmp_path_factory.mktemp("home")
    return {
        "HERMES_HOME": str(home / "hermes"),
        "IPYTHONDIR": str(home / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "OPENAI_BASE_URL": server.url,
        "OPENAI_API_KEY": "",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("work")


@pytest.fixture
def log(folder: Path) -> Path:
    """The file that the turns want to delete."""
    path = folder / "old.log"
    path.write_text("x", encoding="utf-8")
    return path


__all__ = ["Conversation", "Notebook"]
