"""Skills: folders with a ``SKILL.md`` that tell how something is done, shared with Hermes Agent.

``skills/[category/]<name>/SKILL.md`` below the folder of Hermes, and the same below folders that
the user adds. Only a line of each is in the prompt; the rest is read when it is needed.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from hermes_jupyter.store.locks import locked
from tools.files.local_place import LOCAL
from tools.safety import judge_command
from tools.safety.cells import judge_cell
from tools.safety.instructions import order_in

MAIN_FILE = "SKILL.md"
FOLDERS = ("references", "templates", "scripts", "assets")
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
MAX_DESCRIPTION_CHARS = 1_024
MAX_SKILL_CHARS = 100_000
MAX_FILE_BYTES = 1 << 20
SECONDS_KEPT = 30.0
MOST_SKILLS = 2_000
FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)(.*)\Z", re.DOTALL)
SYSTEMS = {"Darwin": ("macos", "darwin"), "Linux": ("linux",), "Windows": ("windows",)}


class SkillProblem(ValueError):
    """Why a skill cannot be had or changed, for the model to mend."""


@dataclass(frozen=True, slots=True)
class Skill:
    """What is known of a skill without reading all of it."""

    name: str
    description: str
    category: str
    folder: Path
    front: Mapping[str, Any]
    """What its first lines say, as YAML."""
    own: bool
    """Below the folder of Hermes: only there may the agent change it."""

    @property
    def missing_variables(self) -> list[str]:
        wanted = self.front.get("required_environment_variables") or []
        wanted = [each.get("name") if isinstance(each, dict) else each for each in _list(wanted)]
        wanted += _list(self._prerequisites("env_vars"))
        names = dict.fromkeys(str(name) for name in wanted if name)
        return [name for name in names if not os.environ.get(name)]

    @property
    def missing_commands(self) -> list[str]:
        wanted = dict.fromkeys(map(str, _list(self._prerequisites("commands"))))
        return [command for command in wanted if shutil.which(command) is None]

    @property
    def fits_here(self) -> bool:
        """Does it say that it is for this system?"""
        wanted = {str(each).lower() for each in _list(self.front.get("platforms"))}
        return not wanted or not wanted.isdisjoint(SYSTEMS.get(platform.system(), ()))

    def _prerequisites(self, name: str) -> Any:
        told = self.front.get("prerequisites")
        return told.get(name) if isinstance(told, dict) else None


class Skills:
    """All skills that are there. Any thread; other programs may change them.

    Parameters
    ----------
    home
        The folder of Hermes, usually ``~/.hermes``.
    external
        Further folders with skills, which the agent only reads.
    """

    def __init__(self, home: Path, external: Sequence[str] = ()) -> None:
        self.root = home / "skills"
        self._roots = [self.root, *(Path(each).expanduser() for each in external)]
        self._file_lock = home / "jupyter" / "skills.lock"
        self._lock = threading.Lock()  # guards the two below
        self._found: list[Skill] = []
        self._until = 0.0

    def all(self) -> list[Skill]:
        """By category and name; of two with one name the first root has it."""
        with self._lock:
            if time.monotonic() >= self._until:
                found: dict[str, Skill] = {}
                for root in self._roots:
                    for skill in _skills_in(root, self.root):
                        found.setdefault(skill.name, skill)
                self._found = sorted(found.values(), key=lambda each: (each.category, each.name))
                self._until = time.monotonic() + SECONDS_KEPT
            return list(self._found)

    def index(self) -> str:
        """A line of each for the prompt; "" if there are none."""
        lines, category = [], None
        for skill in self.all():
            if not skill.fits_here or order_in(skill.description):
                continue
            if skill.category != category:
                category = skill.category
                lines.append(f"{category or 'general'}:")
            lines.append(f"- {skill.name}: {' '.join(skill.description.split())}")
        return "\n".join(lines)

    def get(self, name: str) -> Skill:
        """The skill of a name, or of ``category/name``.

        Raises
        ------
        SkillProblem
            If there is none; the message says which there are.
        """
        for skill in self.all():
            if name in (skill.name, f"{skill.category}/{skill.name}"):
                return skill
        names = ", ".join(skill.name for skill in self.all()[:40])
        raise SkillProblem(f"no skill is named {name!r}. There are: {names or 'none'}")

    def text(self, skill: Skill, file: str = MAIN_FILE) -> str:
        """What a file of a skill says.

        Raises
        ------
        SkillProblem
            If there is no such text, or it gives an agent orders to go round its user.
        """
        path = _inside(skill.folder, file)
        try:
            if path.stat().st_size > MAX_FILE_BYTES:
                raise SkillProblem(f"{file} has more than {MAX_FILE_BYTES:,} bytes")
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SkillProblem(f"{file} of {skill.name} cannot be read as text: {error}") from None
        if order := order_in(text):
            raise SkillProblem(f"{path} is not shown, because it {order}. The user may look at it.")
        return text

    def files(self, skill: Skill) -> dict[str, list[str]]:
        """Names of its other files, by folder."""
        found = {}
        for folder in FOLDERS:
            place = skill.folder / folder
            names = sorted(
                str(path.relative_to(skill.folder)) for path in place.rglob("*") if path.is_file()
            )
            if names:
                found[folder] = names
        return found

    def path_of(self, name: str, category: str = "", file: str = MAIN_FILE) -> Path:
        """Where a file of a skill is, or would be.

        Raises
        ------
        SkillProblem
            If the agent may not write there.
        """
        if NAME.fullmatch(name) is None:
            raise SkillProblem(f"{name!r} is no name: lower-case letters, digits, '.', '_', '-'")
        if category and NAME.fullmatch(category) is None:
            raise SkillProblem(f"{category!r} is no category: lower-case letters, digits, '.', '-'")
        there = next((skill for skill in self.all() if skill.name == name), None)
        if there is not None and not there.own:
            raise SkillProblem(f"{name} is in {there.folder}, where only the user changes skills")
        folder = there.folder if there else self.root.joinpath(*filter(None, (category, name)))
        return _inside(folder, file)

    def write(self, path: Path, text: str) -> None:
        """Write a file of a skill, checked as a whole first.

        Raises
        ------
        SkillProblem
            If it is no good skill, or a danger. Nothing is written then.
        OSError
        """
        check(path, text)
        with locked(self._file_lock):
            path.parent.mkdir(parents=True, exist_ok=True)
            LOCAL.write_bytes_atomic(str(path), text.encode(), 0o644)
        self.forget()

    def forget(self) -> None:
        """Look for skills again at the next use."""
        with self._lock:
            self._until = 0.0


def check(path: Path, text: str) -> None:
    """Raise a SkillProblem if a text may not be a file of a skill."""
    if len(text.encode("utf-8", "replace")) > MAX_FILE_BYTES:
        raise SkillProblem(f"{path.name} would have more than {MAX_FILE_BYTES:,} bytes")
    if path.name == MAIN_FILE:
        front = front_of(text)
        name, description = front.get("name"), front.get("description")
        if not isinstance(name, str) or NAME.fullmatch(name) is None:
            raise SkillProblem(
                "SKILL.md must begin with '---', 'name: a-name', 'description: ...', '---'"
            )
        if not isinstance(description, str) or not description.strip():
            raise SkillProblem("the description is missing: say when the skill is of use")
        if len(description) > MAX_DESCRIPTION_CHARS or len(text) > MAX_SKILL_CHARS:
            raise SkillProblem(
                f"a description has at most {MAX_DESCRIPTION_CHARS} characters, SKILL.md "
                f"{MAX_SKILL_CHARS:,}; put the rest into references/"
            )
    if order := order_in(text):
        raise SkillProblem(f"not written, because it {order}")
    if verdict := _danger(path, text):
        raise SkillProblem(f"not written, because the script {verdict}")


def front_of(text: str) -> dict[str, Any]:
    """What the first lines say; nothing if they are no YAML."""
    import yaml

    found = FRONT.match(text)
    try:
        told = yaml.safe_load(found[1]) if found else None
    except yaml.YAMLError:
        return {}
    return told if isinstance(told, dict) else {}


def body_of(text: str) -> str:
    """The text without its first lines."""
    found = FRONT.match(text)
    return found[2] if found else text


def _danger(path: Path, text: str) -> str:
    """What nobody may approve in a script."""
    if path.suffix in (".sh", ".bash") or text.startswith(("#!/bin/sh", "#!/bin/bash")):
        judged = judge_command(text, str(path.parent))
        return judged.reason if judged.verdict == "block" else ""
    if path.suffix == ".py":
        cell = judge_cell(text, str(path.parent))
        return cell.reason if cell.verdict == "block" else ""
    return ""


def _skills_in(root: Path, own: Path) -> Iterator[Skill]:
    count = 0
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        depth = len(here.relative_to(root).parts)
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        if MAIN_FILE in files and depth:
            folders.clear()
            if (skill := _skill(here, root, own)) is not None:
                count += 1
                yield skill
        if depth >= 3 or count >= MOST_SKILLS:
            folders.clear()


def _skill(folder: Path, root: Path, own: Path) -> Skill | None:
    try:
        with (folder / MAIN_FILE).open(encoding="utf-8", errors="replace") as file:
            front = front_of(file.read(MAX_SKILL_CHARS))
    except OSError:
        return None
    name = front.get("name") if isinstance(front.get("name"), str) else folder.name
    category = "/".join(folder.relative_to(root).parts[:-1])
    description = str(front.get("description") or "")[:MAX_DESCRIPTION_CHARS]
    return Skill(str(name), description, category, folder, front, own=root == own)


def _inside(folder: Path, file: str) -> Path:
    """A file of a skill: its SKILL.md, or one in a folder for such files."""
    parts = PurePosixPath(file.replace("\\", "/")).parts
    good = parts == (MAIN_FILE,) or (len(parts) > 1 and parts[0] in FOLDERS and ".." not in parts)
    if not good or "\0" in file:
        places = ", ".join(FOLDERS)
        raise SkillProblem(f"{file!r} is no file of a skill: SKILL.md, or one in {places}")
    path = folder.joinpath(*parts)
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise SkillProblem(f"{file!r} leads out of the skill's folder")
    return path


def _list(told: Any) -> list[Any]:
    return told if isinstance(told, list) else [] if told in (None, "") else [told]
