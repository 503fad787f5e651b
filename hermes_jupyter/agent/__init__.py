"""The agent: a loop of model calls and tool calls, with a budget. Knows no notebook."""
