"""A model that runs on this machine, in a child process of the kernel.

The kernel imports nothing heavy from here: engine and weights live in the child.
"""

from hermes_jupyter.agent.models.local.catalog import CONTEXT, DEFAULT, MODELS
from hermes_jupyter.agent.models.local.child import Endpoint, LocalServer, shared_server
from hermes_jupyter.agent.models.local.weights import installed

__all__ = ["CONTEXT", "DEFAULT", "MODELS", "Endpoint", "LocalServer", "installed", "shared_server"]
