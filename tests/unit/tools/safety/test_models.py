"""The models of programs: files that people extend, so what is wrong in one must be seen."""

import time
import tomllib
from importlib import resources
from typing import get_args

import pytest

from tools.safety import models
from tools.safety.effect import Kind
from tools.safety.special import CHECKS

FILES = sorted((file for file in (resources.files("tools.safety") / "effects").iterdir()), key=str)
KEYS = {
    "programs", "values", "dash", "does", "blocks", "safe", "other", "rehearses", "recursive",
    "reads", "wraps", "shell", "shell_words", "code", "code_options", "first_is_code", "stdin",
    "elsewhere",
}  # fmt: skip


def sections():
    for file in FILES:
        yield from tomllib.loads(file.read_text(encoding="utf-8")).items()


def test_no_program_has_two_models():
    names = [name for heading, keys in sections() for name in keys.get("programs", heading).split()]
    assert sorted(names) == sorted(set(names))
    assert len(names) > 1_000


def test_only_known_keys_and_kinds_are_used():
    for heading, keys in sections():
        assert keys.keys() <= KEYS, heading
        kinds = [key.partition(":")[0] for key in (*keys.get("does", ()), keys.get("other", ""))]
        assert {kind.strip() for kind in kinds if kind} <= set(get_args(Kind)), heading


def test_every_model_can_be_loaded():
    for heading, keys in sections():
        for name in keys.get("programs", heading).split():
            assert models.model_of(name) is not None, name


def test_alternatives_are_not_torn_by_a_blank():
    for heading, keys in sections():
        model = models.model_of(keys.get("programs", heading).split()[0])
        assert model is not None
        near = [entry for entries in model.by_word.values() for entry in entries]
        for entry in (*model.entries, *model.safe, *near):
            assert not [word for word in entry.words if word[:2] == "*|" or word[-2:] == "|*"]


@pytest.mark.parametrize("program", sorted(CHECKS))
def test_a_program_with_a_check_has_a_model(program):
    assert models.model_of(program) is not None


def test_models_are_loaded_quickly():
    models._sections.cache_clear()
    began = time.process_time()
    models.model_of("git")
    assert time.process_time() - began < 0.1
