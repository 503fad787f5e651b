"""What went wrong, in one line."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from hermes_jupyter.agent.models import failures, server_messages
from hermes_jupyter.errors import TooLongError

ENDPOINT = failures.Endpoint(
    base_url="http://user:pass@localhost:1/v1?key=hidden", model="tiny", api_key="sk-secret-key"
)


@dataclass
class Response:
    headers: dict[str, str]


@dataclass
class Refused(Exception):
    """As ``openai.APIStatusError``: translation goes by attributes, not by class."""

    status_code: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def response(self):
        return Response(self.headers)


def translated(status, body=None, **headers):
    headers = {name.replace("_", "-"): text for name, text in headers.items()}
    return failures.translate(Refused(status, body, headers), ENDPOINT)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"message": "bad temperature"}, "bad_request"),
        (401, {"message": "no"}, "auth"),
        (402, {"message": "no credits"}, "billing"),
        (403, {"message": "no"}, "auth"),
        (404, {"message": "The model `tiny` does not exist"}, "not_found"),
        (404, {"detail": "Not Found"}, "not_found"),
        (408, None, "timeout"),
        (413, None, "context"),
        (422, {"detail": [{"loc": ["body", "n"], "msg": "too small"}]}, "bad_request"),
        (429, {"message": "slow down"}, "rate_limit"),
        (429, {"message": "no money", "code": "insufficient_quota"}, "billing"),
        (429, {"message": "You exceeded your current quota"}, "billing"),
        (400, {"message": "The image is too large: 9 MB"}, "image"),
        (404, {"message": "No endpoints found that support image input"}, "image"),
        (400, {"message": "filtered", "code": "content_filter"}, "policy"),
        (403, {"message": "flagged for violence", "code": 403}, "policy"),
        (529, {"message": "Overloaded", "type": "overloaded_error"}, "server"),
        (500, "oops", "server"),
        (503, "<html>nginx</html>", "server"),
    ],
)
def test_a_status_has_a_kind_and_one_line_with_the_address(status, body, kind):
    error = translated(status, body)
    assert error.kind == kind
    assert "\n" not in str(error)
    assert "http://localhost:1/v1" in str(error) or kind == "context"


@pytest.mark.parametrize(
    "body",
    [
        {"message": "This model's maximum context length is 8192 tokens. However, ..."},
        {"message": "Input is fine", "code": "context_length_exceeded"},
        {
            "message": "request (9000 tokens) exceeds the available context size (4096 tokens)",
            "type": "exceed_context_size_error",
            "code": 400,
        },
        {"message": "Requested tokens (9000) exceed context window of 4096"},
        {"message": "prompt is too long: 210000 tokens > 200000 maximum"},
        {"message": "litellm.ContextWindowExceededError: ..."},
        {"message": "The input token count (9) exceeds the maximum number of tokens allowed (8)"},
        {"message": "input length and `max_tokens` exceed context limit: 9 + 8 > 10"},
        {"message": "Please reduce the length of the messages or completion."},
        {"detail": "Input is longer than the maximum context window"},
        "prompt exceeds max length",
    ],
)
@pytest.mark.parametrize("status", [400, 500])
def test_a_context_overflow_is_known_in_many_spellings(body, status):
    assert translated(status, body).kind == "context"


@pytest.mark.parametrize(
    "message", ["too many tokens per minute", "the context is missing", "prompt is required"]
)
def test_other_messages_about_tokens_are_no_overflow(message):
    assert not server_messages.is_context_overflow(message)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "2"}, 2),
        ({"retry_after_ms": "250", "retry_after": "9"}, 0.25),
        ({"retry_after": "soon"}, None),
        ({}, None),
    ],
)
def test_a_rate_limit_says_how_long_to_wait(headers, seconds):
    error = translated(429, None, **headers)
    assert error.retry_after == seconds
    assert error.retryable


def test_a_wait_may_be_given_as_a_date():
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert 55 < translated(429, None, retry_after=date).retry_after <= 60


def test_neither_key_nor_control_characters_are_in_a_message():
    said = "key sk-secret-key\x1b[31m\r\nBearer abcdefghijk\u202e is wrong " + "x" * 1000
    error = str(translated(401, {"message": said}))
    assert not {"sk-secret-key", "abcdefghijk", "pass", "hidden"} & set(error.split())
    assert "sk-secret-key" not in error
    assert error.isprintable()
    assert len(error) < 500


def test_a_missing_key_is_said_to_be_missing():
    endpoint = failures.Endpoint(base_url="http://localhost:1/v1", model="tiny")
    error = failures.translate(Refused(401, {"message": "key?"}), endpoint)
    assert "OPENAI_API_KEY" in str(error)


def test_what_a_gateways_provider_said_is_passed_on():
    body = {"message": "Provider returned error", "metadata": {"raw": "overloaded"}}
    assert "overloaded" in str(translated(500, body))


@pytest.mark.parametrize(
    ("body", "received", "kind"),
    [
        ({"message": "died", "code": 502}, 3, "broken"),
        ({"message": "exceeds the available context size"}, 0, "context"),
        ({"message": "slow down", "code": 429}, 0, "rate_limit"),
        ({"message": "slow down", "code": 429}, 3, "broken"),
        ("died", 0, "server"),
    ],
)
def test_an_error_in_the_stream_is_told(body, received, kind):
    assert failures.stream_error(body, ENDPOINT, received=received).kind == kind


@pytest.mark.parametrize(
    ("message", "counts"),
    [
        ("This model's maximum context length is 8192 tokens. However, your messages resulted in "
         "9001 tokens.", (8192, 9001)),
        ("request (9000 tokens) exceeds the available context size (4096 tokens)", (4096, 9000)),
        ("prompt is too long: 210000 tokens > 200000 maximum", (200000, 210000)),
        ("context length exceeded", (0, 0)),
    ],
)  # fmt: skip
def test_an_overflow_is_typed_and_says_how_much_fits(message, counts):
    error = translated(400, {"message": message})
    assert isinstance(error, TooLongError)
    assert (error.window, error.asked) == counts


def test_google_names_the_wait_in_the_body():
    details = [{"@type": "x/RetryInfo", "retryDelay": "17s"}]
    body = [{"error": {"code": 429, "message": "busy", "details": details}}]
    assert translated(429, body).retry_after == 17
