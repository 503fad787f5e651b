"""What must not run even if somebody approves it: the end of the system or of a home folder."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tools.safety.code_signs import RAW_DISK
from tools.safety.scene import Effect, Scene, operands_of

SYSTEM_FOLDERS = frozenset({
    "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/mnt", "/opt", "/proc",
    "/root", "/run", "/sbin", "/srv", "/sys", "/usr", "/var", "/Users", "/System", "/Library",
    "/Applications",
})  # fmt: skip
EVERYTHING_IN_IT = frozenset(("*", ".*", ".[!.]*", "{*,.*}", "**", "?*"))
RECURSIVE = re.compile(r"--recursive|-[A-Za-z]*[rR][A-Za-z]*")
VITAL = "which the system or your account needs"
Check = Callable[[str, list[str], Scene], str]


def forbidden_effect(name: str, texts: list[str], scene: Scene) -> Effect | None:
    """Why program ``name`` must not run with the arguments ``texts``, if it must not."""
    check = CHECKS.get("mkfs" if name.startswith("mkfs.") else name)
    reason = check(name, texts, scene) if check else ""
    return Effect(reason, forbidden=True) if reason else None


def _whole_tree(name: str, texts: list[str], scene: Scene) -> str:
    if not any(RECURSIVE.fullmatch(text) for text in texts):
        return ""
    verb = "deletes" if name == "rm" else "changes the permissions of"
    vital = next((text for text in operands_of(texts) if is_vital(text, scene)), "")
    return f"{verb} {vital}, {VITAL}" if vital else ""


def _found_tree(name: str, texts: list[str], scene: Scene) -> str:
    deletes = "-delete" in texts or "rm" in texts
    if not deletes or {"-name", "-path", "-iname"}.intersection(texts):
        return ""
    vital = next((text for text in operands_of(texts)[:1] if is_vital(text, scene)), "")
    return f"deletes {vital}, {VITAL}" if vital else ""


def _device(name: str, texts: list[str], scene: Scene) -> str:
    targets = operands_of(texts)
    if name == "dd":
        targets = [text[3:] for text in texts if text.startswith("of=")]
    elif name in ("cp", "mv"):
        targets = targets[-1:]
    disk = next((text for text in targets if RAW_DISK.match(text)), "")
    return f"writes to the device {disk}" if disk else ""


def _all_processes(name: str, texts: list[str], scene: Scene) -> str:
    return "ends all processes" if "-1" in texts[1:] else ""


def _host_down(name: str, texts: list[str], scene: Scene) -> str:
    if name in ("init", "telinit"):
        down = bool({"0", "6"}.intersection(texts))
    elif name in ("systemctl", "loginctl"):
        down = bool({"poweroff", "reboot", "halt", "kexec"}.intersection(texts))
    else:
        down = not {"-c", "-w", "--help"}.intersection(texts)
    return "stops the host" if down else ""


CHECKS: dict[str, Check] = {
    **dict.fromkeys(("rm", "chmod", "chown", "chgrp"), _whole_tree),
    "find": _found_tree,
    **dict.fromkeys(("mkfs", "mkswap", "wipefs", "shred", "blkdiscard", "sgdisk"), _device),
    **dict.fromkeys(("dd", "cp", "mv", "tee"), _device),
    "kill": _all_processes,
    **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff", "init", "telinit"), _host_down),
    **dict.fromkeys(("systemctl", "loginctl"), _host_down),
}


def is_vital(text: str, scene: Scene) -> bool:
    """Root, a top-level folder of the system or a home folder, itself or all that is in it."""
    if "$" in text:
        return False
    path = Path(scene.path(text))
    while path.name in EVERYTHING_IN_IT:
        path = path.parent
    full = "/" + str(path).strip("/")
    return (
        full in SYSTEM_FOLDERS
        or full == str(Path.home())
        or re.fullmatch(r"/(?:home|Users)/[^/]+", full) is not None
    )
