"""Instances of apptainer: their options seen from inside, as root and as a user, and their end."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.services import apptainer
from tests.services.packages import Unavailable
from tools.environments.containers.apptainer_host import ApptainerHost
from tools.environments.containers.apptainer_program import Program
from tools.environments.containers.apptainer_spec import spec_from
from tools.environments.host import HostError, Piece


@pytest.fixture(scope="module")
def images() -> apptainer.Images:
    found = apptainer.images()
    if isinstance(found, Unavailable):
        pytest.skip(str(found))
    return found


class Hosts:
    """Opens hosts with some settings; throw-away ones without network unless told else."""

    def __init__(self, images: apptainer.Images) -> None:
        self.images = images
        self.opened: list[ApptainerHost] = []

    def __call__(
        self,
        settings: dict[str, str] | None = None,
        *,
        image: Path | None = None,
        session: str = "test",
        workspace: str = "/nonexistent",
        env: dict[str, str] | None = None,
        program: Program | None = None,
        as_root: bool = True,
    ) -> ApptainerHost:
        given = {**self.images.settings(image), **(settings or {})}
        spec = replace(spec_from(given, session, workspace), as_root=as_root)
        host = ApptainerHost(spec, program or Program(), env or {})
        self.opened.append(host)
        return host


@pytest.fixture
def hosts(images: apptainer.Images) -> Iterator[Hosts]:
    made = Hosts(images)
    yield made
    for host in made.opened:
        host.close()


@pytest.fixture
def as_user(images: apptainer.Images) -> Iterator[dict[str, Any]]:
    """What makes a host one of an ordinary user."""
    folder = Path(tempfile.mkdtemp(prefix="hermes-nobody-"))
    former = os.umask(0)  # we stay root, and make the folders that the user writes to
    try:
        program = Program(apptainer.as_nobody(folder))
        settings = {"TERMINAL_SCRATCH_DIR": str(folder / "scratch")}
        yield {"program": program, "as_root": False, "settings": settings}
    except Unavailable as reason:
        pytest.skip(str(reason))
    finally:
        os.umask(former)
        shutil.rmtree(folder, ignore_errors=True)


def sh(host: ApptainerHost, script: str) -> str:
    done = host.run(["/bin/sh", "-c", script])
    return (done.out + done.err).decode().strip()


def field(status: str, name: str) -> str:
    return next(line.split(":")[1].strip() for line in status.splitlines() if line.startswith(name))


def test_a_sandbox_folder_and_a_sif_file_are_images(hosts, images):
    assert "Debian" in sh(hosts(image=images.sandbox), "cat /etc/os-release")
    assert "BusyBox" in sh(hosts(image=images.sif), "ls --help")


def test_a_url_is_built_once_and_kept(hosts, images, tmp_path):
    settings = {
        "TERMINAL_SINGULARITY_IMAGE": f"localimage:{images.sif}",
        "TERMINAL_SCRATCH_DIR": str(tmp_path),
    }
    archive = docker_archive(tmp_path, images)
    settings["TERMINAL_SINGULARITY_IMAGE"] = f"docker-archive:{archive}"
    assert sh(hosts(settings), "echo up") == "up"
    archive.unlink()
    assert sh(hosts(settings), "echo again") == "again"


def docker_archive(folder: Path, images: apptainer.Images) -> Path:
    """An image as ``docker save`` writes it, with one layer."""
    root = images.folder / "busybox-root"
    subprocess.run(["tar", "-C", root, "-cf", folder / "layer.tar", "."], check=True, timeout=30)
    digest = hashlib.sha256((folder / "layer.tar").read_bytes()).hexdigest()
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        "history": [{}],
    }
    (folder / "config.json").write_text(json.dumps(config))
    manifest = [{"Config": "config.json", "RepoTags": ["t:1"], "Layers": ["layer.tar"]}]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    names = ["manifest.json", "config.json", "layer.tar"]
    archive = folder / "image.tar"
    subprocess.run(["tar", "-C", folder, "-cf", archive, *names], check=True, timeout=30)
    return archive


def test_an_image_that_is_nowhere_is_a_clear_error(hosts):
    with pytest.raises(HostError, match="TERMINAL_SINGULARITY_IMAGE"):
        sh(hosts({"TERMINAL_SINGULARITY_IMAGE": "/none.sif"}), "true")
    with pytest.raises(
        HostError, match=r"docker://127\.0\.0\.1:1/none.*TERMINAL_SINGULARITY_IMAGE"
    ):
        sh(hosts({"TERMINAL_SINGULARITY_IMAGE": "docker://127.0.0.1:1/none"}), "true")


def test_a_process_has_two_streams_and_an_exit_code(hosts):
    host = hosts()
    done = host.run(["sh", "-c", "cat; echo err >&2; exit 7"], stdin=b"a\0b")
    assert (done.out, done.err, done.exit_code) == (b"a\0b", b"err\n", 7)
    assert host.run(["sh", "-c", "kill -9 $$"]).exit_code == 137


def test_a_terminal_is_one(hosts):
    script = "[ -t 0 ] && [ -t 1 ] && stty size && : </dev/tty && read x && echo got $x"
    channel = hosts().open(["sh", "-c", script], pty=True)
    seen = b""
    channel.write(b"yes\n")
    deadline = time.monotonic() + 20
    while b"got yes" not in seen and time.monotonic() < deadline:
        piece = channel.read(0.5)
        seen += piece.data if piece else b""
    assert b"24 80" in seen
    assert b"got yes" in seen
    channel.close()


@pytest.mark.parametrize("value", ["1,2", "a b", "$HOME `id` $(id)", "'q' \"q\"", "two\nlines", ""])
def test_a_variable_arrives_as_it_is(hosts, value):
    host = hosts(env={"GIVEN": value})
    assert host.run(["sh", "-c", 'printf %s "$GIVEN"']).out.decode() == value


def test_nothing_of_this_machine_is_there(hosts, monkeypatch):
    monkeypatch.setenv("OURS", "visible")
    host = hosts()
    assert sh(host, 'echo "[$OURS]"; pwd; ls -A; ls -A /tmp') == "[]\n/workspace"
    assert sh(host, "ls -A /root") == ""
    assert len(sh(host, "ls -d /proc/[0-9]*").splitlines()) < 10
    assert host.isolation.host_paths == ()


def test_no_network_means_none(hosts):
    names = "cut -d: -f1 /proc/net/dev | tail -n +3"
    host = hosts()
    assert sh(host, names).split() == ["lo"]
    assert not host.isolation.network
    outside = Path("/proc/net/dev").read_text().splitlines()[2:]
    open_host = hosts({"TERMINAL_SINGULARITY_NETWORK": "true"})
    assert len(sh(open_host, names).split()) == len(outside)
    assert open_host.isolation.network


def test_root_has_no_privileges_left(hosts):
    status = sh(hosts(), "cat /proc/self/status")
    assert field(status, "NoNewPrivs") == "1"
    assert int(field(status, "CapEff"), 16) == int(field(status, "CapBnd"), 16) == 0


def test_limits_hold_for_the_whole_instance(hosts):
    limits = {
        "TERMINAL_CONTAINER_MEMORY": "64",
        "TERMINAL_SINGULARITY_PIDS": "25",
        "TERMINAL_CONTAINER_CPU": "0.2",
    }
    host = hosts(limits)
    health = (sh(host, "true"), host.health())[1]
    if "cgroups" in health.text:
        pytest.skip(health.text)
    assert host.run(["python3", "-c", "bytearray(200_000_000)"]).exit_code == 137
    assert "fork" in sh(host, "for i in $(seq 50); do sleep 1 & done; wait").lower()
    script = (
        "import time; wall, cpu = time.time(), time.process_time()\n"
        "while time.time() - wall < 1: pass\n"
        "print(time.process_time() - cpu)"
    )
    assert float(host.run(["python3", "-c", script]).out) < 0.5


def test_a_throw_away_session_leaves_nothing(hosts, images):
    host = hosts()
    assert sh(host, "touch /new /workspace/new ~/new && echo ok") == "ok"
    name = host.instance.name
    host.close()
    assert name not in Program().instances()
    assert not list((images.folder / "scratch/hermes-singularity/sessions").glob("once-*"))
    with pytest.raises(HostError, match="closed"):
        sh(host, "true")


def test_a_persistent_session_keeps_root_home_and_workspace(hosts, tmp_path):
    settings = {"TERMINAL_CONTAINER_PERSISTENT": "true", "TERMINAL_SCRATCH_DIR": str(tmp_path)}
    first = hosts(settings)
    sh(first, "echo 1 >/new; echo 2 >~/new; echo 3 >/workspace/new; rm /etc/issue")
    first.close()
    second = hosts(settings)
    assert sh(second, "cat /new ~/new /workspace/new; ls /etc/issue").startswith("1\n2\n3\nls:")


def test_a_persistent_session_is_open_only_once(hosts, tmp_path):
    settings = {"TERMINAL_CONTAINER_PERSISTENT": "true", "TERMINAL_SCRATCH_DIR": str(tmp_path)}
    first, second = hosts(settings), hosts(settings)
    assert sh(first, "echo works") == "works"
    with pytest.raises(HostError, match="open in another process"):
        sh(second, "true")
    first.close()
    assert sh(second, "echo works") == "works"


def test_an_overlay_image_limits_the_disk_and_keeps_what_fits(hosts, tmp_path):
    overlay = tmp_path / "overlay.img"
    Program().call("overlay", "create", "--size", "64", str(overlay))
    host = hosts({"TERMINAL_SINGULARITY_OVERLAY": str(overlay)})
    host.put("/etc/kept", b"as it was")
    with pytest.raises(OSError, match="No space left"):
        host.put("/etc/kept", b"x" * 100_000_000)
    assert host.get("/etc/kept") == b"as it was"
    assert sh(host, "echo and it works") == "and it works"
    host.close()
    assert hosts({"TERMINAL_SINGULARITY_OVERLAY": str(overlay)}).get("/etc/kept") == b"as it was"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/file.txt").write_text("from here")
    (folder / "link").symlink_to("sub/file.txt")
    return folder


def test_a_mounted_workspace_is_the_same_folder(hosts, project):
    host = hosts({"TERMINAL_SINGULARITY_WORKSPACE": "mount"}, workspace=str(project))
    assert sh(host, "cat link; echo out >made") == "from here"
    assert (project / "made").read_text() == "out\n"
    assert host.isolation.host_paths == (str(project),)


def test_a_copied_workspace_is_another_folder(hosts, project):
    host = hosts({"TERMINAL_SINGULARITY_WORKSPACE": "copy"}, workspace=str(project))
    assert sh(host, "cat link; rm -r sub; echo out >made") == "from here"
    assert (project / "sub/file.txt").exists()
    assert not (project / "made").exists()


def test_a_workspace_that_is_too_large_is_not_copied(hosts, project, tmp_path, monkeypatch):
    monkeypatch.setattr("tools.environments.containers.apptainer_instance.COPY_LIMIT", 5)
    settings = {
        "TERMINAL_SINGULARITY_WORKSPACE": "copy",
        "TERMINAL_CONTAINER_PERSISTENT": "true",
        "TERMINAL_SCRATCH_DIR": str(tmp_path / "scratch"),
    }
    with pytest.raises(HostError, match="too much to be copied"):
        sh(hosts(settings, workspace=str(project)), "true")
    monkeypatch.undo()
    assert sh(hosts(settings, workspace=str(project)), "cat link") == "from here"


def test_volumes_are_mounted_and_told_as_host_paths(hosts, project):
    volumes = f'["{project}:/data", "{project}/sub:/fixed:ro"]'
    host = hosts({"TERMINAL_SINGULARITY_VOLUMES": volumes})
    assert sh(host, "cat /fixed/file.txt; touch /data/new") == "from here"
    assert (project / "new").exists()
    assert "Read-only" in sh(host, "touch /fixed/new")
    assert host.isolation.host_paths == (str(project),)


def test_the_starting_folder_can_be_chosen(hosts):
    assert sh(hosts({"TERMINAL_CWD": "/srv/work"}), "pwd") == "/srv/work"


# As an ordinary user


def test_a_user_works_in_a_sandbox_without_privileges(hosts, as_user):
    host = hosts(**as_user)
    assert (
        sh(host, "id -un; pwd; touch x ~/y /tmp/z && echo $HOME")
        == "nobody\n/workspace\n/home/agent"
    )
    assert int(field(sh(host, "cat /proc/self/status"), "CapEff"), 16) == 0
    assert sh(host, "cut -d: -f1 /proc/net/dev | tail -n +3").split() == ["lo"]


def test_limits_of_a_user_hold_for_each_process_where_there_are_no_cgroups(hosts, as_user):
    as_user["settings"] |= {
        "TERMINAL_CONTAINER_MEMORY": "256",
        "TERMINAL_SINGULARITY_PIDS": "40",
        "TERMINAL_CONTAINER_CPU": "1",
    }
    host = hosts(**as_user)
    failed = host.run(["python3", "-c", "bytearray(500_000_000)"])
    assert failed.exit_code != 0
    assert "fork" in sh(host, "for i in $(seq 80); do sleep 1 & done; wait").lower()
    if host.instance.limits:
        assert "each process" in host.health().text
        count = "import os; print(len(os.sched_getaffinity(0)))"
        assert host.run(["python3", "-c", count]).out.strip() == b"1"


def test_a_persistent_session_of_a_user_keeps_its_root(hosts, as_user):
    as_user["settings"] |= {"TERMINAL_CONTAINER_PERSISTENT": "true"}
    first = hosts(**as_user)
    assert sh(first, "echo 1 >~/x && echo 2 >/workspace/x && echo ok") == "ok"
    first.close()
    assert sh(hosts(**as_user), "cat ~/x /workspace/x") == "1\n2"


def test_a_user_can_look_like_root(hosts, as_user):
    as_user["settings"] |= {"TERMINAL_SINGULARITY_FAKEROOT": "true"}
    assert sh(hosts(**as_user), "id -u; touch ~/x && echo $HOME") == "0\n/root"


@pytest.fixture
def fuse() -> Iterator[None]:
    """Ordinary users may mount, as on any desktop; here only root can."""
    if os.geteuid() != 0 or not apptainer.FUSE.exists():
        pytest.skip("needs root and /dev/fuse")
    mode = apptainer.FUSE.stat().st_mode
    apptainer.FUSE.chmod(0o666)
    yield
    apptainer.FUSE.chmod(mode)


def test_a_user_works_in_a_sif_file(hosts, as_user, fuse, images):
    host = hosts(**as_user, image=images.sif)
    assert sh(host, "id -u; touch x ~/y && echo ok") == "65534\nok"


# Faults


def test_an_instance_that_was_killed_is_told_and_started_again(hosts, tmp_path):
    settings = {"TERMINAL_CONTAINER_PERSISTENT": "true", "TERMINAL_SCRATCH_DIR": str(tmp_path)}
    host = hosts(settings)
    sh(host, "echo kept >/new")
    channel = host.open(["sh", "-c", "echo started; sleep 600"])
    assert channel.read(20) == Piece("out", b"started\n")
    os.kill(Program().instances()[host.instance.name], 9)
    began = time.monotonic()
    with pytest.raises(HostError, match="ended with its place"):  # noqa: PT012
        while time.monotonic() - began < 20:
            channel.read(0.5)
    channel.close()
    assert not host.health().ok
    assert sh(host, "cat /new") == "kept"
    assert host.health().ok


LEAVE = """
import os, sys
from tools.environments.containers.apptainer_host import ApptainerHost
from tools.environments.containers.apptainer_program import Program
from tools.environments.containers.apptainer_spec import spec_from
settings = dict(pair.split("=", 1) for pair in sys.argv[1:])
host = ApptainerHost(spec_from(settings, "left", "/w"), Program(), {})
host.run(["true"])
print(host.instance.name, flush=True)
os.kill(os.getpid(), 9)
"""


def test_what_a_dead_process_left_is_removed_by_the_next(hosts, images):
    pairs = [f"{name}={value}" for name, value in images.settings().items()]
    done = subprocess.run(
        [sys.executable, "-c", LEAVE, *pairs],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    left = done.stdout.strip()
    assert left in Program().instances(), done.stderr
    mine = hosts()
    sh(mine, "true")
    deadline = time.monotonic() + 10
    while left in (found := Program().instances()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left not in found
    assert mine.instance.name in found
    sessions = images.folder / "scratch/hermes-singularity/sessions"
    assert len(list(sessions.glob("once-*"))) == 1


def test_without_apptainer_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(HostError, match=r"apptainer\.org"):
        Program()
