"""Where the conformance suite runs: one file per place."""
