"""Where a shell command runs. One file per kind of place; ``base`` says what they share."""
