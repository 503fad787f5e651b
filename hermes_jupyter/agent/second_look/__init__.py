"""A second look at the answers of small models: each is compared with what the tools said.

What does not fit is said to the model, once in a turn; its next answer counts, whatever it is.
"""

from hermes_jupyter.agent.second_look.again import looked_at
from hermes_jupyter.agent.second_look.look import SecondLook
from hermes_jupyter.agent.second_look.objection import Objection

__all__ = ["Objection", "SecondLook", "looked_at"]
