"""The wheel in an environment of its own: both extensions work, and `tools` is ours alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([*PIP, "wheel", "--quiet", "--no-deps", "-w", folder, ROOT], check=True)
    return next(folder.glob("*.whl"))


class Environment:
    """A virtual one, which borrows what we depend on from that of the tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
        self.python = folder / "env" / "bin" / "python"
        places = self.run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
        borrowed = Path(places.strip()) / "borrowed.pth"
        borrowed.write_text(f"{sysconfig.get_path('purelib')}\n")

    def install(self, *wheels: Path) -> None:
        command = [*PIP, "--python", self.python, "install", "--quiet", "--no-deps"]
        subprocess.run([*command, "--ignore-installed", *wheels], check=True)

    def run(self, *arguments: str) -> str:
        """What it prints, errors too."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "PYTHON"))}
        env |= {name: str(self.folder) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}
        done = subprocess.run(
            [self.python, *arguments], env=env, cwd=self.folder, text=True, timeout=100,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return done.stdout


@pytest.fixture
def environment(tmp_path):
    return Environment(tmp_path)


@pytest.fixture
def rival(tmp_path):
    """Another distribution with a top-level package `tools`."""
    path = tmp_path / "rival-1.0-py3-none-any.whl"
    files = {
        "tools/__init__.py": "RIVAL = True\n",
        "tools/saw.py": "",
        "rival-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: rival\nVersion: 1.0\n",
        "rival-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n",
    }
    listed = "".join(f"{name},,\n" for name in [*files, "rival-1.0.dist-info/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, "rival-1.0.dist-info/RECORD": listed}.items():
            archive.writestr(name, text)
    return path


def test_both_extensions_are_there_and_well(wheel, environment):
    environment.install(wheel)
    lab = re.sub("\x1b\\[[0-9;]*m", "", environment.run("-m", "jupyterlab.labextensions", "list"))
    assert re.search(r"hermes-jupyter-labextension v0\.1\.0\s+enabled\s+OK", lab), lab
    server = environment.run("-m", "jupyter_server.extension.serverextension", "list")
    server = re.sub("\x1b\\[[0-9;]*m", "", server)
    assert re.search(r"hermes_jupyter\.server [0-9.]* *OK", server), server


LOAD = "import hermes_jupyter; from IPython.core.interactiveshell import InteractiveShell as S; " \
       "hermes_jupyter.load_ipython_extension(S.instance())"  # fmt: skip


def test_a_package_that_overwrites_our_tools_is_named(wheel, environment, rival):
    environment.install(wheel)
    environment.install(rival)
    said = environment.run("-c", LOAD)
    assert "The distribution rival has overwritten the package `tools`" in said
    assert "python -m venv" in said


def test_a_package_whose_tools_we_overwrite_is_named(wheel, environment, rival):
    environment.install(rival)
    environment.install(wheel)
    assert "The distribution rival has files in the folder" in environment.run("-c", LOAD)


def test_loading_says_nothing_where_tools_is_ours_alone(wheel, environment):
    environment.install(wheel)
    assert environment.run("-c", LOAD) == ""


def test_a_module_of_the_user_that_hides_tools_is_named(wheel, environment):
    environment.install(wheel)
    (environment.folder / "tools.py").write_text("mine = 1\n")
    said = environment.run("-c", "import hermes_jupyter")
    assert f"finds {environment.folder / 'tools.py'}, which hides" in said
