"""Recordings of turns: all that it takes to make a turn again without its model.

A recording holds the events of a turn, secrets masked. It lies in the record below the cell if it
is small, else in a file beside the notebook, and on this machine's shelf in any case. It can be
shown again and compared with; nothing in it allows anything.
"""
