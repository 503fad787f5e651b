from __future__ import annotations

import asyncio

import ipywidgets
import pytest

from hermes_jupyter.calls import Ruling
from hermes_jupyter.events import ApprovalResolved
from hermes_jupyter.views.approval_card import NOT_ARRIVED, NOTHING, ApprovalCard
from hermes_jupyter.views.widgets import Stage

EDITABLE = {"editable": "command", "rule": "terminal(pytest *)"}


class Person:
    """Sees a card and acts on it; its page answers players unless it is ``away``."""

    def __init__(self, cell, desk, request, *, away=False):
        self.stage = Stage(cell)
        self._away = away
        make_player = self.stage.hidden_player
        self.stage.hidden_player = lambda: self._answering(make_player())
        self.card = ApprovalCard(self.stage, request, desk, asyncio.get_running_loop())

    def _answering(self, player):
        def answer(change):
            if change["new"] and not self._away:
                asyncio.get_running_loop().call_soon(lambda: setattr(player, "value", 1))

        player.observe(answer, "playing")
        return player

    def widgets(self, kind):
        def below(widget):
            yield widget
            for child in getattr(widget, "children", ()):
                yield from below(child)

        return [widget for widget in below(self.card.box) if type(widget) is kind]

    @property
    def labels(self):
        return [button.description for button in self.widgets(ipywidgets.Button)]

    @property
    def html(self):
        return "\n".join(widget.value for widget in self.widgets(ipywidgets.HTML))

    async def press(self, label):
        buttons = {button.description: button for button in self.widgets(ipywidgets.Button)}
        buttons[label].click()
        await self.settled()

    async def settled(self):
        await asyncio.sleep(0)
        while self.card._sending is not None:
            await self.card._sending
            await asyncio.sleep(0)

    @property
    def note(self):
        return self.widgets(ipywidgets.Text)[0]

    @property
    def area(self):
        return self.widgets(ipywidgets.Textarea)[0]


@pytest.fixture
def act(cell, desk, monkeypatch):
    """Run ``play(person)`` before a card that asks about a request; what it returns."""
    monkeypatch.setattr("hermes_jupyter.views.approval_card.EXACT_SECONDS", 0.05)
    monkeypatch.setattr("hermes_jupyter.views.approval_card.TEXT_SECONDS", 0.05)

    def run(play, request, **about):
        async def main():
            person = Person(cell, desk, request, **about)
            outcome = await play(person)
            person.stage.close()
            return outcome

        return asyncio.run(main())

    return run


def test_a_key_in_a_command_is_masked_and_the_rest_is_shown(act, make):
    key = "sk-" + "a1B2" * 6
    html, _ = act(seen, make.approval(make.call(), shown=f"curl -H 'X: {key}' host; rm a"))
    assert key not in html
    assert "«redacted:sk-…»" in html
    assert "host; rm a" in html


async def seen(person):
    return person.html, person.labels


def test_only_what_can_be_had_is_offered(make, act):
    plain, full = make.approval(make.call()), make.approval(make.call(), **EDITABLE)
    assert act(seen, plain)[1] == ["Allow once", "Allow this session", "Deny"]
    assert act(seen, full)[1] == [
        "Allow once", "Allow this session", "Always: terminal(pytest *)", "Edit", "Deny",
    ]  # fmt: skip


def test_a_long_rule_is_shown_by_the_card_and_not_by_its_button(make, act):
    rule = f"write_file(path:/home/ada/{'deep/' * 9}a.csv)"
    html, labels = act(seen, make.approval(make.call(), rule=rule))
    assert "Always, by this rule" in labels
    assert f"<code>{rule}</code>" in html


