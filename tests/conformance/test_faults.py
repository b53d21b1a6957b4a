"""One fault a broker, and exactly the rules that it breaks."""

import contextlib
import json
import re
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from osbctl.client.catalog_client import fetch_catalog
from osbctl.client.connection_options import ConnectionOptions, basic_auth
from osbctl.client.http_client import HttpClient
from osbctl.conformance.check import (
    IDENTITY,
    MOST_SILENT,
    CheckResult,
    check_broker,
    check_catalog_reply,
    check_error_reply,
)
from osbctl.conformance.exchange import Fault, Reply, merge_faults
from osbctl.errors import SourceError
from osbctl.findings import Severity
from osbctl.platforms import Platform, platforms_refusing
from osbctl.rule import RULES, Category
from tests.broker.harness import Authority, until
from tests.client.test_connection_options import server_side
from tests.conformance.faulty import CATALOG, PASSWORD, SLOW_SECONDS, USER, faulty
from tests.platforms.known import CF, KNOWN, KORIFI, SM, known

OPTIONS = ConnectionOptions(user=USER, password=PASSWORD, api_version="2.15", connect_seconds=60, total_seconds=60)
PATIENCE = {"slow_seconds": 30.0, "probe_seconds": 60.0}
HASTE = {**PATIENCE, "probe_seconds": 2.0}
"""For brokers that are silent to a probe: of the others, none fails because a machine is busy."""
IMPATIENCE = {**PATIENCE, "slow_seconds": SLOW_SECONDS - 0.1}
HTTP = "wire-plain-http"

BREAKS = {
    "": ["", "identity", "malformed-400", "locks", "two-challenges", "two-fields", "cleans-301"],
    "wire-open": ["open", "any-password", "any-user"],
    "wire-error-body": ["plain-401", "bare-errors"],
    "wire-challenge": ["no-challenge"],
    "wire-unauthorized": ["forbidden"],
    "wire-version-unchecked": ["version-unchecked", "empty-version"],
    "wire-version-status": ["version-400", "version-500"],
    "wire-gzip-unasked": ["gzip-unasked", "br", "deflate", "utf-8"],
    "wire-gzip-broken": ["gzip-broken", "gzip-half", "x-gzip"],
    "wire-secret": ["own-password", "own-header", "own-header-first", "echoes", "echoes-401"],
    "wire-unstable": ["unstable", "updated", "reorders"],
    "wire-version-differs": ["empty-when-new", "less-when-new"],
    "wire-not-json": ["html-when-new", "html-when-old", "not-json", "a-list", "mark", "trailing", "nan"],
    "wire-redirect": [
        *("redirects", "redirects-308", "redirects-away", "redirects-nowhere", "redirects-twice", "redirects-up")
    ],
    "wire-slow": ["slow"],
    "wire-cut": ["cut", "drips-body"],
    "wire-no-answer": ["hangs", "hangs-later", "closes", "garbage", "drips-head", "many-headers"],
    "wire-error-body wire-status": ["not-200", "gateway"],
    "wire-content-type": ["content-type"],
    "wire-double-slash": ["double-slash", "cleans-308"],
    "wire-request-identity": ["no-echo"],
    "wire-request-identity wire-secret": ["leaks"],
    "wire-redirect wire-status": ["loops"],
    "wire-status": ["not-modified", "created"],
    "wire-no-answer wire-open": ["open-and-closes"],
    "wire-limited": ["limits", "throttles"],
    "wire-version-refused": ["version-old"],
    "wire-status wire-version-refused": ["version-new"],
}
"""The rules that are to be found broken, with the faults of the broker that break them."""
TABLE = {fault: set(rules.split()) for rules, faults in BREAKS.items() for fault in faults}


ALL = {*KNOWN}
REFUSED: dict[str, set[Platform]] = {
    "gzip-unasked": {CF},
    "gzip-broken": ALL - {CF},
    "cut": ALL - {CF},
    "not-200": ALL,
    "plain-401": set(),
    "mark": ALL,
    "loops": ALL,
    "redirects": set(),
    "redirects-308": {CF},
    "redirects-twice": set(),
    "redirects-up": set(),
    "redirects-away": ALL - {CF},
    "created": ALL - {KORIFI},
    "gzip-half": ALL - {CF},
    "version-old": {KORIFI},
    "many-headers": set(),
    "html-when-new": {KORIFI},
    "html-when-old": ALL,
    "empty-when-new": set(),
    "br": ALL,
    "utf-8": set(),
    "x-gzip": ALL - {CF},
    "version-new": ALL - {KORIFI},
}
"""The platforms that could not register a broker with such a fault."""


