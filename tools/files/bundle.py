"""The program that is sent to a place: some of our own modules, run there from memory.

So the rules of reading and searching are the same everywhere. Nothing is written to the disk
there. It wants Python 3.9; without one, `tools.files.shell_place` makes do with a shell.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import tools

PACKAGES = ("tools", "tools.files")
MODULES = (
    "plain_text", "files.findings", "files.globs", "files.lines", "files.local_place",
    "files.notebook_text", "files.paths", "files.patterns", "files.place", "files.problems",
    "files.protected", "files.reading", "files.search_process", "files.searching",
    "files.serving", "files.text", "files.walking", "files.wire",
)  # fmt: skip
LIBRARY = "pathspec"
"""Reads ``.gitignore``. Pure Python; goes along if it is installed here."""

CHOOSE = """\
LC_ALL=C PYTHONDONTWRITEBYTECODE=1; export LC_ALL PYTHONDONTWRITEBYTECODE
if command -v python3 >/dev/null 2>&1
then python3 -I -S -X utf8 -c "$1" "$2"; code=$?
else code=127
fi
[ "$code" -ne 0 ] && [ "$code" -le 128 ] || exit "$code"
printf '\\n%s shell %s\\n' "$2" "$$"
exec /bin/sh -s
"""
"""Given the program and a mark: which of both languages is spoken from now on, and by whom.

A Python that has begun ends with 0, or by a signal. Any other code is of one that is broken or too
old; it has read nothing yet.
"""

BOOT = """\
import sys
if sys.version_info < (3, 9):
    sys.exit(1)
import builtins, dataclasses, importlib.abc, importlib.util, json, os, struct, traceback, zlib
answers = os.fdopen(os.dup(1), "wb")
asked = os.fdopen(os.dup(0), "rb")
os.dup2(2, 1)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
answers.write(("\\n%s python %d\\n" % (sys.argv[1], os.getpid())).encode())
answers.flush()
if sys.version_info < (3, 10):
    made, zipped = dataclasses.dataclass, zip
    def dataclass(cls=None, *, slots=False, kw_only=False, **more):
        return made(cls, **more) if cls else made(**more)
    def plain_zip(*each, strict=False):
        return zipped(*each)
    dataclasses.dataclass, builtins.zip = dataclass, plain_zip
class Sent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name in sources:
            return importlib.util.spec_from_loader(name, self, is_package=sources[name][1])
    def exec_module(self, module):
        name = module.__name__
        module.__file__ = "/nowhere/" + name.replace(".", "/") + ".py"
        exec(compile(sources[name][0], module.__file__, "exec"), module.__dict__)
try:
    size, = struct.unpack(">I", asked.read(4))
    sources = json.loads(zlib.decompress(asked.read(size)))
    sys.meta_path.insert(0, Sent())
    from tools.files.serving import serve
    serve(asked, answers)
except BaseException:
    traceback.print_exc()
sys.stderr.flush()
os._exit(0)
"""


def command(mark: str) -> list[str]:
    """What to start there. It says ``mark``, a language and its process id before anything else."""
    return ["/bin/sh", "-c", CHOOSE, "sh", BOOT, mark]


@functools.cache
def modules() -> bytes:
    """The modules, as the started Python wants them."""
    text = json.dumps(dict(_sources())).encode("ascii")
    packed = zlib.compress(text, 9)
    return struct.pack(">I", len(packed)) + packed


@functools.cache
def functions() -> bytes:
    """What the started shell wants: the commands of `tools.files.shell_place`."""
    return Path(__file__).with_name("shell_place.sh").read_bytes()


def _sources() -> Iterator[tuple[str, tuple[str, bool]]]:
    for package in PACKAGES:
        yield package, ("", True)
    folder = Path(tools.__file__).parent
    for name in MODULES:
        path = folder / f"{name.replace('.', '/')}.py"
        yield f"tools.{name}", (path.read_text(encoding="utf-8"), False)
    library = importlib.util.find_spec(LIBRARY)
    for root in (library and library.submodule_search_locations) or ():
        yield from _library(Path(root))


def _library(root: Path) -> Iterator[tuple[str, tuple[str, bool]]]:
    for path in sorted(root.rglob("*.py")):
        parts = (LIBRARY, *path.relative_to(root).with_suffix("").parts)
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        yield name, (path.read_text(encoding="utf-8"), is_package)
