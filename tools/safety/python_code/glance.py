"""A glance at Python code that can tell that it is harmless, in a third of the time of reading it.

Most code names nothing that the models know. If none of its words can lead to an effect, and none
of its texts to the path of a secret, it need not be read; whether it is Python at all, the symbol
table tells, which makes no tree of objects. What a glance cannot settle, the reader does: a glance
is never less strict, except with code that is only too tangled to be read.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from tools.safety.hidden import is_plain_text
from tools.safety.python_code import calls, folding, special
from tools.safety.python_code.files import names_secret
from tools.safety.python_code.names import ALIASES, WELL_KNOWN
from tools.safety.python_code.parsing import is_python
from tools.safety.python_code.tables import words
from tools.safety.python_code.values import Known, Made, Named, Value
from tools.safety.scene import Scene

LONGEST = 20_000
_PASSIVE = re.compile(
    r"#[^\n]*|'''(?:[^'\\]|\\.|'(?!''))*'''|\"\"\"(?:[^\"\\]|\\.|\"(?!\"\"))*\"\"\""
    r"|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"",
    re.DOTALL,
)
"""Comments and texts."""
_BY_NUMBER = re.compile(r"\\[uUxN0-7]")
"""A character that is written as a number or by its name."""
_ONLY_WORDS = "".join(chr(at) if chr(at).isalnum() or at == ord("_") else " " for at in range(128))
_FORMATS = re.compile(r"(?<![A-Za-z0-9_])[rR]?[fF][rR]?['\"]")
_FIELD = re.compile(r"\{[^{}]*\}|%[-+ 0-9]*\.\d+[efgEFG]")
_ARGUMENT = re.compile(r"\.([A-Za-z_]\w*)\(\s*[rRbB]{0,2}$")
_PRINTED = re.compile(r"(?<![\w.])(?:print|display)\(\s*[rRfF]{0,2}$")
_OTHER_PRINT = re.compile(
    r"(?<![\w.])(?:print|display)\b(?!\s*\()|\b(?:def|class)\s+(?:print|display)\b"
)
_DESCRIBES = re.compile(r"(?:\A\s*|\b(?:def|class)\s+\w[^\n]*:[ \t]*\n[ \t]+)[rR]?$")
"""What stands before the text that says what a function or a module is for."""
_SETS_ATTRIBUTE = re.compile(r"\.\w+\s*=(?!=)")
_CARRIES = re.compile(r"\b(?:json|data|files|params)\s*=(?!=)|\*\*")
_QUERY = re.compile(r"\.query\(\s*(?:'[^'\\\n]*'|\"[^\"\\\n]*\")\s*[,)]")
_SQL = words(
    "drop delete truncate update insert alter grant revoke replace merge vacuum attach import "
    "export install load call exec execute do rename purge optimize reindex cluster kill shutdown "
    "upsert unload create copy into load_extension writefile edit pg_terminate_backend lo_export "
    "xp_cmdshell"
)
_WEB = words("requests httpx aiohttp urllib urllib2 urllib3 http Session ClientSession Client")
_QUIET = words(
    "print IPython.display.display display pprint.pprint pprint sorted list tuple set frozenset "
    "iter filter tqdm.tqdm tqdm tqdm.auto.tqdm tqdm.trange itertools.chain.from_iterable reversed "
    "enumerate zip itertools.product itertools.zip_longest range functools.reduce next "
    "random.choice operator.add operator.concat operator.xor dict collections.OrderedDict "
    "str map itertools.starmap functools.partial functools.partialmethod"
)
"""Functions with models that tell nothing by themselves, only of what they are given."""
_REACHING = words(
    "__subclasses__ __globals__ __builtins__ __bases__ __dict__ __code__ __call__ __getattribute__ "
    "builtins environ environb modules local SystemExit git sh plumbum envoy sarge delegator "
    "boto3 botocore google azure googleapiclient kubernetes get_ipython os subprocess shutil "
    "setattr unquote unquote_plus unescape chr bytes bytearray decode translate"
)
"""Words by which code reaches what its other words do not name, or makes texts of numbers."""
_FOLDS = (
    words(
        "append add insert extend update setdefault get pop put join joinpath concat xor reduce "
        "partial map choice apply pipe appendleft push"
    )
    | folding.TEXT_METHODS
    | {name.rpartition(".")[2] for name in folding.FUNCTIONS}
) - words("split rsplit strip lstrip rstrip removeprefix removesuffix")
"""Methods that keep what they are given, or make another text of it."""
_CHECKED = frozenset(("get", "query"))


def is_harmless(source: str, scene: Scene, known: Mapping[str, Value]) -> bool:
    """Is it certain that the code does nothing that a person should know?

    Parameters
    ----------
    known
        Variables that exist before it runs.
    """
    if len(source) > LONGEST or not is_plain_text(source):
        return False
    if "\\" in source and _BY_NUMBER.search(source):
        return False
    code = _PASSIVE.sub("''", source)
    if code.count("'") != 2 * code.count("''") or '"' in code:
        return False
    formats = ("f" in source or "F" in source) and _FORMATS.search(source) is not None
    code = source if formats else code  # of which a part is in such texts
    used = _words_in(code).union(*map(_words_of, known.values()))
    return (
        not _may_act(used, code, source)
        and not _may_name_secret(source, code, used, scene)
        and is_python(source)
    )


def _words_in(text: str) -> set[str]:
    return set(text.translate(_ONLY_WORDS).split())  # in half the time of a pattern


def _words_of(value: Value) -> list[str]:
    """The words that a variable stands for; one that settles nothing, if they are not known."""
    if isinstance(value, Named):
        return value.name.split(".")
    if isinstance(value, Made) and not value.args:
        return value.kind.split(".")
    is_plain = isinstance(value, Known) and not isinstance(value.value, str | bytes)
    return [] if is_plain else ["getattr"]


def _may_act(used: set[str], code: str, source: str) -> bool:
    if not used.isdisjoint(_acting()):
        return True
    if any(word.startswith(("delete_", "terminate_")) for word in used):
        return True
    if any(not _only_reads(word, used, code, source) for word in used & _CHECKED):
        return True
    needing = _needing()
    return any(
        _stands_for_function(word, needing[word] & used, code)
        for word in used & needing.keys() - _CHECKED
    )


def _stands_for_function(word: str, roots: set[str] | frozenset[str], code: str) -> bool:
    """Of a module that may be meant; ``remove`` of a list stands behind a dot."""
    if roots != {word}:
        return bool(roots)
    return re.search(rf"(?<![\w.]){word}\b", code) is not None


def _only_reads(word: str, used: set[str], code: str, source: str) -> bool:
    if word == "get":
        return used.isdisjoint(_WEB) and _CARRIES.search(code) is None
    seen = _QUERY.findall(source)
    all_seen = len(seen) == len(re.findall(r"\bquery\b", code))
    return all_seen and _SQL.isdisjoint(_words_in(" ".join(seen).lower()))


def _may_name_secret(source: str, code: str, used: set[str], scene: Scene) -> bool:
    """Could some text in it be the path of a secret, or a piece of one?"""
    printed, given = False, False
    for match in _PASSIVE.finditer(source):
        text = match.group()
        if text[0] == "#" or ("." not in text and "/" not in text):
            continue
        start, end = match.span()
        inner, before = text.strip(text[0]), source[max(0, start - 60) : start]
        is_format = _is_format(before)
        if is_format and inner.count("{") != inner.count("}"):
            return True
        bare = _FIELD.sub("", inner)
        if "." not in bare and "/" not in bare:
            continue
        if (behind := source[end : end + 1]) in ("", "\n") and _describes(source, start):
            continue
        if behind not in (",", ")"):
            return True
        if _PRINTED.search(before):
            printed = True
            continue
        called = _ARGUMENT.search(before)
        if called is None or called.group(1) in _FOLDS or names_secret(inner, scene.path):
            return True
        given = True
    if printed and _OTHER_PRINT.search(code):
        return True
    return given and ("class" in used or _SETS_ATTRIBUTE.search(code) is not None)


def _is_format(before: str) -> bool:
    return not {"f", "F"}.isdisjoint(before[-2:]) and _FORMATS.search(f"{before}'") is not None


def _describes(source: str, start: int) -> bool:
    """Does the text that starts there say what a module or a function is for?"""
    before = source[max(0, start - 200) : start]
    return _DESCRIBES.search(before if start < 200 else f"\n{before}") is not None


@functools.cache
def _acting() -> frozenset[str]:
    """Words of which each may be enough for an effect."""
    functions = _functions()
    named = (name for name in functions if "." not in name)
    renamed = (alias.rpartition(".")[2] for alias, name in ALIASES.items() if name in functions)
    decoders = (name.rpartition(".")[2] for name in folding.DECODERS)
    methods = (*calls.METHODS, *calls.WRITERS, *special.METHODS)
    return frozenset((*methods, *named, *renamed, *decoders, *_REACHING)) - _CHECKED


@functools.cache
def _needing() -> Mapping[str, frozenset[str]]:
    """Words that act as functions of a module, with the words by which it may be meant."""
    roots: dict[str, set[str]] = {}
    for name in filter(lambda each: "." in each, _functions()):
        others = [alias for alias, full in ALIASES.items() if _within(name, full)]
        roots.setdefault(name.rpartition(".")[2], set()).update(
            (name.partition(".")[0], name.rpartition(".")[0].rpartition(".")[2]),
            (alias.partition(".")[0] for alias in others),
            (alias.rpartition(".")[2] for alias in others),
            (word for word, full in WELL_KNOWN.items() if _within(name, full)),
        )
    return {word: frozenset(each) for word, each in roots.items()}


def _within(name: str, full: str) -> bool:
    return name == full or name.startswith(f"{full}.")


def _functions() -> frozenset[str]:
    return frozenset((*calls.FUNCTIONS, *special.FUNCTIONS)) - _QUIET
