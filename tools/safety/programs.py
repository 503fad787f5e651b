"""Programs and what they do, whatever their arguments or with certain options. A table to extend.

A reason is a sentence for a person, with ``{}`` for the operands of the call. Programs that are in
no table are taken to be harmless.
"""

from __future__ import annotations

from collections.abc import Mapping

_ALWAYS = {
    "deletes {}": "rm rmdir unlink shred srm trash trash-put",
    "formats {}": "mkfs wipefs fdisk parted mkswap sgdisk",
    "changes permissions of {}": "chmod chown chgrp setfacl chattr",
    "ends processes: {}": "kill pkill killall skill fuser scancel",
    "changes processes: {}": "renice taskkill",
    "stops the host": "shutdown reboot halt poweroff init telinit",
    "runs with other rights: {}": "sudo su doas pkexec runuser",
    "changes accounts: {}": "useradd userdel usermod passwd groupadd groupdel chsh visudo chpasswd",
    "changes the firewall": "iptables ufw nft ip6tables firewall-cmd",
    "changes the system: {}": "mount umount swapoff sysctl modprobe insmod rmmod setenforce",
    "talks to another host: {}": (
        "ssh scp sftp ftp telnet socat ngrok mail sendmail mutt nc ncat netcat cloudflared "
        "rclone croc"
    ),
    "changes databases: {}": "dropdb createdb dropuser",
    "reads the environment, which may hold secrets": "printenv",
    "publishes a package": "twine",
    "controls other programs": "osascript xdotool gdb strace ltrace script",
    "cuts off the content of {}": "truncate",
    "moves {}": "mv",
    "writes raw data: {}": "dd",
    "starts something later": "at batch",
    "renames {}": "rename",
    "changes system packages: {}": "dpkg rpm",
    "downloads and runs {}": "npx uvx pnpx bunx",
}
ALWAYS: Mapping[str, str] = {
    program: reason for reason, names in _ALWAYS.items() for program in names.split()
}

OPTIONS: Mapping[str, tuple[str, str]] = {
    "history": ("-c -d -w", "changes the record of your commands"),
    "sed": ("-i* -[Enrsuz]i* -[Enrsuz][Enrsuz]i* --in-place*", "changes {} in place"),
    "hash": ("-p*", "makes a name run another program: {}"),
    "enable": ("-f*", "loads a command: {}"),
    "mapfile": ("-C*", "runs a command: {}"),
    "readarray": ("-C*", "runs a command: {}"),
    "compgen": ("-C*", "runs a command: {}"),
    "bind": ("-x*", "makes a key run a command: {}"),
    "perl": ("-i -i* -pi -pi* -ni* -p*i*", "changes {} in place"),
    "ruby": ("-i -i* -pi -pi*", "changes {} in place"),
    "find": ("-delete -fprint* -fls", "deletes or overwrites what it finds in {}"),
    "rsync": ("--delete* --remove-source-files", "deletes files at the other end: {}"),
    "sort": ("-[!-]*o* -o* --o* --compress-program*", "overwrites its output file"),
    "ln": ("-f -sf -fs -sfn -fsn -nsf -snf --force", "replaces {}"),
    "unzip": ("-o", "overwrites files from {}"),
    "tar": (
        "--remove-files --delete --overwrite --to-command* -C/* --checkpoint-action*",
        "deletes or overwrites files: {}",
    ),
    "zip": ("-m --move -d --delete", "deletes files: {}"),
    "gzip": ("-f --force", "overwrites {}"),
    "crontab": ("-r -e -i -", "changes scheduled jobs"),
    "curl": (
        "-d -d* --data* -F -F* --form* -T -T* --upload-file* -o -o* -[sSLfkgv]*o -O --output* "
        "--remote-name -X -X* --request* --json* -K* --config* -J* -u* -H",
        "sends or stores data: {}",
    ),
    "wget": (
        "--post-data* --post-file* --method* --body-data* --body-file* -O* --output-document*",
        "sends or stores data: {}",
    ),
    "rg": ("--pre --pre=*", "runs a program on each file"),
    "date": ("-s --set --set=*", "sets the clock"),
    "hostname": ("-F --file", "changes the host name"),
    "jq": ("-i --in-place", "changes {} in place"),
    "yq": ("-i --inplace --in-place", "changes {} in place"),
    "nvidia-smi": ("-r --gpu-reset -pm* -pl*", "changes the graphics card"),
    "man": ("-P* --pager*", "runs a program"),
}
"""Options (as patterns) that make a program do something, and what."""

