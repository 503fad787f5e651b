"""What the server answers, below ``/hermes/``. Every route needs a login; see docs/security.md."""
