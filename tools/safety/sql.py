"""Which statements of a text for a database change something."""

from __future__ import annotations

import re

COMMENT = re.compile(r"--[^\n]*|/\*(?!!).*?\*/", re.DOTALL)
STRING = re.compile(r"'(?:''|\\.|[^'\\])*'|\$\$.*?\$\$", re.DOTALL)
READING = re.compile(
    r"(?:select|show|describe|desc|explain|values|table|use|help|list|fetch|declare|prepare|begin"
    r"|start\s+transaction|commit|end|rollback|analyze|check|summarize|from|pivot|unpivot|exists"
    r"|status|tables|schemas?|with|print|get|scan|keys|ttl|info|ping|it)\b|\(?\s*select\b",
    re.IGNORECASE,
)
EXPLAINED = re.compile(r"explain\s+(?:\([^)]*)?analy[sz]e", re.IGNORECASE)
CHANGING = re.compile(
    r"\b(?:delete\s+from|insert\s+(?:into|overwrite)|update\s+[\w.\"`]+\s+set|drop|truncate|alter"
    r"|create|merge\s+into|replace\s+into|into\s+(?:outfile|dumpfile)|select\s[^;]*?\binto\s+(?!@)"
    r"[\w.]+\s+from|grant|revoke|copy\b[^;]*\bto\b|lo_(?:import|export|unlink)|pg_(?:terminate|"
    r"cancel)_backend|pg_read_file|pg_read_binary_file|pg_ls_dir|load_file|load_extension|xp_cmdshell"
    r"|sys_exec|sys_eval|dblink\w*|setval|nextval|pg_reload_conf|set_config|for\s+update|writefile"
    r"|readfile|edit|shutdown|pg_switch_wal|pg_drop\w*|pg_rotate_logfile)\b",
    re.IGNORECASE,
)
READING_PRAGMA = re.compile(r"pragma\s+[\w.]+\s*(?:\(\s*[\w'\"]+\s*\))?\s*$", re.IGNORECASE)
READING_SET = re.compile(
    r"set\s+(?:statement_timeout|search_path|session|local|@|names|timezone|enable_|work_mem|role\b"
    r"|transaction|threads|memory_limit)",
    re.IGNORECASE,
)
DOT_COMMAND = re.compile(
    r"\.(?:tables|schema|headers?|mode|dump|indexes|indices|databases|dbinfo|width|help|show|stats"
    r"|timer|nullvalue|separator|fullschema|eqp|explain|bail|echo|changes|print|quit|exit|sha3sum"
    r"|columns|maxrows|limit|parameter\s+list|version|lint)\b[^|]*$"
)
BACKSLASH = re.compile(
    r"\\(?:d\S*|l\+?|list|dt\S*|x|timing|conninfo|q|a|t|pset|z|sf\S*|sv\S*|echo|h|\?|encoding|c|connect"
    r"|C|f|H|T|s$|G|g$|gx|crosstabview)(?:\s[^|]*)?$"
)


def changing_statements(text: str) -> list[str]:
    """The first words of each statement that does more than read."""
    plain = STRING.sub("''", COMMENT.sub(" ", text))
    found = []
    for statement in re.split(r";|\n(?=\s*[.\\])|(?<=\w)\n(?=\s*\.)", plain):
        each = " ".join(statement.split())
        if each and not _only_reads(each):
            found.append(" ".join(each.split()[:4]))
    return found


def _only_reads(statement: str) -> bool:
    if statement.startswith("."):
        return DOT_COMMAND.match(statement) is not None
    if statement.startswith("\\"):
        return BACKSLASH.match(statement) is not None
    if EXPLAINED.match(statement):
        return not CHANGING.search(statement)
    if statement.lower().startswith("explain"):
        return True
    if statement.lower().startswith("pragma"):
        return READING_PRAGMA.match(statement) is not None
    if READING_SET.match(statement):
        return True
    if statement.lower().startswith("show"):
        return True
    return READING.match(statement) is not None and not CHANGING.search(statement)
