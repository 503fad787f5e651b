import subprocess
import sys

import pytest

LOOK = """
import ctypes
from hermes_jupyter.server.shield import raise_shield
prctl = ctypes.CDLL(None).prctl
before = prctl(3, 0, 0, 0, 0)
print(before, raise_shield(), prctl(3, 0, 0, 0, 0))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_nobody_else_may_look_into_a_process_with_its_shield_up():
    ran = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)
    assert ran.stdout.split()[1:] == ["True", "0"]