WITHOUT_CATALOG = {
    "redirects-away", "redirects-nowhere", "redirects-up", "loops", "cut", "drips-head", "drips-body", "hangs",
    "closes", "garbage", "not-json", "mark", "trailing", "a-list", "nan", "not-200", "gateway", "not-modified",
    "created", "version-new", "br", "deflate", "html-when-old", "many-headers",
}  # fmt: skip
"""The faults that let no catalog through."""


def found_rules(checked: CheckResult) -> set[str]:
    return {finding.rule for finding in checked.findings} - {HTTP}


@pytest.mark.parametrize("name", TABLE)
def test_a_fault_is_found(name: str) -> None:
    options = replace(OPTIONS, total_seconds=0.7) if name in ("drips-head", "drips-body", "hangs") else OPTIONS
    times = {"slow": IMPATIENCE, "hangs-later": HASTE, "drips-body": HASTE}.get(name, PATIENCE)
    with faulty(name) as (address, server):
        checked = check_broker(address, options, **times)
        assert found_rules(checked) == TABLE[name], [finding.message for finding in checked.findings]
        assert server.asked <= 15, "a handful of requests"
        if name == "utf-8":
            assert Severity.ERROR not in {finding.severity for finding in checked.findings}
        if name == "hangs-later":
            assert server.asked == 1 + MOST_SILENT, "a silent broker is left alone"
    if name in REFUSED:
        assert {platform for finding in checked.findings for platform in known(finding.refused_by)} == REFUSED[name]
    told = [finding.rule for finding in checked.findings]
    if name not in ("echoes", "version-400"):  # several requests show these, each in another way
        assert len(told) == len(set(told)), "one cause is reported once"
    assert (checked.catalog is None) == (name in WITHOUT_CATALOG)
    messages = " ".join(finding.message for finding in checked.findings)
    for secret in (PASSWORD, basic_auth(USER, PASSWORD).removeprefix("Basic ")):
        assert secret not in messages


@pytest.mark.parametrize("platform", KNOWN)
def test_a_doubled_slash_is_asked_for_by_those_who_do_not_trim(platform: Platform) -> None:
    with faulty("double-slash") as (address, _):
        found = found_rules(check_broker(address, OPTIONS, [platform], **PATIENCE))
    assert found == ({"wire-double-slash"} if platform in (CF, SM) else set())


def test_every_rule_of_the_wire_is_shown() -> None:
    shown = set().union(*TABLE.values()) | {HTTP, "wire-certificate", "wire-client-certificate"}
    assert shown == {rule.id for rule in RULES.values() if rule.category is Category.WIRE}


@pytest.mark.parametrize(("name", "severity", "told"), [
    ("unstable", Severity.ERROR, r"db/small: the id changed from .* while the name stayed"),
    ("updated", Severity.INFO, r"db: metadata.* changed from \"0000\" to \"0001\""),
    ("reorders", Severity.INFO, r"db: the plans changed order"),
    ("nests", Severity.ERROR, "one of them is nested deeper than 100 levels"),
])  # fmt: skip
def test_what_moves_between_two_requests_counts_as_much_as_it_hurts(name: str, severity: Severity, told: str) -> None:
    with faulty(name) as (address, _):
        (found,) = (one for one in check_broker(address, OPTIONS, **PATIENCE).findings if one.rule == "wire-unstable")
    assert found.severity is severity
    assert re.search(f"two requests in a row got different catalogs: {told}$", found.message), found.message


def test_a_fault_of_every_request_is_told_from_one_of_a_version() -> None:
    with faulty("content-type") as (address, _):
        findings = check_broker(address, OPTIONS, **PATIENCE).findings
    found = next(one for one in findings if one.rule == "wire-content-type")
    assert found.message.startswith("GET /v2/catalog, also with X-Broker-API-Version: ")


@pytest.mark.parametrize(("name", "severity", "told"), [
    ("empty-when-new", Severity.ERROR, "the catalog is empty"),
    ("less-when-new", Severity.INFO, "metadata"),
    ("html-when-new", Severity.ERROR, "not a JSON object"),
])  # fmt: skip
def test_the_answer_at_a_platforms_own_version_is_looked_at(name: str, severity: Severity, told: str) -> None:
    with faulty(name) as (address, _):
        checked = check_broker(address, OPTIONS, **PATIENCE)
    (found,) = (one for one in checked.findings if one.rule in ("wire-version-differs", "wire-not-json"))
    assert found.severity is severity
    assert "with X-Broker-API-Version: 2.17" in found.message
    assert told in found.message


