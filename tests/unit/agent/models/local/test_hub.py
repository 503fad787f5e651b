"""The publisher's own file comes first, if the hub can be reached in a moment."""

from __future__ import annotations

import socket
import time

import pytest

from hermes_jupyter.agent.models.local import hub as downloads
from hermes_jupyter.agent.models.local.weights import find_weights
from hermes_jupyter.errors import ModelError

WHOLE = b"GGUF first and second and last"


def silent(what: str, done: int, total: int) -> None:
    pass


def test_the_publishers_file_is_downloaded_and_checked(hub, tiny):
    path = find_weights("tiny", progress=silent)
    assert path.read_bytes() == WHOLE
    assert sorted(entry.suffix for entry in path.parent.iterdir()) == [".gguf", ".lock"]


def test_the_commit_that_was_checked_is_the_one_that_is_downloaded(hub, tiny):
    find_weights("tiny", progress=silent)
    assert {path for method, path, _ in hub.requests if method == "GET"} == {
        f"/Someone/Tiny/resolve/{'c' * 40}/tiny.gguf"
    }


def test_a_file_that_is_no_longer_the_pinned_one_is_not_downloaded(hub, tiny, site):
    hub.etag = "0" * 64
    assert find_weights("tiny", progress=silent).read_bytes() == WHOLE
    assert "GET" not in {method for method, _, _ in hub.requests}


def test_other_bytes_under_the_right_name_are_refused(hub, tiny):
    hub.content = b"x" * tiny.size
    with pytest.raises(ModelError, match="sha256"):
        find_weights("tiny", progress=silent)


def test_a_broken_download_goes_on_where_it_stopped(hub, tiny):
    hub.breaks = True
    assert find_weights("tiny", progress=silent).read_bytes() == WHOLE
    assert f"bytes={len(WHOLE) // 2}-" in {asked for _, _, asked in hub.requests}


def test_a_hub_that_does_not_answer_costs_seconds_and_the_chunks_are_taken(hub, tiny, site):
    with socket.create_server(("127.0.0.1", 0)) as mute:  # accepts and says nothing
        port = mute.getsockname()[1]
        template = f"http://127.0.0.1:{port}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        constants = pytest.importorskip("huggingface_hub.constants")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
            patch.setattr(downloads, "PATIENCE", 0.5)
            began = time.monotonic()
            assert find_weights("tiny", progress=silent).read_bytes() == WHOLE
    assert time.monotonic() - began < 2.5


def test_an_offline_hub_is_not_asked(hub, tiny, site, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert find_weights("tiny", progress=silent).read_bytes() == WHOLE
    assert hub.requests == []


def test_the_librarys_own_cache_is_used_offline(hub, tiny, monkeypatch):
    library = pytest.importorskip("huggingface_hub")
    library.hf_hub_download("Someone/Tiny", "tiny.gguf")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    hub.requests.clear()
    assert find_weights("tiny", progress=silent).read_bytes() == WHOLE
    assert hub.requests == []
