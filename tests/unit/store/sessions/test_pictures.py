"""Images of conversations on disk: once each, gone with the last that has them."""

from __future__ import annotations

import base64

import pytest

from hermes_jupyter.store.album import Album
from hermes_jupyter.store.sessions import pictures
from hermes_jupyter.store.sessions.pictures import GONE, make_room
from tools.images.picture import Picture

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (7).to_bytes(4, "big") + (5).to_bytes(4, "big")


def uri(content):
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"


def seen(*contents):
    """A message with images."""
    images = [{"type": "image_url", "image_url": {"url": uri(each)}} for each in contents]
    return {"role": "user", "content": [{"type": "text", "text": "look"}, *images], "pictures": []}


def tell(talk, *messages):
    """A turn with these messages."""
    talk.ask("go")
    for message in messages:
        talk.messages.append(message)
    talk.end()


def rows(sessions, table="pictures"):
    with sessions.database.read() as connection:
        return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def test_images_come_back_as_they_were(talk):
    message = seen(PNG, PNG + b"2")
    tell(talk, message)
    assert talk.left().transcript[-1] == message


def test_an_image_is_on_disk_once_however_often_it_was_sent(talk, new_talk, sessions):
    content = PNG + bytes(range(256)) * 2_000
    for one in (talk, new_talk("other")):
        tell(one, *[seen(content)] * 20)
    assert rows(sessions) == 1
    with sessions.database.read() as connection:
        (text,) = connection.execute("SELECT sum(length(body)) FROM entries").fetchone()
    assert text < 20_000


def test_a_message_with_images_is_found_by_its_words_and_holds_no_base64(talk, sessions):
    talk.ask("go")
    talk.messages.append(seen(PNG))
    (entry,) = [each for each in sessions.entries(talk.stored) if each.text == "look"]
    assert "base64" not in (entry.body or "")


def test_a_copy_keeps_its_images_when_the_first_is_deleted(talk, sessions):
    tell(talk, seen(PNG))
    talk.journal.close()
    copy = sessions.fork(talk.stored)
    sessions.delete(talk.stored)
    assert sessions.reopen(copy.id).transcript[-1] == seen(PNG)


def test_the_last_that_is_deleted_takes_its_images_along(talk, sessions):
    tell(talk, seen(PNG))
    talk.journal.close()
    sessions.delete(talk.stored)
    assert (rows(sessions), rows(sessions, "picture_uses")) == (0, 0)


def test_the_oldest_make_room_and_a_word_stands_in_their_place(talk, sessions):
    contents = [PNG + bytes([number]) * 1_000 for number in range(3)]
    tell(talk, *map(seen, contents))
    make_room(sessions.database, 2_200)
    first, *others = talk.left().transcript[-3:]
    assert first["content"][-1] == {"type": "text", "text": GONE}
    assert others == [seen(content) for content in contents[1:]]


@pytest.mark.parametrize("url", ["https://example.org/a.png", "data:image/png;base64,%%%"])
def test_other_addresses_stay_in_the_message(talk, url):
    message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    tell(talk, message)
    assert talk.left().transcript[-1] == message


def test_the_album_finds_what_the_conversation_has_had(talk):
    talk.ask("go")
    talk.messages.append(seen(PNG))
    wanted = Picture("image/png", PNG, 7, 5)
    talk.messages[-1] = {"role": "user", "content": "left out"}
    album = Album(talk.left().journal.picture)
    assert album.find(f" {wanted.name}. ") == wanted
    assert album.find("image:000000000000") is None
    assert album.find("image:%") is None


def test_the_album_keeps_the_newest_in_memory():
    album = Album(most_bytes=250)
    images = [Picture("image/png", bytes([number]) * 100, 1, 1) for number in range(3)]
    for image in images:
        album.add(image)
    assert [album.find(image.name) for image in images] == [None, *images[1:]]


def test_what_is_taken_out_can_be_put_back():
    content, images = pictures.taken_out(seen(PNG)["content"])
    assert pictures.put_back({"content": content}, images.get)["content"] == seen(PNG)["content"]
