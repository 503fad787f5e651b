"""Masks secrets in text that people keep: saved outputs, logs, the session store.

It knows shapes and values. Shapes: keys by their vendor's prefix, authorization headers, private
keys, tokens (JWT), passwords in addresses, and assignments to names that say what they hold.
Values: those of secret-looking environment variables, and what a person has entered as a
password. A mask cannot be mistaken for a key, so a masked file that is written back fails loudly.
What has no known shape and no known value is not found: this is a net, no wall.
"""

from hermes_jupyter.redaction.known import KNOWN
from hermes_jupyter.redaction.masking import is_suspicious, redact, redact_command, replaced

__all__ = ["KNOWN", "is_suspicious", "redact", "redact_command", "replaced"]
