"""Completion as every front end of a kernel asks for it, and what a mention tells the model."""

from __future__ import annotations

ANY_KERNEL = True


def matches(notebook, text):
    request = notebook.send("complete_request", {"code": text, "cursor_pos": len(text)})
    content = notebook.reply(request)["content"]
    return content["matches"], content["cursor_start"]


def test_an_agent_cell_completes_variables_until_the_extension_is_unloaded(start):
    notebook = start()
    notebook.run("sales_2025 = [1]")
    text = "%%agent\nSum @sales_2"
    assert matches(notebook, text) == (["@sales_2025"], text.index("@"))
    assert "undo" in matches(notebook, "%hermes un")[0]
    notebook.run("%unload_ext hermes_jupyter")
    assert "@sales_2025" not in matches(notebook, text)[0]


def test_the_first_completion_of_a_kernel_waits_for_no_tool_to_be_imported(start):
    notebook = start(load=False)
    notebook.run("%load_ext hermes_jupyter")
    offered, _ = matches(notebook, "%%agent\nuse /")
    assert {"/run_python", "/read_cells", "/terminal"} <= {*offered}
    assert "file" in matches(notebook, "%%agent --tools fi")[0]
    assert notebook.run("import sys; print([m for m in sys.modules if m.endswith('_tool')])") == (
        "[]\n"
    )


def test_a_mention_stays_and_the_model_is_told_what_it_is(start):
    notebook = start("fine")
    notebook.run("sales = {'a': 1}")
    notebook.status(notebook.agent("Sum @sales, bob@sales.org"))
    prompt = notebook.prompt(notebook.requests()[-1]["messages"][-1])
    assert prompt.startswith("Sum @sales, bob@sales.org")
    assert prompt.count("sales: {'a': 1}") == 1
