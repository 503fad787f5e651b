"""Models of what Python does to files: targets, modes of opening, secrets among them."""

from __future__ import annotations

import functools
import os
import posixpath
import re
from collections.abc import Callable

from tools.files.protected import protection_of, secret_at
from tools.safety.places import DISK, PERSISTENT, VITAL, is_vital
from tools.safety.python_code.call import Call
from tools.safety.python_code.calls import DELETES_TREE, OVERWRITES, PATH_NAMES, Model
from tools.safety.python_code.folding import plain
from tools.safety.python_code.names import joined_path
from tools.safety.python_code.values import (
    NOTHING,
    UNKNOWN,
    AnyOf,
    FilePath,
    Items,
    Known,
    Made,
    Named,
    Unknown,
    Value,
    as_text,
    has_hole,
    hole,
    shown,
)

LONGEST_PATH = 400
_NO_FILE = re.compile(r"/dev/(?:null|stdout|stderr|tty|fd/\d+)$")
_PROGRAM_TEXT = re.compile(r"\.(?:sh|bash|zsh|py|pl|rb|js|mjs|ps1)$|(?:^|/)Makefile$")
_ONLY_NAMES = re.compile(
    r"(?:os\.path|posixpath|glob|re|fnmatch|logging|shlex|string|textwrap|warnings|argparse)\.|"
    r"(?:print|len|str|repr|isinstance|sorted|list|set|tuple|hasattr|getattr|max|min|hash|type|"
    r"help|pathlib\.Path|os\.(?:stat|lstat|listdir|scandir|walk|access|makedirs|mkdir|fspath|chdir|"
    r"getenv|putenv|environ\.\w+)|display|IPython\.display\.display|input)$|"
    r"(?:[\w.]*\.)?(?:exists|isfile|isdir|is_file|is_dir|stat|append|add|startswith|endswith|"
    r"fullmatch|match|search|index|count|add_argument)$"
)
_READS = re.compile(r"_?(?:read|load|open|get|send|upload|parse|from|put|run|add_file|fetch)")
READING = frozenset(("read_text", "read_bytes", "open"))


def home_folder() -> str:
    return os.path.expanduser("~")  # noqa: PTH111 - a tenth of the time of Path.home()


def target_text(value: Value | None) -> str | None:
    """A path as text; None for what is no path, such as a buffer in memory."""
    if isinstance(value, Items):
        return as_text(value.items[0]) if value.items else None
    if isinstance(value, Made):
        return as_text(value.args[0]) if value.kind == "os.DirEntry" and value.args else None
    return None if value is None or value == NOTHING else as_text(value)


def apply(model: Model, call: Call) -> None:
    """Tell what a function of the table does to its targets."""
    given = [call.argument(index, name) for index, name in model.targets]
    if model.reason == OVERWRITES and call.keywords.get("mode") in (Known("x"), Known("a")):
        return
    if model.reason == OVERWRITES and _goes_nowhere(given, call):
        return
    texts = [text for value in given if (text := target_text(value)) is not None]
    tree = model.reason == DELETES_TREE
    for text in texts:
        if _ends_a_system(text, call, tree=tree):
            verb = "deletes" if model.deletes else "changes"
            call.judge.tell(f"{verb} {shown(text)}, {VITAL}", forbidden=True)
            return
        if not model.deletes and DISK.match(text):
            call.judge.tell(f"writes to the device {text}", forbidden=True)
            return
    if model.reason == OVERWRITES:
        for text in texts or [hole()]:
            written(text, call)
        return
    names = " ".join(map(short, texts)) or "something"
    call.judge.tell(model.reason.format(names) if model.targets else model.reason)


def _goes_nowhere(given: list[Value | None], call: Call) -> bool:
    """No file is named, or what is named is in memory."""
    no_target = all(value is None or value == NOTHING for value in given) and not call.spread
    return no_target or any(map(_in_memory, given))


def _in_memory(value: Value | None) -> bool:
    return (isinstance(value, Made) and value.kind.startswith(("io.", "tempfile."))) or (
        isinstance(value, Named) and value.name.startswith("sys.std")
    )


def short(text: str) -> str:
    text = shown(text)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _ends_a_system(text: str, call: Call, *, tree: bool) -> bool:
    if has_hole(text) or not (tree or "**" in text):
        return False
    literal = f"./{text}" if text.startswith("~") else text  # which Python does not expand
    return is_vital(literal, call.judge.scene)


