"""What stands at a path: the user's work, the system, a device, a secret, something run later."""

from __future__ import annotations

import fnmatch
import functools
import re

from tools.files.protected import SECRETS, protection_of, secret_at
from tools.safety.effect import Place
from tools.safety.scene import Scene
from tools.safety.shell.expansion import braces_expanded

TOP_FOLDERS = (
    "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "media", "mnt", "opt", "proc",
    "root", "run", "sbin", "srv", "sys", "usr", "var", "Users", "System", "Library", "Applications",
    "Volumes", "private",
)  # fmt: skip
VITAL = "which the system or your account needs"
SYSTEM_FOLDERS = frozenset(("/", *(f"/{name}" for name in TOP_FOLDERS)))
"""Without them, or without what is in them, a system is no more."""
HOMES = re.compile(r"/(?:home|Users)/[^/]+")
EVERYTHING = frozenset(("*", ".*", ".[!.]*", ".??*", "..?*", "**", "?*", ".", "*.*", "[!.]*"))
SYSTEM = re.compile(
    r"/(?:etc|boot|bin|sbin|lib(?:32|64)?|usr|sys|proc|System|Library|var/(?:lib|log|spool|run)"
    r"|run|opt)(?:/|$)"
)
TEMPORARY = re.compile(r"(?:/var|/private)?/tmp/|/dev/shm/")
PERSISTENT = re.compile(
    r"(?:^|/)\.(?:bash(?:rc|_profile|_login|_logout|_aliases)|zsh(?:rc|env)|zprofile|zlogin|kshrc"
    r"|profile|cshrc|tcshrc|gitconfig|inputrc|vimrc|exrc|nanorc|tmux\.conf|screenrc|pythonrc\S*"
    r"|Rprofile|gdbinit|lldbinit|psqlrc|npmrc|pip/pip\.conf|condarc|curlrc|wgetrc|xinitrc|xprofile"
    r"|xsessionrc|direnvrc|envrc|sqliterc|irbrc|pryrc|perltidyrc|mailcap|forward|emacs|netrc)$"
    r"|(?:^|/)authorized_keys|\.ssh/|^/etc/|/cron[./]|\.git/(?:hooks|config|info/attributes)"
    r"|\.(?:ipython|jupyter|hermes|pdbrc|emacs\.d|husky)(?:/|$)|jupyter\w*_config\.(?:py|json|d)"
    r"|/jupyter/(?:kernels|labconfig|runtime)|/systemd/|/init\.d/|/rc\.local$|\.config/(?:autostart|"
    r"fish|git|systemd|nvim|pip|matplotlib/matplotlibrc|environment\.d|direnv)|Launch(?:Agents|"
    r"Daemons)|(?:site|user)customize\.py$|\.pth$|/startup/|^/(?:usr|bin|sbin|lib|boot)/|\.local/bin/"
    r"|^/var/(?:spool/cron|spool/at)|^/(?:proc/sys|sys)/|ld\.so\.preload"
)
"""Files that run or configure something later."""
DISK = re.compile(
    r"/dev/(?:[shv]d|xvd|nvme|mmcblk|disk|mapper|md\d|dm-|loop|ram\d|sr\d|zd\d|nbd|k?mem\b|port\b"
    r"|rdisk|sg\d|block|vg|bcache|dasd|pmem|root\b)"
)
HARMLESS_DEVICE = re.compile(
    r"/dev/(?:null|zero|full|u?random|std(?:in|out|err)|tty|fd/\d+|ptmx|pts/\d+)$"
)
CREDENTIAL_FOLDER = re.compile(r"/\.(?:aws|kube|docker|azure|gnupg|password-store)/?\*?$")
HISTORY = re.compile(r"(?:^|/)\.(?:\w+_history|python_history|lesshst|viminfo)$|/history\.sqlite$")
BROWSER = re.compile(
    r"(?:^|/)(?:cookies\.sqlite|logins\.json|key[34]\.db|Login Data|Cookies|Web Data"
    r"|wallet\.dat)$|\.keychain\b"
    r"|\.mozilla/firefox/|/(?:google-chrome|chromium|BraveSoftware|Microsoft-Edge)/[^/]+/"
)
PUBLIC = re.compile(
    r"(?:^|[/_.-])(?:certs?|ca|chain|fullchain|bundle|pub|public|server-?cert)\.pem$"
)
BEFORE_PATH = re.compile(r"[=@:,]|^-\w(?=[~/.])")


