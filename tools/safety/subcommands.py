"""Programs with subcommands: which of those do something that a person should know.

A table to extend: ``{"programs": {"reason": "subcommand, subcommand option, ..."}}``; ``*`` matches
anything, and in a reason ``{}`` stands for the operands.
"""

from __future__ import annotations

from collections.abc import Mapping

TABLE: Mapping[str, Mapping[str, str]] = {
    "git": {
        "deletes untracked files": "clean",
        "discards changes of {}": (
            "restore, checkout --, checkout HEAD, checkout --ours, checkout --theirs, checkout *.*"
        ),
        "runs a command: {}": (
            "bisect run, submodule foreach, grep -O*, grep --open-files-in-pager*, difftool -x*, "
            "difftool --extcmd*"
        ),
        "overwrites a file": "* --output=*, archive -o*, archive --output*",
        "deletes {}": "rm",
        "moves {}": "mv",
        "publishes commits: {}": "push",
        "rewrites history": "filter-branch, filter-repo",
        "removes unreachable commits": "gc, prune",
        "moves a reference: {}": "update-ref, symbolic-ref",
        "discards changes": (
            "reset --hard, reset --merge, reset --keep, checkout -f, checkout --force, "
            "checkout ., switch -f, switch --force, switch --discard-changes"
        ),
        "rewrites commits": "rebase, reset HEAD~*, reset HEAD^*",
        "rewrites the last commit": "commit --amend",
        "resets a branch": "checkout -B, switch -C",
        "deletes a branch: {}": "branch -D, branch -d, branch --delete",
        "moves a branch: {}": "branch -f, branch --force",
        "renames a branch: {}": "branch -M, branch -m",
        "deletes a tag: {}": "tag -d, tag --delete",
        "moves a tag: {}": "tag -f",
        "deletes stashed changes": "stash drop",
        "deletes all stashed changes": "stash clear",
        "deletes a work tree: {}": "worktree remove",
        "deletes work trees": "worktree prune",
        "changes remotes: {}": (
            "remote add, remote remove, remote rm, remote set-url, remote rename"
        ),
        "deletes remote branches": "remote prune",
        "deletes the way back": "reflog expire, reflog delete",
        "removes a submodule: {}": "submodule deinit",
        "changes a git setting: {}": "config core.*, config alias.*, config credential.*",
        "changes git settings: {}": "config --global, config --system, config --unset",
        "handles credentials": "credential *",
        "sends mail": "send-email",
        "overwrites files": "checkout-index -f",
        "changes the index": "read-tree",
        "deletes notes": "notes remove",
        "rewrites objects": "replace",
        "deletes files": "lfs prune",
    },
    "docker podman nerdctl": {
        "changes containers: {}": (
            "rm, rmi, kill, stop, restart, run, exec, push, login, cp, commit, pause, rename, "
            "update, import, load"
        ),
        "deletes parts of docker: {}": (
            "system prune, system rm, system remove, volume prune, volume rm, volume remove, "
            "image prune, image rm, image remove, container prune, container rm, container "
            "remove, network prune, network rm, network remove, builder prune, builder rm, "
            "builder remove, buildx prune, buildx rm, buildx remove, secret prune, secret rm, "
            "secret remove, context prune, context rm, context remove, config prune, config "
            "rm, config remove, stack prune, stack rm, stack remove, service prune, service "
            "rm, service remove"
        ),
        "removes containers": "compose down, compose rm",
        "ends containers": "compose kill, compose stop",
        "runs a program in a container: {}": "compose exec, compose run",
        "starts containers": "compose up",
        "changes the swarm": "swarm *",
    },
    "make cmake ninja": {"installs or removes files of the system": "install, uninstall"},
    "setup.py": {"installs or publishes a package": "install, develop, upload, register"},
    "manage.py": {"changes the database": "flush, migrate, reset_db, loaddata, sqlflush"},
    "docker-compose": {
        "removes containers": "down, rm",
        "starts them": "up",
    },
    "kubectl": {
        "changes the cluster: {}": (
            "delete, apply, create, drain, scale, patch, edit, replace, exec, cordon, run, "
            "set, label, annotate, taint, cp, port-forward, rollout restart, rollout undo, "
            "config set*, config use*, config delete*"
        ),
    },
    "helm": {
        "changes the cluster": "uninstall, delete, install, upgrade, rollback",
    },
    "terraform": {
        "changes infrastructure": "apply, destroy, import, taint, state *",
    },
    "tofu": {
        "changes infrastructure": "apply, destroy",
    },
    "pulumi": {
        "changes infrastructure": "up, destroy",
    },
    "aws": {
        "changes cloud resources: {}": (
            "s3 rm, s3 mv, s3 sync, s3 cp, s3 rb, s3 mb, * delete*, * terminate*, * put*, * "
            "create*, * update*, * stop*, * start*, * run*, * modify*, configure, * invoke*"
        ),
    },
    "gsutil": {
        "changes cloud storage: {}": "rm, mv, cp, rsync, rb, mb, -m *",
    },
    "gcloud": {
        "changes cloud resources: {}": (
            "* delete, * create, * * delete, * * create, * * * delete, auth *, * deploy, * * "
            "update, * * stop, * * start, storage rm, storage cp"
        ),
    },
    "az": {
        "changes cloud resources: {}": (
            "* delete, * * delete, * create, * * create, login, * * upload*"
        ),
    },
    "gh": {
        "changes something on GitHub: {}": (
            "repo delete, repo create, repo archive, pr merge, pr close, pr create, pr "
            "comment, pr review, issue create, issue close, issue comment, issue delete, "
            "release create, release delete, release upload, gist create, gist delete, secret "
            "*, auth *, workflow run, run cancel, run delete, run rerun, repo edit, repo "
            "rename, repo fork, pr edit, issue edit, variable set, ssh-key *, api -X*, api "
            "--method*, api -f*, api -F*, api --input*"
        ),
    },
    "pip pip3 pipx": {
        "installs {}": "install, upgrade, inject",
        "uninstalls {}": "uninstall",
        "downloads {}": "download",
        "deletes the cache": "cache purge, cache remove",
        "changes settings": "config set",
        "downloads and runs {}": "run",
    },
    "uv": {
        "changes packages: {}": (
            "add, remove, sync, pip install, pip uninstall, pip sync, publish, tool install, "
            "tool uninstall, cache clean, cache prune, python install, python uninstall"
        ),
    },
    "conda mamba micromamba": {
        "changes packages: {}": (
            "install, remove, uninstall, update, upgrade, create, clean, env remove, env "
            "create, env update, config --*, rename"
        ),
    },
    "poetry": {
        "changes packages: {}": "add, remove, install, update, publish, config, lock, env remove",
    },
    "pdm": {
        "changes packages: {}": "add, remove, install, update, publish",
    },
    "hatch": {
        "changes packages: {}": "publish, env remove, env prune",
    },
    "flit": {
        "publishes or installs a package": "publish, install",
    },
    "npm yarn pnpm bun": {
        "changes packages: {}": (
            "install, i, ci, add, remove, rm, uninstall, un, update, upgrade, publish, "
            "unpublish, link, login, logout, adduser, audit fix, cache clean, dlx, exec, x, "
            "deprecate, access, token, owner, config set, version, prune, dist-tag, create, "
            "init *"
        ),
    },
    "apt apt-get aptitude dnf yum zypper apk brew port snap flatpak choco winget scoop": {
        "changes system packages: {}": (
            "install, remove, purge, upgrade, full-upgrade, dist-upgrade, autoremove, update, "
            "add, del, uninstall, erase, clean, autoclean, reinstall, cleanup, tap, services "
            "*"
        ),
    },
    "cargo": {
        "changes packages: {}": "publish, install, uninstall, clean, add, remove, yank, login",
    },
    "gem": {
        "changes packages: {}": "install, uninstall, push, update, yank, cleanup",
    },
    "bundle": {
        "changes packages: {}": "install, update, add, remove, clean",
    },
    "go": {
        "changes packages: {}": "install, get, clean",
    },
    "composer": {
        "changes packages: {}": "install, require, remove, update",
    },
    "systemctl": {
        "changes services: {}": (
            "start, stop, restart, reload, enable, disable, mask, unmask, kill, isolate, "
            "daemon-reload, edit, poweroff, reboot, halt, suspend, hibernate, set-*, --user "
            "*, --now *"
        ),
    },
    "launchctl": {
        "changes services": "load, unload, remove, bootout, kickstart",
    },
    "service": {
        "changes services: {}": "*",
    },
    "supervisorctl": {
        "changes services: {}": "stop, restart, start, remove",
    },
    "jupyter": {
        "removes a kernel: {}": "kernelspec remove, kernelspec uninstall",
        "installs a kernel: {}": "kernelspec install",
        "installs an extension: {}": "labextension install",
        "removes an extension: {}": "labextension uninstall",
        "deletes the build of JupyterLab": "lab clean",
        "stops a server": "notebook stop, server stop, lab stop",
        "shows the tokens of running servers": "server list, lab list, notebook list",
        "trusts {}": "trust",
        "changes the password": "server password",
    },
    "nbstripout": {
        "changes {} in place": "*",
        "changes git settings": "--install",
    },
    "crontab": {
        "changes scheduled jobs": "*",
    },
    "huggingface-cli": {
        "changes something at Hugging Face: {}": "upload, delete-cache, login, repo *, logout",
    },
    "hf": {
        "changes something at Hugging Face: {}": "upload, auth *, repo *, cache *",
    },
    "dvc": {
        "changes data: {}": "push, gc, remove, destroy, checkout",
    },
    "kaggle": {
        "publishes something: {}": "* submit, * create, * version",
    },
    "wandb": {
        "publishes something: {}": "sync, login, artifact put",
    },
    "redis-cli": {
        "changes the database: {}": (
            "flush*, FLUSH*, del, DEL, shutdown, SHUTDOWN, set, SET, config, CONFIG"
        ),
    },
    "tmux": {
        "controls other programs: {}": "kill-*, send-keys, respawn-*",
    },
    "screen": {
        "controls other programs": "-X *, -X",
    },
    "security": {
        "reads the key chain": "*",
    },
    "pass op": {
        "reads passwords": "*",
    },
    "gpg": {
        "handles keys": "--delete*, --export-secret*, --import",
    },
    "hostnamectl": {
        "changes the host name": "set-*",
    },
    "timedatectl": {
        "sets the clock": "set-*",
    },
    "ip": {
        "changes the network: {}": "* add, * del*, * set, * flush",
    },
    "heroku": {
        "changes the app": "*destroy, *:destroy, ps:*, config:*, pg:reset, pg:*",
    },
    "vercel": {
        "deploys": "*",
    },
    "netlify firebase": {
        "deploys": "deploy",
    },
    "mlflow": {
        "deletes runs": "gc, experiments delete, runs delete",
    },
    "ollama": {
        "changes models: {}": "rm, push, pull, cp",
    },
    "databricks": {
        "changes cloud storage: {}": "fs rm, fs mv, fs cp",
        "changes cloud resources: {}": "* delete",
    },
    "mc": {
        "changes cloud storage: {}": "rm, rb, mv, cp, mirror",
    },
}

SUBCOMMANDS: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]] = {
    program: tuple(
        (tuple(entry.split()), reason)
        for reason, entries in about.items()
        for entry in entries.split(", ")
    )
    for names, about in TABLE.items()
    for program in names.split()
}
"""For each program: words to look for, and what they mean."""
