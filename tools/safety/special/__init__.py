"""Programs whose arguments need more than a model can say."""

from __future__ import annotations

from tools.safety.launching import Check, shell_options
from tools.safety.special import builtins, containers, files, git, network, running

CHECKS: dict[str, Check] = {
    **builtins.CHECKS,
    **containers.CHECKS,
    **files.CHECKS,
    **git.CHECKS,
    **network.CHECKS,
    **running.CHECKS,
    **dict.fromkeys(
        ("bash", "sh", "zsh", "dash", "ksh", "ash", "rbash", "mksh", "yash", "fish", "csh", "tcsh"),
        shell_options,
    ),
}
"""By program; each has a model as well."""
