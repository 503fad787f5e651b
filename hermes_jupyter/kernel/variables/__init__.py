"""The user's variables before each turn, so that a turn can be undone in the namespace, too."""
