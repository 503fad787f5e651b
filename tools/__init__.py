"""What a model can call. Each ``*_tool.py`` registers itself; see ``registry``."""

import logging

# A library leaves it to the program where its log goes; without this it would go to the cell.
logging.getLogger(__name__).addHandler(logging.NullHandler())
