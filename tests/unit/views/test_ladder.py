"""The rungs of the ladder, by what is known of a front end."""

import pytest

from hermes_jupyter.views.ladder import Ladder
from hermes_jupyter.views.probe import KnownClients


class AnyCell:
    has_kernel, allow_stdin, is_background, client = True, True, False, "page"

    def __init__(self, **about):
        vars(self).update(about)


def rung(cell, frontend="auto", shows=None, **more):
    clients = KnownClients()
    if shows is not None:
        clients.learn("page", shows=shows)
    return Ladder(frontend, clients, **more).rung(cell)


@pytest.mark.parametrize(
    ("about", "known", "name"),
    [
        ({"has_kernel": False}, {}, "input"),
        ({}, {}, "widget"),
        ({}, {"shows": True}, "widget"),
        ({}, {"shows": False}, "input"),
        ({}, {"shows": False, "hears_control": lambda client: client == "page"}, "control"),
        ({}, {"shows": False, "hears_control": lambda client: client == "other"}, "input"),
        ({}, {"shows": True, "hears_control": lambda _: True}, "widget"),
        ({"allow_stdin": False}, {"shows": True}, "policy"),
        ({"allow_stdin": False}, {"page_comes_later": True}, "policy"),
        ({"allow_stdin": False, "is_background": True}, {"page_comes_later": True}, "widget"),
        ({"allow_stdin": False}, {"frontend": "widget"}, "widget"),
        ({}, {"frontend": "policy", "shows": True}, "policy"),
        ({}, {"frontend": "control"}, "control"),
    ],
)
def test_a_front_end_ends_on_the_highest_rung_that_holds(about, known, name):
    assert rung(AnyCell(**about), **known).name == name


def test_only_what_a_page_has_shown_is_sure():
    assert not rung(AnyCell()).is_sure
    assert rung(AnyCell(), shows=True).is_sure


def test_each_rung_says_why():
    assert rung(AnyCell(), shows=False).why == "this front end shows no widgets"
    assert "%config Hermes.frontend" in rung(AnyCell(), "input").why
    assert "--background" in rung(AnyCell(allow_stdin=False), page_comes_later=True).why
