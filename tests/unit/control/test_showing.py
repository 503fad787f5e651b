from hermes_jupyter.calls import ApprovalRequest, Question, ToolCall
from hermes_jupyter.control.showing import Where, question_shown, request_shown

WHERE = Where("t1", "default", "c1")
DIFF = "--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-a\n+b\n"


def request(**about):
    base = {
        "id": "r", "call": ToolCall(id="1", name="terminal", args={"command": "rm a"}),
        "reason": "deletes a", "shown": "rm a", "cwd": "/work", "grant": "this", "digest": "d",
    }  # fmt: skip
    return ApprovalRequest(**{**base, **about})


def shown(**about):
    return request_shown(request(**about), WHERE, 5.0)


def test_what_cannot_be_seen_is_spelled_out():
    told = shown(shown="rm a\u202e\x1b[2K", cwd="/w\nrm b")
    assert told["what"] == "rm a⟨U+202E⟩⟨U+001B⟩[2K"
    assert told["folder"] == "/w\nrm b"


def test_the_digest_covers_what_is_shown_and_the_call():
    told = {
        shown()["digest"],
        shown(shown="rm b")["digest"],
        shown(cwd="/")["digest"],
        shown(rule="terminal(rm a)")["digest"],
        shown(id="r2")["digest"],
        shown(digest="e")["digest"],
        shown(reason="looks")["digest"],
    }
    assert len(told) == 7


def test_the_digest_does_not_hang_on_the_time():
    assert shown()["digest"] == request_shown(request(), WHERE, 9.0)["digest"]


def test_only_what_is_offered_can_be_chosen():
    assert shown()["choices"] == ["once", "session", "deny"]
    offered = shown(rule="terminal(rm a)", editable="command")
    assert offered["choices"] == ["once", "session", "always", "deny", "edit"]
    assert offered["edit"] == {"name": "command", "text": "rm a"}


def test_a_diff_is_shown_as_one_and_the_path_beside_it():
    told = shown(call=ToolCall(id="1", name="write_file", args={"path": "notes.txt"}), shown=DIFF)
    assert (told["what"], told["diff"]) == ("notes.txt", DIFF)


def test_a_key_in_a_reason_is_masked():
    told = shown(reason="sends sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH")
    assert "abcdefghijklmnop" not in str(told)


def test_many_effects_are_counted():
    told = shown(effects=tuple(f"deletes {n}" for n in range(100)))
    assert (len(told["effects"]), told["effects_left_out"]) == (40, 60)


def test_a_question_comes_with_its_options():
    told = question_shown(Question(id="q", text="Which?", choices=("a", "b")), WHERE, 1.0)
    assert (told["text"], told["options"], told["secret"]) == ("Which?", ["a", "b"], False)
