"""Full names of modules, classes and functions, however the code calls them."""

from __future__ import annotations

import builtins
import posixpath
from collections.abc import Mapping

from tools.safety.python_code.tables import words
from tools.safety.python_code.values import Known, Value

_OTHER_NAMES = {
    "os": "posix nt",
    "os.path": "posixpath ntpath",
    "pathlib.Path": "pathlib.PosixPath pathlib.WindowsPath pathlib.PurePath pathlib.PurePosixPath "
    "anyio.Path upath.UPath",
    "open": "io.open _io.open codecs.open aiofiles.open io.FileIO builtins.open",
    "numpy": "np",
    "pandas": "pd",
    "matplotlib.pyplot": "plt",
    "tensorflow": "tf",
    "networkx": "nx",
    "pickle": "_pickle cPickle dill cloudpickle",
    "sqlite3": "_sqlite3 pysqlite3",
    "getpass.getpass": "getpass",
    "get_ipython": "IPython.get_ipython IPython.core.getipython.get_ipython "
    "IPython.InteractiveShell.instance IPython.core.interactiveshell.InteractiveShell.instance",
    "subprocess": "subprocess32",
    "urllib.request.urlopen": "urllib.urlopen urllib2.urlopen",
    "IPython.display": "IPython.core.display",
    "requests.Session": "requests.sessions.Session",
    "aiohttp.ClientSession": "aiohttp.client.ClientSession",
    "paramiko.SSHClient": "paramiko.client.SSHClient",
}
ALIASES: Mapping[str, str] = {
    alias: name for name, others in _OTHER_NAMES.items() for alias in others.split()
}
WELL_KNOWN: Mapping[str, str] = {
    **{
        name: name
        for name in [
            "sys",
            "pathlib",
            "json",
            "re",
            "io",
            "itertools",
            "inspect",
            "string",
            "logging",
            "platform",
            "gc",
            "math",
        ]
    },
    "np": "numpy",
    "pd": "pandas",
    "plt": "matplotlib.pyplot",
    "tf": "tensorflow",
    "Path": "pathlib.Path",
    "Popen": "subprocess.Popen",
    "check_output": "subprocess.check_output",
    "check_call": "subprocess.check_call",
    "getoutput": "subprocess.getoutput",
    "getstatusoutput": "subprocess.getstatusoutput",
    "popen": "os.popen",
    "system": "os.system",
    "environ": "os.environ",
    "getenv": "os.getenv",
    "rmtree": "shutil.rmtree",
    "copyfile": "shutil.copyfile",
    "copytree": "shutil.copytree",
    "unlink": "os.unlink",
    "rmdir": "os.rmdir",
    "removedirs": "os.removedirs",
    "remove": "os.remove",
    "execv": "os.execv",
    "execvp": "os.execvp",
    "Request": "urllib.request.Request",
    "urlopen": "urllib.request.urlopen",
    "urlretrieve": "urllib.request.urlretrieve",
    "import_module": "importlib.import_module",
    "ZipFile": "zipfile.ZipFile",
    "chdir": "os.chdir",
    "expanduser": "os.path.expanduser",
    "display": "IPython.display.display",
    "HTML": "IPython.display.HTML",
    "Javascript": "IPython.display.Javascript",
    "Mock": "unittest.mock.Mock",
    "MagicMock": "unittest.mock.MagicMock",
}
"""What a name most likely stands for that an earlier cell has imported."""

_HOME_OF_ALL = words("os sys subprocess shutil builtins socket importlib pickle ctypes")
"""Modules that others have as attributes: ``shutil.os`` is ``os``."""
BUILTINS = frozenset(dir(builtins)) | {"get_ipython", "exit", "quit"}
CONSTANTS: Mapping[str, Value] = {
    "os.sep": Known("/"),
    "os.path.sep": Known("/"),
    "os.curdir": Known("."),
    "os.pardir": Known(".."),
    "os.devnull": Known("/dev/null"),
    "os.linesep": Known("\n"),
    "sys.executable": Known("python3"),
    "string.ascii_lowercase": Known("abcdefghijklmnopqrstuvwxyz"),
    "string.ascii_uppercase": Known("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    "string.ascii_letters": Known("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    "string.digits": Known("0123456789"),
    "signal.SIGKILL": Known(9),
    "signal.SIGTERM": Known(15),
    "signal.SIGINT": Known(2),
    "os.O_RDONLY": Known(0),
    "os.O_WRONLY": Known(1),
    "os.O_RDWR": Known(2),
    "os.O_CREAT": Known(0o100),
    "os.O_EXCL": Known(0o200),
    "os.O_TRUNC": Known(0o1000),
    "os.O_APPEND": Known(0o2000),
}


def full_name(name: str) -> str:
    """The one name under which a thing is in our tables."""
    if name in ALIASES:
        return ALIASES[name]
    head, dot, last = name.rpartition(".")
    if not dot:
        return name
    if last in _HOME_OF_ALL and head != last:
        return last
    if head in ("builtins", "__builtins__"):
        return last
    if head in ALIASES:
        name = f"{ALIASES[head]}.{last}"
        return ALIASES.get(name, name)
    return name


def joined_path(first: str, second: str) -> str:
    return second if second.startswith("/") else posixpath.join(first, second)
