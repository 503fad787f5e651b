"""Variables of the environment that matter: those that make programs run something, and secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tools.safety.effect import Effect
from tools.safety.scene import Scene
from tools.safety.shell.values import Word

PAGER = re.compile(r"|cat|less(?: -\S+)?|more|true|:|head|bat(?: -\S+)?")
NOTHING = re.compile(r"")
OUTSIDE = re.compile(r"(?:^|:)(?:/tmp|/var/tmp|/dev/shm|https?:|~/(?:Downloads|\.cache))")
UNSURE_FOLDER = re.compile(r"(?:^|:)(?:/tmp|/var/tmp|/dev/shm|\.{1,2}(?:/|:|$))")
_ALWAYS = frozenset((
    "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH", "PYTHONSTARTUP",
    "PYTHONHOME", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONUSERBASE", "BASH_ENV", "BASH_ALIASES",
    "BASH_CMDS", "PROMPT_COMMAND", "PS4", "PS0", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_EXTERNAL_DIFF",
    "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS", "GIT_SEQUENCE_EDITOR", "GIT_PROXY_COMMAND",
    "GIT_TEMPLATE_DIR", "GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_COUNT", "LESSOPEN",
    "LESSCLOSE", "PERL5OPT", "PERL5DB", "RUBYOPT", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "ZDOTDIR",
    "INPUTRC", "GCONV_PATH", "TERMINFO", "RSYNC_RSH", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL",
    "NPM_CONFIG_REGISTRY", "CARGO_BUILD_RUSTC_WRAPPER", "RUSTC_WRAPPER",
))  # fmt: skip
_PAGERS = frozenset((
    "PAGER", "MANPAGER", "GIT_PAGER", "SYSTEMD_PAGER", "EDITOR", "VISUAL", "GIT_EDITOR", "BROWSER",
))  # fmt: skip
LOADERS: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(_ALWAYS, NOTHING),
    **dict.fromkeys(_PAGERS, PAGER),
}
"""Variables that make other programs run something, with the values that do no harm."""
PATHS = frozenset((
    "PYTHONPATH", "LD_LIBRARY_PATH", "PERL5LIB", "RUBYLIB", "NODE_PATH", "CLASSPATH",
))  # fmt: skip
SECRET_NAME = re.compile(
    r"(?i)(?:^|_)(?:token|secret|passw(?:or)?d|passphrase|pwd_?hash|api_?key|apikey|access_?key"
    r"|private_?key|secret_?key|credentials?|auth|pat|dsn|connection_string)(?:$|_(?!file|path|dir"
    r"|name|url|len|length|id$))|^PGPASSWORD$|^MYSQL_PWD$|_KEY$"
)
VARIABLE = re.compile(r"\$(?:\{([^}]*)\}|(\w+))")
ONLY_TESTS = frozenset(("[", "test", "[["))
FOR_ITS_LENGTH = re.compile(r"#\w+|\w+:?\+.*", re.DOTALL)
IS_NO_PROGRAM = re.compile(r"^(?:[\w.-]+|$)$")


def loaded(assignments: Mapping[str, Word], scene: Scene) -> list[Effect]:
    """Of variables that are set, those that make something run."""
    return [
        Effect(f"sets {name}, which may run other code", kind="persistence")
        for name, value in assignments.items()
        if _loads(name, value.text)
    ]


def _loads(name: str, value: str) -> bool:
    if name.startswith("BASH_FUNC_"):
        return True
    if name in LOADERS:
        return not LOADERS[name].fullmatch(value)
    if name in PATHS:
        return OUTSIDE.search(value) is not None
    match name:
        case "PATH":
            return UNSURE_FOLDER.search(value.partition("$PATH")[0]) is not None
        case "ENV":
            return IS_NO_PROGRAM.match(value) is None
        case "NODE_OPTIONS":
            return "-r" in value or "import" in value or "loader" in value or "inspect" in value
    return name.startswith(("GIT_CONFIG_KEY", "BASH_FUNC_", "LD_"))


def shown(program: str, word: Word) -> list[Effect]:
    """Of a word with variables in it, the secrets that it passes on."""
    if "$" not in word.text or program in ONLY_TESTS:
        return []
    names = []
    for braced, plain in VARIABLE.findall(word.text):
        if braced and FOR_ITS_LENGTH.fullmatch(braced):
            continue
        name = plain or re.split(r"[^\w]", braced.lstrip("!"))[0]
        if SECRET_NAME.search(name):
            names.append(name)
    return [
        Effect(f"passes on ${name}, which may be a secret", kind="secrets", targets=(name,))
        for name in names
    ]
