from __future__ import annotations

import pytest

from tools.environments.backends import OpenOptions, backend
from tools.environments.cloud_settings import amount, is_persistent, safe_name
from tools.environments.host import HostError


@pytest.mark.parametrize(("text", "value"), [("2", 2.0), (" 0.5 ", 0.5), ("", None), ("0", None)])
def test_amount_is_a_positive_number_or_not_set(text, value):
    assert amount({"TERMINAL_CONTAINER_CPU": text}, "TERMINAL_CONTAINER_CPU") == value


@pytest.mark.parametrize("text", ["many", "-1", "nan", "inf", "1e300"])
def test_other_amounts_are_named(text):
    with pytest.raises(HostError, match="TERMINAL_CONTAINER_CPU="):
        amount({"TERMINAL_CONTAINER_CPU": text}, "TERMINAL_CONTAINER_CPU")


@pytest.mark.parametrize(("text", "kept"), [("", True), ("True", True), ("no", False)])
def test_files_are_kept_unless_the_user_says_no(text, kept):
    assert is_persistent({"TERMINAL_CONTAINER_PERSISTENT": text}) is kept


def test_neither_yes_nor_no_is_refused():
    with pytest.raises(HostError, match="must be true or false"):
        is_persistent({"TERMINAL_CONTAINER_PERSISTENT": "maybe"})


def test_plain_session_is_its_own_name():
    assert safe_name("s-2026-11-30") == "s-2026-11-30"


@pytest.mark.parametrize("session", ["a b", "ä", "x" * 100, "", "../up", "a_b"])
def test_other_sessions_get_short_plain_names(session):
    name = safe_name(session)
    assert len(name) <= 40
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")
    assert name
    assert name != safe_name(session + "x")


def test_names_of_different_sessions_differ():
    assert safe_name("a b") != safe_name("a-b") != safe_name("a_b")


@pytest.mark.parametrize("name", ["modal", "daytona"])
def test_settings_that_do_not_do_are_told_before_anything_is_made(name):
    settings = {"TERMINAL_CONTAINER_MEMORY": "a lot", "DAYTONA_API_KEY": "x"}
    with pytest.raises(HostError, match="TERMINAL_CONTAINER_MEMORY"):
        backend(name).open(settings, OpenOptions(session="s"))
