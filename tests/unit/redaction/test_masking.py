from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_jupyter.redaction import masking, redact, rules

# Assembled, so that this file itself holds nothing that looks like a key.
TAIL = "a1B2" * 6
SECRETS = {
    "sk-" + TAIL: "sk-",
    "sk-ant-" + TAIL: "sk-ant-",
    "ghp_" + TAIL: "ghp_",
    "github_pat_" + TAIL: "github_pat_",
    "xoxb-" + TAIL: "xoxb-",
    "AKIA" + TAIL[:16].upper(): "AKIA",
    "AIza" + TAIL: "AIza",
    "hf_" + TAIL: "hf_",
    "glpat-" + TAIL: "glpat-",
    "npm_" + TAIL: "npm_",
    "sk-proj-" + TAIL + "_-x": "sk-proj-",
    "sk_live_" + TAIL: "sk_live_",
    "gsk_" + TAIL: "gsk_",
    "xai-" + TAIL: "xai-",
    "nvapi-" + TAIL: "nvapi-",
    "dapi" + "0a1b" * 8: "dapi",
    "hvs." + TAIL: "hvs.",
    "tskey-auth-" + TAIL: "tskey-",
    "GOCSPX-" + TAIL: "GOCSPX-",
    "ATATT3" + TAIL: "ATATT3",
    "PMAK-" + TAIL: "PMAK-",
    "glsa_" + TAIL: "glsa_",
    "ntn_" + TAIL: "ntn_",
    "key-" + "0a1b" * 8: "key-",
    "SG." + TAIL: "SG.",
    "xapp-1-" + TAIL: "xapp-",
    "123456789:AA" + "a1B" * 11: "telegram",
}


@pytest.mark.parametrize("secret", SECRETS)
def test_a_vendors_key_is_masked_and_only_its_prefix_is_left(secret):
    assert redact(f"use {secret} here") == f"use «redacted:{SECRETS[secret]}…» here"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abc.def-123456", "abc.def-123456"),
        ('{"authorization": "Basic dXNlcjpwYXNz"}', "dXNlcjpwYXNz"),
        ("curl -H 'X-Api-Key: 0123456789abcdef'", "0123456789abcdef"),
        ("postgres://ada:p4ss-w0rd@db/x", "p4ss-w0rd"),
        ("DB_PASSWORD=correcthorse", "correcthorse"),
        ('{"password": "correct horse battery"}', "correct horse battery"),
        (r"{\"api_key\": \"0123456789abcdef\"}", "0123456789abcdef"),
        ("secret: f00dcafe12345678", "f00dcafe12345678"),
        ("tool --token f00dcafe12345678", "f00dcafe12345678"),
        ("tool --openai-api-key f00dcafe12345678", "f00dcafe12345678"),
        ("tool --db-password=hunter2", "hunter2"),
        ("curl -u ada:p4ssw0rd https://example.org", "p4ssw0rd"),
        ("curl --user 'ada:open sesame!' x".replace(" sesame", "-sesame"), "open-sesame!"),
        ("export OPENAI_API_KEY_2=0123456789abcdef", "0123456789abcdef"),
        ("secret_key_base: 0123456789abcdef", "0123456789abcdef"),
        ('client_secret = "0123456789abcdef"', "0123456789abcdef"),
        ("https://x.example/?X-Amz-Signature=0123456789abcdef", "0123456789abcdef"),
        ("https://x.example/?sv=1&sig=0123456789abcdef", "0123456789abcdef"),
        ("Proxy-Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "eyJzdWIi"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----", "MIIabc"),
        ("-----BEGIN PRIVATE KEY-----\nMIIabc, and then cut", "MIIabc"),
    ],
)
def test_secrets_of_a_known_shape_are_masked(text, secret):
    assert secret not in redact(text)
    assert "«redacted:" in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=4096000000 and token_count: 12345678",
        "token = next_token_value",
        "authorization: Optional = None",
        "headers = {'authorization': expected_authorization}",
        "API_KEY = self.settings.api_key",
        "key-value-pairs-of-2024 and hf_hub_download_v2 and npm_config_cache_v10_x",
        "pplx-70b-online-chat-model and xai-org-grok-2-latest-model",
        "sort -u names:values, pwd=/home/ada/project1",
        "-----BEGIN PRIVATE KEY----- is how it begins; what follows is (as always) prose.",
        "token = get_token(argument)",
        "password=self.password",
        'api_key=os.environ["OPENAI_API_KEY"]',
        "TOKEN=$GITHUB_TOKEN, or TOKEN=<your token>",
        "sk-learn-contributors-and-friends",
        "the bearer certificates of a token economy",
        "see https://example.org:8080/a@b and ada@example.org",
        "primary key: customer_identifier_2024",
        "ключ и 鍵 und Schlüssel 🔑",
    ],
)
def test_what_is_no_secret_is_left_as_it_is(text):
    assert redact(text) == text


@pytest.mark.parametrize(
    "secret", [*SECRETS, "Authorization: Bearer abc.def-1234", "PASSWORD=a1b2c3d4e5f6"]
)
def test_masking_twice_changes_nothing(secret):
    once = redact(f"x = '{secret}'\n{secret}")
    assert redact(once) == once


@pytest.mark.parametrize(
    "piece",
    ["a", "sk-", "eyJ", "eyJaaaaaaaa.", "token=", "token : ", "://a:",
     "-----BEGIN PRIVATE KEY-----", "authorization: ", "password\\\" = ", "«redacted:", "\ud800"],
)  # fmt: skip
def test_a_megabyte_takes_linear_time(piece):
    started = time.perf_counter()
    redact(piece * (1_000_000 // len(piece)))
    assert time.perf_counter() - started < 5  # 0.4 s here; a quadratic pattern takes minutes


@pytest.mark.parametrize("before", ["\n", "\t", "\\n", "\\t", "x\\r\\n", '\\"', "x ", "("])
@pytest.mark.parametrize("secret", [*SECRETS, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln"])
def test_a_key_is_found_behind_a_line_end_however_that_is_written(before, secret):
    assert secret not in redact(f"a line{before}{secret}")


def _gone(kind: str, secret: str) -> str:
    return "gone"


WORDS = st.sampled_from(
    ["token", "API_KEY", "passwd", "pwd", "secret", "x_PAT", "Bearer", "Authorization", "://u:pw@h",
     "=", ": ", '"', "'", " ", "\n", "-", "--", "abc123def456", "correct horse", "sk-", "AKIA",
     "eyJabcdefgh1", ".", "-----BEGIN PRIVATE KEY-----", "word", "ya29."]
)  # fmt: skip


@given(st.lists(WORDS, max_size=30).map("".join))
def test_what_looks_harmless_at_first_sight_is_harmless(text):
    if not masking.is_suspicious(text):
        assert all(rule.replaced(text, _gone) == text for rule in rules.RULES)


@given(st.lists(WORDS, min_size=5, max_size=60).map("".join))
def test_a_long_text_is_masked_as_a_short_one_is(text):
    long = f"{text}\n" * 12
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(masking, "PIECE", 1 << 30)
        whole = redact(long)
        patched.setattr(masking, "PIECE", 20)
        assert redact(long) == whole


def test_a_private_key_that_is_longer_than_a_piece_is_masked():
    lines = "MIIabc/+0123456789\n" * 900
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{lines}-----END RSA PRIVATE KEY-----"
    masked = redact("some text\n" * 20_000 + key + "\nmore text" * 20_000)
    assert "MIIabc" not in masked
    assert "more text" in masked
