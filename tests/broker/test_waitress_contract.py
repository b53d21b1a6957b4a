"""The private names of waitress that the server uses: a release that changes one fails here."""

import ast
import inspect
import re
from typing import Any

import pytest
from waitress import adjustments, channel, parser, server, task, wasyncore

from tests.deploy.harness import ROOT

C, S, W = channel.HTTPChannel, server.BaseWSGIServer, wasyncore.dispatcher


@pytest.mark.parametrize(("function", "pieces"), [
    (S.__init__, ["bind_socket", "sockinfo", "self.trigger", "self.task_dispatcher", "self.active_channels"]),
    (S.accept_connections, ["self.socket.listen(self.adj.backlog)"]),
    (C.service, ["self.task_class(self, request)", "self.error_task_class(self", "self.requests.pop(0)"]),
    (C.service, ["self.server.pull_trigger()", "self.close_when_flushed = True"]),
    (C._flush_some, ["outbuf.get(self.sendbuf_len)", "self.send(chunk, do_close=do_close)"]),
    (C._flush_some, ["self.total_outbufs_len -= num_sent"]),
    (C.write_soon, ["self.adj.send_bytes", "ReadOnlyFileBasedBuffer"]),
    (C.handle_close, ["wasyncore.dispatcher.close(self)"]),
    (C._flush_outbufs_below_high_watermark, ["self.adj.outbuf_high_watermark"]),
    (task.Task.service, ["self.execute()"]),
    (task.Task.finish, ["if not self.wrote_header", "if self.chunked_response"]),
    (wasyncore.poll2, ["obj.readable()", "obj.writable()", "if flags:"]),
])  # fmt: skip
def test_bodies_of_waitress_functions(function: Any, pieces: list[str]) -> None:
    source = inspect.getsource(function)
    assert [piece for piece in pieces if piece not in source] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("will_close", False), ("close_when_flushed", False), ("total_outbufs_len", 0), ("request", None)],
)
def test_attributes_of_a_channel(name: str, value: object) -> None:
    assert getattr(C, name) == value


def test_waitress_settings() -> None:
    known = adjustments.Adjustments._param_map
    for name in ("asyncore_use_poll", "connection_limit", "max_request_header_size", "max_request_body_size"):
        assert name in known
    assert adjustments.Adjustments.send_bytes == 1


USED = {
    "channel.py": (
        [channel.HTTPChannel],
        """_flush_exception _flush_some add_channel addr adj close_when_flushed del_channel error_task_class handle_close
        handle_expt handle_read handle_write parser_class readable received recv request requests send sendbuf_len
        server service socket task_class total_outbufs_len will_close writable""",
    ),
    "tls_channel.py": ([channel.HTTPChannel], "sendbuf_len socket will_close"),
    "server.py": (
        [server.TcpWSGIServer],
        """_map accept accepting active_channels addr adj channel_class close family fix_addr getsockname handle_accept
        handle_close pull_trigger readable set_socket_options socket trigger""",
    ),
    "task.py": (
        [task.WSGITask, task.ErrorTask],
        """build_response_header channel complete execute has_body request response_headers set_close_on_finish start_time
        status version wrote_header""",
    ),
    "parser.py": ([parser.HTTPRequestParser],
        "body_rcv command completed connection_close error header_plus headers parse_header received request_uri"),
}  # fmt: skip
"""Names of waitress's classes that each file uses, without those of `object`."""


def insides(base: type) -> set[str]:
    """Attributes of a class and its instances."""
    given = re.findall(r"self\.(\w+)(?:, self\.\w+)* =[^=]", "".join(map(inspect.getsource, base.__mro__[:-1])))
    return {*dir(base), *given} - set(dir(object))


@pytest.mark.parametrize("file", USED)
def test_used_waitress_names_exist_and_are_listed(file: str) -> None:
    bases, names = USED[file]
    tree = ast.parse((ROOT / "osbctl" / "broker" / file).read_text())
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    used = {node.attr for node in attributes if getattr(node.value, "id", "") != "_log"}
    used |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    used |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    assert used & set().union(*map(insides, bases)) == set(names.split())
