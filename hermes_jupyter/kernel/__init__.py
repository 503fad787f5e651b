"""What ipykernel needs of us: serving a busy cell, and the user's namespace."""
