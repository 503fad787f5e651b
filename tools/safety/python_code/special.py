"""Which functions have a model of their own, beyond the table of `calls`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from tools.safety.python_code import code_models as code
from tools.safety.python_code import databases, files, ipython, processes, web
from tools.safety.python_code.call import Call
from tools.safety.python_code.values import Value

Handler = Callable[[Call], Value]


def _table(entries: Mapping[Handler, str]) -> dict[str, Handler]:
    return {name: handler for handler, names in entries.items() for name in names.split()}


_READS = ("get", "head", "options")
_SENDS = ("post", "put", "patch", "delete")
_REQUESTS = ("request", "stream", "urlopen")
_CLIENTS = (
    "requests.Session", "requests.session", "httpx.Client", "httpx.AsyncClient",
    "aiohttp.ClientSession",
)  # fmt: skip
_CONNECTIONS = (
    *_CLIENTS, "urllib3.PoolManager", "urllib3.HTTPConnectionPool", "http.client.HTTPConnection",
    "http.client.HTTPSConnection",
)  # fmt: skip


def _verbs(modules: Iterable[str], verbs: Iterable[str], handler: Handler) -> dict[str, Handler]:
    return {f"{module}.{verb}": handler for module in modules for verb in verbs}


_WEB: dict[str, Handler] = {
    **_verbs(("requests", "httpx"), _READS, web.reads),
    **_verbs(("requests", "httpx"), _SENDS, web.sends),
    **_verbs(("requests", "httpx"), _REQUESTS, web.requests_by_function),
    **_verbs(_CLIENTS, _READS, web.reads_by_method),
    **_verbs(_CLIENTS, _SENDS, web.sends_by_method),
    **_verbs(_CONNECTIONS, _REQUESTS, web.requests_by_method),
    "urllib.request.urlopen": web.opened_url,
    "urllib.request.Request": web.request_object,
    "urllib3.request": web.requests_by_function,
}  # fmt: skip

FUNCTIONS: Mapping[str, Handler] = {
    **_WEB,
    **_table({
        files.opened: (
            "open gzip.open bz2.open lzma.open tarfile.open pathlib.Path.open os.fdopen "
            "tensorflow.io.gfile.GFile logging.FileHandler fsspec.open smart_open.open dbm.open "
            "gzip.GzipFile wave.open"
        ),
        files.opened_archive: "zipfile.ZipFile h5py.File pandas.HDFStore pandas.ExcelWriter "
        "zipfile.PyZipFile netCDF4.Dataset",
        files.opened_by_number: "os.open",
        files.copied_tree: "shutil.copytree",
        files.edited_in_place: "fileinput.input fileinput.FileInput",
        files.linked: "os.symlink os.link pathlib.Path.symlink_to",
        files.folder_changed: "os.chdir contextlib.chdir",
        files.found: "glob.glob glob.iglob",
        files.listed: "os.listdir",
        files.scanned: "os.scandir",
        files.walked: "os.walk os.fwalk pathlib.Path.walk",
        files.joined: "os.path.join pathlib.Path pathlib.Path.joinpath",
        files.expanded: "os.path.expanduser os.path.expandvars pathlib.Path.expanduser",
        files.absolute: (
            "os.path.abspath os.path.realpath pathlib.Path.resolve pathlib.Path.absolute"
        ),
        files.here: "os.getcwd os.getcwdb pathlib.Path.cwd",
        files.home: "pathlib.Path.home",
        processes.run: (
            "subprocess.run subprocess.call subprocess.check_call subprocess.check_output "
            "subprocess.Popen psutil.Popen subprocess_tee.run"
        ),
        processes.shell_text: (
            "os.system os.popen subprocess.getoutput subprocess.getstatusoutput "
            "asyncio.create_subprocess_shell asyncio.subprocess.create_subprocess_shell "
            "invoke.run delegator.run envoy.run commands.getoutput fabric.api.local "
            "IPython.utils.process.system IPython.utils.process.getoutput "
            "IPython.utils.process.getoutputerror sarge.run"
        ),
        processes.shell_text_of_method: "invoke.Context.run",
        processes.words: (
            "asyncio.create_subprocess_exec asyncio.subprocess.create_subprocess_exec"
        ),
        processes.executed: " ".join(
            f"os.{kind}{end}"
            for kind in ("exec", "spawn")
            for end in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")
        ) + " os.posix_spawn os.posix_spawnp",
        processes.terminal: "pty.spawn pexpect.spawn pexpect.run pexpect.spawnu pexpect.runu",
        processes.killed: "os.kill",
        processes.pip: "pip.main pip._internal.main pip._internal.cli.main.main",
        processes.chosen_program: "sh.Command",
        code.executes: "exec eval",
        code.compiles: "compile",
        code.imported: "__import__ importlib.import_module importlib.__import__",
        code.attribute_by_name: "getattr object.__getattribute__ inspect.getattr_static",
        code.attributes: "vars",
        code.variables: "globals locals",
        code.getter: "operator.attrgetter operator.methodcaller",
        code.item_by_function: "operator.getitem dict.get dict.__getitem__",
        code.bound: "functools.partial functools.partialmethod",
        code.mapped: "map itertools.starmap",
        code.same_items: (
            "sorted list tuple set frozenset iter filter tqdm.tqdm tqdm tqdm.auto.tqdm tqdm.trange "
            "itertools.chain.from_iterable"
        ),
        code.reversed_items: "reversed",
        code.numbered: "enumerate",
        code.paired: "zip itertools.product itertools.zip_longest",
        code.counted: "range",
        code.summed: "functools.reduce",
        code.one_of: "next random.choice",
        code.operated: "operator.add operator.concat operator.xor",
        code.dictionary: "dict collections.OrderedDict",
        code.environment_copied: "os.environ.copy copy.copy.environ",
        code.environment_read: (
            "os.environ.items os.environ.values os.environ.keys os.environ.__iter__ "
            "os.environ.__repr__ os.environb.items os.environb.copy"
        ),
        code.variable_read: "os.getenv os.environ.get os.environ.setdefault os.environ.pop",
        code.variables_set: "os.environ.update os.putenv",
        code.shows: (
            "print IPython.display.display display pprint.pprint pprint"
            " IPython.display.publish_display_data"
        ),
        code.scripted: (
            "IPython.display.HTML IPython.display.Javascript IPython.display.display_html "
            "IPython.display.display_javascript"
        ),
        code.loads_arrays: "numpy.load torch.load",
        code.loads_yaml: "yaml.load yaml.load_all",
        code.runs_path: "runpy.run_path runpy.run_module",
        code.ends_process: "os._exit os.abort exit quit sys.exit get_ipython.ask_exit",
        code.timed: "timeit.timeit timeit.repeat cProfile.run profile.run",
        code.made_text: "str os.fsdecode os.fspath",
        databases.connected: (
            "sqlite3.connect duckdb.connect sqlalchemy.create_engine psycopg2.connect "
            "psycopg.connect pymysql.connect MySQLdb.connect mysql.connector.connect "
            "aiosqlite.connect"
        ),
        databases.executes_here: "duckdb.sql duckdb.query duckdb.execute",
        databases.reads_by_sql: (
            "pandas.read_sql pandas.read_sql_query pandas.io.sql.execute polars.read_database"
        ),
        ipython.shell_line: (
            "get_ipython.system get_ipython.getoutput get_ipython.system_raw "
            "get_ipython.system_piped get_ipython.getoutput_piped"
        ),
        ipython.line_magic: "get_ipython.run_line_magic",
        ipython.any_magic: "get_ipython.magic",
        ipython.cell_magic: "get_ipython.run_cell_magic",
        ipython.cell: (
            "get_ipython.run_cell get_ipython.run_cell_async get_ipython.ex get_ipython.ev "
            "get_ipython.runcode get_ipython.run_code get_ipython.safe_run_module"
        ),
    }),
}  # fmt: skip
METHODS: Mapping[str, Handler] = {
    **dict.fromkeys(
        ("execute", "executescript", "exec_driver_sql", "executemany"), databases.executes
    ),
    **dict.fromkeys(("sql", "query", "read_sql", "run_query", "raw"), databases.reads_by_sql),
    **_table({
        web.may_send: "put patch",
        web.may_request: "request",
        web.may_read: "get",
        web.may_serve: "run launch serve",
        web.may_push: "push",
        web.downloaded: "download_file download_fileobj download_to_filename",
        processes.shell_text_of_method: "system getoutput run_command",
        processes.remote_shell: "exec_command sudo",
        ipython.line_magic: "run_line_magic",
        ipython.cell_magic: "run_cell_magic",
    }),
}  # fmt: skip
"""Of methods of objects that are not known."""
