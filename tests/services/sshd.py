"""A private OpenSSH server, installed where that is possible."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

from tests.services import packages

CONFIG = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_ed25519
PidFile none
AuthorizedKeysFile {folder}/authorized_keys
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
PermitRootLogin prohibit-password
StrictModes no
MaxSessions 100
MaxStartups 100
SetEnv HOME={folder}
Subsystem sftp internal-sftp
"""


def program() -> str | None:
    return shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def missing() -> str:
    """Why there is none; "" if there is."""
    try:
        if program() is None:
            packages.need({"sshd": "openssh-server"})
    except packages.Unavailable as reason:
        if program() is None:
            return str(reason)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    return ""


class Sshd:
    """On ``port`` of the loopback interface; its files are in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = _free_port()
        for name in ("host_ed25519", "id_ed25519"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name],
                check=True,
                timeout=30,
            )
        shutil.copy(folder / "id_ed25519.pub", folder / "authorized_keys")
        self.make_known(self.port)
        text = CONFIG.format(port=self.port, folder=folder)
        (folder / "sshd_config").write_text(text, encoding="utf-8")
        self.start()

    @property
    def settings(self) -> dict[str, str]:
        return {
            "TERMINAL_SSH_HOST": "127.0.0.1",
            "TERMINAL_SSH_PORT": str(self.port),
            "TERMINAL_SSH_KEY": str(self.folder / "id_ed25519"),
            "TERMINAL_SSH_KNOWN_HOSTS": str(self.folder / "known_hosts"),
            "TERMINAL_SSH_CONFIG": os.devnull,
        }

    def make_known(self, port: int) -> None:
        """Write its key into ``known_hosts``, as that of what listens on a port."""
        public = (self.folder / "host_ed25519.pub").read_text(encoding="utf-8")
        with (self.folder / "known_hosts").open("a", encoding="utf-8") as file:
            file.write(f"[127.0.0.1]:{port} {public}")

    def start(self) -> None:
        sshd = program()
        assert sshd
        self._process = subprocess.Popen(
            [sshd, "-D", "-f", self.folder / "sshd_config", "-E", self.folder / "sshd.log"],
            stdin=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 10
        while not _answers(self.port):
            log = self.folder / "sshd.log"
            assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
            time.sleep(0.02)

    def stop(self) -> None:
        """End the listening one; connections live on, as is the way of this server."""
        self._process.terminate()
        self._process.wait(10)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
        return number


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 0.2).close()
    except OSError:
        return False
    return True
