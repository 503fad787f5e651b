import json
import os

import pytest

from hermes_jupyter.road.secrets import Secrets
from tests.unit.tools.live_kernel import Variables
from tools.registry import registry
from tools.values.plain import HIDDEN
from tools.variables_tool import inspect_variable, list_variables

TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


def listed(variables, **args):
    return json.loads(list_variables(args, live=Variables(**variables), secrets=Secrets()))


def inspected(name, **variables):
    context = {"live": Variables(**variables), "secrets": Secrets()}
    return json.loads(inspect_variable({"name": name}, **context))


def test_each_variable_has_a_line_and_code_is_named_apart():
    answer = listed({"os": os, "n": 3, "names": ["a"], "double": lambda n: 2 * n, "Kind": dict})
    assert answer["variables"] == [
        {"name": "n", "type": "int", "value": "3"},
        {"name": "names", "type": "list", "value": "['a']"},
    ]
    assert (answer["modules"], answer["functions"], answer["classes"]) == (
        ["os"],
        ["double"],
        ["Kind"],
    )


def test_a_pattern_chooses_and_a_limit_keeps_the_newest():
    many = {f"df_{number}": number for number in range(300)} | {"other": 1}
    answer = listed(many, pattern="DF_*", limit=2)
    assert [each["name"] for each in answer["variables"]] == ["df_298", "df_299"]
    assert answer["count"] == 300
    assert "298 older" in answer["not_shown"]


def test_secrets_are_hidden_by_name_and_by_value():
    answer = json.dumps(listed({"api_key": "plain-looking-4711", "note": f"use {TOKEN}"}))
    assert "4711" not in answer
    assert TOKEN not in answer
    assert inspected("api_key", api_key="plain-looking-4711")["value"] == HIDDEN
    assert inspected("c['password']", c={"password": "correct-horse-9"})["value"] == HIDDEN
    assert TOKEN not in json.dumps(inspected("note", note=f"use {TOKEN}"))


@pytest.mark.parametrize("name", ["nothing", "a b", "", "f()"])
def test_what_cannot_be_looked_at_is_an_answer(name):
    assert "error" in inspected(name, f=1)


def test_without_a_notebook_they_say_so():
    assert "no notebook" in list_variables({})
    assert "no notebook" in inspect_variable({"name": "x"})


@pytest.mark.parametrize("name", ["list_variables", "inspect_variable"])
def test_looking_is_allowed_while_a_plan_is_made(name):
    assert registry.get_entry(name).reads_only({}) is True
