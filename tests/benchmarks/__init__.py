"""What speed was promised, and what is measured. ``python -m tests.benchmarks`` reports it all."""
