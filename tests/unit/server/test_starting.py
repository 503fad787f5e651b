import asyncio
import subprocess
import sys
from types import SimpleNamespace

import pytest

from hermes_jupyter.server.starting import address_of, change_environment

LOOK = "import sys, hermes_jupyter.api; print({'tornado', 'jupyter_server'} & {*sys.modules})"


def test_the_kernels_part_imports_nothing_of_the_server():
    ran = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"


class Manager:
    """Starts nothing, and keeps how it was asked to."""

    async def start_kernel(self, **options):
        self.options = options
        return "the-kernel"


@pytest.mark.parametrize("given", [{}, {"env": {"A": "1"}}, {"env": None, "path": "x"}])
def test_each_kernel_starts_with_the_environment_that_it_shall_have(given):
    manager = Manager()
    change_environment(
        manager, lambda env: {"seen": "A" if "A" in env else "PATH" * ("PATH" in env)}
    )
    assert asyncio.run(manager.start_kernel(**given)) == "the-kernel"
    assert manager.options.pop("env") == {"seen": "A" if given.get("env") else "PATH"}
    assert manager.options == {name: value for name, value in given.items() if name != "env"}


@pytest.mark.parametrize(
    ("about", "address"),
    [
        ({}, "http://127.0.0.1:8888/user/anne/"),
        ({"ip": "0.0.0.0"}, "http://127.0.0.1:8888/user/anne/"),
        ({"ip": "10.0.0.7"}, "http://10.0.0.7:8888/user/anne/"),
        ({"ip": "fd00::7", "certfile": "x"}, "https://[fd00::7]:8888/user/anne/"),
        ({"sock": "/run/jupyter"}, ""),
    ],
)
def test_a_kernel_is_told_where_its_server_is(about, address):
    app = {"ip": "localhost", "port": 8888, "base_url": "/user/anne/", "certfile": "", "sock": ""}
    assert address_of(SimpleNamespace(**{**app, **about})) == address
