"""Everyday tasks that the local model works on, with our agent and with others: `make tasks`."""
