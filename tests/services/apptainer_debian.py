"""Install apptainer on a Debian that has none: Debian's own package of its unstable suite.

That is built for a newer C library. So the libraries it wants are unpacked into a folder of their
own, and its two programs are told to look there; the rest of the system stays as it is.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from tests.services.packages import Unavailable, need

LIBRARIES = ("libc6", "libseccomp2", "libsqlite3-0")
HELPERS = {
    "patchelf": "patchelf",
    "mksquashfs": "squashfs-tools",
    "squashfuse": "squashfuse",
    "fuse2fs": "fuse2fs",
    "fuse-overlayfs": "fuse-overlayfs",
    "newuidmap": "uidmap",
    "mkfs.ext3": "e2fsprogs",
}
SECONDS = 300
URL = re.compile(r"(?:^deb\s+(?:\[[^]]*\]\s+)?|^URIs:\s*)(\S+)", re.MULTILINE)
KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
CAP_SYS_RESOURCE = 24


def install(root: Path = Path("/")) -> None:
    """Install it below ``root``, where its configuration fits this machine.

    Raises
    ------
    Unavailable
    """
    need(HELPERS)
    with tempfile.TemporaryDirectory(prefix="hermes-apptainer-") as folder:
        packages = _download(Path(folder))
        libraries = root / "opt/apptainer-libraries"
        libraries.mkdir(parents=True, exist_ok=True)
        for package in packages:
            is_library = not package.name.startswith("apptainer")
            _run(["dpkg", "-x", str(package), str(libraries if is_library else root)])
    found = next(libraries.rglob("ld-linux-*.so.*"), None)
    programs = [root / "usr/bin/apptainer", *root.glob("usr/lib/*/apptainer/bin/starter")]
    if found is None or len(programs) != 2:
        raise Unavailable("Debian's packages of apptainer look different from what was expected")
    for program in programs:
        path = ["--set-rpath", str(found.parent), "--force-rpath"]
        _run(["patchelf", "--set-interpreter", str(found), *path, str(program)])
    (root / "var/lib/apptainer/mnt/session").mkdir(parents=True, exist_ok=True)
    _configure(root / "etc/apptainer/apptainer.conf")


def _download(folder: Path) -> list[Path]:
    for part in ("lists/partial", "cache/archives/partial", "packages"):
        (folder / part).mkdir(parents=True)
    sources = folder / "unstable.list"
    sources.write_text(f"deb [signed-by={KEYS}] {_mirror()} sid main\n")
    private = [
        f"Dir::Etc::sourcelist={sources}",
        "Dir::Etc::sourceparts=-",
        f"Dir::State::lists={folder}/lists",
        f"Dir::Cache={folder}/cache",
        "APT::Sandbox::User=root",
    ]
    apt = ["apt-get", "-qq", *(part for option in private for part in ("-o", option))]
    _run([*apt, "update"])
    _run([*apt, "download", "apptainer", *LIBRARIES], folder / "packages")
    return sorted((folder / "packages").glob("*.deb"))


def _mirror() -> str:
    """Where this machine gets Debian from."""
    places = [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]
    for place in places:
        for url in URL.findall(place.read_text()) if place.is_file() else ():
            if "debian" in url and "security" not in url:
                return str(url)
    raise Unavailable("no source of Debian packages is configured here")


def _configure(file: Path) -> None:
    text = file.read_text()
    held = re.search(r"CapEff:\s*(\w+)", Path("/proc/self/status").read_text())
    if held and not int(held[1], 16) >> CAP_SYS_RESOURCE & 1:  # it would ask for what root lacks
        text = re.sub(
            r"(?m)^root default capabilities = .*", "root default capabilities = no", text
        )
    if not Path("/run/systemd/system").is_dir():
        text = re.sub(r"(?m)^systemd cgroups = .*", "systemd cgroups = no", text)
    file.write_text(text)


def _run(command: list[str], folder: Path | None = None) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise Unavailable(f"{command[0]} failed: {' '.join(said)}")