def test_the_card_says_who_asks_what_it_does_and_whose_words_are_whose(make, act):
    about = {
        "effects": ("deletes data/a.csv", "needs <root>"),
        "purpose": "to *tidy* <b>up",
        "asker": "researcher",
        "rule": "terminal(rm *)",
    }
    html, _ = act(seen, make.approval(make.call(), **about))
    assert "<li>deletes data/a.csv</li><li>needs &lt;root&gt;</li>" in html
    assert "<dt>The model says</dt><dd><q>to *tidy* &lt;b&gt;up</q></dd>" in html
    assert 'aria-label="Approval needed: terminal for researcher"' in html
    assert "<dt>Always</dt><dd><code>terminal(rm *)</code></dd>" in html
    assert "<dt>Folder</dt><dd>/home/ada</dd>" in html


def test_many_effects_stay_a_short_list(make, act):
    effects = tuple(f"deletes {number}" for number in range(30))
    html, _ = act(seen, make.approval(make.call(), effects=effects))
    assert html.count("<li>deletes") == 8
    assert "and 22 more" in html


def test_an_effect_that_the_reason_says_is_not_said_twice(make, act):
    html, _ = act(seen, make.approval(make.call(), effects=("deletes a folder",)))
    assert html.count("deletes a folder") == 1


@pytest.mark.parametrize(
    ("label", "decision"),
    [
        ("Allow once", "once"),
        ("Allow this session", "session"),
        ("Always: terminal(pytest *)", "always"),
        ("Deny", "deny"),
    ],
)
def test_a_click_is_an_answer_to_what_was_shown(make, desk, act, label, decision):
    request = make.approval(make.call(), **EDITABLE)
    act(lambda person: person.press(label), request)
    assert desk.answers == [(request.id, Ruling(decision=decision), "widget", request.digest)]


def test_deny_takes_the_note_along(make, desk, act):
    async def play(person):
        person.note.value = " use the staging database "
        await person.press("Deny")

    act(play, make.approval(make.call()))
    assert desk.rulings == [Ruling(decision="deny", note="use the staging database")]


@pytest.mark.parametrize("away", [False, True])
def test_enter_in_the_note_denies_with_what_comes_after_the_key(make, desk, act, away):
    async def play(person):
        person.note._handle_custom_msg({"event": "submit"}, [])
        person.note.value = "not today"
        await person.settled()

    act(play, make.approval(make.call()), away=away)
    assert desk.rulings == [Ruling(decision="deny", note="not today")]


def test_an_edited_text_runs_once(make, desk, act):
    async def play(person):
        await person.press("Edit")
        assert person.labels == ["Run edited", "Cancel"]
        assert person.area.value == "rm old.log"
        person.area.value = "rm new.log"
        await person.press("Run edited")

    act(play, make.approval(make.call(command="rm old.log"), **EDITABLE))
    assert desk.rulings == [Ruling(decision="once", edited="rm new.log")]


def test_a_text_that_comes_after_the_click_is_the_one_that_runs(make, desk, act):
    """A page holds a change back until the one before it was answered; a click overtakes it."""

    async def play(person):
        await person.press("Edit")
        pressed = asyncio.ensure_future(person.press("Run edited"))
        await asyncio.sleep(0)
        person.area.value = "rm the-last-word"
        await pressed

    act(play, make.approval(make.call(), **EDITABLE))
    assert desk.rulings == [Ruling(decision="once", edited="rm the-last-word")]


def test_nothing_runs_while_the_text_may_be_on_its_way(make, desk, act):
    async def play(person):
        await person.press("Edit")
        await person.press("Run edited")
        return person.html

    html = act(play, make.approval(make.call(), **EDITABLE), away=True)
    assert NOT_ARRIVED in html
    assert desk.rulings == []


def test_an_empty_text_does_not_run(make, desk, act):
    async def play(person):
        await person.press("Edit")
        person.area.value = " \n"
        await person.press("Run edited")
        return person.html

    assert NOTHING in act(play, make.approval(make.call(), **EDITABLE))
    assert desk.rulings == []


def test_an_unchanged_text_is_no_edit(make, desk, act):
    async def play(person):
        await person.press("Edit")
        await person.press("Run edited")

    act(play, make.approval(make.call(), **EDITABLE))
    assert desk.rulings == [Ruling(decision="once")]


