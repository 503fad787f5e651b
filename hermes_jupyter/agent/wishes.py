"""What a request asks for, as far as its words tell: files, a count, a change, a command.

Read for small models only, and only to decide whether to ask a model once more. A request in words
that are not known here is simply left alone. Names of files are found in any language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FILE_NAME = re.compile(r"(?<![\w./:@-])(?:[\w.-]+/)*[\w.-]*\w\.(\w{1,8})\b(?![(/]|\.\w)")
_ENDINGS = re.compile(
    r"(?i)(?:"
    r"bak|bash|bat|bin|bz2|c|cc|cfg|conf|cpp|cs|css|csv|dat|db|diff|doc|docx|"
    r"env|f90|feather|gif|go|gz|h|h5|hpp|htm|html|ico|ini|ipynb|jar|java|jl|"
    r"jpeg|jpg|js|json|jsonl|jsx|kt|lock|log|lua|m|md|mp3|mp4|npy|npz|nc|old|"
    r"out|parquet|patch|pdf|php|pickle|pkl|pl|png|ppt|pptx|ps1|py|pyi|r|rb|rs|"
    r"rst|rtf|sh|sql|sqlite|svg|swift|tar|tex|tmp|toml|ts|tsv|tsx|txt|wav|xls|"
    r"xlsx|xml|yaml|yml|zip|zsh"
    r")"
)
"""Of names that are files, and not ``np.array`` or ``node.js``."""
_NO_FILE = re.compile(r"(?i)^(?:www\.|(?:node|vue|next|express|three|d3|socket)\.js$)")
_PLACES = re.compile(
    r"(?i)\b(?:(?:this|the|my|current) (?:folder|director(?:y|ies)|project|repo(?:sitory)?|notes?)"
    r"|(?:which|what|any|all|every|each|find|list|count|show|python|text|log|csv|the) files?"
    r"(?! (?:extensions?|systems?|formats?|types?|servers?)\b)"
    r"|subfolders?|folder (?:called |named )?[\w./-]+)\b"
)
_COUNTS = re.compile(r"(?i)\b(?:how many|number of|count(?: the| how| all)?)\b")
_CHANGES = (
    "add|append|change|clear|copy|create|delete|drop|duplicate|edit|erase|fix|insert|make|move|put|remove|"
    "rename|replace|save|set|store|update|write"
)
_MOVES = "copy|delete|duplicate|erase|move|rename"
_RUNS = "run|execute|start"
_ORDER = (
    r"(?i)(?:^|[.;,:!?]\s+|^(?:in|from|at|inside) \S+ |\b(?:and|then|please|to|you)\s+)"
    r"(?:also |then |now |please )?(?:{})\b"
)
_WANTS_CHANGE = re.compile(_ORDER.format(_CHANGES))
_WANTS_MOVE = re.compile(_ORDER.format(_MOVES))
_WANTS_RUN = re.compile(_ORDER.format(_RUNS) + r"\s+(?:it|this|that|the|them|with|[\w./-]+\.\w+)\b")
_REMOVES_LINE = re.compile(r"(?i)\b(?:remove|delete|drop|erase)\b[^.]{0,30}\blines?\b")
_IDENTIFIER = re.compile(r"\w_\w|[a-z][A-Z]|^[A-Z]{3,}$")
_VALUE = re.compile(
    r"(?i)\b(?:(?:which|what)(?: is the| was the)? (?:\w+ )?(?:value|number|port|version|price|"
    r"amount|time|date|size|timeout|temperature|total|sum)|how (?:long|much|old|often|far|big))\b"
)
_WHICH = re.compile(
    r"(?i)\b(?:(?:which|what)\s+(?:\w+\s+)?files?\b(?!\s+(?:says?|holds?))|where|path)\b"
)
_THINGS = re.compile(r"(?i)\b(?:files?|folders?|director(?:y|ies)|lines?|scripts?|words?)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What is found in a request."""

    files: tuple[str, ...] = ()
    """Names of files, in the order in which they are named."""
    about_files: bool = False
    """Does it ask about files or folders, with or without a name?"""
    count: bool = False
    change: bool = False
    """Does it tell to change something on disk?"""
    move: bool = False
    """Is it for whole files to be copied, moved or deleted, which commands do?"""
    remove_line: bool = False
    run: bool = False
    """Does it tell to run what is named?"""
    value: bool = False
    """Does it ask for a value, which mostly has digits?"""
    which_file: bool = False
    """Is the answer the name of a file?"""


def wishes_of(request: str) -> Wishes:
    """Read a request."""
    files = named_files(request)
    things = bool(files or _THINGS.search(request))
    return Wishes(
        files=files,
        about_files=bool(files or _PLACES.search(request)),
        count=bool(_COUNTS.search(request)),
        change=things and bool(_WANTS_CHANGE.search(request)),
        move=bool(_WANTS_MOVE.search(request)) and not _REMOVES_LINE.search(request),
        remove_line=bool(_REMOVES_LINE.search(request)),
        value=bool(_VALUE.search(request)),
        which_file=bool(_WHICH.search(_last_question(request))),
        run=bool(files) and bool(_WANTS_RUN.search(request)),
    )


def _last_question(request: str) -> str:
    """What is asked in the end: the sentences before may only say where to look."""
    return re.split(r"[.?!]\s+", request.strip())[-1]


def key_word(request: str) -> str:
    """The word to search for: an identifier if there is one, else the longest."""
    words = re.findall(r"\w+", request)
    return max(words, key=lambda word: (bool(_IDENTIFIER.search(word)), len(word)), default="")


def named_files(text: str) -> tuple[str, ...]:
    """Names of files in a text, each once."""
    found = (match for match in _FILE_NAME.finditer(text) if _ENDINGS.fullmatch(match[1]))
    return tuple(dict.fromkeys(match[0] for match in found if not _NO_FILE.search(match[0])))
