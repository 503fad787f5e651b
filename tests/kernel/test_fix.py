"""``%hermes fix``: the failing cell and what is known of it, and a corrected cell in return."""

from __future__ import annotations

from page import cell, cells

ANY_KERNEL = True

ANSWER = "`total` has a typo.\n\n```python\ntotal = sum(prices)\nprint(total)\n```"


def fixed(notebook, line="%hermes fix"):
    request = notebook.execute(line)
    assert notebook.status(request) == "ok", notebook.reply(request)["content"]
    return request


def asked(notebook):
    return notebook.prompt(notebook.requests()[-1]["messages"][-1])


def test_the_failing_cell_its_values_and_versions_are_sent_and_a_diff_comes_back(start):
    notebook = start(ANSWER)
    notebook.run("prices = [1, 2, 3]\nunused = 'not of interest'")
    assert notebook.status(notebook.execute("total = sum(prices)\nprint(totl)")) == "error"
    notebook.run("print('another cell')")
    request = fixed(notebook)
    prompt = asked(notebook)
    assert "print(totl)" in prompt
    assert "NameError: name 'totl' is not defined" in prompt
    assert "prices = [1, 2, 3]" in prompt
    assert "total = 6" in prompt
    assert "Python 3." in prompt
    assert "IPython/core" not in prompt
    shown = "".join(str(bundle.get("text/plain")) for bundle in notebook.bundles(request))
    assert "-print(totl)\n+print(total)" in shown
    (payload,) = notebook.reply(request)["content"]["payload"]
    assert payload["source"] == "set_next_input"
    assert payload["text"] == "total = sum(prices)\nprint(total)"


def test_the_whole_chain_and_the_locals_of_a_function_are_sent(start):
    notebook = start("The file is missing; the cell is right.")
    notebook.run(
        "def load(name):\n"
        "    attempt = 7\n"
        "    try:\n"
        "        return {}[name]\n"
        "    except KeyError as error:\n"
        "        raise ValueError(f'no table {name}') from error"
    )
    assert notebook.status(notebook.execute("load('sales')")) == "error"
    request = fixed(notebook)
    prompt = asked(notebook)
    assert prompt.index("KeyError: 'sales'") < prompt.index("ValueError: no table sales")
    assert "attempt = 7" in prompt
    assert "name = 'sales'" in prompt
    assert notebook.reply(request)["content"]["payload"] == []


def test_an_older_failure_is_named_by_its_number(start):
    notebook = start(ANSWER)
    first = notebook.execute("one_thing")
    assert notebook.status(first) == "error"
    assert notebook.status(notebook.execute("1 / 0")) == "error"
    fixed(notebook, f"%hermes fix {notebook.reply(first)['content']['execution_count']}")
    assert "one_thing" in asked(notebook)
    assert "NameError" in asked(notebook)


def test_secrets_stay_here(start):
    notebook = start(ANSWER)
    secret = "sk-" + "abcDEF123456" * 4
    notebook.run(f"api_key = '{secret}'")
    assert notebook.status(notebook.execute("print(api_key + 1)")) == "error"
    fixed(notebook)
    assert secret not in str(notebook.requests())
    assert "api_key" in asked(notebook)


def test_a_syntax_error_is_sent_too(start):
    notebook = start("```python\nprint((1))\n```")
    assert notebook.status(notebook.execute("print((1)")) == "error"
    fixed(notebook)
    assert "SyntaxError" in asked(notebook)


def test_values_that_do_harm_when_they_are_shown_are_not_asked(start):
    notebook = start(ANSWER)
    notebook.run(
        "import time\n"
        "class Slow:\n"
        "    def __repr__(self): time.sleep(99)\n"
        "    __str__ = __len__ = __repr__\n"
        "thing = Slow()"
    )
    assert notebook.status(notebook.execute("thing.missing")) == "error"
    fixed(notebook)
    assert "thing = " in asked(notebook)


def test_without_a_failure_it_says_so(start):
    notebook = start(ANSWER)
    notebook.run("x = 1")
    for ours in ("%hermes resume nothing", "%%agent --colour\nGo on."):
        assert notebook.status(notebook.execute(ours)) == "error"
    request = notebook.execute("%hermes fix")
    assert notebook.status(request) == "error"
    assert "no cell has failed" in notebook.reply(request)["content"]["evalue"]
    request = notebook.execute("%hermes fix 99")
    assert notebook.status(request) == "error"
    assert "no cell [99] has run" in notebook.reply(request)["content"]["evalue"]


def test_a_cell_is_named_by_its_id(start):
    notebook = start(ANSWER)
    assert notebook.status(notebook.execute("print(totl)", cell="one")) == "error"
    assert notebook.status(notebook.execute("1 / 0", cell="other")) == "error"
    fixed(notebook, "%hermes fix --cell one")
    assert "print(totl)" in asked(notebook)
    refused = notebook.execute("%hermes fix --cell none")
    assert notebook.status(refused) == "error"
    assert "has not run" in notebook.reply(refused)["content"]["evalue"]


def test_a_cell_that_another_kernel_has_run_is_looked_at_as_the_page_shows_it(paged):
    error = {
        "output_type": "error", "ename": "NameError", "evalue": "name 'totl' is not defined",
        "traceback": ["\x1b[31mNameError\x1b[39m", "----> 1 print(totl)"],
    }  # fmt: skip
    there = [cell("bad-0001", "print(totl)", number=7, outputs=[error]), *cells()]
    notebook, _ = paged(ANSWER, there=there)
    request = fixed(notebook, "%hermes fix --cell bad-0001")
    assert "The cell [7]" in asked(notebook)
    assert "----> 1 print(totl)" in asked(notebook)
    (payload,) = notebook.reply(request)["content"]["payload"]
    assert payload["text"] == "total = sum(prices)\nprint(total)"
    refused = notebook.execute("%hermes fix --cell load-0001")
    assert notebook.status(refused) == "error"
    assert "has not failed" in notebook.reply(refused)["content"]["evalue"]
