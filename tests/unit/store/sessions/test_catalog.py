import subprocess
import sys

import pytest

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.errors import StoreError
from hermes_jupyter.events import ToolCallStarted

CALL = ToolCall(id="c1", name="terminal", args={"command": "make"})
OTHER_KERNEL = """
import sys
from pathlib import Path
from hermes_jupyter.store.sessions.catalog import Sessions
sessions = Sessions(Path(sys.argv[1]))
about = sessions.get(sys.argv[2])
try:
    print(sessions.is_open_elsewhere(about), len(sessions.reopen(about.id).transcript))
except Exception as error:
    print(type(error).__name__, error)
"""


def in_another_kernel(home, identity):
    command = [sys.executable, "-c", OTHER_KERNEL, str(home), identity]
    return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout


def test_the_newest_is_listed_first_and_words_narrow_the_list(new_talk, sessions):
    new_talk("one", notebook="/work/sales.ipynb").exchange("plot 100% of it", "ok")
    new_talk("two").exchange("read_file", "ok")
    assert [about.name for about in sessions.listing()] == ["two", "one"]
    for words, names in (("plot", ["one"]), ("100%", ["one"]), ("%", ["one"]), ("d_f", ["two"]),
                         ("sales", ["one"]), ("tw", ["two"]), ("none", [])):  # fmt: skip
        assert [about.name for about in sessions.listing(words)] == names


def test_one_is_found_by_id_part_of_it_or_name(new_talk, sessions):
    first, second = new_talk("one"), new_talk("one")
    for talk in (first, second):
        talk.exchange("a", "b")
    for wanted, talk in ((first.id, first), (second.id[-8:], second), ("one", second)):
        assert sessions.find(wanted).id == talk.id
    with pytest.raises(StoreError, match="may mean"):
        sessions.find(first.id[:9])
    with pytest.raises(StoreError, match="no session"):
        sessions.find("%")


def test_one_that_is_open_in_another_kernel_stays_there(talk, sessions, home):
    talk.exchange("a", "b")
    said = in_another_kernel(home, talk.id)
    assert "is open in another kernel" in said
    assert f"%hermes fork {talk.id}" in said
    talk.journal.close()
    assert in_another_kernel(home, talk.id) == "False 2\n"
    assert len(sessions.reopen(talk.id).transcript) == 2


def test_a_copy_goes_its_own_way(talk, sessions, taken_up):
    talk.messages.append({"role": "system", "content": "s"})
    talk.exchange("a", "b")
    talk.messages[1:2] = [{"role": "user", "content": "A"}]
    copy = sessions.fork(talk.stored, name="copy")
    other = taken_up(sessions.reopen(copy.id))
    assert other.messages == talk.messages
    other.exchange("only there", "yes")
    talk.exchange("only here", "yes")
    assert other.stored.parent == talk.id
    assert [m["content"] for m in other.left().transcript][-2:] == ["only there", "yes"]
    assert [m["content"] for m in talk.left().transcript][-2:] == ["only here", "yes"]


def test_a_copy_of_a_running_turn_is_closed_in_the_copy_only(talk, sessions):
    talk.ask("go")
    talk.say("I work.", CALL)
    talk.tell(ToolCallStarted(call=CALL))
    copy = sessions.reopen(sessions.fork(talk.stored).id)
    assert "unknown whether it ran" in copy.transcript[-2]["content"]
    talk.answer(CALL, '{"ok": true}')
    talk.end()
    assert talk.left().transcript[-1]["content"] == '{"ok": true}'


def test_a_deleted_one_is_gone_from_the_file(new_talk, sessions, home):
    for name in ("keep", "drop"):
        talk = new_talk(name)
        talk.exchange(f"the {name}word", "ok")
        talk.journal.close()
    sessions.delete(sessions.find("drop"))
    sessions.tidy()
    assert [about.name for about in sessions.listing()] == ["keep"]
    sessions.close()
    stored = b"".join(path.read_bytes() for path in (home / "jupyter").glob("state.db*"))
    assert b"the keepword" in stored
    assert b"the dropword" not in stored


def test_one_that_is_open_is_not_deleted(talk, sessions):
    talk.exchange("a", "b")
    with pytest.raises(StoreError, match="is open"):
        sessions.delete(talk.stored)


def test_numbers_of_deleted_ones_are_not_given_again(new_talk, sessions):
    first = new_talk("one")
    first.exchange("a", "b")
    number = first.stored.number
    first.journal.close()
    sessions.delete(first.stored)
    second = new_talk("two")
    second.exchange("c", "d")
    assert second.stored.number > number
