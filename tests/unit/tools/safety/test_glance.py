"""A glance at Python code is never less strict than the reader, and settles what is everyday."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tools.safety.python_code import judging
from tools.safety.python_code.glance import is_harmless
from tools.safety.scene import Scene

CASES = Path(__file__).parents[3] / "cases"
CWD = "/data/project"
EVERYDAY = """
import pandas as pd
import matplotlib.pyplot as plt

df = pd.read_csv("data/sales.csv", parse_dates=["day"])
df["ratio"] = df.a / df.b  # not "a.b"
for city, part in df.groupby("city"):
    print(f"{city}: {part.price.mean():.2f} of {len(part)}")
ax = df.plot.scatter("a", "b", figsize=(8, 3))
ax.set_title("Price / size")
def ratio(row):
    \"\"\"Of one row. See the paper.\"\"\"
    return row.get("a", 0) / row["b"]
df.apply(ratio, axis=1).replace({"rm": "mv"}).query("a > 3").describe()
names = [1, 2]; names.remove(1)
"""


def is_settled(source, known=None):
    return is_harmless(source, Scene.at(CWD), known or {})


def found_by_the_reader(source):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "is_harmless", lambda *_: False)
        return judging.effects_of_python(source, Scene.at(CWD))


def test_an_everyday_analysis_is_settled():
    assert is_settled(EVERYDAY)


@pytest.mark.parametrize(
    "source",
    [
        "pd.read_csv('~/.aws/' + 'credentials')", "a = '~/.a'; pd.read_csv(a + 'ws/credentials')",
        "pd.read_csv('~/.a' 'ws/credentials')", "pd.read_csv('~/.ssh/id_rsa')",
        "pd.read_csv('{}/credentials'.format('~/.aws'))",
        "print = pd.read_csv; print('/etc/shadow')",
        "def print(x): pd.read_csv(x)\nprint('/etc/shadow')", "pd.read_csv(f'{a}/{b}')",
        "pd.read_csv('\\x2fetc\\x2fshadow')", "pd.read_csv(unquote('%2fetc%2fshadow'))",
        "f(\n'~/.a'\n'ws/credentials')", "class A:\n    f = pd.read_csv\nA.f('/etc/x.key' or 1)",
        "o.f = pd.read_csv; o.f('a.csv')", "remove('x')", "x = remove; x('a')", "g = glob; g('*')",
        "f'{remove(1)}'", "rf'{remove(1)}'", "'' f'{unlink(1)}'", "df.query('drop table t')",
        "df.query('dr' + 'op table t')", "x.get(url, json={})", "x.get(**{'json': 1})",
        "print(1", "x = '", "x = 1 +", "  x = 1", "x.d = 1\nx.delete_all()", "ｏｓ.remove('x')",
        "x = '\ue000secret_a'", "import boto3\nc.stop_x()", "raise SystemExit", "open('a', 'w')",
        "__builtins__", "().__class__.__subclasses__()", "'a'.join(map(chr, [46, 47]))",
        "requests.get(u)", "urlopen(u)", "sh.rm('x')", "from sh import rm\nrm('x')",
    ],
)  # fmt: skip
def test_what_may_matter_is_left_to_the_reader(source):
    assert not is_settled(source)


def test_a_variable_of_the_kernel_that_may_act_is_left_to_the_reader():
    known = {"f": judging.Reader(Scene.at(CWD)).lookup("os")}
    assert not is_settled("f.x('a')", known)


def test_of_our_cases_none_is_settled_that_the_reader_asks_about():
    cases = [json.loads(line) for line in (CASES / "cells.jsonl").read_text("utf-8").splitlines()]
    texts = [each["input"] for each in cases]
    settled = [text for text in texts if is_settled(text)]
    assert len(settled) > 100
    assert not [text for text in settled if found_by_the_reader(text)]


PIECES = st.sampled_from([
    "os", "shutil", "np", "pd", "x", "f", "g", "A", ".", ".", "(", ")", ")", "()", "'a'", "'a.b'",
    "'/etc/'", "'shadow'", "'.env'", "'~/.ssh/id_rsa'", "[", "]", "=", "\n", "\n", "\n    ", ", ",
    "def f(x):\n    ", "class A:\n    ", "lambda a: ", "for x in ", ":", "import ",
    "from os import ",
    "remove", "read_csv", "getattr", "get", "query", "load", "save", "copy", "replace", "run", "+",
    "print", "open", "Path", "exec", "subprocess", "{", "}", "f'{x}'", "f'{x}/'", "'%s' % ", "join",
    "if x", "else", "return ", "**", "None", "with ", " as ", "@", "%", "glob", "system", "environ",
    "# a.b'\n", '"""a.b"""', "kill", "delete_x", "requests", "json=", "data=", "'drop table'", "*",
    "'\\n'", "'\\x41'", "del ", "global x\n", "unlink", "self", "__init__", "__dict__", "1", "1.5",
])  # fmt: skip


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PIECES, max_size=14).map("".join))
@example("f('/etc/' 'shadow')")
def test_a_glance_is_never_less_strict_than_the_reader(source):
    if is_settled(source):
        assert set(found_by_the_reader(source)) <= {judging.TOO_LONG}
