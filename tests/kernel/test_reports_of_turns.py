"""What users of notebook agents have reported of others, as far as no version of ipykernel plays a
part in it. The rest is in ``test_reports.py``.
"""

from __future__ import annotations

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

ANY_KERNEL = True


def told(notebook):
    """The last answer of a tool that the model has read."""
    return notebook.requests()[-1]["messages"][-1]["content"]


def test_nb_027_a_second_prompt_waits_or_is_refused_and_roles_stay_in_order(start):
    notebook = start(
        conversation("first", (call("nap"),), "First done."), conversation("second", "Second done.")
    )
    notebook.tool(
        "nap",
        "    import builtins\n    print('napping', flush=True)\n"
        "    while not getattr(builtins, 'awake', False): context['cancelled'].wait(0.01)\n"
        "    return 'rested'",
    )
    background = notebook.agent("first", "--background --plain")
    notebook.status(background)
    notebook.until_text("napping")
    refused = notebook.agent("second", allow_stdin=False)
    assert notebook.status(refused) == "error"
    assert "busy" in notebook.replies[refused]["content"]["evalue"]
    notebook.run("import builtins; builtins.awake = True")
    notebook.until(lambda: "First done." in str(notebook.bundles(background)), "the first turn")
    notebook.run("del builtins.awake")
    assert notebook.status(notebook.agent("second", allow_stdin=False)) == "ok"
    roles = [message["role"] for message in notebook.requests()[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
