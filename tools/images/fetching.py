"""Fetches an image from the web, and from nowhere else that a person has not agreed to.

The address of the server is looked at before it is connected to, and the connection goes to that
address: a name cannot mean another machine a moment later. The same holds for each redirect.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Callable
from urllib.parse import SplitResult, urljoin, urlsplit

from tools.images.picture import UnusableImage
from tools.images.preparing import MOST_SOURCE_BYTES

SECONDS = 20.0
"""For all of it."""
SECONDS_OF_SILENCE = 10.0
MOST_REDIRECTS = 5
CHUNK = 64 * 1024
PORTS = {"http": 80, "https": 443}
REDIRECTS = frozenset({301, 302, 303, 307, 308})
UNTOLD = ("", "application/octet-stream", "binary/octet-stream")
"""Types that servers give where they know none: the bytes decide."""
HEADERS = {"Accept": "image/*", "User-Agent": "hermes-jupyter", "Accept-Encoding": "identity"}
LOCAL_NAMES = ("localhost", "local", "internal", "localdomain")


def is_private(host: str) -> bool:
    """Is this, as it is written, a machine of the user's own or of their network?"""
    plain = host.strip("[]").rstrip(".").lower()
    if plain.rpartition(".")[2] in LOCAL_NAMES:
        return True
    address = _literal(plain)
    return address is not None and not _is_public(address)


def fetched(url: str, *, private: bool = False, stopped: Callable[[], bool] = bool) -> bytes:
    """The bytes of an image on the web. Blocks.

    Parameters
    ----------
    private
        Whether the machine that the address names may be one of the user's own network. Never
        one that a redirect names.
    stopped
        Asked between pieces.

    Raises
    ------
    UnusableImage
        With words for the model.
    """
    ends = time.monotonic() + SECONDS
    allowed = urlsplit(url).netloc if private else ""
    for _ in range(MOST_REDIRECTS + 1):
        parts = _checked(url)
        try:
            found = _asked(parts, parts.netloc == allowed, ends, stopped)
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = str(error) or type(error).__name__
            raise UnusableImage(f"{parts.hostname} cannot be read: {reason[:200]}") from None
        if isinstance(found, bytes):
            return found
        url = urljoin(url, found)
    raise UnusableImage(f"the address leads to others more than {MOST_REDIRECTS} times")


def _checked(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UnusableImage(f"that is no address of the web: {error}") from None
    if parts.scheme not in PORTS or not parts.hostname or port == 0:
        raise UnusableImage("only http:// and https:// addresses are read")
    if parts.username or parts.password:
        raise UnusableImage("an address with a name and a password in it is not read")
    return parts


def _asked(
    parts: SplitResult, private: bool, ends: float, stopped: Callable[[], bool]
) -> bytes | str:
    """The image, or the address that is named instead."""
    connection = _connection(parts, private, ends)
    try:
        path = parts.path or "/"
        connection.request("GET", f"{path}?{parts.query}" if parts.query else path, headers=HEADERS)
        answer = connection.getresponse()
        if answer.status in REDIRECTS and (place := answer.getheader("Location")):
            return place
        if answer.status != http.client.OK:
            raise UnusableImage(f"{parts.hostname} answers {answer.status} {answer.reason}"[:200])
        kind = (answer.getheader("Content-Type") or "").partition(";")[0].strip().lower()
        if not kind.startswith("image/") and kind not in UNTOLD:
            raise UnusableImage(f"the address holds no image but {kind[:60]}")
        return _body(answer, ends, stopped)
    finally:
        connection.close()


def _body(answer: http.client.HTTPResponse, ends: float, stopped: Callable[[], bool]) -> bytes:
    pieces, size = [], 0
    while piece := answer.read1(CHUNK):
        size += len(piece)
        if size > MOST_SOURCE_BYTES:
            raise UnusableImage(f"the image has more than {MOST_SOURCE_BYTES:,} bytes")
        if time.monotonic() > ends:
            raise UnusableImage(f"the image did not arrive within {SECONDS:g} s")
        if stopped():
            raise UnusableImage("interrupted")
        pieces.append(piece)
    return b"".join(pieces)


def _connection(parts: SplitResult, private: bool, ends: float) -> http.client.HTTPConnection:
    """An open connection to an address that was looked at."""
    host = parts.hostname or ""
    port = parts.port or PORTS[parts.scheme]
    address = _address(host, port, private)
    seconds = max(0.1, min(SECONDS_OF_SILENCE, ends - time.monotonic()))
    connection = http.client.HTTPConnection(host, port, timeout=seconds)
    stream = socket.create_connection((address, port), timeout=seconds)
    if parts.scheme == "https":
        try:
            stream = ssl.create_default_context().wrap_socket(stream, server_hostname=host)
        except BaseException:
            stream.close()
            raise
    connection.sock = stream
    return connection


def _address(host: str, port: int, private: bool) -> str:
    """Where a host is; refused if any of its addresses is on the user's own network."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(each[4][0]).partition("%")[0] for each in found]
    if not private:
        for address in addresses:
            if not _is_public(ipaddress.ip_address(address)):
                raise UnusableImage(
                    f"{host} is {address}, a machine of this network, which only the user may "
                    "allow: name that address itself, and they are asked"
                )
    return addresses[0]


def _literal(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address, however it is written: ``0x7f.1`` and ``2130706433`` are 127.0.0.1."""
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        pass
    try:
        return ipaddress.ip_address(socket.inet_aton(text))
    except (OSError, ValueError, UnicodeEncodeError):
        return None


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if inner is not None and not _is_public(inner):
            return False
    return address.is_global and not address.is_multicast
