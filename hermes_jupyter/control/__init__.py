"""What other pages see and do while a kernel is busy: see docs/control-protocol.md."""
