"""Where replies come from: OpenAI-compatible endpoints and the embedded model."""
