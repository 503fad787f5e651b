"""One run of code, in the thread that runs the cell."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from IPython.core.pylabtools import print_figure

from hermes_jupyter.kernel.live.capture import IMAGES, SENDABLE, Capture, in_words, patched
from hermes_jupyter.kernel.live.changes import Before, Changes
from hermes_jupyter.kernel.live.code import Failure, Program, compiled, failure_of
from hermes_jupyter.kernel.live.figures import is_open, own_figures
from hermes_jupyter.kernel.live.interrupting import Interrupts
from tools.live import Displayed, Ran
from tools.plain_text import without_escapes
from tools.values.plain import size_of, told
from tools.values.types import is_instance

VALUE_CHARS = 8_000
ORDINARY = frozenset({"text/plain", "text/html", "text/markdown", "text/latex"})
"""A value with more kinds than these is a picture, or a widget: it is shown to the person."""
AUTORELOAD = "IPython.extensions.autoreload"
OTHER_LOOP = (
    "objects that belong to the kernel's own event loop can be awaited only in turns that are "
    "awaited themselves: await hermes_jupyter.arun(...)"
)
STOPPED = {"timeout": "it took too long and was stopped", "interrupted": ""}
EXIT = "the code asked IPython to exit; the kernel goes on"


class Stopped(Exception):
    """The code was interrupted. No KeyboardInterrupt: that would end the loop it passes through."""


class Run:
    """Code and what becomes of it. Made on any thread; all else happens in the cell's."""

    def __init__(
        self,
        shell: Any,
        source: str,
        hear: Callable[[str], None],
        displayed: Displayed | None = None,
    ) -> None:
        self._shell, self._source = shell, source
        self.interrupts = Interrupts()
        self.began: float | None = None
        """When it began to run (`time.monotonic`); None before."""
        self.task: asyncio.Task[Any] | None = None
        """Where it is one of the cell's own loop."""
        self._capture = Capture(shell, hear, displayed)
        self._file = ""
        self._value = ""
        self._failure: Failure | None = None
        self._stopped = False
        self._notes: list[str] = []
        self._shown: list[str] = []

    def prepared(self) -> Program | None:
        """The code, translated; None if that fails, which the result tells."""
        self.began = time.monotonic()
        with self._shell.builtin_trap, self._guarded():
            self._reload_changed()
            program = compiled(self._source, self._shell)
            self._file = program.file
            return program
        return None

    def _reload_changed(self) -> None:
        """What ``%autoreload`` does before each cell: modules may have been edited since."""
        for hook in self._shell.events.callbacks.get("pre_run_cell", ()):
            if getattr(hook, "__module__", "") == AUTORELOAD:
                hook(None)

    @contextmanager
    def surroundings(self) -> Iterator[Callable[[Changes], Ran]]:
        """All that stands around the code while it runs, and is gone afterwards."""
        shell, capture = self._shell, self._capture
        with ExitStack() as stack:
            stack.enter_context(shell.builtin_trap)
            stack.enter_context(capture.listening())
            for thing, name, value in self._replacements():
                stack.enter_context(patched(thing, name, value))
            stack.enter_context(own_figures(self._show_figure))
            yield self._result

    def _replacements(self) -> list[tuple[Any, str, Any]]:
        """What of IPython would reach out of the run: into the cell, a pager, the end."""
        shell = self._shell
        return [
            (shell, "_showtraceback", self._show_traceback),
            (shell, "ask_exit", _refuse_exit),
            (shell, "system", self._system),
            (shell, "set_next_input", self._offer_input),
            (shell.hooks, "show_in_pager", self._page),
        ]

    async def execute(self, program: Program) -> None:
        """Run the steps; errors are kept."""
        shell = self._shell
        with self._capture.mine(), self._guarded():
            for step in program.steps:
                made = eval(step.code, shell.user_global_ns, shell.user_ns)
                if step.is_async:
                    made = await made
                if step.shows and made is not None:
                    self._show_value(made)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (KeyboardInterrupt, Stopped, asyncio.CancelledError, GeneratorExit):
            self._stopped = True
        except BaseException as error:  # noqa: BLE001 - the user's code may raise anything
            self._failure = failure_of(error, self._file)
            if isinstance(error, SystemExit):
                self._notes.append(EXIT)
            elif isinstance(error, RuntimeError) and "different" in str(error):
                self._notes.append(OTHER_LOOP)

    def _result(self, changes: Changes) -> Ran:
        capture, failure = self._capture, self._failure
        if capture.left_out:
            self._notes.append(f"{capture.left_out} more displays were too many or too large")
        if failure:
            kind, _, message = failure.error.partition(": ")
            capture.outputs.fail(kind, message, failure.traceback.splitlines())
        elif ended := self._ending():
            capture.outputs.fail("KeyboardInterrupt", STOPPED[ended], [])
        return Ran(
            output=without_escapes(capture.output.text()).replace("\r\n", "\n"),
            value=self._value,
            displayed=tuple(each[:VALUE_CHARS] for each in capture.displayed),
            pictures=tuple(capture.pictures),
            new=changes.new,
            changed=changes.changed,
            deleted=changes.deleted,
            error=failure.error if failure else "",
            line=failure.line if failure else "",
            traceback="\n".join(filter(None, [*self._shown, failure.traceback if failure else ""])),
            ended=self._ending(),
            notes=tuple(self._notes),
            outputs=capture.outputs.all(),
        )

    def _ending(self) -> Any:
        if self.interrupts.by_person:
            return "interrupted"
        return "timeout" if self._stopped else ""

    def stop(self) -> None:
        """It was ended from outside, where it awaited something."""
        self._stopped = True

    def note(self, text: str) -> None:
        self._notes.append(text)

    # What is shown

    def _show_value(self, value: Any) -> None:
        outputs = self._capture.outputs
        if _is_plainly_large(value):
            self._value = told(value, VALUE_CHARS)
            outputs.result({"text/plain": self._value}, {})
            return
        bundle, metadata = self._shell.display_formatter.format(value)
        if not bundle:  # it has shown itself, as widgets do
            return
        self._value = _cut(in_words(bundle))
        outputs.result({**bundle, "text/plain": _cut(str(bundle.get("text/plain", "")))}, metadata)
        if bundle.keys() - ORDINARY and not is_open(value):
            self._capture.publish(bundle, metadata)

    def _show_figure(self, figure: Any) -> None:
        with self._capture.mine(), self._guarded(), self.interrupts.heard():
            bundle, metadata = self._shell.display_formatter.format(figure)
            if not bundle.keys() & set(SENDABLE):
                png = print_figure(figure, "png", base64=True)
                if any(kind.startswith(IMAGES) for kind in bundle):  # a drawing in words: SVG
                    self._capture.see(png)
                else:
                    bundle = {**bundle, "image/png": png}
            self._capture.show(bundle, metadata)

    def _show_traceback(self, kind: Any, value: Any, lines: list[str]) -> None:
        """Of an error that a magic has caught: short in the output, all of it for the person."""
        said = str(value)[:500]
        self._shown.append(without_escapes("\n".join(map(str, lines))))
        self._capture.say(f"{kind.__name__}: {said}\n")
        self._capture.outputs.fail(kind.__name__, said, [*map(str, lines)])

    def _page(self, data: Any, *_: Any, **__: Any) -> None:
        text = data.get("text/plain", "") if isinstance(data, dict) else data
        self._capture.add(f"{without_escapes(str(text))}\n")

    def _offer_input(self, text: str, replace: bool = False) -> None:
        self._capture.add(f"{text}\n")
        self._notes.append("what it would have put into the next cell stands in the output")

    def _system(self, command: str) -> None:
        """A command, its output read here; IPython swallows the interrupt of a person."""
        type(self._shell).system_piped(self._shell, command)
        if self.interrupts.by_person:
            raise KeyboardInterrupt


