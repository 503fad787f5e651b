"""Places that come from other packages."""

import logging

import pytest

from tools.environments.backends import GROUP, OpenOptions, backend, backends
from tools.environments.host import HostError

MODULE = """
from tools.environments.backends import Backend
from tools.environments.local import LocalEnvironment

BACKEND = Backend(
    name="shed",
    title="The shed",
    open=lambda settings, options: LocalEnvironment(options.workspace),
    available=lambda settings: (True, "behind the house"),
)
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a package with this module, as pip leaves it behind."""

    def installed(name, module, target="BACKEND"):
        (tmp_path / f"{name}.py").write_text(module)
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {name}:{target}\n")
        monkeypatch.syspath_prepend(tmp_path)

    return installed


def test_a_place_of_another_package_runs_commands(installed, tmp_path):
    installed("hermes_shed", MODULE)
    shed = backend("shed").open({}, OpenOptions(workspace=str(tmp_path)))
    try:
        assert shed.execute("pwd", timeout=60).output == f"{tmp_path}\n"
    finally:
        shed.close()


def test_it_does_not_take_the_place_of_ours(installed):
    installed("hermes_shed", MODULE.replace('"shed"', '"local"'))
    assert backend("local").title != "The shed"


def test_one_that_cannot_be_loaded_is_logged_and_left_out(installed, caplog):
    ours = [*backends()]
    installed("hermes_ruin", "raise RuntimeError('no roof')")
    with caplog.at_level(logging.ERROR):
        assert [*backends()] == ours
    assert "no roof" in caplog.text


def test_an_unknown_place_is_named_with_those_that_there_are(installed):
    installed("hermes_shed", MODULE)
    with pytest.raises(HostError, match=r"no terminal backend 'attic'.*local.*shed"):
        backend("attic")
