"""Which commands surely change nothing: what may run while a plan is made.

A list of what only looks. Everything else counts as a change, also what a person would not be
asked about: a program of the project, an added line, a new folder.
"""

from __future__ import annotations

import re

from tools.safety.judge import inspect_command
from tools.safety.scene import program_name
from tools.safety.shell import Command, Unreadable
from tools.safety.shell.runner import commands_of


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LOOKS = _words(
    "[ basename cat cd cmp column comm cut date df diff dirname du echo egrep false fgrep "
    "file find fold free grep groups head hexdump hostname id jq ls lsblk lsof md5sum nl nproc "
    "od pgrep printf ps pwd readlink realpath rg seq sha1sum sha256sum sort stat strings tac tail "
    "test tr tree true type uname uniq uptime wc whereis which who whoami xxd"
)
LOOKING_SUBCOMMANDS = {
    "git": _words(
        "blame cat-file describe diff diff-tree for-each-ref grep log ls-files ls-remote ls-tree "
        "merge-base name-rev reflog rev-list rev-parse shortlog show show-ref status "
        "version whatchanged"
    ),
    "docker": _words("images info inspect logs ps stats top version"),
    "kubectl": _words("api-resources cluster-info explain get logs top version"),
    "pip": _words("check freeze inspect list show"),
    "npm": _words("list ls outdated view"),
    "conda": _words("info list search"),
    "cargo": _words("metadata search tree version"),
}
WRITES = frozenset((
    "-o", "--output", "-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0",
    "-fprintf", "-fls", "-i", "--in-place", "-x", "-X", "--exec", "--exec-batch", "-s", "--set",
    "--pre", "--compress-program", "--files0-from", "-F", "--file", "--ext-diff", "--textconv",
    "--filters", "--open-files-in-pager", "-O", "--raw", "expire", "delete",
))  # fmt: skip
"""Words after which a program that looks may write or run others; a few are harmless to some."""
HARMLESS = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "&1", "&2", "1", "2", "-"))
HARMLESS_OPTIONS = {
    "grep": frozenset(("-i", "-o", "-s", "-F", "-x")),
    "rg": frozenset(("-i", "-o", "-s", "-F", "-x")),
    "sort": frozenset(("-i", "-s")),
    "ls": frozenset(("-i", "-s", "-F", "-X", "-o")),
    "echo": WRITES,
    "printf": WRITES,
    "tail": frozenset(("-F", "-s")),
    "cat": frozenset(("-s",)),
    "du": frozenset(("-s", "-x")),
    "df": frozenset(("-i",)),
    "uname": frozenset(("-s", "-i", "-o")),
    "stat": frozenset(("-s", "-F", "-x")),
    "diff": frozenset(("-i", "-s")),
    "uniq": frozenset(("-i", "-s")),
    "tree": frozenset(("-i", "-s", "-F", "-x")),
    "git": frozenset(("-i", "-F", "-s", "-O", "--raw")),
    "jq": frozenset(("-s",)),
    "kubectl": frozenset(("-o", "--output")),
}
TO_NOWHERE = re.compile(r"(?:\d|&)?>>?\s*(?:/dev/null|&[12])(?![\w./])")
ATTACHED = re.compile(r"-[oOC][^-=]")
"""An option with the name of the file, or of the program, behind it."""
DOORS = frozenset(("LD_PRELOAD", "PATH", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "PAGER", "BASH_ENV"))


def only_looks(command: str, cwd: str) -> bool:
    """Whether the text for bash surely changes nothing and runs nothing unknown."""
    # A redirection may belong to a group of commands, so it is looked for in the text as well.
    if ">" in TO_NOWHERE.sub("", command) or inspect_command(command, cwd) is not None:
        return False
    try:
        return all(map(_is_look, commands_of(command, cwd)))
    except (Unreadable, RecursionError):
        return False


def _is_look(command: Command) -> bool:
    writes = any(
        each.operator not in ("<", "<<", "<<<") and each.target.text not in HARMLESS
        for each in command.redirections
    )
    if writes or command.ending == "&" or command.assignments.keys() & DOORS:
        return False
    head, texts = command.words[0], [word.text for word in command.words[1:]]
    name = program_name(head.text)
    if head.dynamic or name != head.text.removeprefix("/usr/bin/").removeprefix("/bin/"):
        return False
    if texts in (["--help"], ["--version"]):
        return name in LOOKS or name in LOOKING_SUBCOMMANDS
    if name in LOOKING_SUBCOMMANDS:
        subcommand = next(iter(texts), "")
        if subcommand not in LOOKING_SUBCOMMANDS[name]:
            return False
    elif name not in LOOKS:
        return False
    risky = {text.partition("=")[0] for text in texts} & WRITES
    if name in ("sort", "tree", "git", "file") and any(ATTACHED.match(text) for text in texts):
        return False
    if name in ("uniq", "xxd", "date", "hostname") and _has_more_than_one_operand(name, texts):
        return False  # the second operand of uniq is written; date and hostname set what they get
    return not risky - HARMLESS_OPTIONS.get(name, frozenset())


def _has_more_than_one_operand(name: str, texts: list[str]) -> bool:
    operands = [text for text in texts if not text.startswith(("-", "+"))]
    return len(operands) > (1 if name in ("uniq", "xxd") else 0)
