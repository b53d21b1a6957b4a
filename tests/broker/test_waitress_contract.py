"""The private names of waitress that the server stands on: a release that moves one fails here."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from waitress import adjustments, channel, parser, server, task, trigger, wasyncore

C, S, W = channel.HTTPChannel, server.BaseWSGIServer, wasyncore.dispatcher


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        (C.__init__, "self server sock addr adj map"),
        (C.readable, "self"),
        (C.writable, "self"),
        (C.service, "self"),
        (C.received, "self data"),
        (C.write_soon, "self data"),
        (C._flush_some, "self do_close"),
        (C._flush_exception, "self flush do_close"),
        (C.handle_close, "self"),
        (C.add_channel, "self map"),
        (C.del_channel, "self map"),
        (W.send, "self data do_close"),
        (W.accept, "self"),
        (W.close, "self"),
        (S.handle_accept, "self"),
        (S.maintenance, "self now"),
        (S.pull_trigger, "self"),
        (S.fix_addr, "self addr"),
        (S.set_socket_options, "self conn"),
        (S.getsockname, "self"),
        (wasyncore.loop, "timeout use_poll map count"),
        (trigger.trigger.pull_trigger, "self thunk"),
        (parser.HTTPRequestParser.received, "self data"),
        (parser.HTTPRequestParser.parse_header, "self header_plus"),
        (task.Task.__init__, "self channel request"),
        (task.Task.set_close_on_finish, "self"),
        (task.Task.build_response_header, "self"),
        (task.ErrorTask.execute, "self"),
    ],
)
def test_signature(function: Any, parameters: str) -> None:
    assert list(inspect.signature(function).parameters) == parameters.split()


@pytest.mark.parametrize(
    ("function", "pieces"),
    [
        (
            S.__init__,
            ["bind_socket", "sockinfo", "self.trigger", "self.task_dispatcher", "self.active_channels"],
        ),
        (S.accept_connections, ["self.socket.listen(self.adj.backlog)"]),
        (C.service, ["self.task_class(self, request)", "self.error_task_class(self", "self.requests.pop(0)"]),
        (C.service, ["self.server.add_task(self)", "self.close_when_flushed = True"]),
        (C.received, ["self.parser_class(self.adj)", "self.server.add_task(self)", "self.request = None"]),
        (C._flush_some, ["outbuf.get(self.sendbuf_len)", "self.send(chunk, do_close=do_close)"]),
        (C._flush_some, ["self.total_outbufs_len -= num_sent"]),
        (C.write_soon, ["self.adj.send_bytes", "ReadOnlyFileBasedBuffer"]),
        (C.handle_close, ["wasyncore.dispatcher.close(self)"]),
        (C._flush_outbufs_below_high_watermark, ["self.adj.outbuf_high_watermark"]),
        (task.Task.build_response_header, ["set_close_on_finish()"]),
        (wasyncore.poll2, ["obj.readable()", "obj.writable()", "if flags:"]),
    ],
)
def test_body(function: Any, pieces: list[str]) -> None:
    source = inspect.getsource(function)
    assert [piece for piece in pieces if piece not in source] == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("will_close", False), ("close_when_flushed", False), ("total_outbufs_len", 0), ("request", None)],
)
def test_attribute_of_a_channel(name: str, value: object) -> None:
    assert getattr(C, name) == value


def test_settings() -> None:
    known = adjustments.Adjustments._param_map
    for name in ("asyncore_use_poll", "connection_limit", "max_request_header_size", "max_request_body_size"):
        assert name in known
    assert adjustments.Adjustments.send_bytes == 1
