"""Patterns for what a text means: effects of inline code, files that run things later."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PYTHON = (
    r"\bos\.(?:remove|unlink|rmdir|removedirs|renames?|replace|truncate|kill|killpg|system|popen)\b",
    r"\bos\.(?:exec\w*|spawn\w*|chmod|chown|putenv|fork|symlink)\b",
    r"\bshutil\.(?:rmtree|move|copy\w*|chown)",
    r"\.(?:unlink|rmdir|rename|write_text|write_bytes|to_(?:csv|parquet|excel|json|pickle))\(",
    r"\brmtree\b|\bsubprocess\b|pty\.spawn|send2trash|\bshelve\b",
    r"open\([^)]*['\"][rb]*[wax+]",
    r"\b(?:exec|eval|compile|getattr|__import__|run)\(|\bimportlib\b|\bctypes\b",
    r"\bfrom\s+(?:os|shutil)\s+import|\benviron\b",
    r"\brequests\.(?:post|put|patch|delete)|\burlopen|\bhttpx\b|\bsocket\b|\bsmtplib\b",
    r"\b(?:b64|a85|b32|hex)decode|\bfromhex\b|codecs\.decode|\bmarshal\b|pickle\.loads",
)
_OTHER_LANGUAGES = (
    r"\b(?:unlink|rmdir|system|qx|exec|rename|kill|truncate)\b|`|\brm\(|\.remove\(|\bdelete-",
    r"child_process|\bfs\.\w*(?:unlink|rm|write|rename|truncate|append|copy)\w*",
    r"writeFile|rmSync|execSync|spawnSync|process\.kill|Deno\.(?:remove|write|run)|Bun\.write",
    r"File\.(?:delete|write|unlink|rename)|FileUtils|\bfile\.(?:remove|rename)",
    r"file_put_contents|shell_exec|passthru|os\.execute|io\.open|writeLines|writeBin|\bsink\(",
    r"\bopen\s*\(?\s*[^,]*,\s*['\"]\s*[>|+]",
)
_SQL = (
    r"\b(?i:drop|delete\s+from|truncate|update\s+\w+\s+set|insert\s+into|alter|create|grant)\b",
    r"\b(?i:revoke|replace\s+into|copy\s+\w+|vacuum|attach|load_extension)\b",
    r"dropDatabase|deleteMany|deleteOne|\.(?:drop|remove)\(",
    r"^\s*\.(?:shell|system|output|once|restore|import|save|backup)",
)
_AWK = (
    r"\bsystem\s*\(|\|\s*getline|\|&",
    r"\bprint[^|>\n]*>\s*[\"$(a-z]|\bprint[^|\n]*\|\s*\"",
)
_SED = (
    r"(?:^|[;}])\s*\d*,?\$?[ewW]\s",
    r"/[gimp0-9]*e[gimp]*\s*$|/[gp0-9]*w\s*\S",
)
_EDITOR = (r"!|\bw(?:q|rite)?\b|\bx\b|\bsaveas\b|\bsystem\b",)


def _any_of(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.MULTILINE)


CODE: Mapping[str, re.Pattern[str]] = {
    "program": _any_of(*_PYTHON, *_OTHER_LANGUAGES),
    "awk": _any_of(*_AWK),
    "sed": _any_of(*_SED),
    "sql": _any_of(*_SQL),
    "editor": _any_of(*_EDITOR),
}
"""Signs of effects in inline code, by family of languages."""

PERSISTENT = _any_of(
    r"(?:^|/)\.(?:bash(?:rc|_profile|_logout|_aliases)|zshrc|zprofile|zshenv|profile|gitconfig)$",
    r"(?:^|/)\.(?:inputrc|vimrc|tmux\.conf|pythonrc)$|authorized_keys|\.ssh/config",
    r"^/etc/|/cron\.|\.git/(?:hooks|config)|\.ipython/|\.jupyter/|/systemd/|/init\.d/|\.hermes/",
    r"\.config/(?:autostart|fish)|LaunchAgents|sitecustomize|usercustomize|\.pth$|/startup/",
    r"^/(?:usr|bin|sbin|lib|boot)/",
)
"""Files that run or configure something later."""

RAW_DISK = re.compile(r"/dev/(?!null|zero|full|u?random|std(?:in|out|err)|tty|fd/|shm/|pts/)")
FORK_BOMB = re.compile(
    r"(?<![\w:.])(?P<name>[\w:.]{1,50})\s{0,9}\(\s{0,9}\)\s{0,9}\{"
    r"[^}]{0,200}?(?P=name)\s{0,9}\|\s{0,9}(?P=name)\s{0,9}&"
)
HIDDEN_TEXT = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
"""Control and invisible characters: what is shown is not what runs."""
LOOKALIKE = re.compile(r"[\w.-]*[^\x00-\x7f][\w.-]*")
"""A name with letters of other alphabets, which may look like those of a known program."""

LOADERS = frozenset({
    "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "PYTHONSTARTUP", "PYTHONPATH", "BASH_ENV",
    "BASH_ALIASES", "BASH_CMDS", "PS4", "ENV", "PROMPT_COMMAND", "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "PAGER", "EDITOR", "MANPAGER", "LESSOPEN",
    "PERL5OPT", "RUBYOPT", "NODE_OPTIONS",
})  # fmt: skip
"""Variables that make other programs run something."""
