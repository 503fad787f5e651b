"""An engine that is reached over TCP, with certificates for both sides."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services import engines, shared
from tests.services.packages import Unavailable
from tools.environments.host import HostError


class RemoteDockerd(engines.Dockerd):
    """dockerd behind TLS on a port of this machine."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.certificates = folder / "certificates"
        self.certificates.mkdir()
        _sign(self.certificates)

    @property
    def settings(self) -> dict[str, str]:
        return {
            **super().settings,
            "DOCKER_HOST": f"tcp://127.0.0.1:{self.port}",
            "DOCKER_TLS_VERIFY": "1",
            "DOCKER_CERT_PATH": str(self.certificates),
        }

    def _command(self) -> list[str]:
        files = {"cacert": "ca.pem", "cert": "server.pem", "key": "server-key.pem"}
        flags = [f"--tls{flag}={self.certificates / name}" for flag, name in files.items()]
        return [*super()._command(), "--tlsverify", *flags]

    def _configuration(self) -> dict[str, object]:
        both = [self.address, f"tcp://127.0.0.1:{self.port}"]  # the tests start it by the socket
        return {**super()._configuration(), "hosts": both}


def _openssl(folder: Path, *arguments: str) -> None:
    command = ["openssl", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)


def _sign(folder: Path) -> None:
    """Certificates as `docker`'s own documentation has them made."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    authority = ("-keyout", "ca-key.pem", "-out", "ca.pem", "-days", "2", "-subj", "/CN=hermes-ca")
    _openssl(folder, "req", "-x509", *key, *authority)
    for name, uses in (("server", "serverAuth"), ("client", "clientAuth")):
        names = ("-keyout", f"{name}-key.pem", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        _openssl(folder, "req", *key, *names)
        (folder / "extra").write_text(f"subjectAltName=IP:127.0.0.1\nextendedKeyUsage={uses}\n")
        signer = ("-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial")
        files = ("-in", f"{name}.csr", "-out", f"{name}.pem", "-extfile", "extra", "-days", "2")
        _openssl(folder, "x509", "-req", *signer, *files)
    shutil.copy(folder / "client.pem", folder / "cert.pem")
    shutil.copy(folder / "client-key.pem", folder / "key.pem")


@pytest.fixture(scope="module")
def remote() -> Iterator[engines.EngineService]:
    if not shutil.which("openssl"):
        pytest.skip("needs openssl")
    if reason := shared.why_no_engine("dockerd"):
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="hermes-tls-"))
    try:
        service = engines.with_images(RemoteDockerd(folder))
    except Unavailable as reason:
        pytest.skip(str(reason))
    yield service
    engines.end(service)


def test_processes_are_fed_and_read_over_tls(remote, hosts):
    host = hosts(remote)
    given = bytes(range(256)) * 20_000
    assert host.run(["cat"], stdin=given).out == given
    done = host.run(["sh", "-c", "echo out; echo err >&2; exit 7"])
    assert (done.out, done.err, done.exit_code) == (b"out\n", b"err\n", 7)


def test_an_engine_that_shows_another_certificate_is_refused(remote, hosts, tmp_path):
    _sign(tmp_path)
    host = hosts(remote, {"DOCKER_CERT_PATH": str(tmp_path)})
    with pytest.raises(HostError, match="certificate"):
        host.run(["true"])
