from __future__ import annotations

import re

import pytest

from hermes_jupyter.redaction import redact
from hermes_jupyter.road.secrets import Secrets, UnknownPlaceholder

# Assembled, so that this file itself holds nothing that looks like a key.
KEY = "sk-" + "a1B2" * 6
OTHER = "sk-" + "c3D4" * 6
PEM = "-----BEGIN PRIVATE KEY-----\n" + f"{'MIIabc09' * 8}\n" * 3 + "-----END PRIVATE KEY-----"


def test_a_secret_becomes_the_same_placeholder_all_session_and_comes_back():
    secrets = Secrets()
    masked = secrets.mask(f"a = '{KEY}'\nb = '{OTHER}'\nc = '{KEY}'")
    first, second, third = re.findall(r"«secret:sk-:[0-9a-f]{8}»", masked)
    assert first == third != second
    assert secrets.resolve(masked) == f"a = '{KEY}'\nb = '{OTHER}'\nc = '{KEY}'"


def test_a_placeholder_of_another_session_is_another_one_and_is_not_resolved():
    mine, theirs = Secrets(), Secrets()
    assert mine.mask(KEY) != theirs.mask(KEY)
    with pytest.raises(UnknownPlaceholder):
        mine.resolve(theirs.mask(KEY))


@pytest.mark.parametrize(
    "mangle",
    [
        lambda text: text.replace("sk-", "sk-…"),
        lambda text: text[:-2] + ("0»" if text[-2] != "0" else "1»"),
        lambda text: text.removesuffix("»"),
        lambda text: text.strip("«»"),
        lambda text: "«secret:sk-»",
    ],
)
def test_a_placeholder_that_was_not_copied_exactly_is_refused(mangle):
    secrets = Secrets()
    with pytest.raises(UnknownPlaceholder, match="Copy it as read_file shows it"):
        secrets.resolve(f"key={mangle(secrets.mask(KEY))}\n")


@pytest.mark.parametrize(
    "text", ["secret: x", "«secret: un mot»", "my-secret:sk-:12", "a secret:b"]
)
def test_plain_text_about_secrets_is_left_alone(text):
    assert Secrets().resolve(text) == text


def test_what_a_file_holds_itself_is_no_placeholder():
    text = "docs: «secret:sk-:00000000» stands for a key"
    assert Secrets().resolve(text, existing=text) == text


def test_a_private_key_keeps_its_lines():
    secrets = Secrets()
    masked = secrets.mask(f"before\n{PEM}\nafter")
    assert "MII" not in masked
    assert masked.count("\n") == PEM.count("\n") + 2
    assert secrets.resolve(masked) == f"before\n{PEM}\nafter"


@pytest.mark.parametrize("text", [KEY, PEM, f"API_KEY={KEY}", "password: 'abc12345'", "//u:pw1@h"])
def test_placeholders_outlive_the_masks_of_shown_text(text):
    masked = Secrets().mask(text)
    assert redact(masked) == masked
    numbered = "\n".join(f"{n}|{line}" for n, line in enumerate(masked.split("\n"), 1))
    assert redact(numbered) == numbered


def test_only_placeholders_of_this_session_count():
    secrets = Secrets()
    assert secrets.has_placeholder(f"echo {secrets.mask(KEY)}")
    assert not secrets.has_placeholder("echo «secret:sk-:12345678»")
