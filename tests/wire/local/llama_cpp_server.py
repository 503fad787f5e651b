"""llama.cpp's own server with a file of weights, until standard input is closed."""

import json
import secrets
import sys
from pathlib import Path

from hermes_jupyter.agent.models.local.engine import configured, started


def main(weights: Path, window: int) -> None:
    key = secrets.token_hex(8)
    settings = configured(weights, "tiny", key)
    settings.n_ctx = window
    server = started(settings, weights)
    print(json.dumps({"url": f"{server.listening_address}/v1", "key": key}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
