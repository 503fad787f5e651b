import os

import pytest

from hermes_jupyter.errors import ConfigurationError
from hermes_jupyter.store.standing import StandingRules


def test_a_rule_is_there_for_the_next_kernel(tmp_path):
    StandingRules(tmp_path).add("terminal(echo 'ä: #')")
    other = StandingRules(tmp_path)
    assert other.rules() == ("terminal(echo 'ä: #')",)
    assert os.stat(other.path).st_mode & 0o777 == 0o600  # noqa: PTH116


def test_kernels_that_run_see_each_others_rules(tmp_path):
    one, other = StandingRules(tmp_path), StandingRules(tmp_path)
    assert other.rules() == ()
    one.add("a")
    other.add("b")
    one.add("b")
    assert one.rules() == other.rules() == ("a", "b")


@pytest.mark.parametrize("text", ["allow: [", "allow: 7", "- a", "allow: [7]"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, text):
    rules = StandingRules(tmp_path)
    rules.add("a")
    rules.path.write_text(text)
    with pytest.raises(ConfigurationError, match=r"approvals\.yaml"):
        rules.rules()
    with pytest.raises(ConfigurationError):
        rules.add("b")
