"""Stand-ins for a model, for tests of this package and of tools written for it.

In one process, `ScriptedModel` takes the place of a model. Over HTTP, `ScriptedServer` plays the
same scripts as an OpenAI-compatible endpoint, `FaultyServer` fails on demand, and `StubServer` is
one of several odd servers.
"""

from hermes_jupyter.testing.scripted_model import ScriptedModel
from hermes_jupyter.testing.scripts import call

__all__ = ["ScriptedModel", "call"]