def _refuse_exit(*_: Any) -> None:
    raise SystemExit


def _is_plainly_large(value: Any) -> bool:
    texts = any(is_instance(value, kind) for kind in (str, bytes, bytearray))
    return texts and (size_of(value) or 0) > VALUE_CHARS


def _cut(text: str) -> str:
    if len(text) <= VALUE_CHARS:
        return text
    left_out = f"\n… {len(text) - VALUE_CHARS:,} of {len(text):,} characters left out …\n"
    return text[: VALUE_CHARS * 2 // 3] + left_out + text[-VALUE_CHARS // 3 :]


class Stepwise:
    """A coroutine each of whose steps can be interrupted, whatever loop drives it."""

    def __init__(self, coroutine: Coroutine[Any, Any, None], interrupts: Interrupts) -> None:
        self._coroutine, self._interrupts = coroutine, interrupts

    def __await__(self) -> Generator[Any, Any, None]:
        step: Callable[[], Any] = lambda: self._coroutine.send(None)  # noqa: E731
        while True:
            try:
                with self._interrupts.heard():
                    waits_for = step()
            except StopIteration:
                return
            except KeyboardInterrupt:  # it came between two steps of the code itself
                self._coroutine.close()
                raise Stopped from None
            try:
                yield waits_for
            except BaseException as error:  # noqa: BLE001 - the coroutine decides
                raised = error
                step = lambda: self._coroutine.throw(raised)  # noqa: B023, E731
            else:
                step = lambda: self._coroutine.send(None)  # noqa: E731


def run_now(run: Run, look: Callable[[], Before], drive: Callable[[Any], None]) -> Ran:
    """Run it from beginning to end in this thread; ``drive`` runs a coroutine that waits."""
    program, before = run.prepared(), look()
    with run.surroundings() as result:
        if program is not None:
            _driven(run, program, drive)
    return result(before.changes())


def _driven(run: Run, program: Program, drive: Callable[[Any], None]) -> None:
    stepwise = Stepwise(run.execute(program), run.interrupts)
    if not program.is_async:
        for _ in stepwise.__await__():
            raise RuntimeError("code without await waits for something")
        return
    try:
        with run.interrupts.heard():
            drive(_awaited(stepwise))
    except (KeyboardInterrupt, Stopped):
        run.stop()


async def run_awaited(run: Run, look: Callable[[], Before]) -> Ran:
    """Run it as a task of the loop that runs in this thread."""
    run.task = asyncio.current_task()
    program, before = run.prepared(), look()
    with run.surroundings() as result:
        if program is not None:
            try:
                await Stepwise(run.execute(program), run.interrupts)
            except Stopped:
                run.stop()
    return result(before.changes())


async def _awaited(stepwise: Stepwise) -> None:
    await stepwise
