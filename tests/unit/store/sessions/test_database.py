import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_jupyter.errors import StoreError
from hermes_jupyter.store.sessions.catalog import Sessions
from hermes_jupyter.store.sessions.database import Database
from hermes_jupyter.store.sessions.schema import MIGRATIONS, version_of


@pytest.fixture
def path(home):
    return Path(home, "jupyter", "state.db")


def test_an_older_file_is_brought_up_to_date(talk, path):
    talk.exchange("a", "b")
    talk.sessions.close()
    newer = (*MIGRATIONS, "ALTER TABLE sessions ADD COLUMN colour TEXT; -- new\nSELECT 1;\n")
    database = Database(path, newer)
    with database.read() as connection:
        assert version_of(connection) == len(newer)
        assert connection.execute("SELECT title, colour FROM sessions").fetchall() == [("a", None)]
    database.close()


def test_a_migration_that_fails_changes_nothing(talk, path):
    talk.exchange("a", "b")
    talk.sessions.close()
    wrong = (*MIGRATIONS, "ALTER TABLE sessions ADD COLUMN colour TEXT;\nno such statement;\n")
    with pytest.raises(StoreError, match="syntax error"), Database(path, wrong).write():
        pass
    database = Database(path)
    with database.read() as connection:
        assert version_of(connection) == len(MIGRATIONS)
        assert "colour" not in str(connection.execute("PRAGMA table_info(sessions)").fetchall())
    database.close()


def test_a_file_of_a_newer_version_is_left_alone_and_the_remedy_said(talk, path, home):
    talk.exchange("a", "b")
    talk.sessions.close()
    direct = sqlite3.connect(path)
    direct.execute("PRAGMA user_version = 99")
    direct.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"newer hermes-jupyter.*upgrade it with pip"):
        Sessions(home).listing()
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", [b"no database at all, " * 300, b""], ids=["other", "empty"])
def test_what_is_no_database_is_set_aside_and_said(home, path, damage):
    path.parent.mkdir(parents=True)
    path.write_bytes(damage)
    sessions = Sessions(home)
    assert sessions.listing() == []
    if damage:
        (notice,) = sessions.database.notices
        (aside,) = path.parent.glob("state.db.damaged-*")
        assert aside.name in notice
        assert aside.read_bytes() == damage
    sessions.close()


def test_damage_that_shows_later_is_found_at_the_next_start(talk, home, path):
    for number in range(200):
        talk.exchange(f"question {number}", "answer " * 50)
    talk.sessions.close()
    with path.open("r+b") as file:  # the pages behind the first ones
        file.seek(3 * 4096)
        file.write(os.urandom(path.stat().st_size - 3 * 4096))
    sessions = Sessions(home)
    with pytest.raises(StoreError, match="damaged"):
        [sessions.entries(about) for about in sessions.listing()]
    sessions.close()
    after = Sessions(home)
    assert after.listing() == []
    assert "set aside" in after.database.notices[0]
    after.close()


def test_a_folder_that_cannot_be_written_is_an_error_of_ours(tmp_path):
    (tmp_path / "home").write_text("a file where the folder should be")
    with pytest.raises(StoreError, match="cannot be kept"):
        Sessions(tmp_path / "home").listing()


def test_a_closed_store_stays_closed(talk):
    talk.exchange("a", "b")
    talk.sessions.close()
    talk.ask("more")
    assert "unloaded" in talk.warnings[0]


WRITER = """
import sys
from pathlib import Path
from hermes_jupyter.store.sessions.catalog import Sessions
from hermes_jupyter.store.sessions.journal import About
from hermes_jupyter.store.sessions.transcript import Transcript
sessions = Sessions(Path(sys.argv[1]))
journal = sessions.begin(About(sys.argv[2]))
journal.warn = lambda text: sys.exit(text)
transcript = Transcript(journal)
print("ready", flush=True); sys.stdin.readline()
for number in range(300):
    transcript.append({"role": "user", "content": f"{sys.argv[2]} {number}"})
"""


def test_kernels_share_the_file(home, sessions):
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(home), name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for name in ("one", "two", "three")
    ]  # fmt: skip
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    for name in ("one", "two", "three"):
        transcript = sessions.reopen(sessions.find(name).id).transcript
        assert [m["content"] for m in transcript] == [f"{name} {n}" for n in range(300)]


def test_a_fork_of_the_process_has_its_own_connection(talk):
    talk.exchange("a", "b")
    child = os.fork()
    if child == 0:
        ok = len(talk.sessions.listing()) == 1
        talk.exchange("in the child", "c")
        os._exit(0 if ok and not talk.warnings else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(talk.sessions.entries(talk.stored)) >= 8
