"""The one road of a tool call: coerce, guard, run, shape."""
