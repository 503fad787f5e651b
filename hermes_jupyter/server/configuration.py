"""What whoever runs the server may set: ``c.HermesServer.NAME`` in ``jupyter_server_config.py``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from traitlets import Bool, Dict, Float, Integer, List, Unicode
from traitlets.config import Configurable


class HermesServer(Configurable):
    """The server's part of Hermes for Jupyter. docs/security.md tells what each of these means."""

    home = Unicode(help="Where conversations are stored; empty: HERMES_HOME, or ~/.hermes.").tag(
        config=True
    )
    models = List(
        Dict(),
        help="Models that kernels may ask through the server, the first by default: {'name': ..., "
        "'provider': ..., 'base_url': ..., 'key_env': ..., 'keyring': ..., 'model': ...}.",
    ).tag(config=True)
    max_tokens_per_day = Integer(
        0, help="Tokens that each kernel may take through the server on a day; 0: any number."
    ).tag(config=True)
    max_cost_per_day = Float(
        0.0, help="US dollars that each kernel may take on a day; 0: any amount."
    ).tag(config=True)
    max_cost_of_all_per_day = Float(
        0.0, help="US dollars that all kernels together may take on a day; 0: any amount."
    ).tag(config=True)
    prices = Dict(
        help="Dollars for a million tokens: {'MODEL': {'input': 1.0, 'output': 2.0}}."
    ).tag(config=True)
    hide_keys = Bool(
        None,
        allow_none=True,
        help="Whether kernels and terminals are started without the variables that hold providers' "
        "keys; None: without those that hold the keys of `models`.",
    ).tag(config=True)
    hidden_variables = List(
        Unicode(),
        help="Further variables that they are started without: names, or patterns ('AWS_*').",
    ).tag(config=True)
    shield = Bool(
        True,
        help="Whether other processes of the same user are kept from looking into the server's "
        "memory and environment (Linux) if it holds keys.",
    ).tag(config=True)
    kernel_url = Unicode(
        help="Under which address kernels reach the server; empty: what the server says of itself."
    ).tag(config=True)
    lease_seconds = Integer(900, help="How long a kernel's token holds.").tag(config=True)
    max_request_mb = Integer(64, help="Largest request to a model, in megabytes.").tag(config=True)

    @property
    def home_folder(self) -> Path:
        """The folder of `home`."""
        named = self.home or os.environ.get("HERMES_HOME", "")
        return Path(named).expanduser() if named else Path.home() / ".hermes"


def environment() -> Mapping[str, str]:
    """The server's own."""
    return os.environ
