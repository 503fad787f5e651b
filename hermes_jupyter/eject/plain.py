"""The class that ejected code begins with: its source stands in the first cell, as it is here.

It needs the standard library and bash only.
"""

from __future__ import annotations

import codecs
import re
import subprocess
import tempfile
from pathlib import Path

IMPORTS = """\
import codecs
import re
import subprocess
import tempfile
from pathlib import Path"""


class Steps:
    """Does the steps of a turn: its commands share folder, variables and functions."""

    SCRIPT = """
[ -e "$0" ] && . "$0" 2>/dev/null
shopt -s expand_aliases
HERE=$PWD
[ -z "$2" ] || cd -- "$2" || exit
trap '[ -z "$2" ] || cd -- "$HERE"; unset HERE
{ declare -p; declare -f; alias -p; printf "cd -- %q\\\\n" "$PWD"; } >"$0"; pwd >"$0.folder"' EXIT
eval "$1"
"""

    def __init__(self) -> None:
        self.start = self.folder = Path.cwd()
        self.state = Path(tempfile.mkdtemp(), "state")

    def sh(self, command: str, folder: str | Path = "") -> None:
        """Run a command in bash and show what it prints."""
        done = subprocess.run(
            ["bash", "-c", self.SCRIPT, str(self.state), command, str(folder)],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        print(done.stdout.decode(errors="replace"), end="")
        if done.returncode:
            print(f"exit code {done.returncode}")
        told = Path(f"{self.state}.folder")
        self.folder = Path(told.read_text().rstrip("\n")) if told.exists() else self.folder

    def path(self, path: str | Path) -> Path:
        """Where a file is: the shell may stand in another folder by now."""
        return self.folder / Path(path).expanduser()

    def write(self, path: str | Path, content: str) -> None:
        """Write a whole file; one that is there keeps its byte order mark and its line ends."""
        target = self.path(path)
        before = target.read_bytes() if target.exists() else b""
        content = content.removeprefix("\ufeff")
        if before.count(b"\r\n") * 2 > before.count(b"\n"):
            content = content.replace("\r\n", "\n").replace("\n", "\r\n")
        mark = codecs.BOM_UTF8 if before.startswith(codecs.BOM_UTF8) else b""
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(mark + content.encode())

    def delete(self, path: str | Path) -> None:
        """Remove a file."""
        self.path(path).unlink()

    def patch(self, path: str | Path, hunks: str) -> None:
        """Change parts of a file, as a unified diff says. What does not fit exactly is an error."""
        text = self.path(path).read_bytes().decode("utf-8", "surrogateescape")
        before = re.findall(r"[^\n]*\n|[^\n]+", text)
        end = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
        after: list[str] = []
        at = 0
        for line in re.sub(r"\n\\ No newline.*", "\0", hunks).splitlines():
            if hunk := re.match(r"@@ -(\d+)(?:,(\d+))? ", line):
                start = int(hunk[1]) - (hunk[2] != "0")
                after += before[at:start]
                at = start
                continue
            if line[:1] in " -":
                if before[at].rstrip("\r\n") != line[1:].rstrip("\r\0"):
                    raise ValueError(f"{path}, line {at + 1} is not {line[1:]!r}")
                after += [before[at]] if line[:1] == " " else []
                at += 1
            else:
                after.append(line[1:-1] if line.endswith("\0") else line[1:] + end)
        whole = "".join(after + before[at:])
        self.path(path).write_bytes(whole.encode("utf-8", "surrogateescape"))
