"""One suite for all places in which commands run."""
