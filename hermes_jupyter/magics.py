"""``%%agent`` and ``%hermes``. They parse and show; the work is done elsewhere."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from IPython.core.displaypub import publish_display_data
from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from traitlets import Bool, Dict, Enum, Float, Integer, List, Unicode, Union

from hermes_jupyter.kernel.prompt_lines import options_of

if TYPE_CHECKING:
    from hermes_jupyter.desktop import Desktop
    from hermes_jupyter.session import Session

SECRET_IN_PROMPT = (
    "hermes_jupyter: the prompt holds a secret. It is masked in the history and in what is stored, "
    "but the model reads it and the cell keeps it: better name a file or a variable that holds it."
)

SUBCOMMANDS = {
    "help": 0, "status": 0, "tools": 1, "model": 1, "new": 1, "reset": 1, "list": 0,
    "attach": 0, "stop": 0, "jobs": 2, "say": 10_000, "continue": 0, "last": 0, "eject": 2,
    "usage": 0, "doctor": 0, "version": 0, "fix": 1,
    "audit": 1, "trash": 1, "compact": 0, "terminal": 1, "memory": 2, "skills": 1,
    "undo": 3, "redo": 2, "diff": 1, "restore": 4, "checkpoints": 0,
    "sessions": 1, "resume": 1, "fork": 2, "rename": 2, "export": 2, "delete": 1,
}  # fmt: skip
"""Name and the most words that may follow it, unless they are options; else it is a prompt."""

NOBODY_STAYS = (
    "hermes_jupyter: a program runs this notebook and ends the kernel behind its last cell, "
    "so this cell waits for its turn."
)
OFF_IN_A_FILE = (
    "hermes_jupyter: a configuration file cannot switch approvals off. For this kernel: "
    "%config Hermes.approvals = 'off'"
)


@magics_class
class Hermes(Magics):
    """The agent's magics. Each trait can be set with ``%config Hermes.NAME = VALUE``."""

    model = Unicode(help="Model name; empty takes what is there.").tag(config=True)
    base_url = Unicode(help="OpenAI-compatible endpoint, with /v1.").tag(config=True)
    provider = Unicode(
        help="Who serves the model, such as openrouter; empty: what base_url says."
    ).tag(config=True)
    api = Enum(["", "chat", "responses"], "", help="Which of OpenAI's interfaces to use.").tag(
        config=True
    )
    fallback_models = List(
        help="Models to ask when the first fails: names, or {'provider': ..., 'model': ...}."
    ).tag(config=True)
    max_tries = Integer(3, help="How often a model is asked before the next is.").tag(config=True)
    first_token_timeout = Float(
        0.0, help="Longest wait for the beginning of an answer, in seconds; 0: the provider's."
    ).tag(config=True)
    stall_timeout = Float(
        0.0, help="Longest silence in the middle of an answer, in seconds; 0: the provider's."
    ).tag(config=True)
    max_tokens = Integer(0, help="Tokens that a turn may take; 0: any number.").tag(config=True)
    max_cost = Float(0.0, help="US dollars that a turn may cost; 0: any amount.").tag(config=True)
    prices = Dict(
        help="Dollars for a million tokens: {'MODEL': {'input': 1.0, 'output': 2.0}}."
    ).tag(config=True)
    local_model = Unicode(help="A known local model, or a path to a .gguf file.").tag(config=True)
    profile = Enum(
        ["", "auto", "full", "small", "tiny"],
        "",
        help="Help for the model: small for a weak one, full for none; auto: what its name tells.",
    ).tag(config=True)
    vision = Enum(
        ["auto", "on", "off"], "auto", help="Whether the model sees images; auto: its name tells."
    ).tag(config=True)
    vision_model = Union(
        [Unicode(), Dict()], help="Who looks at images for a model that does not see them."
    ).tag(config=True)
    toolsets = List(Unicode(), help="Toolsets and tools to offer.").tag(config=True)
    disabled = List(Unicode(), help="Toolsets and tools never to offer.").tag(config=True)
    max_steps = Integer(90, help="Model calls allowed in a turn.").tag(config=True)
    approvals = Enum(
        ["", "ask", "edits", "plan", "auto", "deny", "off"],
        "",
        help="What to do before something destructive; empty takes what config.yaml says, or asks.",
    ).tag(config=True)
    allow = List(
        Unicode(), help="Rules to run without asking, such as 'terminal(rm build.log)'."
    ).tag(config=True)
    ask = List(Unicode(), help="Rules to ask a person about, whatever allows it.").tag(config=True)
    deny = List(Unicode(), help="Rules never to run; they win.").tag(config=True)
    approval_timeout = Float(
        0.0, help="Seconds after which an unanswered request counts as denied; 0: never."
    ).tag(config=True)
    frontend = Enum(
        ["auto", "widget", "control", "input", "policy"], "auto", help="How a person is asked."
    ).tag(config=True)
    tool_timeout = Float(600.0, help="Longest time of a tool, in seconds.").tag(config=True)
    hook_timeout = Float(5.0, help="Longest time of a hook, in seconds.").tag(config=True)
    context_window = Integer(
        0, help="Tokens of the model's context window; 0 takes what its server says."
    ).tag(config=True)
    env_passthrough = List(
        Unicode(), help="Variables that commands get although they look secret ('AWS_*')."
    ).tag(config=True)
    containment = Enum(
        ["", "off", "auto", "bubblewrap", "landlock"], "", help="What holds commands in bounds."
    ).tag(config=True)
    network = Enum(["", "on", "off"], "", help="Whether contained commands have a network.").tag(
        config=True
    )
    isolated = Enum(
        ["", "ask", "run"], "", help="Whether commands in a container without your folders run."
    ).tag(config=True)
    scanner = Unicode(
        help="A program that looks at commands first, or off; empty: tirith if it is there."
    ).tag(config=True)
    scanner_timeout = Float(5.0, help="Seconds that it may take.").tag(config=True)
    scanner_fail_open = Bool(
        True, help="Whether commands run unscanned when it fails; else a person is asked."
    ).tag(config=True)
    checkpoint_space = Integer(
        1024, help="Megabytes of a workspace's checkpoints, for %hermes undo; 0 keeps none."
    ).tag(config=True)
    reopen = Bool(
        True, help="Whether the notebook goes on with its conversation after a restart."
    ).tag(config=True)
    context = Float(
        10.0, help="Percent of the model's window for your cells above (0: it is not told)."
    ).tag(config=True)
    delegation = Dict(
        help="Agents that work for the agent: {'max_concurrent_children': 3, 'model': ...}."
    ).tag(config=True)
    mixture = Dict(
        help="Models to ask together: {'reference_models': [...], 'aggregator_model': ...}."
    ).tag(config=True)
    record = Bool(
        False, help="Whether turns leave a recording that another machine can replay."
    ).tag(config=True)
    replay = Enum(
        ["", "record", "tools"], "", help="Make turns again from recordings; tools: run those anew."
    ).tag(config=True)
    recordings = Unicode(help="A notebook or folder with the recordings to replay.").tag(
        config=True
    )
    keep_answers = Enum(
        ["prompt", "context", "never"],
        "prompt",
        help="When a cell that runs again keeps its answer: if its prompt is the same, or if what "
        "was asked before is the same, too.",
    ).tag(config=True)
    compaction = Float(
        50.0, help="Percent of the window at which a conversation is made shorter (0: never)."
    ).tag(config=True)
    compaction_model = Unicode(help="Who writes notes on its older part; empty: the model.").tag(
        config=True
    )
    tool_search_share = Float(
        10.0, help="Percent of the model's window for tools; of more it sees a part (0: all)."
    ).tag(config=True)
    tool_limit = Integer(
        128, help="Tools that the provider accepts in a request; 0: any number."
    ).tag(config=True)

    def __init__(self, shell: Any, **options: Any) -> None:
        super().__init__(shell, **options)
        if self.approvals == "off":  # from a file: each kernel begins with its questions armed
            self.approvals = ""
            print(OFF_IN_A_FILE)

    @property
    def desktop(self) -> Desktop:
        """The kernel's sessions and turns; made (and imported) at first use."""
        from hermes_jupyter.api import desktop
        from hermes_jupyter.settings import load

        return desktop(load({name: getattr(self, name) for name in self._chosen()}))

    def _chosen(self) -> list[str]:
        """Traits that say something else than their default, which ``config.yaml`` may say."""
        traits = self.traits(config=True)
        return [name for name, trait in traits.items() if getattr(self, name) != trait.default()]

    @no_var_expand
    @magic_arguments()
    @argument("-m", "--model", default="", help="Model for this turn ('local': the embedded one).")
    @argument("-t", "--tools", default="", help="Toolsets or tools, separated by commas.")
    @argument("--no-tools", action="store_true", help="Answer without tools.")
    @argument("--no-context", action="store_true", help="Say nothing of the cells above.")
    @argument("--max-steps", type=int, default=0, help="Model calls allowed in this turn.")
    @argument("--max-tokens", type=int, default=0, help="Tokens that this turn may take.")
    @argument("--max-cost", type=float, default=0.0, help="US dollars that this turn may cost.")
    @argument("--new", action="store_true", help="Begin a new conversation.")
    @argument("--session", default="", help="Name of the conversation to go on with.")
    @argument("-o", "--output", default="", metavar="VAR", help="Variable for the result.")
    @argument(
        "--approve",
        default="",
        metavar="MODE",
        help="ask, edits, plan, auto, deny, or off (run everything).",
    )
    @argument("--plain", action="store_true", help="Plain text instead of widgets.")
    @argument("--background", action="store_true", help="Return at once; the turn goes on.")
    @argument("--fresh", action="store_true", help="Ask anew although the prompt is unchanged.")
    @argument("--record", action="store_true", help="Keep in the notebook what a replay needs.")
    @argument(
        "--replay",
        nargs="?",
        const="record",
        default="",
        choices=["record", "tools"],
        help="Make the turn again from its recording; =tools runs its tools and compares.",
    )
    @cell_magic
    def agent(self, line: str, cell: str) -> None:
        """Give the cell's text to the agent and show its work below the cell.

        ``{name}`` in the text stands for the value of a variable of yours; ``@name`` stays, and
        the agent is told what it is. The agent asks before anything destructive; Interrupt ends
        the turn. A cell that runs again with the same prompt keeps its answer; ``--fresh`` asks
        anew.
        """
        self._run(cell, options_of(self.agent, line))

    @no_var_expand
    @line_magic
    def hermes(self, line: str) -> None:
        """Control the agent: ``%hermes help`` lists the commands; anything else is a prompt."""
        words = line.split()
        name = words[0] if words else "help"
        if _is_command(name, words[1:]):
            from hermes_jupyter import reports

            reports.COMMANDS[name](self, words[1:])
        elif name != "call" or not self._call(line.strip().removeprefix("call")):
            _refuse_slips(words)
            self._run(line, parse_argstring(self.agent, ""))

    def _run(self, text: str, options: Any) -> None:
        if not text.strip():
            raise UsageError("the cell is empty; write below %%agent what should be done")
        _must_make_sense(options)
        desktop = self.desktop
        self.keep_out_of_history(text)
        prompt, chosen = self.expanded(text), self._chosen_for(options)
        if self._goes_behind(options, chosen):
            desktop.run_in_background(prompt, **chosen)
        else:
            self._keep(desktop.run(prompt, **chosen), options)

    def expanded(self, text: str) -> str:
        """The text with the values of the user's variables in the place of their ``{names}``.

        What those are that it mentions as ``@name`` stands below it.
        """
        from hermes_jupyter.kernel.mentions import as_meant

        return as_meant(text, self.shell.user_ns)

    def keep_out_of_history(self, text: str) -> None:
        """IPython has stored the cell already: mask what is secret in it."""
        from hermes_jupyter.kernel.history import mask_newest_input
        from hermes_jupyter.redaction import KNOWN, redact

        KNOWN.refresh()
        if redact(text) != text:
            mask_newest_input(self.shell, redact)
            print(SECRET_IN_PROMPT)

    def _call(self, line: str) -> bool:
        """Make the call that the line after ``call`` asks for; False if it is a prompt."""
        from hermes_jupyter.call_line import UnclearArgumentsError, parse
        from hermes_jupyter.one_call import is_tool

        try:
            read = parse(line)
            if not read.name:
                raise UsageError("which tool? %hermes call NAME ...; %hermes tools lists them")
            looks_so = read.options or read.has_arguments or not read.rest
            if not looks_so and not is_tool(self.desktop.hermes, read.name):
                return False
            options = parse_argstring(self.agent, read.options)
            _must_make_sense(options)
            self._make(read.name, read.arguments(), options)
        except UnclearArgumentsError as error:
            raise UsageError(f"{error}. (A prompt goes into an %%agent cell.)") from None
        return True

    def _make(self, name: str, arguments: str, options: Any) -> None:
        desktop, chosen = self.desktop, self._chosen_for(options)
        if self._goes_behind(options, chosen):
            desktop.call_in_background(name, arguments, **chosen)
        else:
            self._keep(desktop.call(name, arguments, **chosen), options)

    def _goes_behind(self, options: Any, chosen: dict[str, Any]) -> bool:
        """Whether it runs in the background; where a program runs the cells, it would be lost."""
        stays = chosen["options"].place.attended or self.desktop.hermes.settings.page_comes_later
        if options.background and not stays:
            print(NOBODY_STAYS)
        return bool(options.background and stays)

    def _chosen_for(self, options: Any) -> dict[str, Any]:
        from hermes_jupyter.kernel.request import place_of
        from hermes_jupyter.kernel.shell import current_kernel

        said = self.for_this_cell(_turn_options(options, place_of(current_kernel(), self.shell)))
        return {"session": self._session(options), "options": said}

    def for_this_cell(self, options: Any) -> Any:
        """The options of a turn in the cell that runs, with what its cell and its page say."""
        from hermes_jupyter.cell_settings import under
        from hermes_jupyter.kernel.request import told_by_cell, told_by_page
        from hermes_jupyter.kernel.shell import current_kernel

        kernel = current_kernel()
        cell, page = told_by_cell(kernel), told_by_page(kernel)
        return under(options, cell, page, self.desktop.hermes.settings)

    def _keep(self, result: Any, options: Any) -> None:
        if options.output:
            self.shell.user_ns[options.output] = result

    def display(self, bundle: dict[str, Any]) -> None:
        """Show a bundle of MIME types as output of the current cell."""
        publish_display_data(bundle)

    def _session(self, options: Any) -> Session:
        hermes = self.desktop.hermes
        return (hermes.new_session if options.new else hermes.session)(options.session)


