"""Make turns again: from a recording, without a model and without side effects."""
