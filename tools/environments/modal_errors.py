"""What an error of Modal's library means, in one line with a remedy.

Errors are told apart by the names of their classes, so that this module needs no library.
"""

from __future__ import annotations

from tools.environments.host import HostError

GET_TOKEN = (
    "Run: modal token new, or set MODAL_TOKEN_ID and MODAL_TOKEN_SECRET "
    "(https://modal.com/settings/tokens)."
)
# The first class that is among an error's own and its bases decides.
MEANINGS = {
    "AuthError": f"Modal does not accept the token: {{}}. {GET_TOKEN}",
    "PermissionDeniedError": f"Modal does not allow this to your token: {{}}. {GET_TOKEN}",
    "ImageBuildError": (
        "Modal could not make the image: {}. Check TERMINAL_MODAL_IMAGE, and look at the log with: "
        "modal image logs"
    ),
    "ResourceExhaustedError": (
        "Modal refuses because a limit of your workspace is reached: {}. End sandboxes you do not "
        "need (modal container list), wait, or raise the limit at https://modal.com/settings."
    ),
    "SandboxTerminatedError": "The Modal sandbox was ended. The next command starts another.",
    "SandboxTimeoutError": (
        "The Modal sandbox has reached the end of its time. The next command starts another."
    ),
    "AlreadyExistsError": "Modal has another sandbox of this name: {}. Try again in a moment.",
    "ConflictError": "The Modal sandbox is gone: {}. The next command starts another.",
    "NotFoundError": "Modal does not have that (any more): {}. The next command starts anew.",
    "ClientClosed": "The connection to Modal was closed. The next command opens another.",
    "ConnectionError": "Modal cannot be reached: {}. Check your network, and try again.",
    "ServiceError": (
        "Modal's servers are at fault: {}. Try again in a minute; see https://status.modal.com."
    ),
    "InternalError": (
        "Modal's servers are at fault: {}. Try again in a minute; see https://status.modal.com."
    ),
    "VersionError": "Modal's library is too old: {}. Run: pip install -U 'hermes-jupyter[modal]'",
    "InvalidError": "Modal does not understand what was asked for: {}",
    "UnimplementedError": "Modal does not offer this: {}",
    "OSError": "Modal cannot be reached: {}. Check your network, and try again.",
    "TimeoutError": "Modal did not answer in time ({}). Try again in a minute.",
}
GONE = {"NotFoundError", "ConflictError", "SandboxTerminatedError", "SandboxTimeoutError"}


def explain(error: BaseException) -> HostError:
    """The error as a person should read it; its ``__cause__`` is the error itself."""
    said = " ".join(str(error).split()) or type(error).__name__
    for kind in _names(error):
        if kind in MEANINGS:
            explained = HostError(MEANINGS[kind].format(said.rstrip(".")))
            break
    else:
        explained = HostError(f"Modal's library failed: {type(error).__name__}: {said}")
    explained.__cause__ = error
    return explained


def is_gone(error: BaseException | None) -> bool:
    """Does it say that the sandbox does not exist any more?"""
    return error is not None and not GONE.isdisjoint(_names(error))


def _names(error: BaseException) -> list[str]:
    return [kind.__name__ for kind in type(error).__mro__]