def is_vital(text: str, scene: Scene) -> bool:
    """Root, a top-level folder of the system or a home folder, itself or all that is in it."""
    path = scene.path(text)
    if "$" in path:
        if "`" in path or "(" in path:
            return False
        # "$X/" of an unset variable would be the root; that is a guess, so it is asked about.
        return False
    folder, _, name = path.rpartition("/")
    while name in EVERYTHING:
        path = folder or "/"
        folder, _, name = path.rpartition("/")
    if path in SYSTEM_FOLDERS or path == scene.home or HOMES.fullmatch(path):
        return True
    if any(each in name for each in "*?[") and folder in ("", "/home", "/Users"):
        return (not folder and any(fnmatch.fnmatchcase(top, name) for top in TOP_FOLDERS)) or bool(
            folder
        )
    return False


def is_device(path: str) -> bool:
    return path.startswith("/dev/") and DISK.match(path) is not None


def is_harmless_device(path: str) -> bool:
    return path.startswith("/dev/") and HARMLESS_DEVICE.match(path) is not None


@functools.lru_cache(maxsize=4096)
def is_persistent(path: str, home: str) -> bool:
    """Does a file of this path run or configure something later?"""
    if PERSISTENT.search(path):
        return True
    said = protection_of(path, home)
    return said is not None and "may hold" not in said


@functools.cache
def _hints() -> tuple[str, ...]:
    """A piece of each pattern of secrets: what has none of them fits none of the patterns."""
    patterns = [each for kind in SECRETS.values() for each in kind]
    plain = [text for each in patterns for text in braces_expanded(each)]
    pieces = {max(re.split(r"[*?~\[\]]+", text), key=len).strip("/").lower() for text in plain}
    pieces |= {
        ".aws",
        ".kube",
        ".docker",
        "hist",
        "cookie",
        ".mozilla",
        "chrom",
        "brave",
        "edge",
        "key",
        "login",
        "web data",
        "wallet",
        "keychain",
        "viminfo",
    }
    return tuple(each for each in pieces if not any(o in each for o in pieces if o != each))


@functools.lru_cache(maxsize=4096)
def secret_of(path: str, home: str) -> str | None:
    """What kind of secret the file or folder holds, if any."""
    lower = path.lower()
    if not any(map(lower.__contains__, _hints())):
        return None
    if CREDENTIAL_FOLDER.search(path):
        return "credentials"
    if HISTORY.search(path):
        return "commands typed before"
    if BROWSER.search(path):
        return "data of a browser"
    return None if PUBLIC.search(path) else secret_at(path, home)


def secret_in_word(text: str, scene: Scene) -> str:
    """The path in a word, or in a part of it (``@FILE``, ``--option=FILE``), that is a secret."""
    if "(" in text:  # what a substitution leaves behind it is a path all the same
        text = text.rpartition(")")[2]
    if len(text) > 500 or " " in text or text.startswith(("http://", "https://")):
        return ""
    parts = BEFORE_PATH.split(text) if "=" in text or "@" in text or ":" in text else [text]
    for part in [text, *parts]:
        if part and part[0] != "-" and secret_of(scene.path(part), scene.home):
            return str(part)
    return ""


def place_of(path: str, scene: Scene) -> Place:
    """Where an absolute path is, as seen from the workspace."""
    if path.startswith("/dev/"):
        return "device"
    if path in SYSTEM_FOLDERS or path == scene.home:
        return "vital"
    if scene.elsewhere:
        return "outside"
    if path == scene.workspace or path.startswith(scene.workspace.rstrip("/") + "/"):
        return "workspace"
    return "system" if SYSTEM.match(path) else "outside"
