"""The program in the script's own process: it runs the script, and passes on its calls of tools.

It is sent as text, so it stands alone, and works with Python 3.8. Questions and answers are
frames: a length, and JSON. They travel on copies of the pipes that the process was started with,
which nothing that the script starts inherits. What the script prints goes to standard error.

What it imports, every script waits for: so only what is there anyway, and the rest when needed.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, BinaryIO

FILE = "script.py"
MODULE = "hermes_tools"
GONE = "the notebook does not answer any more"


class ToolCallRefused(RuntimeError):
    """The call was not made: there is no such tool here, or too many calls were made."""


class Line:
    """The way to the tools. Calls may be made from several threads at once."""

    def __init__(self, asked: int, answers: BinaryIO) -> None:
        import itertools
        import threading

        self._asked, self._answers = asked, answers
        self._numbers = itertools.count(1)
        self._boxes: dict[int, Any] = {}
        self._writing = threading.Lock()
        self.left = threading.Semaphore(0)
        """Released when the script may end."""
        threading.Thread(target=self._listen, name="hermes-answers", daemon=True).start()

    def call(self, name: str, args: dict[str, Any]) -> Any:
        """Call a tool and wait for its answer: a dictionary if it is JSON, else text."""
        import json
        import queue

        number = next(self._numbers)
        try:
            data = json.dumps({"call": number, "name": name, "args": args}).encode("ascii")
        except (TypeError, ValueError) as error:
            raise TypeError(f"arguments of {name} must be plain data: {error}") from None
        box: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._boxes[number] = box
        try:
            with self._writing:
                send(self._asked, data)
        except OSError:
            raise ToolCallRefused(GONE) from None
        answer = box.get()
        if "refused" in answer:
            raise ToolCallRefused(answer["refused"])
        text = answer["text"]
        try:
            return json.loads(text, strict=False) if text[:1] == "{" else text
        except ValueError:
            return text

    def _listen(self) -> None:
        import json

        while True:
            data = read(self._answers)
            if data is None:
                break
            answer = json.loads(data)
            if "leave" in answer:
                break
            box = self._boxes.pop(answer["id"], None)
            if box is not None:
                box.put(answer)
        self.left.release()
        for box in list(self._boxes.values()):
            box.put({"refused": GONE})


class Tools:
    """Makes the module ``hermes_tools`` when the script imports it."""

    def __init__(self, source: str, asked: int, answers: BinaryIO) -> None:
        self._source, self._asked, self._answers = source, asked, answers
        self._process = os.getpid()
        self._line: Line | None = None

    def wait_for_leave(self) -> None:
        """Who serves it looks once more before it ends; any answer will do."""
        if self._line is None:
            read(self._answers)
        else:
            self._line.left.acquire(timeout=5.0)

    def find_spec(self, name: str, *_: Any) -> Any:
        if name != MODULE:
            return None
        return type(sys.__spec__)(name, self)  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        line = self._line = Line(self._asked, self._answers)

        def call(name: str, args: dict[str, Any]) -> Any:
            if os.getpid() != self._process:
                raise ToolCallRefused("tools can be called in the script's own process only")
            return line.call(name, args)

        module.__dict__.update(_call=call, ToolCallRefused=ToolCallRefused)
        exec(compile(self._source, "hermes_tools.py", "exec"), module.__dict__)


def send(target: int, data: bytes) -> None:
    data = len(data).to_bytes(4, "big") + data
    while data:
        data = data[os.write(target, data) :]


def read(stream: BinaryIO) -> bytes | None:
    """The next frame; None at the end."""
    head = stream.read(4)
    return stream.read(int.from_bytes(head, "big")) if len(head) == 4 else None


def run(source: str) -> tuple[int, str]:
    """Run the script as a program; its exit code, and its error in a line."""
    main = type(sys)("__main__")
    main.__dict__.update(__file__=FILE, __builtins__=__builtins__)
    sys.modules["__main__"], sys.argv = main, [FILE]
    try:
        exec(compile(source, FILE, "exec"), main.__dict__)
    except SystemExit as ended:
        return _exit(ended.code)
    except BaseException as error:  # noqa: BLE001 - the script may raise anything
        return 1, _told(error, source)
    return 0, ""


def _exit(code: Any) -> tuple[int, str]:
    if code is None or isinstance(code, int):
        return (code or 0), ""
    sys.stderr.write(f"{code}\n")
    return 1, str(code)


def _told(error: BaseException, source: str) -> str:
    """Print the traceback, from the script's own first line on."""
    import linecache
    import traceback

    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
    here = error.__traceback__
    while here is not None and here.tb_frame.f_code.co_filename != FILE:
        here = here.tb_next
    traceback.print_exception(type(error), error, here)
    line, last = 0, here
    while last is not None:
        if last.tb_frame.f_code.co_filename == FILE:
            line = last.tb_lineno
        last = last.tb_next
    said = traceback.format_exception_only(type(error), error)[-1].strip()
    return f"{said} (line {line})" if line else said


def main(script: str, module: str, asked: int, answers: BinaryIO) -> None:
    tools = Tools(module, asked, answers)
    sys.meta_path.insert(0, tools)
    printed = sys.stdout, sys.stderr  # the script may put others in their place
    send(asked, b'{"ready": %d}' % os.getpid())
    code, error = run(script)
    if "threading" in sys.modules:
        import threading

        for thread in threading.enumerate():
            if not thread.daemon and thread is not threading.current_thread():
                thread.join()
    for stream in (sys.stdout, sys.stderr, *printed):
        if stream is not None and not getattr(stream, "closed", True):
            stream.flush()
    import json

    send(asked, json.dumps({"end": code, "error": error}).encode("ascii"))
    tools.wait_for_leave()
    sys.exit(code & 255)
