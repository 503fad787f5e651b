"""An instance of apptainer (once called singularity): containers without a daemon."""

from __future__ import annotations

import shutil

from tools.environments.backends import Backend, OpenOptions, Settings
from tools.environments.base import Environment
from tools.environments.containers.apptainer_host import ApptainerHost
from tools.environments.containers.apptainer_program import MISSING, NAMES, Program
from tools.environments.containers.apptainer_spec import IMAGE, spec_from
from tools.environments.host import HostError
from tools.environments.remote import RemoteEnvironment


def _open(settings: Settings, options: OpenOptions) -> Environment:
    try:
        spec = spec_from(settings, options.session, options.workspace)
    except ValueError as error:
        raise HostError(str(error)) from error
    host = ApptainerHost(spec, Program(), options.env)
    return RemoteEnvironment("singularity", host, cwd=spec.cwd, env=options.env)


def _available(settings: Settings) -> tuple[bool, str]:
    if not any(map(shutil.which, NAMES)):
        return False, MISSING
    try:
        return True, spec_from(settings, "", "").image
    except ValueError as error:
        return False, str(error)


BACKEND = Backend(
    name="singularity",
    title="Apptainer instance",
    open=_open,
    available=_available,
    options={
        "TERMINAL_SINGULARITY_IMAGE": f"a .sif file, a folder, or a URL; {IMAGE} if not set",
        "TERMINAL_SINGULARITY_WORKSPACE": "none, mount or copy the notebook's folder",
        "TERMINAL_SINGULARITY_VOLUMES": 'JSON list of "/here:/there" or "/here:/there:ro"',
        "TERMINAL_SINGULARITY_NETWORK": "false: no network",
        "TERMINAL_SINGULARITY_OVERLAY": "a folder or image that keeps changes of the root",
        "TERMINAL_SINGULARITY_PIDS": "how many processes; 256 if not set",
        "TERMINAL_SINGULARITY_FAKEROOT": "true: an ordinary user looks like root there",
        "TERMINAL_CONTAINER_CPU": "how many cores; 1 if not set",
        "TERMINAL_CONTAINER_MEMORY": "how much memory, in MB or as 2g; 5120 if not set",
        "TERMINAL_CONTAINER_PERSISTENT": "false: all files there end with the session",
        "TERMINAL_SCRATCH_DIR": "where sessions and images are kept; else TERMINAL_SANDBOX_DIR",
        "TERMINAL_CWD": "the folder there to start in",
    },
)
