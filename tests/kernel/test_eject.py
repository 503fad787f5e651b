"""A turn becomes cells that do the same without an agent."""

import nbformat
from nbclient import NotebookClient
from page import Page

from hermes_jupyter.testing import call
from hermes_jupyter.testing.scripted_server import conversation

ANY_KERNEL = True

SCRIPT = (
    conversation(
        "make",
        (call("terminal", command="mkdir data && cd data && seq 3 > n.txt"),),
        (call("write_file", path="a.py", content='print("""ü""")\n\tx\n'),),
        (call("patch", mode="replace", path="a.py", old_string="\tx", new_string="x = 1"),),
        "Made.",
    ),
    conversation("", "Hello."),
)


def tree(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def payload(notebook, request):
    return notebook.replies[request]["content"]["payload"]


def test_the_code_comes_as_the_next_cell_and_makes_the_same_files(start, tmp_path):
    notebook = start(*SCRIPT)
    assert notebook.status(notebook.agent("make it", "--approve off", allow_stdin=False)) == "ok"
    made = tree(notebook.folder)
    assert set(made) == {"data/n.txt", "data/a.py"}
    request = notebook.execute("%hermes eject")
    assert notebook.status(request) == "ok"
    (told,) = payload(notebook, request)
    assert (told["source"], told["replace"]) == ("set_next_input", False)
    assert tree(notebook.folder) == made
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    notebook.run(f"import os; os.chdir({str(fresh)!r})")
    notebook.run(told["text"])
    assert tree(fresh) == made
    assert len(notebook.requests()) == 4


def test_a_notebook_of_a_turn_runs_without_the_extension(start, tmp_path):
    notebook = start(*SCRIPT)
    assert notebook.status(notebook.agent("make it", "--approve off", allow_stdin=False)) == "ok"
    assert notebook.status(notebook.agent("hello", "--approve off", allow_stdin=False)) == "ok"
    made = tree(notebook.folder)
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    said = notebook.run(f"%hermes eject 1 {fresh / 'made.ipynb'}")
    assert "Nothing was run." in said
    cells = nbformat.read(fresh / "made.ipynb", 4)
    assert "hermes_jupyter" not in str(cells)
    NotebookClient(cells, resources={"metadata": {"path": str(fresh)}}).execute()
    (fresh / "made.ipynb").unlink()
    assert tree(fresh) == made


def test_slips_are_one_line(start):
    notebook = start(*SCRIPT)

    def refusal(line):
        request = notebook.execute(line)
        assert notebook.status(request) == "error"
        return "\n".join(notebook.replies[request]["content"]["traceback"])

    assert "there is no turn yet" in refusal("%hermes eject")
    assert notebook.status(notebook.agent("make it", "--approve off", allow_stdin=False)) == "ok"
    assert "it has the turns 1 to 1" in refusal("%hermes eject 2")
    notebook.run("%hermes eject twice.py")
    assert "twice.py is there already" in refusal("%hermes eject twice.py")
    assert "one turn and one file" in refusal("%hermes eject 1 2")


def test_in_a_page_each_step_gets_a_cell_of_its_own_below(start):
    notebook = start(*SCRIPT)
    cells = [
        {"id": name, "type": "code", "source": name, "execution_count": None, "outputs": []}
        for name in ("asks", "ejects", "last")
    ]
    page = Page(notebook, cells).until_ready()
    try:
        request = notebook.execute("%%agent --approve off\nmake it", cell="asks", allow_stdin=False)
        assert notebook.status(request) == "ok"
        made = tree(notebook.folder)
        request = notebook.execute("%hermes eject", cell="ejects", allow_stdin=False)
        assert notebook.status(request) == "ok", notebook.replies[request]["content"]
        assert payload(notebook, request) == []
        assert "stands in the 5 cells below; nothing was run" in notebook.text(request)
        assert [cell["source"] for cell in page.cells[:2]] == ["asks", "ejects"]
        assert page.cells[-1]["source"] == "last"
        below = page.cells[2:-1]
        assert [cell["type"] for cell in below] == ["markdown"] + ["code"] * 4
        assert "> make it" in below[0]["source"]
        fresh = notebook.folder.parent / "fresh"
        fresh.mkdir()
        notebook.run(f"import os; os.chdir({str(fresh)!r})")
        for cell in below[1:]:
            notebook.run(cell["source"])
        assert tree(fresh) == made
    finally:
        page.close()


def test_a_page_that_will_not_insert_says_what_to_do_instead(start):
    notebook = start(*SCRIPT)
    page = Page(notebook, []).until_ready()
    try:
        assert notebook.status(notebook.agent("hello", allow_stdin=False)) == "ok"
        request = notebook.execute("%hermes eject", cell="gone", allow_stdin=False)
        assert notebook.status(request) == "error"
        said = "\n".join(notebook.replies[request]["content"]["traceback"])
        assert "may show another notebook; nothing was changed" in said
        assert "%hermes eject FILE.ipynb writes" in said
    finally:
        page.close()
