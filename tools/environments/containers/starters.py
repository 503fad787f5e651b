"""What stands in front of a program, to make up for what an engine does not do."""

SIZED = ("/bin/sh", "-c", 'stty rows 24 cols 80 2>/dev/null; exec "$@"', "sh")
"""Gives a terminal its size: an engine does that late, or never."""

LINGERING = (
    "/bin/sh",
    "-c",
    'exec 3>&2 2>/dev/null; (exec 2>&3 3>&-; exec "$@"); code=$?; '
    'sleep 0.5 || sleep 1; exit "$code"',
    "sh",
)
"""Stays a moment after the program: podman drops what children print when the first process ends.

Its own standard error goes nowhere, for a shell tells there by which signal a program ended.
"""
