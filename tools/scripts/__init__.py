"""Scripts of the agent that call its tools, in a process of their own."""
