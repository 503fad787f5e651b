"""What Python code does, read and never run."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tools.safety.python_code import effects_of_python
from tools.safety.scene import Scene

CWD = "/data/project"


def effects(source, cwd=CWD):
    return effects_of_python(source, Scene.at(cwd))


def verdict(source, cwd=CWD):
    found = effects(source, cwd)
    if not found:
        return "safe"
    return "block" if any(effect.forbidden for effect in found) else "ask"


@pytest.mark.parametrize(
    "source",
    [
        "print('os.remove(1)')  # os.remove('x')",
        "names = [1]; names.remove(1); q.put(2); d.pop('a', None); df.drop(columns=['a'])",
        "with open('a.csv') as f:\n    print(f.read())",
        "open('log.txt', 'a').write('x'); open('new.txt', 'x')",
        "import os\nos.makedirs('out', exist_ok=True)\nos.path.join('a', 'b')",
        "import subprocess\nsubprocess.run(['git', 'status'], check=True)",
        "subprocess.run('ls | head', shell=True, env={**os.environ, 'A': '1'})",
        "import requests\nrequests.get('https://example.org', params={'q': q}).json()",
        "exec('x = 1'); eval('1 + 1'); re.compile('x')",
        "import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute('insert into t values (1)')",
        "connection.execute('SELECT * FROM t')",
        "df.to_csv(); df.to_csv(sys.stdout); plt.savefig(io.BytesIO())",
        "class Job:\n    def kill(self): self.alive = False\njob = Job()\njob.kill()",
        "client = OpenAI(api_key=os.environ['OPENAI_API_KEY'])",
        "import inspect, shutil\ninspect.signature(shutil.rmtree); help(shutil.rmtree)",
        "import boto3\nboto3.client('s3').list_buckets()",
        "import sys\nsys.exit(1)",
        "repo.git.status()",
        "shutil.copytree('a', 'b')",
    ],
)
def test_harmless_code_is_not_asked_about(source):
    assert effects(source) == []


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import os\nos.remove('a.txt')", "deletes a.txt"),
        ("import shutil as s\ns.rmtree('out')", "deletes out and all that is in it"),
        ("from os import unlink as u\nu('a')", "deletes a"),
        ("from os import *\nremove('a')", "deletes a"),
        ("for p in Path('tmp').glob('*.log'): p.unlink()", "deletes tmp/*.log"),
        ("shutil.move('a', 'b')", "moves a b"),
        ("open('a', 'w')", "overwrites a"),
        ("Path('a').write_text('x')", "overwrites a"),
        ("df.to_csv('a.csv')", "overwrites a.csv"),
        ("os.system('rm x')", "deletes x"),
        ("subprocess.run(['rm', 'x'])", "deletes x"),
        ("os.system(command)", "not known before it runs"),
        ("subprocess.run(['bash'], input='rm x')", "deletes x"),
        ("os.chmod('a', 0o777)", "changes permissions of a"),
        ("os.kill(pid, 9)", "processes"),
        ("requests.post('https://example.org/x', json=d)", "sends data to example.org"),
        ("requests.get('https://e.org/?d=' + open('a').read())", "sends data to e.org"),
        ("open(os.path.expanduser('~/.ssh/id_rsa')).read()", "may hold secrets"),
        ("print(os.environ)", "whole environment"),
        ("print(os.environ['MY_TOKEN'])", "holds a secret"),
        ("exec(text)", "cannot be seen"),
        ("exec(base64.b64decode('cHJpbnQoMSk='))", "written in a code"),
        ("pickle.loads(blob)", "cannot be seen"),
        ("connection.execute('DROP TABLE t')", "changes databases: DROP TABLE t"),
        ("connection.execute(query)", "SQL that cannot be seen"),
        ("boto3.client('s3').delete_object(Bucket='b', Key='k')", "another host"),
        ("open(Path.home() / '.bashrc', 'a')", "runs or configures"),
        ("os.environ['LD_PRELOAD'] = 'x.so'", "LD_PRELOAD"),
        ("import pip; pip.main(['install', 'x'])", "installs x"),
        ("repo.git.reset('--hard')", "discards changes"),
        ("x = (", "cannot be read"),
        ("1if x else os.remove('a')", "deletes a"),
    ],
)
def test_effects_are_named_for_a_person(source, reason):
    assert reason in "; ".join(effect.reason for effect in effects(source))
    assert verdict(source) == "ask"


@pytest.mark.parametrize(
    "source",
    [
        "f = os.remove; f('x')", "getattr(os, 're' + 'move')('x')", "vars(os)['remove']('x')",
        "getattr(os, 'evomer'[::-1])('x')", "__import__('os').remove('x')",
        "import importlib; importlib.import_module('o' + 's').remove('x')",
        "globals()['os'].remove('x')", "sys.modules['os'].remove('x')", "shutil.os.remove('x')",
        "d = {'f': os.remove}; d['f']('x')", "d = {}; d[k] = os.remove; d[j]('x')",
        "a, *b = print, os.remove; b[0]('x')", "for f in (print, os.remove): f('x')",
        "(os.remove if x else print)('x')", "f = None or os.remove; f('x')",
        "map(os.remove, files)", "pool.submit(os.remove, 'x')", "partial(os.remove, 'x')()",
        "threading.Thread(target=os.remove, args=('x',))", "sorted(['x'], key=os.remove)",
        "button.on_click(lambda b: os.remove('x'))", "(lambda f: f('x'))(os.remove)",
        "def g(f): f('x')\ng(os.remove)", "def g(): return os.remove\ng()('x')",
        "class A:\n    f = os.remove\nA.f('x')", "o = O(); o.f = os.remove; o.f('x')",
        "print = os.system; print('rm x')", "@os.system\n@'rm x'.format\nclass a: pass",
        "type('A', (), {'f': os.remove})().f('x')", "operator.methodcaller('unlink')(p)",
        "getattr(os, name)('x')", "().__class__.__bases__[0].__subclasses__()",
        "os.system(''.join(map(chr, [114, 109, 32, 120])))", "exec('import os; os.remove(\"x\")')",
        "os.system(bytes(b ^ 1 for b in [115, 108, 33, 121]).decode())",
        "s = ''\nfor c in 'rm x':\n    s += c\nos.system(s)", "f'{os.remove(\"x\")}'",
        "f = print\nfor i in r:\n    f('x')\n    f = os.remove", "x: os.remove('a') = 1",
        "match x:\n    case 1 if os.remove('x'): pass", "def f(x=os.remove('a')): pass",
        "with open('x') as f, open('y', 'w') as g: pass", "ｏｓ.remove('x')",
    ],
)  # fmt: skip
def test_no_detour_is_taken_for_harmless(source):
    assert verdict(source) == "ask"


@pytest.mark.parametrize(
    "source",
    [
        "shutil.rmtree('/')", "shutil.rmtree(Path.home())", "shutil.rmtree(os.path.sep + 'usr')",
        "shutil.rmtree(os.path.expanduser('~'), ignore_errors=True)", "shutil.rmtree('../..')",
        "os.chdir('/'); shutil.rmtree('etc')", "shutil.rmtree(os.environ['HOME'])",
        "for p in glob.glob('/*'): shutil.rmtree(p)", "list(map(shutil.rmtree, glob.glob('/*')))",
        "for r, d, names in os.walk('/'):\n    for n in names: os.remove(os.path.join(r, n))",
        "def wipe(p): shutil.rmtree(p)\nwipe('/')", "os.system('%s -rf %s' % ('rm', '/'))",
        "exec(base64.b64decode('c2h1dGlsLnJtdHJlZSgnLycp'))", "while True: os.fork()",
        "os.kill(-1, 9)", "open('/dev/sda', 'wb')", "shutil.copyfile('x.img', '/dev/sda')",
        "subprocess.run('rm -rf *', shell=True, cwd='/')",
        "threading.Timer(1, shutil.rmtree, '/').start()",
    ],
)  # fmt: skip
def test_the_end_of_a_system_is_blocked(source):
    assert verdict(source) == "block"


@pytest.mark.parametrize(
    "source", ["shutil.rmtree('/tmp/x')", "shutil.rmtree('/' + name)", "shutil.rmtree('~')"]
)
def test_ordinary_deletion_can_be_approved(source):
    assert verdict(source) == "ask"


def test_relative_paths_depend_on_the_folder():
    assert verdict("shutil.rmtree('.')", str(Path.home())) == "block"
    assert verdict("shutil.rmtree('.')", CWD) == "ask"


def test_a_function_is_asked_about_where_it_is_defined():
    assert verdict("def clean(): shutil.rmtree('out')") == "ask"


@pytest.mark.parametrize(
    "source",
    [
        "(" * 5_000, "-" * 20_000 + "1", "x = " + "1 + " * 20_000 + "1", "f(" * 80 + ")" * 80,
        "x = '" + "a" * 200_000 + "'", "'%1000000000d' % 1", "'{:1000000000}'.format(1)",
        "a = [1]\na.append(a)\nf(a)", "def f(x): return f(x)\nf(1)", "'a' * 10 ** 9", "\0",
        "\ue000",
        "a = 'x'\n" + "a += a\n" * 60, "[[[[[[[[" * 20 + "]" * 160, "f = lambda: f()\nf()",
        "exec('exec(' * 9)", "x = (1,) * 10 ** 9", "s = {}\ns['s'] = s\nf(s)",
        "shlex.split(None)", "shlex.split([1])", "codecs.decode(b'a', 'unicode_escape')",
        "b'\\\\q'.decode('unicode_escape')", "html.unescape(1)", "textwrap.dedent([1])",
    ],
)  # fmt: skip
def test_tangled_code_does_not_break_the_judge(source):
    assert verdict(source) in ("safe", "ask")


PIECES = st.sampled_from([
    "os", "remove", "x", "f", ".", "(", ")", "'a'", "[", "]", "=", "\n", "\n    ", "def f(", "):",
    "lambda a: ", "for x in ", ":", "import ", "from os import ", "getattr", ",", "+", "*", "/",
    "open", "Path", "exec", "subprocess.run", "{", "}", "f'{x}'", "if x", "else", "return ", "**",
    "rb'\\x00'", "1", "None", "await ", "with ", "as ", "class A", "@", "%", "try:", "except",
    "os.environ", "glob.glob", ".join(", "chr", "del ", "global x", "match x:", "case ", "_",
])  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=80))
def test_any_text_gets_a_verdict(source):
    assert verdict(source) in ("safe", "ask", "block")
