"""No route answers a stranger, and none is moved by what is sent to it."""

import http.client
import re
from urllib.parse import urlsplit

import pytest
import websocket
from served import BASE, TOKEN

from hermes_jupyter.server.routing import FOR_KERNELS, ROUTES

EXAMPLES = {
    "ID": "0123-abcd",
    "(answer|reply|say|stop)": "answer",
    "([a-z]{2,5})": "md",
    r"([a-z]+\.(?:css|js|svg))": "page.js",
    "/?": "/",
}
PATHS = []
for pattern in ROUTES:
    path = pattern.replace(r"([0-9A-Za-z_-]{1,80})", EXAMPLES["ID"])
    for part, example in EXAMPLES.items():
        path = path.replace(part, example)
    PATHS.append(path)

POSTS = [path for path in PATHS if path.endswith("/answer")]
SOCKETS = [path for path in PATHS if path.endswith("/events")]
BODY = {"request": "r", "digest": "d", "choice": "once"}


def test_the_examples_are_paths_of_the_routes():
    for path, pattern in zip(PATHS, ROUTES, strict=True):
        assert re.fullmatch(pattern, path), (path, pattern)


def test_jupyter_itself_finds_no_route_of_ours_that_is_open(server):
    assert not re.search(r"registered for \S*/hermes/", server.log.read_text())


@pytest.mark.parametrize("token", ["", "wrong", TOKEN + "x"])
@pytest.mark.parametrize("path", PATHS)
def test_nobody_gets_in_without_the_token(server, path, token):
    method, told = ("POST", BODY) if path in POSTS else ("GET", None)
    answer = server.ask(method, f"hermes{path}", told, token=token)
    is_sent_to_login = answer.status == 302 and "/login" in answer.headers["Location"]
    assert answer.status in (401, 403) or is_sent_to_login
    assert b"hermes" not in answer.body.lower()


@pytest.mark.parametrize("token", ["", "wrong", TOKEN])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_what_is_for_kernels_is_for_no_person(server, method, token):
    assert {*FOR_KERNELS} == {"/knock", "/v1/models", "/v1/(chat/completions|responses)"}
    for path in ("v1/models", "v1/chat/completions", "v1/responses"):
        told = {"model": "x"} if method == "POST" else None
        assert server.ask(method, f"hermes/{path}", told, token=token).status in (401, 405)


@pytest.mark.parametrize("path", [p for p in PATHS if p not in POSTS + SOCKETS])
def test_with_the_token_they_answer(server, path):
    status = 404 if "0123-abcd" in path else 200
    assert server.ask("GET", f"hermes{path}").status == status


def test_a_site_of_others_cannot_answer_for_its_visitor(server):
    """Its page has the visitor's cookie, and no XSRF token."""
    login = server.ask("GET", f"hermes/?token={TOKEN}", token="")
    cookie = "; ".join(c.split(";")[0] for c in login.headers.get_all("Set-Cookie"))
    there = server.ask("GET", "hermes/api/health", token="", headers={"Cookie": cookie})
    assert there.status == 200
    path = f"hermes{POSTS[0]}"
    forged = server.ask("POST", path, BODY, token="", headers={"Cookie": cookie})
    assert forged.status == 403
    foreign = {"Cookie": cookie, "Origin": "https://evil.example"}
    assert server.ask("GET", "hermes/api/pending", token="", headers=foreign).status in (403, 404)
    xsrf = re.search(r"_xsrf=([^;]+)", cookie)[1]
    own = {"Cookie": cookie, "X-XSRFToken": xsrf}
    assert server.ask("POST", path, BODY, token="", headers=own).status == 404  # no such kernel


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_form_is_no_answer(server, kind):
    headers = {"Content-Type": kind}
    assert server.ask("POST", f"hermes{POSTS[0]}", b'{"x": 1}', headers=headers).status == 415


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"x": NaN']
)
def test_a_body_that_is_no_object_is_refused(server, body):
    assert server.ask("POST", f"hermes{POSTS[0]}", body).status == 400


def test_fields_that_are_not_known_are_refused(server):
    answer = server.ask("POST", f"hermes{POSTS[0]}", {**BODY, "protocol": 1})
    assert answer.status == 400
    assert "protocol" in answer.json["message"]


def connection(server):
    return http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=20)


def test_a_huge_body_is_refused_before_it_is_read(server):
    there = connection(server)
    there.putrequest("POST", f"{BASE}hermes{POSTS[0]}")
    for name, value in (
        ("Authorization", f"token {TOKEN}"),
        ("Content-Type", "application/json"),
        ("Content-Length", str(400 * 1024 * 1024)),
    ):
        there.putheader(name, value)
    there.endheaders(b"{")
    assert there.getresponse().status == 413
    there.close()


