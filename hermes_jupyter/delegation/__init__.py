"""Agents that work for an agent, and models that are asked together.

A child is a turn of its own on a session of its own: the same loop, the same road, the same gate.
Here is what makes it a child: what it gets of its parent, how it begins and ends, and what the
parent reads of it.
"""
