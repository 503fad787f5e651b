"""Load, unload, reload; magics of others; what loading may cost."""

from hermes_jupyter.testing import call


def test_load_is_silent_and_writes_nothing(start, tmp_path):
    notebook = start(load=False)
    before = set(tmp_path.rglob("*")) - {tmp_path / "kernel.log"}
    assert notebook.run("%load_ext hermes_jupyter") == ""
    created = {path for path in set(tmp_path.rglob("*")) - before if "ipython" not in path.parts}
    assert created <= {tmp_path / "kernel.log"}


def test_load_imports_nothing_heavy(start):
    notebook = start(load=False)
    notebook.run("import sys; before = set(sys.modules)")
    notebook.run("%load_ext hermes_jupyter")
    new = notebook.run("print(*sorted({n.split('.')[0] for n in set(sys.modules) - before}))")
    heavy = {"ipywidgets", "openai", "httpx", "pydantic", "nbformat", "mcp", "jsonschema", "tools"}
    assert not heavy & set(new.split())


def test_unload_removes_what_load_added(start):
    notebook = start()
    notebook.run("%unload_ext hermes_jupyter")
    failed = notebook.execute("%hermes status")
    assert notebook.status(failed) == "error"
    said = notebook.run("print([type(c).__name__ for c in get_ipython().configurables])")
    assert "'Hermes'" not in said


def test_reload_works_and_registers_once(start):
    notebook = start("ok")
    notebook.run("%reload_ext hermes_jupyter")
    notebook.run("%reload_ext hermes_jupyter")
    assert notebook.status(notebook.agent("go")) == "ok"
    said = notebook.run(
        "print(sum(getattr(t, '__name__', '') == 'questions_are_prompts'"
        " for t in get_ipython().input_transformers_cleanup))"
    )
    assert said == "1\n"


def test_unload_ends_the_shell(start):
    notebook = start((call("terminal", command="echo shell is $$"),), "ok")
    notebook.status(notebook.agent("go"))
    told = notebook.requests()[-1]["messages"][-1]["content"]
    pid = told.split("shell is ")[1].split("\\n")[0]
    notebook.run("%unload_ext hermes_jupyter")
    assert notebook.run(f"import os; print(os.path.exists('/proc/{pid}'))") == "False\n"


def test_a_magic_of_another_extension_stays(start):
    notebook = start("ok", load=False)
    notebook.run(
        "from IPython.core.magic import register_cell_magic\n"
        "@register_cell_magic\n"
        "def agent(line, cell): print('theirs')"
    )
    said = notebook.run("%load_ext hermes_jupyter")
    assert "%%hermes_agent" in said
    assert notebook.run("%%agent\nx") == "theirs\n"
    assert notebook.status(notebook.execute("%%hermes_agent\ngo")) == "ok"


def test_the_names_can_be_taken_over(start):
    notebook = start("ok", load=False)
    notebook.run(
        "from IPython.core.magic import register_cell_magic\n"
        "@register_cell_magic\n"
        "def agent(line, cell): print('theirs')"
    )
    notebook.run("%load_ext hermes_jupyter.override")
    request = notebook.agent("go")
    assert notebook.status(request) == "ok"
    assert notebook.record(request)
    assert "theirs" not in notebook.text(request)


def test_a_question_is_a_prompt_and_a_name_with_a_mark_is_help(start):
    notebook = start("an answer")
    request = notebook.execute("%hermes what is this?")
    assert notebook.status(request) == "ok"
    assert notebook.requests()[-1]["messages"][-1]["content"] == "what is this?"
    request = notebook.execute("%hermes?")
    assert notebook.status(request) == "ok"
    assert len(notebook.requests()) == 1


def test_every_subcommand_answers(start):
    notebook = start("ok")
    notebook.status(notebook.agent("go"))
    for name in ("help", "status", "tools", "tools --why", "model", "list", "usage", "doctor",
                 "version", "attach", "stop", "new", "reset", "new other"):  # fmt: skip
        assert notebook.run(f"%hermes {name}").strip(), name
    request = notebook.execute("%hermes last")
    assert notebook.status(request) == "ok"
    assert notebook.record(request)
