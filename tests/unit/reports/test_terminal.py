"""``%hermes terminal`` and what ``%hermes doctor`` says about terminals."""

from types import SimpleNamespace

import pytest

from hermes_jupyter.desktop import Desktop
from hermes_jupyter.doctor import examine
from hermes_jupyter.errors import TurnError
from hermes_jupyter.reports.terminal import terminal
from hermes_jupyter.settings import Settings

UNREACHABLE = {"TERMINAL_SSH_HOST": "127.0.0.1", "TERMINAL_SSH_PORT": "9"}


@pytest.fixture
def magics(tmp_path):
    made = []

    def make(**settings):
        desktop = Desktop(
            Settings(home=tmp_path, base_url="http://127.0.0.1:9/v1", terminal=settings)
        )
        made.append(desktop)
        return SimpleNamespace(desktop=desktop)

    yield make
    for desktop in made:
        desktop.close()


def test_it_shows_where_commands_run_and_what_else_there_is(magics, capsys):
    here = magics()
    job = here.desktop.hermes.session().environment.spawn("sleep 60")
    terminal(here, [])
    shown = capsys.readouterr().out
    assert "terminal   local, this machine" in shown
    assert "health     ✓" in shown
    assert "isolated   no" in shown
    assert f"{job.id} 'sleep 60'" in shown
    assert "TERMINAL_SSH_HOST" in shown  # what ssh lacks


def test_a_choice_that_cannot_be_says_what_to_set_and_changes_nothing(magics):
    here = magics()
    with pytest.raises(TurnError, match=r"(?s)no machine is named.*TERMINAL_SSH_KEY"):
        terminal(here, ["ssh"])
    with pytest.raises(TurnError, match=r"choose from .*local"):
        terminal(here, ["nowhere"])
    assert here.desktop.hermes.session().terminals.chosen == "local"


def test_a_place_that_cannot_be_reached_is_shown_as_ill(magics, capsys):
    pytest.importorskip("asyncssh")
    terminal(magics(**UNREACHABLE), ["ssh"])
    assert "health     ✗ 127.0.0.1:9 cannot be reached" in capsys.readouterr().out


def test_the_doctor_tests_what_is_set_up_and_says_what_others_lack(magics):
    pytest.importorskip("asyncssh")
    checks = {check.name: check for check in examine(magics(**UNREACHABLE).desktop)}
    assert not checks["terminal ssh"].ok
    assert "cannot be reached" in checks["terminal ssh"].text
    nothing = {check.name: check for check in examine(magics().desktop)}
    assert nothing["terminal ssh"].ok
    assert nothing["terminal ssh"].text.startswith("not set up:")
    assert [checks["terminal ssh"].sign, nothing["terminal ssh"].sign] == ["✗", "·"]
