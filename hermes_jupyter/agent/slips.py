"""One slip of the keyboard in a long word, told apart from another word.

``exectue`` is ``execute``; ``remote`` is not ``remove``, and ``get`` is not ``set``.
"""

from __future__ import annotations

import re
import unicodedata

SHORT = 4
"""In words up to here other words are one letter away: only swapped or doubled letters count."""
LONG_ENOUGH_TO_SUBSTITUTE = 6
SHORTEST_NAME = 6

_LOOKING = frozenset(
    "describe fetch find get inspect list query read search show view".split()  # noqa: SIM905
)
"""Tools named with one of these change nothing: one thing or several are much the same to them."""

_CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATORS = re.compile(r"[\W_]+")

# Real words that are one slip from a word that tools are named with: these mean themselves.
_OTHER_WORDS = frozenset(
    """
    attack expert formal massage police scheme statue tabled
    abort accept access adapt adopt affect allot allow apart append archive assert assess attach
    batch black blank block board book boot bread break brief browser build bulk cable calls cancel
    case catch cause cells chance change channel charge chart chat cheat check chunk claim clarity
    class clean clear clock clone close closed coast code comment commit compare compile complete
    compose compute confirm connect contact contain content context contract control convert copied
    cost count course court cover crate crease create created creates cube current data dated deduct
    defect delegates delete deleted deletes delta deploy depose describe detach detail detect devise
    device differ direct dispatch display dispose draft drain drive drop edict edits effect elect
    emerge emit employ enable encode enter erase erect error event except exclude execute executed
    executes executor exit expand expect expend explain explore export expose extend extent extra
    extract extracts fetch field filed files filter find fined finish fired first fixed flash flask
    flesh float flow flush focus folder forget fork form format found frame from front gather
    generate grant graph group guess halt harden head hosts image import impose improve include
    index infect inform infer inject insect insert insight inspect install instant intend intent
    invent invert invite invoke issue items join judge label launch leaf learn leave length level
    light limit lines links list listen lists live load loan local locate lock login lookup loop
    lose lower main make manage manager map march mark mask match mate mean measure member
    memorize memory merge message messages method metric mind mirror mode model modem modify monitor
    mount mouse move mute name native news next node note notice notify object observe offer omit
    open order other owner package page paint pair panel paper parse parser part party paste patch
    patches patchy path patio pause perform permit persist phase pick pitch place plan plane planes
    plant plate play plays plot point poll port pose post posts power preset present preserve
    pretend prevent preview price print prior probe process processed processes processor procure
    produce product profile program project prompt propose protect prove provide prune publish pull
    purge push quarry queen query quest queue quick quiet quit quite quota quote raise range rank
    rate reach react read ready realm rebase rebate recall receive recent recite reclaim record
    redeem redirect reduce refer refine reflect reform refresh refuse regain region register reject
    relate relation release reload remain remake remind remit remote remove removed removes rename
    render rental repair repeal repeat repel replace replay replica reply report repose repost
    request require rescue research reserve reset resend reside resign resist resize resolve resort
    respond rest restart restore result resume retail retain retire retreat retrieve retry return
    reveal reverse revert review revise revive revoke reward rewrite right rival role roll root
    route rule runs safe sales sand save scale scan scatter schedule score screen script scroll
    scrub seal search searched searcher searches season seat second section secret seed seek select
    send sense sent serial series serve server serves service sever shape share sheet shell shift
    ship shop short show shut sign silent sink site size skill skip slack slash sleep slice slide
    slow sort sound source space spare spawn speak spell spend split spread square stack staff stage
    stake stale stamp stand star stare start starts stash stat state states station status stay
    steal steam step stick still stock stone stop stops store stored stores storm story stream
    strike string strip strut study style submit subset suite summit super supply surface suspend
    swap switch table tables tack tail take talk tank target task team tear tell temp term terminate
    terminals test text than theme thread throw ticket time timer title token tools topic total
    touch tour trace traces track tracks trade trail train transfer transform transit translate
    transmit trap trash travel treat tree trend trial trigger trim true trunk trust tune turn type
    unable unblock undo unite units unload unlock unmount unset unzip update updated updates upgrade
    upload upper urge usage user users valid value values variable vary verify version view views
    virtual vision visit visitor visual voice volume vote wait wake walk warn wash watch wave weave
    weight where while white whole width wipe wire with word words work works wrap write writer
    writes written wrote yield zone zoom
    """.split()  # noqa: SIM905
)


