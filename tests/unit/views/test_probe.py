from __future__ import annotations

import asyncio

import pytest
from ipywidgets import Play

from hermes_jupyter.views.live import WidgetView
from hermes_jupyter.views.probe import KnownClients, Probe


def answer_like_a_page(player: Play) -> None:
    """What a displayed view does when it is told to play."""

    def play(change) -> None:
        if change["new"]:
            player.value += 1

    player.observe(play, "playing")


@pytest.mark.parametrize("is_displayed", [True, False])
def test_only_a_displayed_player_answers(is_displayed):
    async def main() -> bool:
        player = Play()
        probe = Probe(player)
        if is_displayed:
            answer_like_a_page(player)
        return await probe.alive(0.05)

    assert asyncio.run(main()) is is_displayed


def test_a_yes_is_for_good_and_a_no_for_a_minute():
    now = [0.0]
    clients = KnownClients(lambda: now[0])
    assert clients.shows_widgets("a") is None
    clients.learn("a", shows=True)
    clients.learn("b", shows=False)
    assert (clients.shows_widgets("a"), clients.shows_widgets("b")) == (True, False)
    now[0] = 61.0
    assert (clients.shows_widgets("a"), clients.shows_widgets("b")) == (True, None)


def test_a_view_asks_only_when_it_does_not_know(cell, desk):
    async def main() -> list[bool]:
        clients = KnownClients()
        view = WidgetView(cell, desk, "d1")
        first = await view.alive(0.05, clients)
        clients.learn(cell.client, shows=True)
        second = await view.alive(0.05, clients)
        view.final({})
        return [first, second]

    assert asyncio.run(main()) == [False, True]