def test_what_was_not_followed_was_not_checked() -> None:
    with faulty("redirects-up") as (address, _):
        (found,) = (one for one in check_broker(address, OPTIONS, **PATIENCE).findings if one.rule != HTTP)
    assert (found.severity, found.refused_by) == (Severity.ERROR, ())
    assert found.message.endswith("to another place, https://localhost:1")


@pytest.mark.parametrize(("version", "severity"), [("2.14", Severity.INFO), ("2.15", Severity.WARNING)])
def test_the_identity_must_come_back_from_2_15_on(version: str, severity: Severity) -> None:
    with faulty("no-echo") as (address, _):
        found = check_broker(address, replace(OPTIONS, api_version=version), **PATIENCE).findings
    assert {one.severity for one in found if one.rule == "wire-request-identity"} == {severity}


@pytest.mark.parametrize(("seconds", "severity", "refused"), [
    (5.0, None, ()),
    (15.0, Severity.WARNING, ()),
    (15.1, Severity.ERROR, (SM,)),
    (60.1, Severity.ERROR, tuple(each for each in KNOWN if each is not KORIFI)),
])  # fmt: skip
def test_service_manager_gives_up_first(
    seconds: float, severity: Severity | None, refused: tuple[Platform, ...]
) -> None:
    headers = {"content-type": "application/json", "x-broker-api-request-identity": IDENTITY}
    reply = Reply("GET /v2/catalog", "", 200, headers, json.dumps(CATALOG).encode(), seconds)
    found = merge_faults(check_catalog_reply(reply, 5.0))
    assert [(one.severity, known(one.refused_by)) for one in found] == ([(severity, refused)] if severity else [])
    if severity:
        assert found[0].message == f"GET /v2/catalog: the answer took {seconds} seconds"


def test_a_fault_of_several_requests_is_refused_by_all_who_refuse_one_of_them() -> None:
    of_the_rule = Fault("wire-gzip-broken", "x")
    named = of_the_rule._replace(refused_by=[Platform.CLOUD_FOUNDRY])
    all_named = set(platforms_refusing("wire-gzip-broken"))
    assert all_named and Platform.CLOUD_FOUNDRY not in all_named
    for faults in ([named, of_the_rule], [of_the_rule, named, named], [named, named, of_the_rule]):
        (found,) = merge_faults(faults)
        assert set(found.refused_by) == {*all_named, Platform.CLOUD_FOUNDRY}
    assert merge_faults([named, named])[0].refused_by == (Platform.CLOUD_FOUNDRY,)


def test_what_a_refusal_says_is_told_without_the_password() -> None:
    with faulty("echoes") as (address, _):
        with pytest.raises(SourceError, match=r"authentication failed \(401\): .*You sent Basic \*\*\*") as caught:
            check_broker(address, replace(OPTIONS, password="another-one"), **PATIENCE)
        with pytest.raises(SourceError) as without_user:
            check_broker(address, replace(OPTIONS, user="", password=""), **PATIENCE)
        assert without_user.value.advice == "the broker asks for a password: add --user NAME"
        assert "another-one" not in caught.value.message
        with pytest.raises(SourceError, match=r"You sent Basic \*\*\*"):
            fetch_catalog(address, replace(OPTIONS, password="another-one"))


@pytest.mark.parametrize("name", ["drips-head", "drips-body"])
def test_a_trickle_does_not_hold_fetch(name: str) -> None:
    with faulty(name) as (address, _), pytest.raises(SourceError, match="in time"):
        fetch_catalog(address, replace(OPTIONS, total_seconds=0.7))


@pytest.mark.parametrize("ask", [fetch_catalog, check_broker])
def test_a_trickle_in_the_handshake_holds_nobody(ask: Callable[[str, ConnectionOptions], object]) -> None:
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            while not stop.is_set():
                connection, _ = listener.accept()
                with connection, contextlib.suppress(OSError):
                    for byte in b"\x16\x03\x03\x40\x00" + bytes(16_000):  # for a quarter of an hour
                        if stop.wait(0.05):
                            break
                        connection.sendall(bytes([byte]))

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        address = f"https://127.0.0.1:{listener.getsockname()[1]}/v2/catalog"
        with contextlib.suppress(SourceError):  # to check, it is a broker that is there
            ask(address, replace(OPTIONS, total_seconds=0.7))
        assert thread.is_alive(), "it was still sending"
        stop.set()
        socket.create_connection(listener.getsockname()).close()
        thread.join(60)
        assert not thread.is_alive()


