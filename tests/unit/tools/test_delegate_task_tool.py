import asyncio
import json
from pathlib import Path

import pytest

from tools.delegate_task_tool import SCHEMA, delegate_task
from tools.registry import registry

SHARED = Path(__file__).resolve().parents[4] / "shared"
ORIGINAL = SHARED / "reference" / "hermes-tools-0.19.json"


class Recorder:
    """Keeps the tasks that it is given."""

    def __init__(self):
        self.tasks = []

    async def run(self, tasks, **about):
        self.tasks += tasks
        return [{"task_index": number} for number, _ in enumerate(tasks)]


def asked(**args):
    recorder = Recorder()
    context = {"tool_call_id": "c", "cancelled": None, "on_output": len}
    answer = asyncio.run(delegate_task(args, delegation=recorder, **context))
    return recorder.tasks, json.loads(answer)


def test_without_an_agent_it_says_so_in_the_words_of_the_original():
    answer = json.loads(asyncio.run(delegate_task({"goal": "a"})))
    assert answer == {"error": "delegate_task must be handled by the agent loop"}


def test_what_is_said_for_all_holds_for_tasks_that_say_nothing():
    tasks, answer = asked(
        tasks=[{"goal": "a"}, {"goal": "b", "context": "own", "toolsets": ["web"]}],
        context="common",
        toolsets=["file"],
        role="orchestrator",
    )
    assert [(task.context, task.toolsets) for task in tasks] == [
        ("common", ("file",)),
        ("own", ("web",)),
    ]
    assert all(task.orchestrates for task in tasks)
    assert answer["results"] == [{"task_index": 0}, {"task_index": 1}]


@pytest.mark.parametrize("goal", ["  count\n", "数一数", "a" * 100_000])
def test_a_goal_is_given_on_as_it_is(goal):
    tasks, _ = asked(goal=goal)
    assert [task.goal for task in tasks] == [goal]


@pytest.mark.parametrize("toolsets", ["file,todo", ["file", "todo"], ["file todo"], "file todo"])
def test_toolsets_may_be_written_in_any_way(toolsets):
    tasks, _ = asked(goal="a", toolsets=toolsets)
    assert tasks[0].toolsets == ("file", "todo")


@pytest.mark.parametrize(
    "args",
    [
        {"tasks": ["a"]},
        {"tasks": {"goal": "a"}},
        {"goal": 7},
        {"goal": "a", "toolsets": [7]},
        {"goal": "a", "toolsets": {"file": 1}},
        {"goal": "a", "context": ["x"]},
        {"goal": "a", "role": "king"},
    ],
)
def test_what_is_no_task_is_an_error_that_says_that_nothing_began(args):
    tasks, answer = asked(**args)
    assert tasks == []
    assert answer["error"].endswith("No task was begun")


@pytest.mark.skipif(not ORIGINAL.is_file(), reason="the reference is not beside this project")
def test_the_parameters_of_the_original_are_all_there():
    (original,) = [
        each for each in json.loads(ORIGINAL.read_text()) if each["name"] == "delegate_task"
    ]
    wanted = original["schema"]["parameters"]["properties"]
    ours = SCHEMA["parameters"]["properties"]
    assert wanted.keys() <= ours.keys()
    inside = wanted["tasks"]["items"]
    assert inside["properties"].keys() <= ours["tasks"]["items"]["properties"].keys()
    assert inside["required"] == ours["tasks"]["items"]["required"]
    assert wanted["role"]["enum"] == ours["role"]["enum"]


def test_it_changes_nothing_itself_and_has_no_end_by_the_clock():
    entry = registry.get_entry("delegate_task")
    assert entry.reads_only({"goal": "a"})
    assert entry.guard_fn is None
    assert entry.timeout > 86_400
