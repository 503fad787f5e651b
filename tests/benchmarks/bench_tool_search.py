"""More tools than a model can be shown: to decide which it is, to index them, to search them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

from hermes_jupyter.agent.tool_search.arrangement import ToolSearch
from hermes_jupyter.agent.tool_search.bridge import Finder
from hermes_jupyter.agent.tool_search.deferral import Limits
from tests.benchmarks.rows import Row, Spread, spread
from tools.registry import ToolRegistry

TOOLS = 10_000
SEARCHES = 30
SERVICES = (
    "slack", "github", "gitlab", "jira", "notion", "stripe", "salesforce", "hubspot", "linear",
    "asana", "trello", "dropbox", "gdrive", "gmail", "outlook", "calendar", "zoom", "twilio", "s3",
    "ec2", "azure", "postgres", "mysql", "mongo", "redis", "elastic", "kafka",
)  # fmt: skip
VERBS = (
    "get", "list", "create", "update", "delete", "search", "send", "export", "import", "sync",
    "archive", "restore", "share", "move", "copy",
)  # fmt: skip
THINGS = (
    "user", "file", "message", "issue", "project", "invoice", "customer", "order", "ticket",
    "page", "database", "record", "comment", "channel", "event", "report", "dashboard", "alert",
    "secret", "branch", "commit", "release", "task", "board", "folder",
)  # fmt: skip
IN_ALL = "how to use the tools for the user: get a list of all fields known, return at most limit"
QUERIES = (
    ("a few words", "send a message to a slack channel"),
    ("misspelled words", "serch databse recrods in postgras"),
    ("words that all tools have", IN_ALL),
    ("300 words", " ".join([*SERVICES, *VERBS, *THINGS] * 5)),
    ("Chinese words that all tools have", "查询用户的订单列表并返回全部数据"),
)


def registry() -> ToolRegistry:
    tools, chance = ToolRegistry(), random.Random(7)
    for number in range(TOOLS):
        service, verb, thing = map(chance.choice, (SERVICES, VERBS, THINGS))
        properties = {
            f"{thing}_id": {"type": "string", "description": f"The id of the {thing}."},
            "limit": {"type": "integer", "description": "How many to return at most."},
        }
        about = (
            f"{verb.capitalize()} a {thing} in {service} for the user. Returns the {thing} and the "
            f"list of all its fields. Use it when the {thing} is known. 查询用户订单并返回数据。"
        )
        schema = {"description": about, "parameters": {"properties": properties}}
        tools.register(
            f"mcp_{service}_{verb}_{thing}_{number}", f"mcp-{service}", schema, lambda args, **_: ""
        )
    return tools


def rows() -> Iterator[Row]:
    tools = registry()
    finder = Finder(tools.entries())
    built = spread([seconds_of(lambda: Finder(finder.tools).index()) for _ in range(5)], 1e3)
    yield Row(
        what=f"tool search: index of {TOOLS:,} tools, once",
        value=built.median,
        unit="ms",
        target=1_000,
        detail=built.detail("ms"),
    )
    finder.index()
    for kind, query in QUERIES:
        searched = searches(finder, query)
        yield Row(
            what=f"tool search: {TOOLS:,} tools, {kind}",
            value=searched.median,
            unit="ms",
            target=5,
            detail=searched.detail("ms"),
            theirs="" if query.isascii() else "hermes-agent 0.19.0: finds nothing",
        )
    yield from decisions(tools)


def decisions(tools: ToolRegistry) -> Iterator[Row]:
    """What it costs to know what to show, at the first turn of a session and at later ones."""

    def arrange(search: ToolSearch) -> float:
        view = tools.view()
        return seconds_of(lambda: search.arrange(view, Limits(), dict))

    known = ToolSearch()
    for which, seconds in (
        ("first turn", [arrange(ToolSearch()) for _ in range(5)]),
        ("later turns", [arrange(known) for _ in range(6)][1:]),
    ):
        decided = spread(seconds, 1e3)
        yield Row(
            what=f"tool search: what to show of {TOOLS:,} tools, {which}",
            value=decided.median,
            unit="ms",
            detail=decided.detail("ms"),
        )


def searches(finder: Finder, query: str) -> Spread:
    arguments = {"query": query, "limit": 20}
    return spread([seconds_of(lambda: finder.search(arguments)) for _ in range(SEARCHES)], 1e3)


def seconds_of(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
