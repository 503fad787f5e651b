import json

import pytest

from hermes_jupyter.server.masking import HIDDEN, Mask, masked

KEY = 'sk-a/b"c-0123456789'


def through(said, size, key=KEY):
    mask = Mask(key)
    blocks = [said[at : at + size] for at in range(0, len(said), size)]
    return b"".join([*map(mask.add, blocks), mask.end()])


@pytest.mark.parametrize("written", [KEY, json.dumps(KEY)[1:-1], KEY.replace("/", "\\/")])
def test_a_key_is_hidden_however_it_is_cut_and_written(written):
    said = f"Authorization: Bearer {written}; and {written[:-1]} is none".encode()
    for size in (1, 2, 7, 1000):
        assert through(said, size).decode() == (
            f"Authorization: Bearer {HIDDEN}; and {written[:-1]} is none"
        )


def test_nothing_else_is_changed_or_kept_back():
    mask = Mask(KEY)
    assert mask.add(b'data: {"sk": 1}\n\n') == b'data: {"sk": 1}\n\n'
    assert mask.end() == b""
    assert through(b"sk-sk-sk-a/b", 3) == b"sk-sk-sk-a/b"


@pytest.mark.parametrize("key", ["", "none", "ollama"])
def test_a_word_is_no_key(key):
    assert masked("none of ollama", key) == "none of ollama"
