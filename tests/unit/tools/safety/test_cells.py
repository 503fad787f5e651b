"""What a notebook cell does: Python, and what IPython adds to it."""

import ast
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from tools.safety.cells import judge_cell
from tools.safety.python_code.ipython_text import as_python
from tools.safety.python_code.values import Known

CWD = "/data/project"


def verdict(text):
    return judge_cell(text, CWD).verdict


@pytest.mark.parametrize(
    "text",
    [
        "df.head()", "!ls", "files = !ls *.csv\nlen(files)", "%matplotlib inline", "os.remove?",
        "?os.remove", "%timeit -n 3 sum(range(9))", "%%time\ndf.describe()", "%%bash\nls | wc -l",
        "%pip list", "%run script.py --fast", "s = '!rm x'", "# !rm x", "'''\n!rm x\n%reset\n'''",
        "x = (5\n% 3)", "print('%d' % x)\n!ls", "%env X=1", "%env HOME", "%cd data", "cd ..",
        "ls -la",
        "who", "%config InlineBackend.figure_format = 'retina'", "%%writefile -a log.txt\nx",
        "folder = 'data'\n!ls {folder}", "!ls {folder}", "!awk '{print $1}' f", "!find . -name {}",
        "%%html\n<b>bold</b>", "%%javascript\nconsole.log(1)", "%sql SELECT 1",
        "%%python\nimport sys\nsys.exit()", "await client.get('https://example.org')",
        "%store x", "%alias l ls", "%%bash -s a\necho $1", "x = y?",
    ],
)  # fmt: skip
def test_harmless_cells_are_not_asked_about(text):
    assert verdict(text) == "safe"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("!rm x", "deletes x"),
        ("!!rm x", "deletes x"),
        ("  !rm x", "deletes x"),
        ("x = !rm y", "deletes y"),
        ("a, b = !rm y", "deletes y"),
        ("x: list = !rm y", "deletes y"),
        ("%sx rm x", "deletes x"),
        ("%system rm x", "deletes x"),
        ("%%bash\nrm x", "deletes x"),
        ("%%bash --bg --out o\nrm x", "deletes x"),
        ("%%script bash\nrm x", "deletes x"),
        ("%%sh\nmv a b", "moves a to b"),
        ("%%capture\n!rm x", "deletes x"),
        ("%%time\n%%bash\nrm x", "deletes x"),
        ("%%timeit os.remove('x')\npass", "deletes x"),
        ("%time os.remove('x')", "deletes x"),
        ("%%python\nimport os; os.remove('x')", "deletes x"),
        ("if a:\n    !rm x", "deletes x"),
        (">>> import os\n>>> os.remove('x')", "deletes x"),
        ("In [1]: !rm x", "deletes x"),
        (";os.remove x", "deletes x"),
        ("/os.remove 'x'", "deletes x"),
        ("rm x", "deletes x"),
        ("%rm x", "deletes x"),
        ("mv a b", "moves a to b"),
        ("pip install torch", "installs torch"),
        ("%pip install torch", "installs torch"),
        ("p = 'a b'\n!rm '{p}'", "deletes a b"),
        ("for p in ['a', 'b']:\n    !rm {p}", "deletes 2 paths: a, b"),
        ("!ls {os.remove('x')}", "deletes x"),
        ("!{command}", "not known before it runs"),
        ("get_ipython().system('rm x')", "deletes x"),
        ("get_ipython().run_line_magic('rm', 'x')", "deletes x"),
        ("get_ipython().run_cell('!rm x')", "deletes x"),
        ("%%writefile a.py\nx", "overwrites a.py"),
        ("%env", "whole environment"),
        ("env", "whole environment"),
        ("%reset -f", "forgets all variables"),
        ("exit", "ends the kernel"),
        ("os._exit(0)", "ends the kernel"),
        ("sys.exit()", "ends the kernel"),
        ("get_ipython().kernel.do_shutdown(True)", "ends the kernel"),
        ("%run $script", "not known before it runs"),
        ("%unheard_of x", "not known here"),
        ("%%unheard_of\nx", "not known here"),
        ("%hermes off", "controls the agent"),
        ("%%sql\nDELETE FROM t", "changes databases"),
        ("%%javascript\nfetch('/api')", "may act for you"),
        ("print('a'); !rm x", "cannot be read"),
        ("x = 1  # \u202e", "other than it is"),
        ("%config A.b = os.remove('x')", "deletes x"),
    ],
)
def test_effects_are_named_for_a_person(text, reason):
    judgement = judge_cell(text, CWD)
    assert judgement.verdict == "ask"
    assert reason in judgement.reason


@pytest.mark.parametrize(
    "text",
    [
        "!rm -rf /", "%%bash\nrm -rf ~", "x = !rm -rf /usr", "rm -rf /", "%cd /\n!rm -rf *",
        "d = '/'\n!rm -rf {d}", "for d in ['/usr', '/etc']:\n    !rm -rf {d}", "%sx rm -rf /",
        "%%python\nimport shutil\nshutil.rmtree('/')", "%%time\n!rm -rf /", "!sudo reboot",
        "get_ipython().run_cell_magic('bash', '', 'rm -rf /')",
    ],
)  # fmt: skip
def test_the_end_of_a_system_is_blocked(text):
    assert verdict(text) == "block"


def test_values_of_earlier_cells_are_taken_into_account():
    assert judge_cell("!rm -rf {d}", CWD, {"d": Known("/")}).verdict == "block"
    assert judge_cell("rm - x", CWD, {"rm": Known(3), "x": Known(1)}).verdict == "safe"


@pytest.mark.parametrize(
    "text",
    [
        "!ls", "x = !ls -l", "x[1:2] = %who", "if a:\n    !ls\n    x = %pwd", "%%time x\ny\n",
        "s = '''\n!ls\n'''\n!ls", "f(\n  '!x',\n)\n%ls", "a = 5 % 3\n!echo \"don't\"\nb = 'it'\n",
        "!ls {a} \\\n -l", "/f a", ",f a b", ";f a b", "x = 'a\\\nb'\n%pwd", "\n\n  %pwd",
        "d = {\n 'a': 1,\n}\nx = !ls", "print('=%d' % x)\n!ls", "'''\n'''; x = 1\n%ls -l",
        "def f():\n    return 1\n\n!ls", "x = [  # (\n1]\n!ls", "(a, b) = !ls", "*a, b = !ls",
    ],
)  # fmt: skip
def test_cells_are_translated_as_ipython_does(text):
    theirs = ast.parse(TransformerManager().transform_cell(text))
    ours = ast.parse(as_python(text))
    assert ast.dump(ours).replace("  ", " ") == ast.dump(theirs).replace("  ", " ")


PIECES = st.sampled_from([
    "!", "!!", "%", "%%", "?", "ls", "rm x", "bash", "time", "\n", "\n    ", "x = ", "'", '"""',
    "(", ")", "{x}", "{", "$x", "\\", "\\\n", "if x:", "#", ",f ", ";", "/", ">>> ", "In [1]: ",
    "timeit -n 3 ", "sx", "writefile a", "env", "cd /", "capture", "sql ", "\t", "run ", "é",
    "get_ipython()",
])  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PIECES, max_size=20).map("".join) | st.text(max_size=60))
def test_any_text_gets_a_verdict(text):
    assert verdict(text) in ("safe", "ask", "block")


@pytest.mark.parametrize("text", ["x" * 1_000_000, "!ls\n" * 20_000, "x = 'a=%d' % 1\n" * 6_000])
def test_judging_takes_no_long_time(text):
    began = time.monotonic()
    verdict(text)
    assert time.monotonic() - began < 5