def test_nothing_hides_in_the_field_of_an_edit(make, desk, act):
    async def play(person):
        await person.press("Edit")
        assert person.area.value == "rm ⟨U+202E⟩x"
        await person.press("Run edited")

    act(play, make.approval(make.call(command="rm \u202ex"), **EDITABLE))
    assert desk.rulings == [Ruling(decision="once", edited="rm ⟨U+202E⟩x")]


def test_the_field_of_an_edit_is_as_high_as_its_long_line(make, act):
    async def play(person):
        await person.press("Edit")
        return person.area.rows

    assert act(play, make.approval(make.call(command="word " * 90), **EDITABLE)) == 6


def test_cancel_goes_back_to_the_question(make, desk, act):
    async def play(person):
        before = await seen(person)
        await person.press("Edit")
        await person.press("Cancel")
        assert await seen(person) == before

    act(play, make.approval(make.call(), **EDITABLE))
    assert desk.rulings == []


def resolved(request, decision, by="widget", **more):
    return ApprovalResolved(request=request, decision=decision, by=by, **more)


def test_a_decided_card_says_who_decided_and_why(make, act):
    request = make.approval(make.call())

    async def play(person):
        person.card.resolve(resolved(request, "deny", note="use <staging>"))
        return await seen(person)

    html, labels = act(play, request)
    assert "Denied by you: use &lt;staging&gt;" in html
    assert labels == []


def test_an_edited_card_shows_both_texts(make, act):
    request = make.approval(make.call(), "rm old.log", **EDITABLE)

    async def play(person):
        await person.press("Edit")
        person.card.resolve(resolved(request, "once", edited="rm new.log"))
        return await seen(person)

    html, labels = act(play, request)
    assert "Edited by you" in html
    assert ">rm old.log</pre>" in html
    assert ">rm new.log</pre>" in html
    assert labels == []


def test_a_click_that_comes_too_late_reads_as_expired(make, desk, act):
    desk.closed = True

    async def play(person):
        await person.press("Allow once")
        return await seen(person)

    html, labels = act(play, make.approval(make.call()))
    assert "Expired: terminal was already answered" in html
    assert labels == []


@pytest.mark.parametrize("second", ["Allow once", "Deny"])
def test_a_second_click_changes_nothing_and_only_another_one_says_so(make, desk, act, second):
    request = make.approval(make.call())

    async def play(person):
        buttons = {button.description: button for button in person.widgets(ipywidgets.Button)}
        buttons["Allow once"].click()
        buttons[second].click()
        person.card.resolve(resolved(request, "once"))
        await person.settled()
        return person.html

    html = act(play, request)
    assert desk.rulings == [Ruling(decision="once")]
    assert "Allowed once by you" in html
    assert ("a later click changed nothing" in html) is (second == "Deny")


def test_a_card_that_moves_starts_its_pause_anew(make, act):
    async def play(person):
        found = []
        for _ in range(3):
            person.card.rearm()
            found.append([name for name in person.card.box._dom_classes if "moved" in name])
        return found

    assert act(play, make.approval(make.call())) == [
        ["hermes-moved-1"], ["hermes-moved-0"], ["hermes-moved-1"],
    ]  # fmt: skip


def test_no_widget_is_left_of_an_edited_card(make, cell, act):
    before = set(ipywidgets.widgets.widget._instances)
    request = make.approval(make.call(), **EDITABLE)

    async def play(person):
        await person.press("Edit")
        person.card.resolve(resolved(request, "deny"))

    act(play, request)
    assert set(ipywidgets.widgets.widget._instances) == before


@pytest.mark.parametrize("labels", [["Edit"], ["Edit", "Cancel"]])
def test_the_keyboard_keeps_its_place_when_buttons_change(make, act, labels):
    async def play(person):
        focused = []
        for label in labels:
            await person.press(label)
            widget = person.area if label == "Edit" else person.card._allowing.children[-1]
            widget.focus = lambda label=label: focused.append(label)
            await person.card._focusing
        return focused

    assert act(play, make.approval(make.call(), **EDITABLE)) == labels
