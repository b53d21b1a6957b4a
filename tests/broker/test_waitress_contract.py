"""The private names of waitress that the server uses, and what they do: a release that changes one fails here."""

import ast
import select
import socket
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from waitress import adjustments, channel, server, wasyncore
from waitress.buffers import ReadOnlyFileBasedBuffer
from waitress.utilities import build_http_date

from tests.deploy.harness import ROOT


class Waitress:
    """One of each of waitress's objects, on a listening socket and one connection of it."""

    def __init__(self) -> None:
        self.adj = adjustments.Adjustments(asyncore_use_poll=True, log_socket_errors=False, ident="")
        self.adj.send_bytes = self.adj.outbuf_high_watermark = sys.maxsize
        self.map: dict[int, Any] = {}
        self.dispatcher = object()
        listener = socket.create_server(("127.0.0.1", 0))
        self.server = server.TcpWSGIServer(
            None, self.map, _sock=listener, dispatcher=self.dispatcher, adj=self.adj,
            sockinfo=(listener.family, listener.type, 0, listener.getsockname()), bind_socket=False,
        )  # fmt: skip
        self.client = socket.create_connection(listener.getsockname(), timeout=60)
        accepted, address = self.server.accept()
        self.channel = channel.HTTPChannel(self.server, accepted, address, self.adj, map=self.map)
        self.sent: list[bytes] = []
        self.accepts = True
        self.channel.send = self._send

    def _send(self, data: bytes, do_close: bool = True) -> int:
        self.sent.append(bytes(data))
        return len(data) if self.accepts else 0

    def close(self) -> None:
        self.client.close()
        for one in list(self.map.values()):
            one.close()


@pytest.fixture
def waitress() -> Iterator[Waitress]:
    one = Waitress()
    yield one
    one.close()


def test_a_server_listens_on_the_socket_that_it_gets(waitress: Waitress) -> None:
    assert waitress.server.task_dispatcher is waitress.dispatcher
    assert [*waitress.server.active_channels.values()] == [waitress.channel]
    assert {waitress.server, waitress.channel, waitress.server.trigger} == {*waitress.map.values()}
    assert waitress.server.accepting


def test_what_is_written_is_kept_until_it_is_worth_a_send(waitress: Waitress) -> None:
    channel = waitress.channel
    channel.sendbuf_len = 4_000
    channel.write_soon(bytes(10_000))
    assert (waitress.sent, channel.total_outbufs_len) == ([], 10_000)
    waitress.accepts = False
    channel._flush_exception(channel._flush_some)
    assert ([*map(len, waitress.sent)], channel.total_outbufs_len) == ([4_000], 10_000)
    waitress.accepts = True
    channel._flush_exception(channel._flush_some)
    assert ([*map(len, waitress.sent)], channel.total_outbufs_len) == ([4_000, 4_000, 4_000, 2_000], 0)


def test_large_writes_neither_send_nor_wait(waitress: Waitress) -> None:
    for _ in range(2):
        waitress.channel.write_soon(bytes(1 << 18))
    assert (waitress.sent, waitress.channel.total_outbufs_len) == ([], 2 << 18)


def test_a_full_buffer_is_replaced_at_the_next_write(waitress: Waitress) -> None:
    channel = waitress.channel
    channel.write_soon(bytes(10_000))
    (used,) = channel.outbufs
    channel.current_outbuf_count = sys.maxsize
    channel._flush_some()
    channel.write_soon(bytes(10_000))
    channel._flush_some()
    assert used not in channel.outbufs
    assert len(channel.outbufs) == 1


def test_a_file_is_not_copied(waitress: Waitress) -> None:
    with (ROOT / "LICENSE").open("rb") as text:
        file = ReadOnlyFileBasedBuffer(text)
        file.prepare()
        waitress.channel.write_soon(file)
        assert file in waitress.channel.outbufs
        assert waitress.channel.total_outbufs_len == len(file)


def test_a_closed_channel_is_forgotten(waitress: Waitress) -> None:
    waitress.channel.handle_close()
    assert waitress.server.active_channels == {}
    assert waitress.channel not in waitress.map.values()
    assert waitress.client.recv(1) == b""


def test_map_is_set_and_deleted_for_each_object(waitress: Waitress) -> None:
    """`PolledSockets` notices both."""
    descriptor = waitress.channel._fileno
    assert waitress.map[descriptor] is waitress.channel
    waitress.channel.handle_close()
    assert descriptor not in waitress.map


def test_listener_and_trigger_are_read(waitress: Waitress) -> None:
    told = []
    waitress.server.handle_accept = lambda: told.append("accept")
    wasyncore.readwrite(waitress.server, select.POLLIN)
    assert told == ["accept"]
    waitress.server.trigger.pull_trigger()
    wasyncore.readwrite(waitress.server.trigger, select.POLLIN)  # would wait for a byte that is not there


def test_attributes_of_a_channel() -> None:
    first = channel.HTTPChannel
    assert (first.will_close, first.close_when_flushed, first.request) == (False, False, None)
    assert (first.total_outbufs_len, first.current_outbuf_count) == (0, 0)


def test_waitress_settings() -> None:
    known = adjustments.Adjustments._param_map
    for name in ("backlog", "max_request_header_size", "max_request_body_size"):
        assert name in known
    assert adjustments.Adjustments.send_bytes == 1
    assert build_http_date(1_700_000_000) == "Tue, 14 Nov 2023 22:13:20 GMT"


USED = {
    "channel.py": (
        ["channel"],
        """_flush_exception _flush_some add_channel addr adj close_when_flushed current_outbuf_count del_channel
        handle_close handle_read received recv request requests send sendbuf_len server socket total_outbufs_len
        will_close write_soon""",
    ),
    "tls_channel.py": (["channel"], "adj sendbuf_len socket will_close"),
    "server.py": (
        ["server"],
        """_map accept active_channels addr adj channel_class close family fix_addr getsockname handle_accept
        handle_close pull_trigger run set_socket_options socket trigger""",
    ),
}  # fmt: skip
"""Objects of waitress on which each file builds, and their names that it uses, without those of `object`."""


@pytest.mark.parametrize("file", USED)
def test_used_waitress_names_exist_and_are_listed(file: str, waitress: Waitress) -> None:
    kinds, names = USED[file]
    tree = ast.parse((ROOT / "osbctl" / "broker" / file).read_text())
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    used = {node.attr for node in attributes if getattr(node.value, "id", "") != "_log"}
    used |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    used |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    theirs = {name for kind in kinds for name in dir(getattr(waitress, kind))} - set(dir(object))
    assert used & theirs == set(names.split())