def written(text: str, call: Call, *, keeps: bool = False) -> None:
    """Tell that a file is written; ``keeps``: what was in it stays."""
    if _NO_FILE.match(text):
        return
    if not has_hole(text):
        if DISK.match(text):
            call.judge.tell(f"writes to the device {text}", forbidden=True)
            return
        path = call.judge.scene.path(text)
        home = home_folder()
        if PERSISTENT.search(text) or PERSISTENT.search(path) or protection_of(path, home):
            call.judge.tell(f"changes {text}, which runs or configures other things")
            return
    elif found := PERSISTENT.search(text):
        call.judge.tell(f"changes {found.group()}, which runs or configures other things")
        return
    if not keeps:
        call.judge.tell(f"overwrites {short(text)}")
    elif _PROGRAM_TEXT.search(text):
        call.judge.tell(f"adds to the program {short(text)}")


def opened(call: Call) -> Value:
    """``open(path, mode)``, also as a method of a path."""
    text = target_text(call.argument(0, "file", "path", "filename"))
    position = 2 if call.name == "tarfile.open.member" else 1
    mode = call.argument(position, "mode")
    reads_secret(call, text)
    letters = "r" if mode is None and not call.spread else as_text(mode or UNKNOWN)
    if letters is None or has_hole(letters):
        call.judge.tell(f"opens {short(text or hole())} in a way that is not known before it runs")
    elif set(letters) & set("wax+"):
        keeps = ("a" in letters or "x" in letters) and "w" not in letters
        if not _in_memory(call.argument(0)):
            written(text if text is not None else hole(), call, keeps=keeps)
    return Made("file", (call.args[0],) if call.args else ())


def opened_archive(call: Call) -> Value:
    """Of zip and HDF files, which are changed where they are by ``a`` as well."""
    mode = call.text(1, "mode")
    if mode and set(mode) & set("w+") and not _in_memory(call.argument(0)):
        written(target_text(call.argument(0)) or hole(), call)
    return Made(call.name, tuple(call.args))


def opened_by_number(call: Call) -> Value:
    """``os.open(path, flags)``."""
    flags = call.argument(1, "flags")
    value = flags.value if isinstance(flags, Known) else None
    text = call.text(0, "path")
    reads_secret(call, text)
    if not isinstance(value, int):
        call.judge.tell(f"opens {short(text or hole())} in a way that is not known before it runs")
    elif value & 3 and not value & 0o200:
        written(text or hole(), call, keeps=bool(value & 0o2000) and not value & 0o1000)
    return UNKNOWN


def copied_tree(call: Call) -> Value:
    """It fails where something is already, unless it is told not to."""
    merges = call.keywords.get("dirs_exist_ok")
    reads_secret(call, call.text(0, "src"))
    if (merges is not None and merges != Known(False)) or len(call.args) > 6:
        written(target_text(call.argument(1, "dst")) or hole(), call)
    return UNKNOWN


def edited_in_place(call: Call) -> Value:
    """``fileinput.input(files, inplace=True)``."""
    if call.keywords.get("inplace", Known(False)) != Known(False):
        written(target_text(call.argument(0, "files")) or hole(), call)
    return UNKNOWN


def linked(call: Call) -> Value:
    """A link is new where it stands; there it may start programs."""
    written(target_text(call.argument(1, "dst")) or hole(), call, keeps=True)
    return UNKNOWN


def saved(call: Call) -> Value:
    """A method of an object that writes to the path it is given, if it is given one."""
    value = call.argument(1, *PATH_NAMES)
    mode = call.keywords.get("mode")
    if value is None or value == NOTHING or isinstance(value, Items) or _in_memory(value):
        return UNKNOWN
    if isinstance(value, Made) or (isinstance(value, Known) and isinstance(value.value, bool)):
        return UNKNOWN
    appends = isinstance(mode, Known) and mode.value in ("a", "x")
    written(target_text(value) or hole(), call, keeps=appends)
    return UNKNOWN


def reads_secret(call: Call, text: str | None) -> None:
    if text is not None and names_secret(text, call.judge.scene.path):
        call.judge.tell(f"reads {shown(text)}, which may hold secrets")


def secrets_among(call: Call) -> None:
    """Tell which of the arguments are paths of secrets, if this function would read them."""
    if not (call.args or call.keywords) or _sees_names_only(call.name):
        return
    for value in (*call.args, *call.keywords.values()):
        for each in value.values if isinstance(value, AnyOf) else (value,):
            if isinstance(each, FilePath) or (
                isinstance(each, Known) and isinstance(each.value, str)
            ):
                reads_secret(call, as_text(each))


@functools.lru_cache(maxsize=1024)
def _sees_names_only(function: str) -> bool:
    return _ONLY_NAMES.match(function) is not None


@functools.lru_cache(maxsize=1024)
def method_may_read(name: str) -> bool:
    return _READS.match(name) is not None


def names_secret(text: str, absolute: Callable[[str], str]) -> bool:
    if (
        not text
        or len(text) > LONGEST_PATH
        or "\n" in text
        or ("." not in text and "/" not in text)
    ):
        return False
    if has_hole(text):
        text = "/any" + shown(text)  # a home folder, perhaps
        return _is_secret(text, home_folder())
    return not text.startswith(("http:", "https:")) and _is_secret(absolute(text), home_folder())


