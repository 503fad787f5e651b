"""Code of the agent in the user's namespace: run as a cell would, without a trace in IPython."""
