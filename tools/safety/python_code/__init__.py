"""What Python code does before it runs: read through its syntax tree, never executed."""

from tools.safety.python_code.judging import effects_of_cell, effects_of_python

__all__ = ["effects_of_cell", "effects_of_python"]
