"""Makes a long conversation shorter before it no longer fits, and loses nothing that still matters.

First without a model: old results of tools are cut. If that is not enough, a model writes notes in
the place of the older part. What was there stays on disk, where `session_search` finds it.
"""