def words_of(name: str) -> list[str]:
    """The words of a name in any spelling: separators, camelCase, letters of full width."""
    plain = unicodedata.normalize("NFKC", name)
    parts = _SEPARATORS.split(_CASE_CHANGE.sub("_", plain))
    return [part.casefold() for part in parts if part]


def is_slip(wrong: list[str], right: list[str]) -> bool:
    """Whether ``wrong`` is ``right`` with one slip in one of its long words."""
    if len(wrong) == 1 and len(right) > 1:  # the words were run together
        return _is_slip_in_joined(wrong[0], right)
    if len(wrong) != len(right) or len("".join(right)) < SHORTEST_NAME:
        return False
    changed = [pair for pair in zip(wrong, right, strict=True) if pair[0] != pair[1]]
    if len(changed) != 1:
        return False
    return _is_slip_in_word(*changed[0]) or _is_other_number(*changed[0], right)


def is_near(one: str, other: str, limit: int) -> bool:
    """Whether at most ``limit`` letters have to be changed, added or taken away."""
    if abs(len(one) - len(other)) > limit:
        return False
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        above, row[0] = row[0], number
        for place, wanted in enumerate(other, 1):
            cost = min(row[place] + 1, row[place - 1] + 1, above + (letter != wanted))
            above, row[place] = row[place], cost
        if min(row) > limit:
            return False
    return row[-1] <= limit


def _is_slip_in_joined(wrong: str, right: list[str]) -> bool:
    """Cut ``wrong`` as ``right`` is cut, with the one word that differs taking up the rest."""
    for number, word in enumerate(right):
        head, tail = "".join(right[:number]), "".join(right[number + 1 :])
        rest = len(wrong) - len(tail)
        fits = wrong.startswith(head) and wrong.endswith(tail) and rest > len(head)
        if fits and _is_slip_in_word(wrong[len(head) : rest], word):
            return True
    return False


def _is_slip_in_word(wrong: str, right: str) -> bool:
    if wrong in _OTHER_WORDS or not all(w.isascii() and w.isalpha() for w in (wrong, right)):
        return False
    if _is_swap(wrong, right) or _is_doubling(wrong, right):
        return len(right) >= SHORT
    if len(right) <= SHORT or wrong[0] != right[0]:
        return False
    if len(wrong) == len(right):
        return len(right) >= LONG_ENOUGH_TO_SUBSTITUTE and _differences(wrong, right) == 1
    return _is_letter_lost(wrong, right) or _is_letter_lost(right, wrong)


def _is_other_number(wrong: str, right: str, words: list[str]) -> bool:
    """``search_file`` for ``search_files``; but ``delete_issue`` is not ``delete_issues``."""
    is_other = wrong + "s" == right or right + "s" == wrong
    return is_other and len(right) > SHORT and not _LOOKING.isdisjoint(words)


def _differences(wrong: str, right: str) -> int:
    return sum(a != b for a, b in zip(wrong, right, strict=True))


def _is_swap(wrong: str, right: str) -> bool:
    """Two neighbouring letters changed places."""
    if len(wrong) != len(right) or _differences(wrong, right) != 2:
        return False
    place = next(i for i, pair in enumerate(zip(wrong, right, strict=True)) if pair[0] != pair[1])
    return wrong[place : place + 2] == right[place : place + 2][::-1]


def _is_doubling(wrong: str, right: str) -> bool:
    """A letter came twice."""
    return len(wrong) == len(right) + 1 and any(
        wrong[i] == wrong[i + 1] and wrong[:i] + wrong[i + 1 :] == right for i in range(len(right))
    )


def _is_letter_lost(shorter: str, longer: str) -> bool:
    """A letter inside is missing. At the end it may be another form: ``variable(s)``."""
    if len(shorter) + 1 != len(longer):
        return False
    if longer[:-1] == shorter:
        return longer[-1] not in "sdrngy" or longer.endswith("ss")
    return any(longer[:i] + longer[i + 1 :] == shorter for i in range(1, len(longer) - 1))
