"""Where paths lead, compared with what the system says."""

import os
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_jupyter.agent.places import Places, ignores_case


def test_empty_folder_ignores_case_as_the_one_above_it_does(tmp_path):
    (tmp_path / "empty").mkdir()
    assert ignores_case(str(tmp_path / "empty")) == ignores_case(str(tmp_path))


PATHS = st.lists(
    st.sampled_from(["a.txt", "d", "e", "x.txt", "linked", "deep", "link.txt", "..", ".", "new"]),
    min_size=1,
    max_size=5,
).map("/".join)


@settings(max_examples=300, deadline=None)
@given(one=PATHS, other=PATHS)
def test_places_are_those_of_the_system(tmp_path_factory, one, other):
    root = tmp_path_factory.getbasetemp() / "system"
    if not root.exists():
        (root / "d" / "e").mkdir(parents=True)
        for name in ("a.txt", "d/x.txt"):
            (root / name).touch()
        for name, target in (("linked", "d"), ("deep", "d/e"), ("link.txt", "a.txt")):
            (root / name).symlink_to(target)
    places = Places(str(root))
    a, b = Path(os.path.realpath(root / one)), Path(os.path.realpath(root / other))
    assert places.read(one).path == str(a)
    assert places.read(one).overlaps(places.read(other)) == (
        a == b or a in b.parents or b in a.parents
    )


def test_long_chain_of_links_comes_to_an_end(tmp_path):
    for number in range(200):
        (tmp_path / f"l{number}").symlink_to(f"l{number + 1}")
    assert Places(str(tmp_path)).read("l0").path


def test_relative_working_folder_is_of_the_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Places("sub").read("a").path == os.path.realpath(tmp_path / "sub" / "a")


def test_loop_of_links_is_a_place_of_its_own(tmp_path):
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    places = Places(str(tmp_path))
    assert not places.read("one").overlaps(places.read("three"))
