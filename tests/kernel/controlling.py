"""Requests on the control channel, and what a kernel tells of them."""

from hermes_jupyter.testing import call

DELETE = (call("terminal", command="rm old.log"),)


def ask(notebook, do, **about):
    return notebook.control("hermes_request", {"protocol": 1, "do": do, **about})["content"]


def events(notebook, kind):
    return [
        message["content"]
        for message in [*notebook.published]
        if message["msg_type"] == "hermes_event" and message["content"]["event"] == kind
    ]


def asked(notebook, nth=1):
    """The request that clients were told of."""
    told = notebook.until(lambda: events(notebook, "asked")[nth - 1 : nth], "the question")
    return told[0]["request"]


def answer(notebook, request, choice, **about):
    about = {"request": request["id"], "digest": request["digest"], "choice": choice, **about}
    return ask(notebook, "answer", **about)


def deleting(start, line=""):
    """A turn that asks whether it may delete a file."""
    notebook = start(DELETE, "done")
    (notebook.folder / "old.log").write_text("x")
    cell = notebook.agent("delete", line)
    if not line:
        notebook.show_widgets()
    return notebook, cell, asked(notebook)
