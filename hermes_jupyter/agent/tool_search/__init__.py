"""More tools than a model can be shown: which stay in sight, and how the others are found."""
