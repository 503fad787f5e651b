"""Conversations on disk: one SQLite file for all kernels of a user.

``schema`` and ``database`` are the file, ``journal`` and ``transcript`` write one conversation,
``recovery`` closes what a dead kernel left open, ``catalog`` finds, copies and deletes whole
conversations, ``words``, ``index`` and ``search`` find text in them.
"""
