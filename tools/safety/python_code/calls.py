"""What functions and methods of Python do, as data. A table to extend.

``{"reason": "function(parameters) ..."}``: ``{}`` of a reason stands for the parameters that are
named, in the order of the call; ``_`` is a parameter that is no target, ``self`` the object itself.
A function that is in no table, nor in `special`, is taken to be harmless.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tools.safety.python_code.tables import words


@dataclass(frozen=True, slots=True)
class Model:
    """What a function does to which of its arguments."""

    reason: str
    targets: tuple[tuple[int, str], ...] = ()
    """Position and name."""

    @property
    def deletes(self) -> bool:
        return self.reason.startswith("deletes")


DELETES = "deletes {}"
DELETES_TREE = "deletes {} and all that is in it"
OVERWRITES = "overwrites {}"
PERMISSIONS = "changes permissions of {}"
UNSEEN = "runs code that cannot be seen"
ENDS_KERNEL = "ends the kernel"

_FUNCTIONS = {
    DELETES: (
        "os.remove(path) os.unlink(path) os.rmdir(path) os.removedirs(name) "
        "pathlib.Path.unlink(self) pathlib.Path.rmdir(self) send2trash.send2trash(paths) "
        "send2trash(paths) os.DirEntry.unlink(self)"
    ),
    DELETES_TREE: (
        "shutil.rmtree(path) distutils.dir_util.remove_tree(directory) "
        "pathlib.Path.rmtree(self) "
        "tensorflow.io.gfile.rmtree(path)"
    ),
    "moves {}": (
        "os.rename(src,dst) os.replace(src,dst) os.renames(old,new) shutil.move(src,dst) "
        "pathlib.Path.rename(self,target) pathlib.Path.replace(self,target)"
    ),
    OVERWRITES: (
        "shutil.copy(_,dst) shutil.copy2(_,dst) shutil.copyfile(_,dst) "
        "shutil.make_archive(base_name) "
        "pathlib.Path.write_text(self) pathlib.Path.write_bytes(self) "
        "pathlib.Path.copy(_,target) pathlib.Path.hardlink_to(self) "
        "urllib.request.urlretrieve(_,filename) wget.download(_,out) "
        "numpy.save(file) numpy.savez(file) numpy.savez_compressed(file) numpy.savetxt(fname) "
        "torch.save(_,f) joblib.dump(_,filename) cv2.imwrite(filename) imageio.imwrite(uri) "
        "matplotlib.pyplot.savefig(fname) matplotlib.pyplot.imsave(fname) scipy.io.savemat(_) "
        "soundfile.write(file) scipy.io.wavfile.write(filename) skimage.io.imsave(fname) "
        "torchvision.utils.save_image(_,fp) safetensors.torch.save_file(_,filename) "
        "onnx.save(_,f) networkx.write_gml(_,path) networkx.write_graphml(_,path) "
        "nbformat.write(_,fp) plotly.io.write_image(_,file) plotly.io.write_html(_,file) "
        ""
    ),
    "cuts off the content of {}": "os.truncate(path) os.ftruncate(fd) file.truncate(self)",
    PERMISSIONS: (
        "os.chmod(path) os.lchmod(path) os.fchmod(fd) os.chown(path) os.lchown(path) os.fchown(fd) "
        "os.chflags(path) shutil.chown(path) pathlib.Path.chmod(self) pathlib.Path.lchmod(self) "
        "os.setxattr(path) os.removexattr(path)"
    ),
    "changes the rights of this process": (
        "os.setuid() os.setgid() os.seteuid() os.setegid() os.setreuid() os.setgroups() "
        "os.chroot(path) os.unshare() os.setns()"
    ),
    "ends or changes processes": (
        "os.killpg() signal.pthread_kill() signal.raise_signal() signal.pidfd_send_signal() "
        "psutil.Process.kill() psutil.Process.terminate() psutil.Process.suspend() "
        "psutil.Process.send_signal() psutil.Popen.kill() psutil.Popen.terminate() "
        "subprocess.Popen.kill() subprocess.Popen.terminate() subprocess.Popen.send_signal() "
        "os.setpriority() os.nice() os.sched_setaffinity()"
    ),
    "starts a copy of this process": "os.fork() os.forkpty() pty.fork()",
    "connects its input and output to something else": "os.dup2()",
    "sends data to another host": (
        "smtplib.SMTP.sendmail() smtplib.SMTP.send_message() smtplib.SMTP_SSL.sendmail() "
        "smtplib.SMTP_SSL.send_message() ftplib.FTP.storbinary() ftplib.FTP.storlines() "
        "ftplib.FTP.delete() ftplib.FTP.rename() ftplib.FTP.rmd() ftplib.FTP_TLS.storbinary() "
        "ftplib.FTP_TLS.delete() socket.socket.send() socket.socket.sendall() "
        "socket.socket.sendto() socket.socket.sendfile() socket.socket.sendmsg() "
        "urllib3.request.RequestMethods.post() xmlrpc.client.ServerProxy() "
        "wandb.save() wandb.log_artifact() huggingface_hub.upload_file() "
        "huggingface_hub.upload_folder() huggingface_hub.delete_repo() "
        "huggingface_hub.create_repo() huggingface_hub.delete_file() "
        "websocket.WebSocket.send() websockets.send()"
    ),
    "connects to another host": (
        "paramiko.SSHClient.connect() paramiko.Transport() telnetlib.Telnet() "
        "fabric.Connection.run() asyncssh.connect() pxssh.pxssh() "
    ),
    "serves to the network": (
        "socket.socket.bind() socket.socket.listen() socket.create_server() http.server.test() "
        "http.server.HTTPServer() http.server.ThreadingHTTPServer() socketserver.TCPServer() "
        "socketserver.UDPServer() uvicorn.run() asyncio.start_server() aiohttp.web.run_app() "
        "pyngrok.ngrok.connect() ngrok.connect() ngrok.forward() waitress.serve() "
        "wsgiref.simple_server.make_server() xmlrpc.server.SimpleXMLRPCServer() "
        "multiprocessing.connection.Listener()"
    ),
    "reads passwords": (
        "keyring.get_password() keyring.get_credential() secretstorage.collection() "
        "boto3.Session.get_credentials() huggingface_hub.get_token() google.colab.userdata.get() "
        "kaggle_secrets.UserSecretsClient() win32crypt.CryptUnprotectData() "
        "botocore.session.Session.get_credentials() netrc.netrc() browser_cookie3.load() "
        "browser_cookie3.chrome() browser_cookie3.firefox() spwd.getspnam() spwd.getspall()"
    ),
    "changes stored passwords": "keyring.set_password() keyring.delete_password()",
    "reads the access to this Jupyter server": (
        "jupyter_server.serverapp.list_running_servers() "
        "notebook.notebookapp.list_running_servers() "
        "jupyter_server.list_running_servers() IPython.lib.kernel.get_connection_file() "
        "ipykernel.get_connection_info() ipykernel.connect.get_connection_info() "
        "ipykernel.get_connection_file() ipykernel.connect.get_connection_file() "
        "IPython.lib.security.passwd()"
    ),
    "reads a whole environment, which may hold secrets": (
        "psutil.Process.environ() os.environb.copy() os.environb.items()"
    ),
    UNSEEN: (
        "joblib.load() "
        "pickle.load() pickle.loads() pickle.Unpickler() marshal.load() marshal.loads() "
        "shelve.open() jsonpickle.decode() yaml.unsafe_load() yaml.unsafe_load_all() "
        "torch.hub.load() ctypes.CDLL() ctypes.PyDLL() ctypes.WinDLL() "
        "ctypes.OleDLL() ctypes.cdll.LoadLibrary() "
        "ctypes.memmove() ctypes.memset() "
        "types.FunctionType() types.CodeType() cffi.FFI.dlopen() importlib.util.module_from_spec() "
        "importlib.machinery.SourceFileLoader() code.interact() code.InteractiveConsole() "
        "code.InteractiveInterpreter() imp.load_source() numpy.ctypeslib.load_library() "
        "sys.meta_path.insert() sys.meta_path.append()"
    ),
    ENDS_KERNEL: ("faulthandler._sigsegv() get_ipython.exit() ctypes.string_at()"),
    "forgets all variables": "get_ipython.reset() get_ipython.reset_selective()",
    "installs or removes packages": (
        "micropip.install() piplite.install() ensurepip.bootstrap() spacy.cli.download() "
        "conda.cli.python_api.run_command() conda.cli.main() setuptools.setup() "
        "setuptools.command.easy_install.main() "
        ""
    ),
    "changes something that starts programs later": (
        "winreg.SetValue() winreg.SetValueEx() winreg.DeleteKey() winreg.DeleteValue() "
        "crontab.CronTab()"
    ),
    "overwrites files by those of an archive": (
        "shutil.unpack_archive() zipfile.ZipFile.extract() zipfile.ZipFile.extractall()"
    ),
    "opens a program": "os.startfile(path)",
}

_METHODS = {
    DELETES: (
        "unlink(self) rmdir(self) removedirs(self) remove_file(self,name) delete_file(self,name) "
        "delete_local_file(self) delete_files(self)"
    ),
    DELETES_TREE: "rmtree(self) remove_tree(self)",
    OVERWRITES: "write_text(self) write_bytes(self)",
    "overwrites files by those of an archive": "extractall()",
    PERMISSIONS: "chmod(self) lchmod(self) chown(self)",
    "ends or changes processes": "kill() terminate() send_signal() killpg()",
    "sends data to another host": (
        "sendall() sendto() sendmail() send_message() storbinary() storlines() sendfile() "
        "chat_postMessage() files_upload() files_upload_v2() create_tweet() update_status() "
        "post() send_email() send_raw_email() push_to_hub() upload() upload_file() "
        "upload_fileobj() upload_files() upload_folder() upload_from_filename() "
        "upload_from_string() upload_blob() upload_from_file() putfo() "
        "create_issue() create_pull() create_comment() create_file() update_file() create_repo() "
        "create_gist() create_git_release() log_artifact() log_artifacts()"
    ),
    "changes something at another host": (
        "delete() put_object() put_item() put_bucket_policy() put_bucket_acl() copy_object() "
        "batch_write_item() update_item() "
        "terminate_instances() stop_instances() start_instances() reboot_instances() "
        "run_instances() create_bucket() set_iam_policy() add_iam_policy_binding() "
        "begin_delete() insert_rows_json()"
        " create_namespaced_pod() "
        "patch_namespaced_deployment() replace_namespaced_deployment()"
    ),
    "changes databases": (
        "drop_all() drop_database() drop_collection() drop_table() drop_index() drop_view() "
        "flushall() flushdb() insert_one() insert_many() update_one() update_many() replace_one() "
        "find_one_and_delete() find_one_and_update() find_one_and_replace() bulk_write() "
        "delete_many() delete_one() to_sql(_,name) to_gbq(_,name) insertInto(_,name) "
        "saveAsTable(_,name) truncate_table() load_extension() enable_load_extension() "
        "delete_by_query() update_by_query() delete_collection() deleteMany() delete_table()"
    ),
    "serves to the network": "serve_forever() start_server() run_server()",
    ENDS_KERNEL: "do_shutdown() ask_exit() shutdown_kernel() restart_kernel() interrupt_kernel()",
    "ends the server or the kernels": "shutdown_all() stop_server() shutdown_server()",
}

_WRITERS = (
    "to_csv to_parquet to_excel to_json to_pickle to_feather to_hdf to_html to_latex to_markdown "
    "to_stata to_xml to_netcdf to_zarr to_file to_orc savefig save write_csv write_parquet "
    "write_json write_excel write_ipc write_ndjson write_image write_html write_video "
    "write_videofile write_gif save_model save_weights save_pretrained tofile sink_parquet "
    "sink_csv saveAsTextFile save_as save_word2vec_format write_png write_pdf"
)
WRITERS = frozenset(_WRITERS.split())
"""Methods that write to the path they are given, and only then."""
PATH_NAMES = (
    "path", "path_or_buf", "path_or_buffer", "fname", "filename", "file", "fp", "excel_writer",
    "save_directory", "filepath", "store", "buf", "target", "name",
)  # fmt: skip

REMOTE_CHANGES = re.compile(
    r"(?:delete|put|terminate|stop|start|reboot|create|update|upload|modify|send|publish|remove|"
    r"attach|detach|run|invoke|revoke|authorize|set|disable|enable|deregister|register|restore|"
    r"copy|batch_write|batch_delete|purge|tag|untag|cancel|reset|replace|patch|begin)_\w+|"
    r"delete|remove|put|publish|invoke|copy|upload|terminate|reboot|stop|start"
)
"""Methods of cloud clients that change something."""
CLOUD = ("boto3.", "botocore.", "google.cloud.", "azure.", "googleapiclient.", "kubernetes.")

QUIET_METHODS = words("delete_rows delete_cols delete_column")
"""Methods that only sound as if they did something elsewhere."""

HARMLESS_KINDS = (
    "collections.", "queue.", "list", "set", "dict", "io.StringIO", "io.BytesIO", "str",
    "multiprocessing.Pool", "multiprocessing.pool.", "concurrent.", "threading.", "numpy.",
    "asyncio.", "unittest.mock.", "tkinter.", "deque", "bytearray", "datetime.", "itertools.",
    "multiprocessing.Queue", "multiprocessing.Process", "re.",
)  # fmt: skip
"""Kinds of objects whose methods stay in memory."""

LOOKS_ONLY = words(
    "print help type repr str id callable isinstance issubclass hasattr dir len list tuple "
    "set IPython.display.display pprint.pprint pprint functools.wraps "
    "functools.update_wrapper typing.cast display"
)
"""Functions that do not call the functions that they are given."""
LOOKS_ONLY_IN = ("inspect.", "typing.", "unittest.mock.", "pytest.")

_ENTRY = re.compile(r"([\w.]+)\(([\w,]*)\)")


def _models(table: Mapping[str, str]) -> dict[str, Model]:
    return {
        name: Model(
            reason,
            tuple(
                (index, parameter)
                for index, parameter in enumerate(parameters.split(","))
                if parameter not in ("", "_")
            ),
        )
        for reason, entries in table.items()
        for name, parameters in _ENTRY.findall(entries)
    }


FUNCTIONS = _models(_FUNCTIONS)
METHODS = _models(_METHODS)