def test_a_connection_that_is_not_taken_does_not_hold_fetch() -> None:
    with socket.socket() as listener, contextlib.ExitStack() as waiting:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            full = waiting.enter_context(socket.socket())
            full.setblocking(False)
            full.connect_ex(listener.getsockname())
        with pytest.raises(SourceError, match="in time"):
            address = f"http://127.0.0.1:{listener.getsockname()[1]}/v2/catalog"
            fetch_catalog(address, replace(OPTIONS, total_seconds=0.5, connect_seconds=1000))


def test_a_connection_that_comes_too_late_is_not_used() -> None:
    with HttpClient("http://127.0.0.1:1", replace(OPTIONS, total_seconds=0.01)) as client, socket.socket() as sock:
        assert until(lambda: client.expired)
        with pytest.raises(TimeoutError):
            client.cut_at_deadline(sock)


def test_a_query_is_sent_with_every_request() -> None:
    with faulty("keyed") as (address, _):
        assert found_rules(check_broker(f"{address}?key=1", OPTIONS, **PATIENCE)) == set()


def test_wrong_credentials_are_no_finding() -> None:
    with faulty() as (address, server):
        with pytest.raises(SourceError, match=r"authentication failed \(401\)"):
            check_broker(address, replace(OPTIONS, password="wrong"), **PATIENCE)
        assert server.asked == 1


def test_a_file_that_cannot_be_read_is_no_finding(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"own\.pem: cannot be read"):
        check_broker("https://127.0.0.1:9", replace(OPTIONS, ca_file=str(tmp_path / "own.pem")), **PATIENCE)


def test_a_short_password_is_no_word_of_an_error() -> None:
    refusal = Reply("GET /", "", 401, {}, b"the user or the password is wrong", sent=basic_auth("u", "password"))
    assert {finding.rule for finding in check_error_reply(refusal)} == {"wire-error-body"}


@pytest.mark.parametrize("text", ["sorry, correct-horse-battery", basic_auth("u", "correct-horse-battery")])
def test_an_answer_that_holds_the_password_in_either_form(text: str) -> None:
    sent = basic_auth("u", "correct-horse-battery")
    headers = [{f"x-{at}": text if at == held else "" for at in range(3)} for held in range(3)]
    replies = [Reply("GET /", "", 500, {}, text.encode(), sent=sent)]
    replies += [Reply("GET /", "", 500, these, b"", sent=sent) for these in headers]
    for reply in replies:
        assert "wire-secret" in {found.rule for found in check_error_reply(reply)}


def test_nobody_there() -> None:
    with pytest.raises(SourceError, match="refused"):
        check_broker("http://127.0.0.1:9/v2/catalog", OPTIONS, **PATIENCE)


@pytest.mark.parametrize(("days", "expected"), [(20, set()), (-0.01, {"wire-certificate"})])
def test_certificates(authority: Authority, days: float, expected: set[str]) -> None:
    with faulty("", server_side(authority.issue(f"check-{days}", days=days))) as (address, _):
        checked = check_broker(address, replace(OPTIONS, ca_file=str(authority.cert)), **PATIENCE)
        assert found_rules(checked) == expected


def test_an_unknown_authority_gets_no_password(authority: Authority) -> None:
    with faulty("", server_side(authority.issue("check-unknown"))) as (address, server):
        assert found_rules(check_broker(address, OPTIONS, **PATIENCE)) == {"wire-certificate"}
        assert next(server.counter) == 0, "no request came through"
        assert found_rules(check_broker(address, replace(OPTIONS, insecure=True), **PATIENCE)) == set()


def test_the_words_of_a_report_are_not_masked_where_a_password_is_one_of_them() -> None:
    with faulty("open") as (address, _):
        checked = check_broker(address, replace(OPTIONS, password="password"), **PATIENCE)
    (told,) = (finding.message for finding in checked.findings if finding.rule == "wire-open")
    assert "with a wrong password" in told
    with faulty("open") as (address, _):
        checked = check_broker(address, replace(OPTIONS, password="p"), **PATIENCE)
    assert f"{address} is plain HTTP" in [finding.message for finding in checked.findings]
