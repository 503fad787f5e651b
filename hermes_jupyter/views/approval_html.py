"""What an approval card says, as HTML. Everything in it is text from others, and escaped."""

from __future__ import annotations

from hermes_jupyter.calls import ApprovalRequest
from hermes_jupyter.events import ApprovalResolved
from hermes_jupyter.redaction import redact, redact_command
from hermes_jupyter.views import words
from hermes_jupyter.views.diff_lines import exact_listing
from hermes_jupyter.views.sanitize import escape, one_line, reveal

LINES_IN_SIGHT = 15
LINE_CHARS = 90
"""A longer command is announced as such: nobody shall approve what scrolled out of view."""
EFFECTS_IN_SIGHT = 8

JUDGED_AGAIN = "It is judged again before it runs."


def request_html(request: ApprovalRequest) -> str:
    """The question: what would run, what it does, and what each answer covers."""
    facts = [
        ("The model says", _quoted(request.purpose)),
        ("Folder", escape(reveal(request.cwd))),
        ("This session", escape(one_line(request.grant, 300))),
        ("Always", f"<code>{escape(reveal(request.rule))}</code>" if request.rule else ""),
    ]
    rows = "".join(f"<dt>{term}</dt><dd>{said}</dd>" for term, said in facts if said)
    body = exact_listing(_exactly(request.shown)) + _effects(request)
    return _dialog(request, f"{body}<dl>{rows}</dl>", _length(request.shown))


def editing_html(request: ApprovalRequest) -> str:
    """The question while a person changes what would run; the text is in a field below."""
    name = escape(one_line(request.editable, 60))
    return _dialog(request, f'<p class="hermes-quiet">Edit <b>{name}</b>. {JUDGED_AGAIN}</p>')


def resolved_html(event: ApprovalResolved, *, late: bool) -> str:
    """The line that stays of a card.

    Parameters
    ----------
    late
        Did a click come after the answer that counts?
    """
    denied = event.decision == "deny"
    shown, edited = event.request.shown, event.edited
    said = escape(words.resolved(event))
    if late:
        said += ' <span class="hermes-quiet">· expired: a later click changed nothing</span>'
    body = exact_listing(_exactly(shown))
    if edited is not None and not denied:
        said += f' <code class="hermes-short">{escape(one_line(_exactly(edited), 200))}</code>'
        body = f"<p>Asked for</p>{body}<p>Edited</p>{exact_listing(_exactly(edited))}"
    return _line(words.DECISIONS[event.decision][0], "denied" if denied else "ok", said, body)


def _exactly(text: str) -> str:
    """A text as it would run; only a secret that a shell does not act on is masked."""
    return reveal(redact_command(text))


def expired_html(request: ApprovalRequest) -> str:
    said = escape(f"Expired: {one_line(request.call.name, 60)} was already answered")
    return _line("·", "expired", said, exact_listing(_exactly(request.shown)))


def _line(sign: str, state: str, said: str, body: str) -> str:
    return (
        f'<details class="hermes-call hermes-decided hermes-is-{state}">'
        f'<summary><span class="hermes-sign">{sign}</span>'
        f'<span class="hermes-outcome" role="status">{said}</span></summary>{body}</details>'
    )


def _dialog(request: ApprovalRequest, body: str, more: str = "") -> str:
    name, reason = one_line(request.call.name, 60), one_line(request.reason, 500)
    asker = one_line(request.asker, 60)
    said = f' <span class="hermes-asker">for {escape(asker)}</span>' if asker else ""
    label = f"Approval needed: {name}" + (f" for {asker}" if asker else "")
    risk = '<span class="hermes-risk">high risk</span>' if request.risk == "high" else ""
    return (
        f'<div role="alertdialog" aria-live="assertive" aria-label="{escape(label)}">'
        f"<h4>{escape(name)} asks for approval{said}{risk}</h4>"
        f'<p class="hermes-why">{escape(reason)}{more}</p>{body}</div>'
    )


def lines_seen(text: str) -> int:
    """A long line is as many as a reader sees of it."""
    return sum(1 + len(line) // LINE_CHARS for line in text.split("\n"))


def _length(shown: str) -> str:
    lines = lines_seen(shown)
    return f" <b>({lines} lines; scroll to read them all)</b>" if lines > LINES_IN_SIGHT else ""


def _effects(request: ApprovalRequest) -> str:
    """A list, unless the reason has said it."""
    if request.effects in ((), (request.reason,)):
        return ""
    first = request.effects[:EFFECTS_IN_SIGHT]
    rows = [f"<li>{escape(one_line(effect, 200))}</li>" for effect in first]
    if more := len(request.effects) - len(first):
        rows.append(f'<li class="hermes-quiet">and {more} more</li>')
    return f'<ul class="hermes-effects" aria-label="What it does">{"".join(rows)}</ul>'


def _quoted(purpose: str) -> str:
    said = one_line(redact(purpose[:4_000]), 400)
    return f"<q>{escape(said)}</q>" if said else ""