def _is_command(name: str, words: list[str]) -> bool:
    if name not in SUBCOMMANDS:
        return False
    return len(words) <= SUBCOMMANDS[name] or words[0].startswith("--")


def _must_make_sense(options: Any) -> None:
    if options.max_steps < 0:
        raise UsageError(f"--max-steps must be at least 1, not {options.max_steps}")
    if options.max_tokens < 0:
        raise UsageError(f"--max-tokens must be at least 1, not {options.max_tokens}")
    if not 0 <= options.max_cost < float("inf"):
        raise UsageError(f"--max-cost must be an amount of dollars, not {options.max_cost}")
    if options.fresh and options.replay:
        raise UsageError("--fresh asks the model anew and --replay asks nobody; choose one")
    if options.output and not options.output.isidentifier():
        raise UsageError(f"-o needs the name of a variable, not {options.output!r}")


def _refuse_slips(words: list[str]) -> None:
    """A mistyped command or an option is no prompt."""
    if words[0].startswith("-"):
        raise UsageError(f"%hermes takes no option {words[0]!r}; use %%agent {words[0]} ...")
    near = get_close_matches(words[0], [*SUBCOMMANDS, "call"], n=1, cutoff=0.75)
    if near and len(words) <= 2:
        raise UsageError(
            f"there is no command {words[0]!r}; did you mean %hermes {near[0]}? "
            "(A prompt of one or two words goes into an %%agent cell.)"
        )


def _turn_options(options: Any, place: Any) -> Any:
    from hermes_jupyter.turn_values import TurnOptions

    return TurnOptions(
        model=options.model,
        tools=tuple(name for name in options.tools.split(",") if name),
        no_tools=options.no_tools,
        no_context=options.no_context,
        max_steps=options.max_steps,
        max_tokens=options.max_tokens,
        max_cost=options.max_cost,
        approve=options.approve,
        frontend="input" if options.plain else "",
        record=options.record,
        replay=options.replay,
        keep=not options.fresh,
        place=place,
    )
