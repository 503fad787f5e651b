"""All that knows ipykernel: the gate of a busy cell, its loops, and the names of the notebook."""