@functools.lru_cache(maxsize=512)
def _is_secret(path: str, home: str) -> bool:
    return secret_at(path, home) is not None


def folder_changed(call: Call) -> Value:
    text = target_text(call.argument(0, "path"))
    if text is not None and not has_hole(text):
        call.judge.scene.cwd = call.judge.scene.path(text)
    return UNKNOWN


def found(call: Call) -> Value:
    """Paths that a pattern stands for, as the pattern."""
    text = target_text(call.argument(0, "pathname"))
    folder = call.keywords.get("root_dir")
    if text is None:
        return UNKNOWN
    if folder is not None and (base := as_text(folder)) is not None:
        text = joined_path(base, text)
    return Items([Known(text)], more=True)


def listed(call: Call) -> Value:
    """``os.listdir`` gives names without their folder."""
    return Items([Known("*")], more=True)


def scanned(call: Call) -> Value:
    folder = target_text(call.argument(0, "path")) or "."
    return Items([Made("os.DirEntry", (Known(joined_path(folder, "*")),))], more=True)


def walked(call: Call) -> Value:
    folder = target_text(call.argument(0, "top")) or "."
    inside = joined_path(folder, "**")
    where: Value = FilePath(inside) if call.name.startswith("pathlib") else Known(inside)
    names = Items([Known("*")], more=True)
    return Items([Items([where, names, names])], more=True)


def joined(call: Call) -> Value:
    """``os.path.join``, ``Path(...)`` and ``Path.joinpath``."""
    texts = [target_text(value) for value in call.args]
    if call.spread or any(text is None for text in texts):
        texts.append(hole())
    parts = [text if text is not None else hole() for text in texts]
    text = functools.reduce(joined_path, parts) if parts else "."
    return Known(text) if call.name.startswith("os.") else FilePath(text)


def expanded(call: Call) -> Value:
    """Of ``~`` and of ``$HOME``."""
    value = call.argument(0, "path")
    text = target_text(value)
    if text is None or value is None:
        return UNKNOWN
    home = home_folder()
    if call.name.endswith("expandvars"):
        text = re.sub(r"\$HOME\b|\$\{HOME\}", home, text)
        text = re.sub(r"\$\{?(\w+)\}?", lambda match: hole(match.group(1)), text)
    elif text == "~" or text.startswith("~/"):
        text = home + text[1:]
    elif match := re.match(r"~(\w+)", text):
        text = f"/home/{match.group(1)}{text[match.end() :]}"
    return FilePath(text) if isinstance(value, FilePath) else Known(text)


def absolute(call: Call) -> Value:
    value = call.argument(0, "path")
    text = target_text(value)
    if text is None:
        return UNKNOWN
    if not has_hole(text) and not text.startswith("~"):
        text = call.judge.scene.path(text)
    return FilePath(text) if isinstance(value, FilePath) else Known(text)


def here(call: Call) -> Value:
    path = call.judge.scene.cwd
    return FilePath(path) if call.name.startswith("pathlib") else Known(path)


def home(call: Call) -> Value:
    return FilePath(home_folder())


def path_attribute(path: FilePath, name: str) -> Value | None:
    """A part of a path, or None if ``name`` is a method."""
    text = path.text
    if name == "parent":
        return FilePath(posixpath.dirname(text) or ".")
    if name in ("name", "stem", "suffix"):
        if has_hole(text):
            return Unknown(name)
        base = posixpath.basename(text)
        stem, suffix = posixpath.splitext(base)
        return Known({"name": base, "stem": stem, "suffix": suffix}[name])
    if name in ("parents", "parts", "suffixes", "anchor", "root", "drive"):
        return Known("/") if name in ("anchor", "root") and text.startswith("/") else UNKNOWN
    return None


def path_method(path: FilePath, name: str, args: list[Value]) -> Value | None:
    """The path that a method of a path returns."""
    if name in ("with_suffix", "with_name", "with_stem", "with_segments"):
        return FilePath(joined_path(posixpath.dirname(path.text), hole(name)))
    if name in ("glob", "rglob", "iterdir"):
        pattern = as_text(args[0]) if args and name != "iterdir" else "*"
        inside = "**/" if name == "rglob" else ""
        return Items([FilePath(joined_path(path.text, f"{inside}{pattern or '*'}"))], more=True)
    if name in ("as_posix", "__str__", "__fspath__"):
        return Known(path.text)
    if name in ("read_text", "read_bytes"):
        return Unknown("content")
    if name in ("relative_to", "readlink"):
        return FilePath(hole(name))
    return None


def constant(value: Value | None) -> object:
    """The Python object, or None if it is not known."""
    try:
        return None if value is None else plain(value)
    except ValueError:
        return None
