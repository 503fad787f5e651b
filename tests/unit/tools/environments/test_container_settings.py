"""Settings of containers, read without any engine."""

from __future__ import annotations

import sys

import pytest

from tools.environments.backends import OpenOptions, backend
from tools.environments.containers.apptainer_spec import spec_from as instance_from
from tools.environments.containers.docker_engine import address_from
from tools.environments.containers.docker_spec import spec_from as container_from
from tools.environments.containers.docker_wire import Frames
from tools.environments.containers.values import Values
from tools.environments.host import HostError


@pytest.mark.parametrize(
    ("text", "size"), [("512", 512 << 20), ("1.5g", 3 << 29), ("64MiB", 64 << 20), ("0", 0)]
)
def test_a_size_is_in_megabytes_unless_it_says_else(text, size):
    assert Values({"X": text}).size("X", "1") == size


@pytest.mark.parametrize("text", ["a, b", '["a", "b"]'])
def test_a_list_is_json_or_words(text):
    assert Values({"X": text}).words("X") == ("a", "b")


@pytest.mark.parametrize("text", ["A=1, B=2=3", '{"A": 1, "B": "2=3"}'])
def test_pairs_are_json_or_assignments(text):
    assert Values({"X": text}).pairs("X") == {"A": "1", "B": "2=3"}


@pytest.mark.parametrize(
    ("method", "text"),
    [("size", "much"), ("number", "-1"), ("number", "inf"), ("flag", "so so"), ("words", "[1"),
     ("pairs", "A"), ("pairs", "{broken")],
)  # fmt: skip
def test_what_cannot_be_read_is_an_error_that_names_the_setting(method, text):
    defaults = {"size": ("1",), "number": (1,), "flag": (True,)}
    with pytest.raises(ValueError, match="SETTING"):
        getattr(Values({"SETTING": text}), method)("SETTING", *defaults.get(method, ()))


def test_blank_settings_are_as_good_as_none():
    assert container_from({"TERMINAL_DOCKER_IMAGE": " "}, "s", "/w") == container_from(
        {}, "s", "/w"
    )


def test_a_container_is_hardened_without_any_setting():
    spec = container_from({}, "s", "/w")
    assert spec.memory
    assert spec.pids
    assert spec.cpus
    assert "SYS_ADMIN" not in spec.capabilities
    assert spec.isolation.isolated
    assert not spec.isolation.host_paths


def test_a_read_only_volume_is_no_host_path():
    volumes = {"TERMINAL_DOCKER_VOLUMES": '["/a:/a:ro", "/b:/b", "named:/c"]'}
    assert container_from(volumes, "s", "/w").isolation.host_paths == ("/b",)


def test_the_name_of_a_container_tells_its_session_and_settings_apart():
    names = {
        container_from(settings, session, "/w").name
        for session in ("my notebook", "other")
        for settings in ({}, {"TERMINAL_DOCKER_NETWORK": "none"})
    }
    assert len(names) == 4
    assert all(name.replace("-", "").replace("_", "").isalnum() for name in names)


def test_an_instance_keeps_its_session_in_the_scratch_folder(tmp_path):
    settings = {"TERMINAL_SANDBOX_DIR": "/other", "TERMINAL_SCRATCH_DIR": str(tmp_path)}
    assert instance_from(settings, "s", "/w").folder.parent == tmp_path


def test_docker_host_decides_where_the_engine_is():
    assert address_from({"DOCKER_HOST": "tcp://there:2376"}) == "tcp://there:2376"


def test_a_socket_that_is_not_there_is_told_with_a_remedy():
    ok, text = backend("docker").available({"DOCKER_HOST": "unix:///nonexistent/sock"})
    assert not ok
    assert "/nonexistent/sock" in text
    assert "DOCKER_HOST" in text


def test_without_the_sdk_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "docker", None)
    with pytest.raises(HostError, match=r"pip install 'hermes-jupyter\[docker\]'"):
        backend("docker").open({}, OpenOptions())


def test_a_wrong_setting_is_a_host_error():
    for name in ("docker", "singularity"):
        with pytest.raises(HostError, match=r"TERMINAL_CONTAINER_MEMORY|apptainer"):
            backend(name).open({"TERMINAL_CONTAINER_MEMORY": "lots"}, OpenOptions())


def test_frames_are_put_together_however_they_arrive():
    sent = b"\1\0\0\0\0\0\0\3out\2\0\0\0\0\0\0\3err\1\0\0\0\0\0\0\1!"
    for size in (1, 2, 5, 9, 100):
        frames, out, err = Frames(), b"", b""
        for at in range(0, len(sent), size):
            for is_error, part in frames.split(sent[at : at + size]):
                out, err = (out, err + part) if is_error else (out + part, err)
        assert (out, err) == (b"out!", b"err")
