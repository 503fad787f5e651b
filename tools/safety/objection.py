"""The answer of a guard that wants a person's consent."""

from dataclasses import dataclass

from tools.safety.effect import Effect


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a call should not run without a person's consent."""

    reason: str
    """A short sentence for a person: "deletes notes.txt"."""
    shown: str
    """The exact command, or the difference, that is approved."""
    grant: str
    """What "allow this session" covers, in words."""
    forbidden: bool = False
    """Not even approval may run it."""
    cwd: str = ""
    """Where it would run, if not in the session's folder."""
    firm: bool = False
    """Neither a rule nor a model may allow it in a person's place."""
    effects: tuple[Effect, ...] = ()
    """The same as values, where they are known."""
