import pytest

from hermes_jupyter.agent.batches import plan
from hermes_jupyter.calls import ToolCall
from tools.registry import ToolRegistry

EFFECTS = {"read": "read", "write": "write", "other": "unknown"}


@pytest.fixture
def tools():
    registry = ToolRegistry()
    for name, effects in EFFECTS.items():
        registry.register(
            name, "test", {}, lambda args, **_: "", effects=effects,
            resources=lambda args: [args["path"]] if "path" in args else [],
        )  # fmt: skip
    return registry


@pytest.mark.parametrize(
    ("calls", "shape"),
    [
        (["read a", "read b"], [2]),
        (["read a", "read a"], [2]),
        (["write a", "read b"], [2]),
        (["write a", "read a"], [1, 1]),
        (["write d/a", "read d"], [1, 1]),
        (["write a", "read ./x/../a"], [1, 1]),
        (["other", "other"], [1, 1]),
        (["read a", "other", "read b"], [1, 1, 1]),
        (["write", "read a"], [1, 1]),
        (["read a"] * 9, [8, 1]),
    ],
)
def test_only_calls_that_do_not_touch_each_other_share_a_batch(tools, tmp_path, calls, shape):
    step = []
    for number, text in enumerate(calls):
        name, _, path = text.partition(" ")
        step.append(ToolCall(id=str(number), name=name, args={"path": path} if path else {}))
    batches = plan(step, tools, str(tmp_path))
    assert [len(batch) for batch in batches] == shape
    assert [call for batch in batches for call in batch] == step
