import subprocess
import sys

import pytest

from hermes_jupyter.calls import ToolCall
from hermes_jupyter.errors import StoreError
from hermes_jupyter.events import ToolCallStarted
from hermes_jupyter.store.sessions.browsing import Browser
from hermes_jupyter.store.sessions.catalog import Sessions
from hermes_jupyter.store.sessions.database import Database
from hermes_jupyter.store.sessions.schema import FIRST

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


def test_children_are_listed_below_their_parent_and_nowhere_else(new_talk, sessions):
    parent = new_talk("main")
    parent.exchange("share the work", "Done.")
    for name in ("first", "second"):
        child = new_talk(f"main/{name}", parent=parent.id, is_child=True)
        child.exchange(f"the {name} part", "ok")
    (about,) = sessions.listing()
    assert about.id == parent.id
    assert not about.is_child
    below = sessions.children(about)
    assert [each.title for each in below] == ["the first part", "the second part"]
    assert all(each.is_child for each in below)
    assert sessions.find(below[0].id) == below[0]


def test_a_name_means_a_conversation_of_the_user_before_one_of_a_child(new_talk, sessions):
    own = new_talk("same")
    own.exchange("mine", "ok")
    new_talk("same", parent=own.id, is_child=True).exchange("a child's", "ok")
    assert sessions.find("same").id == own.id


def test_a_notebook_never_goes_on_with_the_conversation_of_a_child(new_talk, sessions):
    new_talk("main", notebook="/a.ipynb", parent="x", is_child=True).exchange("a child's", "ok")
    assert sessions.of_notebook("/a.ipynb", "main") == []


def test_children_go_with_their_parent_and_so_do_theirs(new_talk, sessions):
    parent = new_talk("main")
    child = new_talk("main/a", parent=parent.id, is_child=True)
    grandchild = new_talk("main/a/b", parent=child.id, is_child=True)
    copy = new_talk("copy", parent=parent.id)
    for talk in (parent, child, grandchild, copy):
        talk.exchange("x", "y")
        talk.journal.close()
    sessions.delete(parent.stored)
    assert sessions.count() == 1
    assert sessions.get(copy.id).parent == parent.id


def test_a_copy_of_a_childs_conversation_is_the_users_own(new_talk, sessions):
    child = new_talk("main/a", parent="x", is_child=True)
    child.exchange("look", "Found.")
    child.journal.close()
    assert not sessions.fork(child.stored, name="mine").is_child
    assert [about.name for about in sessions.listing()] == ["mine"]


def test_what_was_said_in_a_childs_conversation_is_found_and_says_whose_it_is(new_talk, sessions):
    new_talk("main/a", parent="p-1", is_child=True).exchange("look", "the heron is here")
    found, _ = Browser(sessions, "other").find("heron", limit=3, order="relevance", roles=())
    assert [each["works_for_session"] for each in found] == ["p-1"]
    assert Browser(sessions, "other").latest(3) == []


def test_a_file_from_before_there_were_children_has_none(home):
    older = Database(home / "jupyter" / "state.db", (FIRST,))
    with older.write() as connection:
        connection.execute(
            "INSERT INTO sessions (id, name, title, created, updated) VALUES ('i', 'n', 't', 1, 1)"
        )
    older.close()
    sessions = Sessions(home)
    (about,) = sessions.listing()
    assert (about.title, about.is_child) == ("t", False)
    sessions.close()
