"""Turns as plain code: what the agent did, without an agent."""
