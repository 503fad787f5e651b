"""What is secret in a process's environment. What tools and the agent both need to know of it."""
