"""A tiny model whose chunks are real installed distributions, and a hub that serves it."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hermes_jupyter.agent.models.local import catalog
from hermes_jupyter.agent.models.local.catalog import Chunk, HubFile, KnownModel

PARTS = (b"GGUF first ", b"and second ", b"and last")
WHOLE = b"".join(PARTS)
TINY = KnownModel(
    name="tiny",
    title="Tiny",
    sha256=hashlib.sha256(WHOLE).hexdigest(),
    size=len(WHOLE),
    licence="Apache-2.0",
    extra="local",
    chunks=tuple(
        Chunk(distribution=f"tiny-part{n}", file=f"part{n}.bin") for n in range(len(PARTS))
    ),
    hub=HubFile(repo="Someone/Tiny", file="tiny.gguf", revision="main"),
)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> KnownModel:
    """The only known model; the hub is switched off."""
    monkeypatch.setattr(catalog, "MODELS", {"tiny": TINY})
    monkeypatch.setattr("hermes_jupyter.agent.models.local.weights.MODELS", {"tiny": TINY})
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return TINY


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed distributions with the chunks, whose code must never run."""
    folder = tmp_path / "site"
    for number, part in enumerate(PARTS):
        install(folder, f"tiny-part{number}", f"part{number}.bin", part)
    monkeypatch.syspath_prepend(str(folder))
    return folder


def install(site: Path, distribution: str, file: str, content: bytes) -> None:
    package = distribution.replace("-", "_")
    (site / package).mkdir(parents=True)
    (site / package / "__init__.py").write_text("raise AssertionError('imported')\n")
    (site / package / file).write_bytes(content)
    about = site / f"{package}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (about / "RECORD").write_text(f"{package}/__init__.py,,\n{package}/{file},,\n")


class Hub(ThreadingHTTPServer):
    """Serves one file the way the hub does, ranges included; can break off in the middle."""

    daemon_threads = True

    def __init__(self, content: bytes) -> None:
        super().__init__(("127.0.0.1", 0), HubHandler)
        self.content = content
        self.etag = hashlib.sha256(content).hexdigest()
        self.breaks = False
        """Whether the next body ends in the middle."""
        self.requests: list[tuple[str, str, str]] = []
        """Method, path and asked range."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class HubHandler(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(body=b"")

    def do_GET(self) -> None:
        self._answer(body=self.server.content)

    def _answer(self, body: bytes) -> None:
        asked = self.headers.get("Range") or ""
        self.server.requests.append((self.command, self.path, asked))
        if "/resolve/" not in self.path:
            self.send_error(404)
            return
        start = int(asked.removeprefix("bytes=").partition("-")[0] or 0) if asked else 0
        total = len(self.server.content)
        self.send_response(206 if asked else 200)
        self.send_header("ETag", f'"{self.server.etag}"')
        self.send_header("X-Repo-Commit", "c" * 40)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(total - start))
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{total - 1}/{total}")
        self.end_headers()
        end = total // 2 if self.server.breaks and body else total
        self.server.breaks = self.server.breaks and not body
        self.wfile.write(body[start:end])
        self.close_connection = True


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tiny: KnownModel, tmp_path: Path) -> Iterator[Hub]:
    """A reachable hub that has the tiny model."""
    constants = pytest.importorskip("huggingface_hub.constants", reason="needs huggingface_hub")
    server = Hub(WHOLE)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", server.url)
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 5)  # what is written at once
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub-cache"))
    monkeypatch.setattr(
        constants,
        "HUGGINGFACE_CO_URL_TEMPLATE",
        server.url + "/{repo_id}/resolve/{revision}/{filename}",
    )
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.fixture(autouse=True)
def no_real_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Path(os.environ["XDG_CACHE_HOME"])