def test_a_kernels_request_is_refused_before_its_body_is_read(server):
    for path, status in (("v1/chat/completions", 401), ("knock", 413)):
        there = connection(server)
        there.putrequest("POST", f"{BASE}hermes/{path}")
        there.putheader("Content-Length", str(400 * 1024 * 1024))
        there.endheaders(b"{")
        assert there.getresponse().status == status
        there.close()


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (POSTS[0], {}),
        (POSTS[0], {"Authorization": f"token {TOKEN}", "Content-Length": str(1 << 30)}),
        ("/v1/chat/completions", {"Authorization": "Bearer wrong"}),
    ],
)
def test_an_answer_that_did_not_wait_for_the_body_says_that_the_line_ends(server, path, headers):
    """Else a proxy sends somebody's next request down a line that is closed already."""
    there = connection(server)
    there.putrequest("POST", f"{BASE}hermes{path}")
    for name, value in {
        "Content-Type": "application/json",
        "Content-Length": "9",
        **headers,
    }.items():
        there.putheader(name, value)
    there.endheaders()
    answer = there.getresponse()
    assert answer.status in (401, 403, 413)
    assert answer.headers["Connection"] == "close"
    there.close()


def test_a_request_that_came_whole_leaves_the_line_open(server):
    there = connection(server)
    headers = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}
    for body, status in ((b"{}", 404), (b"[]", 400), (b"{}", 404)):
        there.request("POST", f"{BASE}hermes{POSTS[0]}", body, headers)
        answer = there.getresponse()
        assert (answer.status, answer.headers["Connection"]) == (status, None)
        answer.read()
    there.close()


def test_a_body_without_a_length_is_cut(server):
    there = connection(server)
    pieces = (b"x" * 65536 for _ in range(40))
    headers = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}
    try:
        there.request("POST", f"{BASE}hermes{POSTS[0]}", pieces, headers, encode_chunked=True)
        assert there.getresponse().status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # it was not even read
    finally:
        there.close()
    assert server.hermes("api/health").status == 200


@pytest.mark.parametrize(
    "path",
    [
        "api/sessions/..%2f..%2fetc%2fpasswd",
        "api/sessions/../../../../etc/passwd",
        "api/sessions/x%00y",
        "api/sessions/" + "a" * 5000,
        "api/sessions/x'%20OR%201=1--",
        "api/sessions/0123-abcd/export/../../x",
        "api/sessions/0123-abcd/export/exe",
        "page/../routes/base.py",
        "page/..%2fextension.py",
        "page/%2e%2e%2fextension.py",
        "page/index.html",
        "api/kernels/..%2f..%2fx/status",
    ],
)
def test_hostile_paths_lead_nowhere(server, path):
    answer = server.hermes(path)
    assert answer.status in (400, 404)
    assert b"import" not in answer.body
    assert b"root:" not in answer.body


@pytest.mark.parametrize("query", ["limit=-1", "limit=1e9", "limit=999999", "offset=x", "at=%00"])
def test_numbers_that_are_none_are_refused(server, query):
    path = "api/sessions/0123-abcd" if query.startswith("at") else "api/sessions"
    assert server.hermes(f"{path}?{query}").status == 400


def socket(server, *, token=TOKEN, **options):
    url = server.url.replace("http", "ws", 1) + "hermes/api/events"
    headers = {"Authorization": f"token {token}"} if token else {}
    return websocket.create_connection(url, header=headers, timeout=10, **options)


@pytest.mark.parametrize("token", ["", "wrong"])
def test_the_socket_needs_the_token(server, token):
    with pytest.raises(websocket.WebSocketBadStatusException) as refused:
        socket(server, token=token)
    assert refused.value.status_code == 403


def test_the_socket_is_not_for_other_sites(server):
    login = server.ask("GET", f"hermes/?token={TOKEN}", token="")
    cookie = "; ".join(c.split(";")[0] for c in login.headers.get_all("Set-Cookie"))
    with pytest.raises(websocket.WebSocketBadStatusException) as refused:
        socket(server, token="", origin="https://evil.example", cookie=cookie)
    assert refused.value.status_code == 403


def is_closed_after(there, said):
    try:
        there.send(said)
        while there.recv_frame().opcode != websocket.ABNF.OPCODE_CLOSE:
            pass
    except (websocket.WebSocketConnectionClosedException, ConnectionError):
        pass
    there.shutdown()
    return True


@pytest.mark.parametrize("said", ['{"do": "answer"}', "x" * 100_000])
def test_the_socket_ends_when_something_is_sent(server, said):
    there = socket(server)
    there.recv()
    assert is_closed_after(there, said)


def test_the_page_runs_only_its_own_scripts(server):
    answer = server.hermes("")
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert b"<script>" not in answer.body
    assert not re.search(rb"\son\w+=|style=", answer.body)
