"""Arguments of the right type: ``"42"`` becomes 42 where the schema wants an integer.

Models often write numbers, booleans and containers as text. One pass over value and schema
together changes only what loses nothing; the rest is left to validation, whose sentences the
model reads. ``dialect`` brings schemas into one form, ``nodes`` says what a schema expects of
a value, ``fitting`` does the pass, ``readings`` and ``choices`` know the single conversions,
``validation`` and ``sentences`` tell what is still wrong, and ``quick`` spares all that where
nothing is to be done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hermes_jupyter.road.coercion.changes import Change, changes_between
from hermes_jupyter.road.coercion.fitting import Fitting, TooLargeError, are_many
from hermes_jupyter.road.coercion.plans import UNUSABLE, ExhaustedError, Plan, plan_of
from hermes_jupyter.road.coercion.sentences import sentences

__all__ = ["Change", "Coerced", "coerce", "coerced", "problems"]


@dataclass(frozen=True, slots=True)
class Coerced:
    """Arguments as the tool gets them, and where they differ from what the model wrote."""

    args: dict[str, Any]
    changes: tuple[Change, ...]


def coerce(args: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of ``args`` whose values fit the types of the schema where they can.

    The schema must not be changed after its first use here: its plan is kept. Containers in
    which nothing changed are shared with ``args``.
    """
    plan = plan_of(parameters)
    if plan.quick is not None and (fitted := plan.quick.fitted(args)) is not None:
        return fitted
    return _fitted(dict(args), plan)


def coerced(args: Mapping[str, Any], parameters: Mapping[str, Any]) -> Coerced:
    """As ``coerce``, with a list of what was changed, for a trace."""
    fitted = coerce(args, parameters)
    return Coerced(fitted, tuple(changes_between(dict(args), fitted)))


def problems(args: Mapping[str, Any], parameters: Mapping[str, Any]) -> list[str]:
    """One sentence for each place that does not fit the schema, for the model to read."""
    plan = plan_of(parameters)
    if plan.quick is not None and plan.quick.approves(args):
        return []
    instance = dict(args)
    try:
        many = are_many(instance)
        if (plan.exact or many) and Fitting().accepts(plan.root, instance):
            return []
        if many:
            raise TooLargeError
        return sentences(plan.validation.errors(instance))
    except (RecursionError, ExhaustedError):
        return ["arguments: nested too deeply to be checked"]
    except TooLargeError:
        return ["arguments: too many values to be checked"]
    except UNUSABLE as error:  # a tool author's mistake, not the model's
        if "integer string conversion" in str(error):  # Python writes no longer ones
            return ["arguments: an integer has too many digits"]
        return [f"the tool's own schema cannot be used: {type(error).__name__}"]


def _fitted(args: dict[str, Any], plan: Plan) -> dict[str, Any]:
    try:
        fitted = Fitting().fit(plan.root, args)
    except (RecursionError, TooLargeError):
        return args
    if not isinstance(fitted, dict) or (fitted is not args and _spoiled(args, fitted, plan)):
        return args
    return fitted


def _spoiled(args: dict[str, Any], fitted: dict[str, Any], plan: Plan) -> bool:
    """Whether what was valid is no more: a text may fit where the number it says is too large."""
    if plan.exact or (plan.quick is not None and plan.quick.approves(fitted)):
        return False
    if are_many(fitted):
        return False
    try:
        return not plan.validation.is_valid(fitted) and plan.validation.is_valid(args)
    except (*UNUSABLE, ExhaustedError):
        return False
