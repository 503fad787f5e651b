"""Where commands run, as a person sees and chooses it."""

from hermes_jupyter.testing import call

ANY_KERNEL = True


def test_the_place_is_shown_with_its_folder_and_jobs(start):
    notebook = start((call("terminal", command="sleep 60", background=True),), "Started.")
    assert notebook.status(notebook.agent("go")) == "ok"
    shown = notebook.run("%hermes terminal")
    assert "local" in shown
    assert str(notebook.folder) in shown
    assert "sleep 60" in shown
    assert "TERMINAL_SSH_HOST" in shown  # what another place lacks


def test_a_place_that_cannot_be_had_says_what_to_set_and_changes_nothing(start):
    notebook = start((call("terminal", command="echo here"),), "done")
    for name, said in (("ssh", "TERMINAL_SSH_HOST"), ("nowhere", "choose from")):
        request = notebook.execute(f"%hermes terminal {name}")
        assert notebook.status(request) == "error"
        assert said in "".join(notebook.replies[request]["content"]["traceback"])
    assert notebook.status(notebook.agent("go")) == "ok"
    results = [m for m in notebook.requests()[-1]["messages"] if m["role"] == "tool"]
    assert "here" in results[0]["content"]


def test_a_chosen_place_is_never_replaced_by_this_machine(start):
    env = {"TERMINAL_ENV": "ssh", "TERMINAL_SSH_HOST": "127.0.0.1", "TERMINAL_SSH_PORT": "9"}
    notebook = start((call("terminal", command="touch made"),), "never", env=env, fresh=True)
    request = notebook.agent("go")
    assert notebook.status(request) == "error"
    assert "the terminal cannot be used" in "".join(
        notebook.replies[request]["content"]["traceback"]
    )
    assert not (notebook.folder / "made").exists()
