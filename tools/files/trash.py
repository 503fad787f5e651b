"""Files that tools delete or replace as a whole, kept so that a person can have them back.

Each has a folder of its own with the file and a manifest: where it was, its mode, time and
checksum. A second name for the same file is enough; only on another disk it takes a copy. What was
on another machine is kept on this one, so that it outlives a container.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import secrets
import shutil
import stat
import time
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from tools.files.place import Place
from tools.files.problems import Problem, shown

logger = logging.getLogger(__name__)

MOST_BYTES = 1 << 30
PIECE = 1 << 20
MANIFEST = "manifest.json"
FILE = "file"
Why = Literal["deleted", "replaced"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trashed:
    """One kept file."""

    id: str
    """Name of its folder: when it was kept, and a number."""
    session: str
    kept_at: float
    """Seconds since 1970."""
    path: str
    """Where it was."""
    why: Why
    mode: int
    modified: float
    """Seconds since 1970."""
    size: int
    sha256: str
    """Of the content; of a link, of what it says."""
    is_link: bool
    place: str
    """The folder that holds it now."""
    where: str = ""
    """The name of the place it was on, if that is not this machine."""


class Trash:
    """What was deleted in a session. Several kernels may use the same folder.

    Parameters
    ----------
    folder
        The trash of all sessions; made when the first file is kept.
    most_bytes
        Size of all sessions' trash. The oldest goes first; what was kept last always stays.
    """

    def __init__(self, folder: Path, session: str, *, most_bytes: int = MOST_BYTES) -> None:
        self._all = folder
        self._session = session
        self._own = folder / (re.sub(r"[^\w-]", "_", session, flags=re.ASCII)[:60] or "session")
        self._most_bytes = most_bytes

    def keep(self, path: str, why: Why = "deleted") -> Trashed:
        """Keep the file, or the link itself, that is about to go; it stays where it is, too.

        Raises
        ------
        Problem
            If it cannot be kept.
        """
        try:
            found = os.lstat(path)
            if not stat.S_ISREG(found.st_mode) and not stat.S_ISLNK(found.st_mode):
                raise Problem(f"{shown(path)} is no file, so it cannot be kept in the trash")
            place = self._new_place()
            try:
                entry = self._filled(place, path, found, why)
            except BaseException:
                shutil.rmtree(place, ignore_errors=True)
                raise
        except OSError as error:
            raise _cannot_keep(path, error) from error
        self._make_room(spare=entry.place)
        return entry

    def keep_content(self, path: str, content: bytes, why: Why, files: Place) -> Trashed:
        """Keep what a file of another place holds; of a link, what it points to.

        Raises
        ------
        Problem
            If it cannot be kept.
        OSError
            If the place cannot tell its mode.
        """
        status = files.stat(path)
        try:
            place = self._new_place()
            try:
                kept = place / FILE
                with open(kept, "xb", opener=_private) as file:
                    file.write(content)
                entry = self._described(place, Trashed(
                    id=place.name,
                    session=self._session,
                    kept_at=time.time(),
                    path=path,
                    why=why,
                    mode=status.mode if status else 0o644,
                    modified=time.time(),
                    size=len(content),
                    sha256=_checksum(kept),
                    is_link=False,
                    place=str(place),
                    where=files.name,
                ))  # fmt: skip
            except BaseException:
                shutil.rmtree(place, ignore_errors=True)
                raise
        except OSError as error:
            raise _cannot_keep(path, error) from error
        self._make_room(spare=entry.place)
        return entry

    def entries(self, *, everywhere: bool = False) -> list[Trashed]:
        """What is kept of this session, or of all; oldest first."""
        folders = self._all.glob("*/*") if everywhere else self._own.glob("*")
        found = (_read(folder) for folder in folders)
        return sorted(filter(None, found), key=lambda entry: entry.kept_at)

    def find(self, name: str) -> Trashed:
        """The entry of this id, or the last one of this path, of this session or of others.

        Raises
        ------
        Problem
        """
        real = os.path.abspath(os.path.expanduser(name))  # noqa: PTH100, PTH111
        for entries in (self.entries(), self.entries(everywhere=True)):
            fitting = [
                entry
                for entry in entries
                if entry.id == name or entry.path == (name if entry.where else real)
            ]
            if fitting:
                return fitting[-1]
        raise Problem(f"Nothing in the trash is called {name!r}")

    def restore(self, entry: Trashed, to: str | None = None, *, files: Place | None = None) -> str:
        """Put a file back, with its mode and time. Returns where it is.

        If it was replaced, it takes the place of what replaced it, which goes to the trash.
        Otherwise nothing that is there is touched.

        Parameters
        ----------
        to
            A path on this machine, if it shall not go where it was.
        files
            The place it was on, if that is not this machine.

        Raises
        ------
        Problem
            If something is there, or the trash does not hold what was kept, or it was on another
            place than ``files``.
        OSError
            If that place refuses.
        """
        if entry.where and to is None:
            return self._restored_there(entry, files)
        target = Path(to or entry.path)
        kept = Path(entry.place, FILE)
        try:
            if _checksum(kept) != entry.sha256:
                raise Problem(
                    f"{shown(entry.path)} was changed in the trash by a program that had it open; "
                    f"look at {kept}"
                )
            target.parent.mkdir(parents=True, exist_ok=True)
            if not entry.is_link:
                os.chmod(kept, entry.mode)  # noqa: PTH101
                os.utime(kept, (entry.modified, entry.modified))
            if entry.why == "replaced" and to is None and target.is_file():
                self.keep(str(target), "replaced")
                _put_over(kept, target)
            else:
                _put(kept, target)
        except FileExistsError as error:
            raise Problem(f"{shown(str(target))} is there again; move it away first") from error
        except OSError as error:
            raise Problem(
                f"{shown(entry.path)} cannot be brought back ({error.strerror or error})"
            ) from error
        shutil.rmtree(entry.place, ignore_errors=True)
        return str(target)

    def _restored_there(self, entry: Trashed, files: Place | None) -> str:
        if files is None or files.name != entry.where:
            raise Problem(
                f"{shown(entry.path)} was on {entry.where}; choose that terminal first, "
                f"or take it from {Path(entry.place, FILE)}"
            )
        content = Path(entry.place, FILE).read_bytes()
        if hashlib.sha256(content).hexdigest() != entry.sha256:
            raise Problem(f"{shown(entry.path)} was changed in the trash; look at {entry.place}")
        if files.stat(entry.path) is not None:
            if entry.why != "replaced":
                raise Problem(f"{shown(entry.path)} is there again; move it away first")
            self.keep_content(entry.path, files.read_bytes(entry.path), "replaced", files)
        files.make_folders(str(PurePosixPath(entry.path).parent))
        files.write_bytes_atomic(entry.path, content, entry.mode)
        shutil.rmtree(entry.place, ignore_errors=True)
        return entry.path

    def drop(self, entry: Trashed) -> None:
        """Forget a file for good."""
        shutil.rmtree(entry.place, ignore_errors=True)

    def _new_place(self) -> Path:
        for folder in (*reversed(self._own.parents), self._own):
            if not folder.is_dir():
                folder.mkdir(mode=0o700, exist_ok=True)
        moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        number = 1
        while True:
            place = self._own / f"{moment}-{number}"
            try:
                place.mkdir(mode=0o700)
            except FileExistsError:
                number += 1
            else:
                return place

    def _filled(self, place: Path, path: str, found: os.stat_result, why: Why) -> Trashed:
        kept = place / FILE
        # With a third name somebody could go on writing to what is kept.
        _put(Path(path), kept, may_share=found.st_nlink == 1)
        entry = Trashed(
            id=place.name,
            session=self._session,
            kept_at=time.time(),
            path=path,
            why=why,
            mode=stat.S_IMODE(found.st_mode),
            modified=found.st_mtime,
            size=found.st_size,
            sha256=_checksum(kept),
            is_link=stat.S_ISLNK(found.st_mode),
            place=str(place),
        )
        return self._described(place, entry)

    def _described(self, place: Path, entry: Trashed) -> Trashed:
        manifest = {key: value for key, value in asdict(entry).items() if key != "place"}
        with open(place / MANIFEST, "x", encoding="utf-8", opener=_private) as file:
            json.dump(manifest, file, indent=1)  # ASCII: a name may be no Unicode
        return entry

    def _make_room(self, *, spare: str) -> None:
        entries = self.entries(everywhere=True)
        left = sum(entry.size for entry in entries)
        for entry in entries:
            if left <= self._most_bytes:
                return
            if entry.place != spare:
                self.drop(entry)
                left -= entry.size


def _cannot_keep(path: str, error: OSError) -> Problem:
    said = f"({error.strerror or error}), so nothing was changed"
    return Problem(f"{shown(path)} cannot be kept in the trash {said}")


def _put(source: Path, target: Path, *, may_share: bool = True) -> None:
    """Have the same file, or link, under another name; nothing there is replaced."""
    try:
        if may_share:
            os.link(source, target, follow_symlinks=False)
            return
    except FileExistsError:
        raise
    except OSError:  # another disk, or one without such names
        logger.debug("cannot link %s, so it is copied", source, exc_info=True)
    if os.path.lexists(target):
        raise FileExistsError(str(target))
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        shutil.copy2(source, temporary, follow_symlinks=False)
        os.rename(temporary, target)  # noqa: PTH104
    finally:
        temporary.unlink(missing_ok=True)


def _put_over(source: Path, target: Path) -> None:
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    _put(source, temporary)
    os.replace(temporary, target)  # noqa: PTH105


def _checksum(path: Path) -> str:
    if path.is_symlink():
        return hashlib.sha256(os.fsencode(os.readlink(path))).hexdigest()  # noqa: PTH115
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _read(folder: Path) -> Trashed | None:
    """The entry of a folder; None if it is none, or is being made or removed just now."""
    try:
        told: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return Trashed(**{**told, "id": folder.name, "place": str(folder)})
    except (OSError, ValueError, TypeError):
        return None