WRAPPERS: Mapping[str, str] = {
    "env": "-u --unset -C --chdir -S --split-string",
    "sudo": "-u -g -h -p -C -r -t -U -D -R -T --user --group",
    "doas": "-u -C",
    "exec": "-a",
    "time": "-o -f",
    "nice": "-n --adjustment",
    "ionice": "-c -n -p --class",
    "stdbuf": "-i -o -e",
    "timeout": "-s -k --signal --kill-after",
    "chrt": "-p",
    "xargs": "-I -n -P -L -d -a -E -s --arg-file --max-args --max-procs --delimiter --replace",
    "parallel": "-j --jobs -a",
    "flock": "-w -E",
    "watch": "-n -d --interval",
    "strace": "-e -o -p",
    "nsenter": "-t",
    **dict.fromkeys(
        [
            "nohup",
            "setsid",
            "command",
            "builtin",
            "taskset",
            "unbuffer",
            "chroot",
            "busybox",
            "toybox",
            "caffeinate",
            "entr",
            "ltrace",
            "catchsegv",
            "proxychains",
            "torsocks",
            "faketime",
            "numactl",
            "systemd-run",
            "unshare",
            "firejail",
            "dbus-run-session",
            "xvfb-run",
            "prlimit",
            "pipenv",
            "coproc",
        ],
        "",
    ),
}
"""Programs that run another one, with those of their options that take a value."""

OWN_WORDS: Mapping[str, int] = {
    "timeout": 1,
    "flock": 1,
    "taskset": 1,
    "chroot": 1,
    "faketime": 1,
    "chrt": 1,
}
"""How many words of a wrapper come before the program it runs."""

SSH_OPTIONS_WITH_VALUE = frozenset(f"-{letter}" for letter in "BbcDEeFIiJLlmOoPpQRSWw")

SHELLS = frozenset(
    ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash", "csh", "tcsh", "pwsh"]
)
SHELL_OPTIONS_WITH_VALUE = frozenset(("-o", "-O", "+o", "+O", "--rcfile", "--init-file"))

INTERPRETERS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(
        ["python", "python2", "python3", "pypy", "pypy3", "ipython"], ("program", "-c")
    ),
    "perl": ("program", "-e -E"),
    "ruby": ("program", "-e"),
    **dict.fromkeys(("node", "nodejs", "bun"), ("program", "-e --eval -p --print")),
    "deno": ("program", "eval"),
    "php": ("program", "-r"),
    **dict.fromkeys(("Rscript", "R", "lua", "julia", "osascript"), ("program", "-e")),
    **dict.fromkeys(("awk", "gawk", "mawk"), ("awk", "")),
    "sed": ("sed", "-e --expression"),
    "sqlite3": ("sql", ""),
    "duckdb": ("sql", "-c"),
    "psql": ("sql", "-c --command"),
    "mysql": ("sql", "-e --execute"),
    "clickhouse-client": ("sql", "-q --query"),
    **dict.fromkeys(("mongo", "mongosh"), ("sql", "--eval")),
    **dict.fromkeys(("ex", "vi", "vim", "nvim"), ("editor", "-c")),
    "emacs": ("program", "--eval"),
}
"""Programs with code among their arguments: its language (see `code_signs`) and the options before
it; without options the first word is the code."""
