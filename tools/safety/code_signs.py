"""Patterns for effects of inline code, by language: what is written, run, deleted or sent."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import NamedTuple


class Signs(NamedTuple):
    """``calls`` are looked for where the text of strings has been left out, ``texts`` anywhere."""

    calls: re.Pattern[str]
    texts: re.Pattern[str]


STRINGS = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", re.DOTALL)


def _any_of(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.MULTILINE)


NEVER = re.compile(r"(?!)")
_PYTHON = (
    r"\bos\.(?:remove|unlink|rmdir|removedirs|renames?|replace|truncate|kill|killpg|system|popen)\b",
    r"\bos\.(?:exec\w*|spawn\w*|chmod|chown|putenv|fork|symlink)\b",
    r"\bshutil\.(?:rmtree|move|copy\w*|chown)",
    r"\.(?:unlink|rmdir|rename|write_text|write_bytes|to_(?:csv|parquet|excel|json|pickle))\(",
    r"\brmtree\b|\bsubprocess\b|pty\.spawn|send2trash|\bshelve\b",
    r"\b(?:exec|eval|compile|getattr|__import__|run)\(|\bimportlib\b|\bctypes\b",
    r"\bfrom\s+(?:os|shutil)\s+import|\benviron\b",
    r"\brequests\.(?:post|put|patch|delete)|\burlopen|\bhttpx\b|\bsocket\b|\bsmtplib\b",
    r"\b(?:b64|a85|b32|hex)decode|\bfromhex\b|codecs\.decode|\bmarshal\b|pickle\.loads",
)
_PERL = (
    r"\b(?:unlink|rmdir|system|qx|exec|rename|kill|truncate|fork|symlink|chmod|chown|mkdir|syswrite"
    r"|socket|dbmopen|rmtree|remove_tree|utime|link|getstore|mirror|copy|move|syscopy)\b|`|\beval\b\s*[^{\s]|%ENV\b|\bsend\b|\brequire\b"
    r"\s*\$|\bdo\s+\$|/\w*e\w*\s*[;}]?\s*$",
)
_RUBY = (
    r"\b(?:system|exec|spawn|fork|eval|instance_eval|send|public_send|__send__|method|syscall|trap|load|truncate)\b|`|%x",
    r"\b(?:File|IO|Dir|Pathname|FileUtils)\.(?:delete|write|unlink|rename|binwrite|rm\w*|mv|cp\w*"
    r"|rmdir|mkdir|chmod\w*|chown\w*|symlink|link|truncate|popen|ln\w*|install|remove\w*|move|copy)"
    r"|\bFileUtils\b|\bOpen3\b|Process\.(?:kill|spawn|daemon)|Net::|\bENV\b|\.unlink|\.rmtree|Kernel\.",
)
_PHP = (
    r"\b(?:unlink|rmdir|rename|copy|file_put_contents|fwrite|fputs|ftruncate|touch|chmod|chown|mkdir"
    r"|symlink|move_uploaded_file|shell_exec|passthru|proc_open|popen|system|exec|pcntl_\w+|eval"
    r"|assert|mail|curl_exec|fsockopen|getenv|posix_kill|dl|putenv|include|require)\b|`|\$_ENV",
)
_NODE = (
    r"\b(?:unlink|rm|rmdir|write|writeFile|append|appendFile|rename|truncate|copyFile|cp|chmod|chown"
    r"|symlink|link|mkdtemp|createWriteStream|outputFile|ensure\w+|remove|move|exec|execFile|spawn|fork)"
    r"(?:Sync)?\s*\(|\bprocess\.(?:kill|exit\w*\.|env|chdir|binding|dlopen)|\beval\s*\(|new\s+Function"
    r"|Deno\.(?:remove|write\w*|run|Command|rename|truncate|chmod|env)|Bun\.(?:write|spawn\w*|\$)"
    r"|\bfetch\s*\([^)]*,|\$`",
)
_NODE_TEXTS = (
    r"require\(\s*[^)'\"]|(?:require|import)\s*\(?\s*['\"](?:node:)?(?:child_process|net|http|https|dgram|tls"
    r"|cluster|worker_threads|vm|fs-extra|rimraf|shelljs|execa|axios|request|node-fetch)['\"]"
    r"|method\s*:\s*['\"](?:POST|PUT|PATCH|DELETE)",
)
_OTHER = (
    r"\b(?:unlink|file\.(?:remove|rename|copy|create|symlink)|writeLines|writeBin|write\.\w+|sink|saveRDS"
    r"|save|dput|dump|cat\s*\([^)]*file\s*=|system2?|shell|download\.file|install\.packages|install_\w+"
    r"|Sys\.(?:setenv|getenv|chmod|unlink|kill)|remove\.packages|fwrite|ggsave|png|pdf)\s*\(",
    r"\bos\.(?:execute|remove|rename|exit|tmpname|getenv)|io\.(?:open|popen|output)|loadstring|dofile",
    r"\b(?:rm|mv|cp|run|write|touch|chmod|download|Pkg\.\w+|pipeline|unsafe_\w+|ccall|spawn|symlink)\s*\(|`"
    r"|\bENV\b|\bopen\s*\(",
    r"\bdelete-(?:file|directory)|shell-command|call-process|start-process|write-(?:region|file)|save-buffer"
    r"|rename-file|copy-file|kill-emacs|url-retrieve",
    r"\bfile\s+(?:delete|rename|copy|mkdir|attributes)|\bexec\b|\bspawn\b|\bsocket\b|\bopen\s+\S+\s+[wa]",
    r"\b(?:System\.(?:cmd|shell|halt)|File\.(?:rm\w*|write\w*|rename|cp\w*|delete|open)|:os\.cmd|os:cmd"
    r"|file:(?:delete|write\w*|rename)|\.delete\(|\.execute\(|\.deleteDir|ProcessBuilder|Runtime\."
    r"|\.renameTo|\.write\(|\.text\s*=|removeFile|writeFile|callCommand|readProcess|system\b|shell\b"
    r"|delete\s*\(|rmdir\s*\(|movefile|copyfile|fopen|dos\s*\(|unix\s*\(|save\b)",
)
_CALLED_BY_NAME = (
    r"unlink|rm|rmdir|rename|copy|write|truncate|eval|assert|system|exec|popen|passthru|shell_exec|proc_open"
    r"|file_put_contents|execSync|spawn|spawnSync|rmSync|unlinkSync|rmdirSync|writeFileSync|renameSync"
)
_OTHER_BY_NAME = (
    r"\b(?:do\.call|match\.fun|get|lapply|sapply|walk|map)\s*\([^)]*\b"
    r"(?:unlink|file\.remove|system2?|eval|source|shell)\b"
    r"|\beval\s*\(\s*parse|\bsource\s*\(\s*['\"]https?:|\bos\s*\[|\bgetfield\s*\("
)
_MONGO = (
    r"\.(?:drop|remove|insert|update|delete|save|rename|replace|create|bulkWrite|findAndModify|findOneAnd"
    r"|aggregate\(.*\$(?:out|merge)|shutdown|kill|grant|revoke|repair|compact|set|enable|disable|add|mapReduce"
    r"|run|admin|copyTo|eval|reIndex|unset)\w*\(",
    r"\b(?i:drop|delete\s+from|detach\s+delete|delete\s|create|merge|remove|set\s|load\s+csv|insert|kill|alter"
    r"|grant|revoke)\b|^\s*[A-Z]*(?:FLUSH|DEL|SET|CONFIG|SHUTDOWN|EVAL)",
)
_GNUPLOT = (
    r"\bset\s+(?:o|out|output|table|print)\s+[\"\w]|(?:^|;)\s*!|\b(?:save|system|shell|load|call)\b|`",
)
_EDITOR = (
    r"!|\bw(?:q|a|rite|all|qall)?\b|\bx(?:it|all)?\b|\bsaveas\b|\bsystem\b|\bsource\b|\blua\b|\bpy\w*\b"
    r"|\bperl\b|\bruby\b|\bcall\b|\bexec\w*\b|\bterm\w*\b|\bZZ\b|\bup(?:date)?\b",
)
_POWERSHELL_READS = (
    r"^\s*(?:(?:get|test|measure|select|sort|where|format|compare|resolve|show|convert\w*|group|find|out-"
    r"(?:host|string|null|default)|write-(?:output|host))[\w-]*|dir|ls|gci|cat|type|gc|echo|pwd|gl|cd|sl|ver"
    r"|whoami|hostname|ipconfig|where|findstr|sls|tree|help|man|ps|gps|date|\$PSVersionTable[\w.]*"
    r"|/[cCkK]|--?\w+|\d+|foreach|%|\?)(?:\s|$)",
)

_CALLS_AND_TEXTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "python": (_PYTHON, (r"open\([^)]*['\"][rb]*[wax+]",)),
    "perl": (_PERL, (r"\bopen\s*\(?\s*[^,;]*,\s*['\"]\s*(?:[>|+]|-\|)", r"qx[{(/]")),
    "ruby": (_RUBY, (r"\bopen\s*\(?\s*[^;]*['\"][wa|]", r"['\"]\|")),
    "php": (
        _PHP,
        (
            rf"['\"](?:{_CALLED_BY_NAME})['\"]",
            r"fopen\s*\([^)]*['\"][waxc]",
        ),
    ),
    "node": (_NODE, (*_NODE_TEXTS, rf"\[\s*['\"`](?:{_CALLED_BY_NAME})")),
    "other": (
        _OTHER,
        (_OTHER_BY_NAME, r"\bopen\s*\([^)]*['\"][wa+]", r"process\.env|os\.Remove|os/exec"),
    ),
    "mongo": (_MONGO, ()),
    "editor": (_EDITOR, _EDITOR),
    "gnuplot": (_GNUPLOT, ()),
    "jq": ((r"\benv\b|\$ENV\b",), ()),
    "redis": (
        (
            r"^(?!\s*(?i:get|keys|scan|info|ping|ttl|type|exists|[lszh]\w*(?:range|len|card|get\w*)))",
        ),
        (),
    ),
}


@functools.cache
def signs_of(language: str) -> Signs:
    """Signs of effects in inline code."""
    calls, texts = _CALLS_AND_TEXTS.get(language, _CALLS_AND_TEXTS["other"])
    return Signs(_any_of(*calls), _any_of(*texts) if texts else NEVER)


def sign_in(text: str, language: str) -> str:
    """The first sign of an effect in code, or ""."""
    signs = signs_of(language)
    found = signs.texts.search(text) or signs.calls.search(STRINGS.sub('""', text))
    return found.group().strip() if found else ""


@functools.cache
def only_reads_in_powershell() -> re.Pattern[str]:
    return _any_of(*(f"(?i:{each})" for each in _POWERSHELL_READS))
