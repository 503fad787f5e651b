"""What the magics of IPython do, as data. A table to extend."""

from __future__ import annotations

from collections.abc import Mapping

from tools.safety.python_code.tables import words

SHELL_LINES = words("sx system ! sc shell cmd")
"""Their line is text for a shell."""
SHELL_ALIASES: Mapping[str, str] = {
    "ls": "ls", "ll": "ls -l", "lf": "ls -l", "lk": "ls -l", "ldir": "ls -l", "lx": "ls -l",
    "cat": "cat", "cp": "cp", "mv": "mv", "rm": "rm", "rmdir": "rmdir", "mkdir": "mkdir",
    "ln": "ln", "less": "cat", "more": "cat", "man": "man",
    "clear": "clear", "pycat": "cat", "page": "echo",
    "pip": "pip", "conda": "conda", "mamba": "mamba", "micromamba": "micromamba", "uv": "uv",
    "pixi": "pixi", "git": "git",
}  # fmt: skip
"""Magics that run a program with their line."""
HARMLESS = words(
    "matplotlib pylab who whos who_ls pwd dhist dirs pinfo pinfo2 pfile psource pdef pdoc "
    "precision pprint quickref magic lsmagic autoreload aimport load_ext reload_ext "
    "unload_ext colors xmode automagic autocall bookmark popd psearch gui tb code_wrap "
    "doctest_mode xdel logstop logoff logon logstate load loadpy guiref pdb debug history "
    "hist unalias rehashx recall rep profile subshell watermark memory_profiler line_profiler "
    "matplotlib_inline autoawait cls pylab macro qtconsole nbagg sql_config config_inline "
    "reload tensorboard unset_env dataframe version_information"
)
ASKS: Mapping[str, str] = {
    "reset": "forgets all variables",
    "reset_selective": "forgets variables",
    "rerun": "runs earlier input, which cannot be seen here",
    "edit": "runs what an editor gives back, which cannot be seen",
    "ed": "runs what an editor gives back, which cannot be seen",
    "pastebin": "publishes code",
    "gist": "publishes code",
    "notebook": "overwrites a notebook",
    "killbgscripts": "ends processes",
    "connect_info": "shows the key to this kernel",
    "logstart": "writes a log of all that is typed",
    "save": "writes a file",
    "agent": "gives work to an agent",
    "hermes": "controls the agent",
    "exit": "ends the kernel",
    "quit": "ends the kernel",
    "Exit": "ends the kernel",
    "Quit": "ends the kernel",
    "install_ext": "installs an extension",
    "install_default_config": "changes how IPython starts",
    "install_profiles": "changes how IPython starts",
}
CODE_LINES = words("time timeit prun memit lprun mprun scalene pyinstrument snakeviz heat mypy")
"""Their line ends in a statement of Python, behind options."""
CODE_CELLS = words(
    "time timeit capture prun memit debug ipytest snakeviz pyinstrument scalene lprun mprun "
    "heat black mypy local notify wandb_run code_wrap cython pyximport"
)
"""Their body is a cell."""
PYTHON_CELLS = words("python python3 python2 pypy pypy3")
PROGRAM_CELLS = words(
    "bash sh zsh ksh fish script system sx ! perl ruby node deno R julia lua php pwsh cmd"
)
"""Their body is the input of a program."""
TEXT_CELLS = words("html HTML svg SVG latex markdown mermaid writetext")
BROWSER_CELLS = words("javascript js html HTML svg SVG")
SQL = words("sql bigquery sqlplus dremio duckdb trino spark sparksql read_sql")
OPTIONS_WITH_VALUE = words("-n -r -p -t -o -s -l -T -D -f -m -c --out --err --proc")
AUTOMAGIC = (
    SHELL_LINES
    | set(SHELL_ALIASES)
    | set(ASKS)
    | HARMLESS
    | CODE_LINES
    | {
        "cd",
        "pushd",
        "env",
        "set_env",
        "store",
        "run",
        "alias",
        "alias_magic",
        "config",
        "capture",
        "writefile",
        "file",
        "sql",
    }
)
"""Names that need no ``%`` when they begin the only line of a cell."""
