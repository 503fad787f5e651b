"""Constants computed from constants, within bounds, so that a hidden name or text comes to light.

Only what cannot do anything else is ever computed, and nothing that could grow large.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import operator
import posixpath
import re
import shlex
import textwrap
import urllib.parse
import zlib
from ast import (
    Add,
    BitAnd,
    BitOr,
    BitXor,
    FloorDiv,
    Mod,
    Mult,
    Sub,
)  # fmt: skip
from ast import (
    operator as Operator,
)
from collections.abc import Callable, Mapping
from typing import Any

from tools.safety.python_code.tables import words
from tools.safety.python_code.values import Items, Known, Value, as_text, has_hole

LONGEST = 100_000
LARGEST = 1 << 40
MOST_ITEMS = 512
REFUSALS = (
    ValueError, TypeError, LookupError, ArithmeticError, AttributeError, AssertionError, zlib.error,
)  # fmt: skip
"""What the functions below raise for arguments that they do not take."""
CODECS = words(
    "utf_8 utf8 u8 ascii us_ascii latin_1 latin1 iso_8859_1 cp1252 utf_16 utf_16_le utf_16_be "
    "utf_32 utf_8_sig rot13 rot_13 hex base64 base_64 raw_unicode_escape"
)
_WIDE = re.compile(r"[%{:.*]\D{0,9}\d{4,}|%[^%]{0,9}\*|\{[^}]{0,99}\{")
"""In a format: a width that could make a large text, or one that is an argument."""

_ARITHMETIC: Mapping[type[Operator], Callable[[Any, Any], Any]] = {
    Add: operator.add,
    Sub: operator.sub,
    Mult: operator.mul,
    FloorDiv: operator.floordiv,
    Mod: operator.mod,
    BitXor: operator.xor,
    BitOr: operator.or_,
    BitAnd: operator.and_,
}


def _inflated(data: bytes, *_: Any) -> bytes:
    return zlib.decompressobj(wbits=47).decompress(data, LONGEST)


def _coded(text: Any, codec: str = "utf-8", *_: Any) -> Any:
    name = codec.lower().replace("-", "_").removesuffix("_codec")
    return _inflated(text) if name in ("zlib", "zip") else codecs.decode(text, _codec(name))


def _codec(name: str) -> str:
    """The name again, if that codec neither warns nor takes long."""
    if name.lower().replace("-", "_") not in CODECS:
        raise LookupError(name)
    return name


DECODERS: Mapping[str, Callable[..., Any]] = {
    "base64.b64decode": base64.b64decode,
    "base64.standard_b64decode": base64.b64decode,
    "base64.urlsafe_b64decode": base64.urlsafe_b64decode,
    "base64.decodebytes": base64.decodebytes,
    "base64.b32decode": base64.b32decode,
    "base64.b16decode": base64.b16decode,
    "base64.a85decode": base64.a85decode,
    "base64.b85decode": base64.b85decode,
    "binascii.unhexlify": binascii.unhexlify,
    "binascii.a2b_hex": binascii.unhexlify,
    "binascii.a2b_base64": binascii.a2b_base64,
    "bytes.fromhex": bytes.fromhex,
    "bytearray.fromhex": bytes.fromhex,
    "codecs.decode": _coded,
    "codecs.encode": lambda text, codec="utf-8", *_: codecs.encode(text, _codec(codec)),
    "zlib.decompress": _inflated,
    "gzip.decompress": _inflated,
}
"""Their results are text that nobody could read."""
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **DECODERS,
    "chr": chr,
    "ord": ord,
    "str": lambda value="", *_: value.decode() if isinstance(value, bytes) else str(value),
    "bytes": lambda value=b"", *_: (
        value.encode() if isinstance(value, str) else bytes(_small(value))
    ),
    "bytearray": lambda value=b"", *_: bytes(_small(value)),
    "int": lambda value=0, base=10: (
        int(value, base) if isinstance(value, str) and len(value) < 99 else int(value)
    ),
    "len": len,
    "hex": hex,
    "repr": repr,
    "ascii": ascii,
    "os.fspath": lambda path: path,
    "os.fsdecode": lambda path: path.decode() if isinstance(path, bytes) else path,
    "os.path.normpath": posixpath.normpath,
    "os.path.basename": posixpath.basename,
    "os.path.dirname": posixpath.dirname,
    "shlex.quote": shlex.quote,
    "shlex.join": lambda words: shlex.join(map(str, words)),
    "shlex.split": lambda text: shlex.split(text.strip()),
    "textwrap.dedent": textwrap.dedent,
    "html.unescape": html.unescape,
    "urllib.parse.unquote": urllib.parse.unquote,
    "urllib.parse.unquote_plus": urllib.parse.unquote_plus,
    "sqlalchemy.text": lambda text: text,
    "sys.intern": lambda text: text,
}
"""Functions whose results are known when their arguments are."""
TEXT_METHODS = words(
    "capitalize casefold decode encode format format_map join lower lstrip partition "
    "removeprefix removesuffix replace rpartition rsplit rstrip split splitlines strip "
    "swapcase title translate upper hex"
)
SAFE_WITH_HOLES = frozenset(("format", "join"))


def _small(value: Any) -> Any:
    if isinstance(value, int) and value > LONGEST:
        raise ValueError("too large")
    return value


def plain(value: Value) -> Any:
    """The Python object that a wholly known value stands for; ValueError for all others."""
    match value:
        case Known(constant):
            if isinstance(constant, str | bytes) and has_hole(constant):
                raise ValueError("known in part only")
            return constant
        case Items(items, False):
            return [plain(item) for item in items]
    raise ValueError("not known")


def known(result: Any, *, hidden: bool = False) -> Value | None:
    """The value of a Python object, if it is small enough."""
    if isinstance(result, bool | float | None):
        return Known(result, hidden)
    if isinstance(result, int):
        return Known(result, hidden) if -LARGEST < result < LARGEST else None
    if isinstance(result, str | bytes):
        return Known(result, hidden) if len(result) <= LONGEST else None
    if isinstance(result, list | tuple) and len(result) <= MOST_ITEMS:
        items = [known(each, hidden=hidden) for each in result]
        return Items([each for each in items if each]) if all(items) else None
    return None


def is_hidden(value: Value) -> bool:
    return (isinstance(value, Known) and value.hidden) or (
        isinstance(value, Items) and any(map(is_hidden, value.items))
    )


def of_function(name: str, arguments: list[Value]) -> Value | None:
    """What a function of the table returns, if all it is given is known."""
    function = FUNCTIONS.get(name)
    if function is None or len(arguments) > 3:
        return None
    try:
        result = function(*map(plain, arguments))
    except REFUSALS:
        return None
    return known(result, hidden=name in DECODERS or any(map(is_hidden, arguments)))


def of_method(receiver: Known, name: str, arguments: list[Value]) -> Value | None:
    """What a method of a text or of bytes returns."""
    if name not in TEXT_METHODS or not isinstance(receiver.value, str | bytes):
        return None
    if has_hole(receiver.value) and name not in SAFE_WITH_HOLES:
        return None
    hidden = receiver.hidden or any(map(is_hidden, arguments)) or name == "translate"
    try:
        given = [
            _with_holes(each) if name in SAFE_WITH_HOLES else plain(each) for each in arguments
        ]
        _check_growth(receiver.value, name, given)
        if name in ("decode", "encode") and given:
            _codec(given[0])
        return known(getattr(receiver.value, name)(*given), hidden=hidden)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError):
        return None


def _with_holes(value: Value) -> Any:
    if isinstance(value, Items):
        if value.more:
            raise ValueError("not known")
        return [_with_holes(item) for item in value.items]
    if isinstance(value, Known):
        return value.value
    text = as_text(value)
    if text is None:
        raise ValueError("no text")
    return text


def _check_growth(text: str | bytes, name: str, given: list[Any]) -> None:
    sizes = [len(each) for each in given if isinstance(each, str | bytes | list)]
    too_wide = name == "format" and isinstance(text, str) and _WIDE.search(text)
    if too_wide or (
        name in ("replace", "join") and (len(text) + 1) * (max(sizes, default=0)) > 1e6
    ):
        raise ValueError("may grow")


def of_operator(kind: type[Operator], left: Value, right: Value) -> Value | None:
    """The result of an operator between constants; between texts with holes, if it joins them."""
    hidden = is_hidden(left) or is_hidden(right)
    if kind is Add and isinstance(left, Items) and isinstance(right, Items):
        return Items([*left.items, *right.items][:MOST_ITEMS], left.more or right.more)
    if kind is Add:
        joined = _joined(left, right)
        if joined is not None:
            return known(joined, hidden=hidden)
    try:
        one, other = plain(left), plain(right)
        if kind is Mult and not _fits(one, other):
            return None
        if kind is Mod and isinstance(one, str):
            if _WIDE.search(one):
                return None
            other = tuple(other) if isinstance(other, list) else other
        function = _ARITHMETIC.get(kind)
        return known(function(one, other), hidden=hidden) if function else None
    except (ValueError, TypeError, LookupError, ArithmeticError):
        return _formatted(left, right) if kind is Mod else None


def _fits(one: Any, other: Any) -> bool:
    sizes = [len(each) if isinstance(each, str | bytes | list) else each for each in (one, other)]
    return isinstance(sizes[0] * sizes[1], int) and abs(sizes[0] * sizes[1]) <= LONGEST


def _joined(left: Value, right: Value) -> str | None:
    """Text plus what is not known is text with a hole."""
    known_text = [isinstance(each, Known) and isinstance(each.value, str) for each in (left, right)]
    if not any(known_text):
        return None
    one, other = as_text(left), as_text(right)
    return None if one is None or other is None else one + other


def _formatted(left: Value, right: Value) -> Value | None:
    if not (isinstance(left, Known) and isinstance(left.value, str)) or _WIDE.search(left.value):
        return None
    given = right.items if isinstance(right, Items) else [right]
    template = re.sub(r"%(?!%)[-+ #0-9.]*[a-zA-Z]", "%s", left.value)
    try:
        return known(template % tuple(_with_holes(each) for each in given))
    except (ValueError, TypeError):
        return None


def of_index(value: Value, index: Value) -> Value | None:
    """An item or a slice of something constant; ``index`` is a number or a list for a slice."""
    try:
        place = plain(index)
        if isinstance(value, Items):
            if isinstance(place, list):
                return Items(value.items[slice(*place)], value.more)
            item: Value = value.items[place]
            return item
        if isinstance(value, Known) and isinstance(value.value, str | bytes):
            cut = slice(*place) if isinstance(place, list) else place
            return known(plain(value)[cut], hidden=is_hidden(value))
    except (ValueError, TypeError, LookupError):
        return None
    return None
