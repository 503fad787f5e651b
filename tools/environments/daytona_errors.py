"""What an error of Daytona's library means, in one line with a remedy.

Errors are told apart by the names of their classes, so that this module needs no library.
"""

from __future__ import annotations

from tools.environments.host import HostError

GET_KEY = "Make a key at https://app.daytona.io/dashboard/keys, and set DAYTONA_API_KEY."
SERVERS = (
    "Daytona's servers are at fault: {}. Try again in a minute; see https://status.daytona.io."
)
QUOTA = (
    "Daytona refuses because a limit of your organization is reached: {}. Delete sandboxes you do "
    "not need (https://app.daytona.io/dashboard/sandboxes), ask for less with "
    "TERMINAL_CONTAINER_CPU, TERMINAL_CONTAINER_MEMORY and TERMINAL_CONTAINER_DISK, or raise it."
)
GONE = "The Daytona sandbox is gone or stopped: {}. The next command starts it, or another."
NETWORK = "Daytona cannot be reached: {}. Check your network and DAYTONA_API_URL, and try again."
LATE = "Daytona did not answer in time: {}. Try again in a minute."
# The first class that is among an error's own and its bases decides.
MEANINGS = {
    "DaytonaAuthenticationError": f"Daytona does not accept the key: {{}}. {GET_KEY}",
    "DaytonaForbiddenError": f"Daytona does not allow this to your key: {{}}. {GET_KEY}",
    "DaytonaRateLimitError": "Daytona asks to slow down: {}. Try again in a minute.",
    "DaytonaNotFoundError": GONE,
    "DaytonaGoneError": GONE,
    "DaytonaConflictError": "Daytona is busy with this sandbox: {}. Try again in a moment.",
    "DaytonaConnectionTimeoutError": LATE,
    "DaytonaConnectionError": NETWORK,
    "DaytonaTimeoutError": LATE,
    "DaytonaInternalServerError": SERVERS,
    "DaytonaBadGatewayError": SERVERS,
    "DaytonaServiceUnavailableError": SERVERS,
    "DaytonaBadRequestError": "Daytona refuses what was asked for: {}",
    "OSError": NETWORK,
    "TimeoutError": LATE,
}


def explain(error: BaseException) -> HostError:
    """The error as a person should read it; its ``__cause__`` is the error itself."""
    said = " ".join(str(error).split()) or type(error).__name__
    explained = HostError(_meaning(error, said).format(said.rstrip(".")))
    explained.__cause__ = error
    return explained


def is_gone(error: BaseException | None) -> bool:
    """Does it say that the sandbox does not exist any more, or does not run?"""
    if error is None:
        return False
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if kinds & {"DaytonaNotFoundError", "DaytonaGoneError"}:
        return True
    return "DaytonaBadRequestError" in kinds and "not running" in str(error)


def _meaning(error: BaseException, said: str) -> str:
    if is_gone(error):
        return GONE
    low = said.lower()
    if "quota" in low or "limit exceeded" in low:
        return QUOTA
    if "build" in low and "fail" in low:
        return "Daytona could not make the image: {}. Check TERMINAL_DAYTONA_IMAGE."
    for kind in type(error).__mro__:
        if kind.__name__ in MEANINGS:
            return MEANINGS[kind.__name__]
    return f"Daytona's library failed: {type(error).__name__}: {{}}"
