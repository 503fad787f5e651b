"""What a person is told who writes the prompt beside ``%%agent``."""

from __future__ import annotations

import pytest
from IPython.core.error import UsageError
from IPython.core.inputtransformer2 import TransformerManager

from hermes_jupyter.kernel.prompt_lines import options_of, questions_are_prompts
from hermes_jupyter.magics import Hermes


@pytest.mark.parametrize("line", ["%%agent", "%%agent Which files are here", "%%agent --new\n"])
def test_the_magic_hears_of_a_lone_line(line):
    manager = TransformerManager()
    manager.cleanup_transforms.append(questions_are_prompts)
    code = manager.transform_cell(line)
    options = line.removeprefix("%%agent").strip()
    assert code == f"get_ipython().run_cell_magic('agent', {options!r}, '\\n')\n"


def test_who_types_a_lone_line_is_not_done():
    manager = TransformerManager()
    manager.cleanup_transforms.append(questions_are_prompts)
    assert manager.check_complete("%%agent") == ("incomplete", 0)
    assert manager.check_complete("%%agent\nhello\n\n")[0] == "complete"
    assert manager.check_complete("%hermes what is this?")[0] == "complete"


@pytest.mark.parametrize("line", ["%%agent?", "%%agents x", "%%time\nagent()", "%%agent\nhello"])
def test_other_cells_stay_as_they_are(line):
    lines = line.splitlines(keepends=True)
    assert questions_are_prompts(lines) == lines


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("Which files", "the prompt goes below the %%agent line"),
        ("--maxsteps 3", "no option --maxsteps; did you mean --max-steps?"),
        ("--maxsteps=3", "no option --maxsteps; did you mean --max-steps?"),
        ("--colour", r"no option --colour \(%%agent\? lists them\)"),
        ("-m", "expected one argument"),
    ],
)
def test_what_is_no_option_is_answered_with_a_remedy(line, remedy):
    with pytest.raises(UsageError, match=remedy):
        options_of(Hermes.agent, line)
