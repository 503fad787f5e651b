"""Images from the web: only what is public, or what a person has allowed."""

from __future__ import annotations

import http.server
import ipaddress
import threading

import pytest

from tools.images import fetching
from tools.images.fetching import fetched, is_private
from tools.images.picture import UnusableImage

PNG = b"\x89PNG\r\n\x1a\n" + bytes(30)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        status, headers, body = self.server.pages[self.path.partition("?")[0]]
        self.server.asked.append((self.path, self.headers.get("Host")))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def site():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked = []
    server.address = f"http://127.0.0.1:{server.server_port}"
    image = {"Content-Type": "image/png"}
    server.pages = {
        "/a.png": (200, image, PNG),
        "/unknown": (200, {"Content-Type": "application/octet-stream"}, PNG),
        "/page": (200, {"Content-Type": "text/html"}, b"<html>"),
        "/gone": (404, image, b""),
        "/moved": (302, {"Location": "/a.png"}, b""),
        "/loop": (302, {"Location": "/loop"}, b""),
        "/inside": (302, {"Location": "http://127.0.0.2:9/x.png"}, b""),
        "/file": (302, {"Location": "file:///etc/passwd"}, b""),
        "/metadata": (302, {"Location": "http://169.254.169.254/latest"}, b""),
    }
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def named(monkeypatch):
    """Let names mean addresses: what a name server would say."""
    known = {}
    real = fetching.socket.getaddrinfo

    def look_up(host, *rest, **more):
        address = known.get(host, host)
        ipaddress.ip_address(address)  # no name server is asked
        return real(address, *rest, **more)

    monkeypatch.setattr(fetching.socket, "getaddrinfo", look_up)
    return known


@pytest.mark.parametrize("path", ["/a.png", "/a.png?size=3", "/unknown", "/moved"])
def test_an_image_is_fetched(site, path):
    assert fetched(site.address + path, private=True) == PNG


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/page", "no image but text/html"),
        ("/gone", "answers 404"),
        ("/loop", "leads to others"),
        ("/inside", "127.0.0.2, a machine of this network"),
        ("/metadata", "169.254.169.254, a machine of this network"),
        ("/file", "only http"),
    ],
)
def test_what_is_no_image_or_leads_astray_is_told(site, path, said):
    with pytest.raises(UnusableImage, match=said):
        fetched(site.address + path, private=True)


def test_a_machine_of_the_own_network_is_not_asked_unless_the_user_allows(site):
    with pytest.raises(UnusableImage, match="which only the user may allow"):
        fetched(f"{site.address}/a.png")
    assert site.asked == []


def test_a_public_name_of_a_private_machine_is_refused(site, named):
    named["pictures.example.org"] = "127.0.0.1"
    with pytest.raises(UnusableImage, match=r"pictures.example.org is 127\.0\.0\.1"):
        fetched(f"http://pictures.example.org:{site.server_port}/a.png")
    assert site.asked == []


def test_the_connection_goes_to_the_address_that_was_looked_at(site, named, monkeypatch):
    """A name that means another machine a moment later does not lead there."""
    named["pictures.example.org"] = "127.0.0.1"
    monkeypatch.setattr(fetching, "_is_public", lambda address: True)
    fetched(f"http://pictures.example.org:{site.server_port}/a.png")
    assert site.asked == [("/a.png", f"pictures.example.org:{site.server_port}")]


def test_too_many_bytes_end_the_transfer(site, monkeypatch):
    monkeypatch.setattr(fetching, "MOST_SOURCE_BYTES", 20)
    with pytest.raises(UnusableImage, match="more than 20 bytes"):
        fetched(f"{site.address}/a.png", private=True)


def test_an_interrupt_ends_the_transfer(site):
    with pytest.raises(UnusableImage, match="interrupted"):
        fetched(f"{site.address}/a.png", private=True, stopped=lambda: True)


def test_a_server_that_is_not_there_is_told():
    with pytest.raises(UnusableImage, match="cannot be read"):
        fetched("http://127.0.0.1:9/a.png", private=True)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://x.org/a",
        "http://",
        "http://user:pass@x.org/a.png",
        "http://[::1/a",
        "http://x:99999/",
    ],
)
def test_other_addresses_are_refused(url):
    with pytest.raises(UnusableImage, match="address"):
        fetched(url)


@pytest.mark.parametrize(
    "host",
    ["localhost", "127.0.0.1", "127.1", "0x7f.1", "2130706433", "10.0.0.8", "192.168.1.1", "::1",
     "[::1]", "169.254.169.254", "fe80::1%eth0", "nas.local", "db.internal", "0.0.0.0",
     "100.64.0.1", "::ffff:10.0.0.1", "224.0.0.1", "LOCALHOST."],
)  # fmt: skip
def test_machines_of_the_own_network_are_known_however_they_are_written(host):
    assert is_private(host)


@pytest.mark.parametrize("host", ["example.org", "8.8.8.8", "2606:4700::1111", "localhost.com"])
def test_public_machines_are_public(host):
    assert not is_private(host)
