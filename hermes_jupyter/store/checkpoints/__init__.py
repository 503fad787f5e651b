"""What files were like before each turn, so that a turn can be undone.

One SQLite file for each workspace, outside of it. A shadow git repository would do the same with
five child processes a turn, ten times slower, and would keep neither modes nor empty folders.
"""
