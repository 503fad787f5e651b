"""Files of a host by a short process there, for hosts whose library has nothing better."""

from __future__ import annotations

import errno
import os

from tools.environments.host import Host, HostError

FETCH = """
[ -d "$1" ] && exit 121
[ -e "$1" ] || exit 122
[ -r "$1" ] || exit 123
exec cat -- "$1"
"""
# $1 path, $2 mode, $3 a file there with the content, or nothing to take it from the input,
# $4 the size of the content, for an input that breaks off looks like one that ends
STORE = """
if [ -L "$1" ]; then
    real=$(readlink -f -- "$1") && [ -n "$real" ] || exit 122
    set -- "$real" "$2" "$3" "$4"
fi
[ -d "$1" ] && exit 121
folder=$(dirname -- "$1") && [ -d "$folder" ] || exit 122
[ -w "$folder" ] || exit 123
part=$(mktemp "$folder/.hermes.XXXXXX") || exit 123
if [ -n "$3" ]; then cat -- "$3"; else cat; fi >"$part" &&
    [ "$(wc -c <"$part")" -eq "$4" ] && chmod "$2" "$part" && mv -f -- "$part" "$1" && exit 0
rm -f -- "$part"
exit 124
"""
KINDS = {
    121: (IsADirectoryError, errno.EISDIR),
    122: (FileNotFoundError, errno.ENOENT),
    123: (PermissionError, errno.EACCES),
}
TIMEOUT = 120.0


def fetch(host: Host, path: str) -> bytes:
    """The content of a file there.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError, HostError
    """
    done = host.run(["sh", "-c", FETCH, "sh", path], timeout=TIMEOUT)
    _check(done.exit_code, done.err, path)
    return done.out


def store(host: Host, path: str, content: bytes, mode: int, *, uploaded: str = "") -> None:
    """Write a file there as a whole.

    Parameters
    ----------
    uploaded
        A file there that has the content already; it is left alone.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError, OSError, HostError
    """
    argv = ["sh", "-c", STORE, "sh", path, f"{mode:o}", uploaded, str(len(content))]
    done = host.run(argv, stdin=b"" if uploaded else content, timeout=TIMEOUT)
    _check(done.exit_code, done.err, path)


def _check(code: int, err: bytes, path: str) -> None:
    if code == 0:
        return
    said = err.decode(errors="replace").strip()
    if code in KINDS:
        kind, number = KINDS[code]
        raise kind(number, os.strerror(number), path)
    if "No space left" in said or code == 124:
        number = errno.ENOSPC if "No space left" in said else errno.EIO
        raise OSError(number, said or os.strerror(number), path)
    raise HostError(f"{path} could not be read or written there: {said or f'exit code {code}'}")
