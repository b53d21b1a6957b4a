"""A judge of secrets: a broker, or a proxy, that sends the password back, in each form, at each place of an answer.

No command may show it, but for `fetch`, whose output is the catalog as it was sent.
"""

import html
import json
import re
import socket
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest

from osbctl.client.connection_options import SentPassword
from osbctl.reports import Format
from osbctl.reports.changes import BROKER_FORMATS, DiffFormat
from tests.case import case
from tests.cli.program import osbctl
from tests.client.test_catalog_client import listening
from tests.corpus import EVERY_CASE
from tests.secrets.catalogs import offering

USER = "platform"
PASSWORDS = ['kn0wn/S3cret&p4ss"w0rd+9', "Zwölf-Boxkämpfer <jagen> 'Viktor'", "correct horse%41 battery"]


def escaped(text: str) -> str:
    return "".join(f"\\u{int.from_bytes(pair):04x}" for pair in pairs(text.encode("utf-16-be")))


def pairs(data: bytes) -> list[bytes]:
    return [data[at : at + 2] for at in range(0, len(data), 2)]


def sent(password: str) -> str:
    return b64encode(f"{USER}:{password}".encode()).decode()


FORMS: dict[str, Callable[[str], str]] = {
    "plain": lambda p: p,
    "header": lambda p: f"Basic {sent(p)}",
    "base64": lambda p: b64encode(p.encode()).decode(),
    "base64 of more": lambda p: b64encode(f"You: {p}, I: broker".encode()).decode(),
    "base64 for URLs": lambda p: sent(p).replace("+", "-").replace("/", "_").rstrip("="),
    "percent": lambda p: quote(p, safe=""),
    "percent in lower case": lambda p: re.sub("%..", lambda found: found[0].lower(), quote(p, safe="")),
    "all percent": lambda p: "".join(f"%{byte:02x}" for byte in p.encode()),
    "percent twice": lambda p: quote(quote(p, safe=""), safe=""),
    "HTML": lambda p: html.escape(p),
    "HTML numbers": lambda p: "".join(f"&#{ord(each)};" for each in p),
    "HTML hexadecimal": lambda p: "".join(f"&#X{ord(each):X};" for each in p),
    "JSON": lambda p: json.dumps(p)[1:-1],
    "JSON with slashes": lambda p: json.dumps(p)[1:-1].replace("/", "\\/"),
    "all JSON": escaped,
    "all JSON in upper case": lambda p: escaped(p).upper().replace("\\U", "\\u"),
    "JSON in JSON": lambda p: json.dumps(json.dumps(p))[1:-1],
    "upper case": str.upper,
    "in two lines": lambda p: f"{p[: len(p) // 2]}\n {p[len(p) // 2 :]}",
    "header in two lines": lambda p: f"Basic {sent(p)[:20]}\r\n\t{sent(p)[20:]}",
    "first half": lambda p: p[: len(p) // 2 + 1],
    "second half of the header": lambda p: sent(p)[len(sent(p)) // 2 - 1 :],
}


def catalog(**more: Any) -> dict[str, Any]:
    return {"services": [{**offering(1), **more}]}


def ok(body: str | bytes, status: str = "200 OK", *headers: str) -> bytes:
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(data)}", "Connection: close"]
    if not any(line.startswith("Content-Type") for line in headers):
        lines.append("Content-Type: application/json")
    return "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n" + data


def one_line(text: str) -> str:
    return " ".join(text.split())


GOOD = json.dumps(catalog())
PLACES: dict[str, Callable[[str], bytes]] = {
    "reason phrase": lambda t: ok("{}", f"500 no {one_line(t)}"),
    "reason phrase of a status that is none": lambda t: ok("{}", f"99999 {one_line(t)}"),
    "status line": lambda t: f"{one_line(t)} is no HTTP\r\n\r\n".encode(),
    "header": lambda t: ok(GOOD, "200 OK", f"X-Debug: {t}"),
    "header without a colon": lambda t: ok(GOOD, "200 OK", one_line(t)),
    "length": lambda t: ok(GOOD, "200 OK", f"Content-Length: {one_line(t)}"),
    "type": lambda t: ok(GOOD, "200 OK", f"Content-Type: text/{one_line(t)}"),
    "type of an error": lambda t: ok('{"description": "no"}', "400 No", f"Content-Type: {one_line(t)}"),
    "coding": lambda t: ok(GOOD, "200 OK", f"Content-Encoding: {one_line(t)}"),
    "identity": lambda t: ok(GOOD, "200 OK", f"X-Broker-API-Request-Identity: {one_line(t)}"),
    "challenge": lambda t: ok("{}", "401 No", f'WWW-Authenticate: Bearer realm="{one_line(t)}"'),
    "chunk": lambda t: (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + one_line(t).encode() + b"\r\n{}\r\n0\r\n\r\n"
    ),
    "redirect to a path": lambda t: ok("", "302 Found", f"Location: /{one_line(t)}/v2/catalog"),
    "redirect to a host": lambda t: ok("", "302 Found", f"Location: http://{one_line(t)}.example.com/v2/catalog"),
    "redirect to a user": lambda t: ok("", "302 Found", f"Location: http://{one_line(t)}@example.com/v2/catalog"),
    "redirect to no address": lambda t: ok("", "302 Found", f"Location: {one_line(t)}://x"),
    "description of 401": lambda t: ok(json.dumps({"description": f"not {t}"}), "401 No"),
    "description of 500": lambda t: ok(json.dumps({"description": t}), "500 No"),
    "description as written": lambda t: ok(f'{{"description": "{t}"}}', "500 No"),
    "description of 412": lambda t: ok(json.dumps({"description": t, "error": t}), "412 No"),
    "where a description is cut": lambda t: ok(json.dumps({"description": "x" * 290 + t}), "500 No"),
    "broken JSON": lambda t: ok(f'{{"services": {t}'),
    "broken string": lambda t: ok(f'{{"services": "{t}'),
    "broken JSON behind a catalog": lambda t: ok(f'{GOOD[:-1]}, "x": {t}'),
    "text": lambda t: ok(f"You sent {t}", "200 OK", "Content-Type: text/plain"),
    "doubled key": lambda t: ok(f'{{{json.dumps(t)}: 1, {json.dumps(t)}: 2, "services": []}}'),
    "doubled key as written": lambda t: ok(f'{{"{t}": 1, "{t}": 2}}'),
    "value of a doubled key": lambda t: ok(GOOD.replace('"name"', f'"name": {json.dumps(t)}, "name"')),
    "catalog": lambda t: ok(json.dumps(catalog(description=f"Log in with {t}."))),
    "catalog without escapes": lambda t: ok(json.dumps(catalog(description=t), ensure_ascii=False)),
    "name": lambda t: ok(json.dumps(catalog(name=t, tags=t, bindable=t))),
    "names of two plans": lambda t: ok(json.dumps(catalog(plans=[plan_without_free(t, n) for n in (1, 2)]))),
    "key": lambda t: ok(json.dumps(catalog(**{t: 1, "metadata": {t: 1}}))),
    "values of a wrong type": lambda t: ok(json.dumps({**catalog(plans=t, metadata=[t]), "services ": t})),
    "parameters": lambda t: ok(json.dumps(catalog(plans=[{**offering(1)["plans"][0], "schemas": wrong_schema(t)}]))),
    "no catalog": lambda t: ok(json.dumps({"error": t})),
    "list": lambda t: ok(json.dumps([t])),
}


def plan_without_free(text: str, number: int) -> dict[str, Any]:
    plan = {**offering(number)["plans"][0], "name": f"{text} {number}"}
    del plan["free"]
    return plan


def wrong_schema(text: str) -> dict[str, Any]:
    schema = {"$schema": text, "properties": {"a": {"type": text, "default": text, "$ref": text}}}
    return {"service_instance": {"create": {"parameters": schema}}}


class Echo:
    """A broker or proxy. `answer` makes its answer of the password in the request; `None` is a good catalog."""

    def __init__(self) -> None:
        self.answer: Callable[[str], bytes] | None = None
        self.url = ""

    def handle(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head and (piece := connection.recv(65_536)):
                head += piece
            found = re.search(rb"(?im)^(?:proxy-)?authorization: basic (\S+)", head)
            with suppress(ValueError):
                login = b64decode(found[1]).decode() if found else ""
                self.reply(connection, login.partition(":")[2])
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)

    def reply(self, connection: socket.socket, password: str) -> None:
        connection.sendall(self.answer(password) if self.answer and password else ok(GOOD))


@contextmanager
def echoing() -> Iterator[Echo]:
    echo = Echo()
    with listening(echo.handle) as port:
        echo.url = f"http://127.0.0.1:{port}"
        yield echo


def plain(text: str) -> str:
    """A text with all escapes undone, by the libraries that make them, without white space, in lower case."""
    for _ in range(4):
        text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
        text = re.sub(r"\\+x([0-9a-fA-F]{2})", lambda found: chr(int(found[1], 16)), text)
        text = html.unescape(unquote(text))
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return re.sub(r"[\s\\]", "", text).lower()


def shown_forms(output: str, password: str) -> list[str]:
    """The forms of the password, or halves of them, that can be read in an output."""
    text = plain(output)
    token = sent(password).rstrip("=")
    inner = b64encode(password.encode()).decode().rstrip("=")
    forms = {"plain": plain(password), "as latin-1": plain(password.encode().decode("latin-1")), "token": token.lower()}
    forms |= {"base64": inner.lower()}
    found = [name for name, form in forms.items() if form in text or form.replace("+", "-").replace("/", "_") in text]
    halves = {f"half of {name}": form for name, form in forms.items()}
    for name, form in halves.items():
        if form[: len(form) // 2 + 1] in text or form[len(form) // 2 - 1 :] in text:
            found.append(name)
    for word in re.findall(r"[A-Za-z0-9+/_-]{16,}", output):
        with suppress(ValueError):
            if password.encode() in b64decode(word.replace("-", "+").replace("_", "/") + "=="):
                found.append("within base64")
    return found


def runs() -> list[str]:
    found = [f"check URL -f {form}" for form in Format]
    found += [f"diff URL clean.json -f {form}" for form in DiffFormat] + ["diff clean.json URL"]
    found += [f"drift URL clean.json -f {form}" for form in DiffFormat]
    found += [f"drift --all -f {form} --database registry.sqlite" for form in BROKER_FORMATS]
    found += ["fetch URL", "page URL -o page.html", "page clean.json --since URL -o page.html"]
    found += ["drift stored --database registry.sqlite", "brokers add new URL --database registry.sqlite"]
    found += ["brokers refresh --dry-run --database registry.sqlite", "brokers refresh --database registry.sqlite"]
    return [*found, "brokers list -f json --database registry.sqlite"]


def prepare(folder: Path, echo: Echo, password: str) -> None:
    (folder / "clean.json").write_text(json.dumps({"services": [offering(2)]}))
    (folder / "registry.sqlite").unlink(missing_ok=True)
    echo.answer = None
    run(folder, f"brokers add stored {echo.url} --database registry.sqlite", password)


def run(folder: Path, words: str, password: str) -> str:
    """The text that a command prints and writes, without the catalog that `fetch` prints."""
    line = words.split()
    if "--database" not in line or line[:2] == ["brokers", "add"]:
        line += ["--user", USER]
    if line[:2] != ["brokers", "list"]:
        line += ["--timeout", "5"]
    names = ("OSBCTL_PASSWORD", "OSBCTL_BROKER_STORED_PASSWORD", "OSBCTL_BROKER_NEW_PASSWORD")
    done = osbctl(*line, cwd=folder, **dict.fromkeys(names, password))
    page = folder / "page.html"
    written = page.read_text() if page.exists() else ""
    page.unlink(missing_ok=True)
    return done.stderr + ("" if line[0] == "fetch" else done.stdout) + written


def judge(folder: Path, echo: Echo, password: str, cases: list[tuple[str, str, str]]) -> list[str]:
    """A line for each run, place and form that shows the password."""
    found = []
    prepare(folder, echo, password)
    for words, place, form in cases:
        with case(words, place, form):
            echo.answer = lambda given, place=place, form=form: PLACES[place](FORMS[form](given))
            if shown := shown_forms(run(folder, words.replace("URL", echo.url), password), password):
                found.append(f"{words} | {place} | {form}: {', '.join(shown)}")
    stored = b"".join(file.read_bytes() for file in folder.glob("registry.sqlite*"))
    return found + [f"database: {shown}" for shown in [shown_forms(stored.decode("latin-1"), password)] if shown]


IN_CATALOGS = (
    "catalog", "catalog without escapes", "name", "names of two plans", "key", "values of a wrong type", "parameters",
    "no catalog",
)  # fmt: skip


def echoes() -> list[tuple[str, str]]:
    """Each place with each form.

    Half a password in a catalog may be a word that stands there by chance: such a catalog is not refused.
    """
    return [(place, form) for place in PLACES for form in FORMS if form != "first half" or place not in IN_CATALOGS]


def sample(step: int) -> list[tuple[str, str, str]]:
    """Every so many places and forms, through every command in turn."""
    words = runs()
    return [(words[number % len(words)], *echoes()[number]) for number in range(0, len(echoes()), step)]


NAMES = ["ascii", "unicode", "escape"]
STEPS = [17, 29, 31]


def test_each_run_each_place_and_each_form_is_in_the_sample() -> None:
    words, places, forms = (set(column) for column in zip(*sample(STEPS[0]), strict=True))
    assert (words, places, forms) == ({*runs()}, {*PLACES}, {*FORMS})


@pytest.mark.parametrize(("password", "step"), [*zip(PASSWORDS, STEPS, strict=True)], ids=NAMES)
def test_no_command_shows_a_password_that_comes_back(password: str, step: int, tmp_path: Path) -> None:
    """Each command, place and form; `make test-every-case` tries all of them with one another."""
    check_echoes(password, sample(step), tmp_path)


@pytest.mark.fuzz
@pytest.mark.parametrize(("name", "form"), [*product(NAMES, FORMS)] if EVERY_CASE else [])
def test_no_command_shows_a_password_in_any_form(name: str, form: str, tmp_path: Path) -> None:
    password = PASSWORDS[NAMES.index(name)]
    cases = [(words, place, one) for words in runs() for place, one in echoes() if one == form]
    check_echoes(password, cases, tmp_path)


@pytest.mark.parametrize("password", PASSWORDS, ids=NAMES)
def test_check_shows_no_half_of_a_password_in_a_doubled_key(password: str, tmp_path: Path) -> None:
    places = ("doubled key", "doubled key as written", "value of a doubled key", "broken string")
    check_echoes(password, [("check URL -f text", place, "first half") for place in places], tmp_path)


@pytest.mark.parametrize("format", Format)
def test_no_place_of_a_group_shows_a_password(format: Format, tmp_path: Path) -> None:
    check_echoes(PASSWORDS[0], [(f"check URL -f {format}", "names of two plans", "plain")], tmp_path)


def check_echoes(password: str, cases: list[tuple[str, str, str]], tmp_path: Path) -> None:
    with echoing() as echo:
        found = judge(tmp_path, echo, password, cases)
    assert not found, "\n" + "\n".join(found)


@pytest.mark.fuzz
@pytest.mark.parametrize("form", FORMS)
def test_no_command_shows_the_password_of_a_proxy(form: str, tmp_path: Path) -> None:
    password = PASSWORDS[0]
    with echoing() as echo:
        echo.answer = lambda given: ok("{}", f"407 Wrong {one_line(FORMS[form](given))}")
        proxy = echo.url.replace("//", f"//{USER}:{quote(password, safe='')}@")
        calls = ("fetch", "check", "page -o page.html", "diff x.json")
        for words in calls if EVERY_CASE else [calls[[*FORMS].index(form) % len(calls)]]:
            (tmp_path / "x.json").write_text(GOOD)
            command, *more = words.split()
            done = osbctl(command, "https://broker.example.com", *more, cwd=tmp_path, HTTPS_PROXY=proxy)
            with case(words):
                assert done.returncode == 3
                assert not shown_forms(done.stdout + done.stderr, password), done.stderr


@pytest.mark.parametrize("password", PASSWORDS, ids=NAMES)
def test_nothing_but_a_password_and_all_of_it_is_redacted_in_each_form(password: str) -> None:
    known = SentPassword(USER, password)
    for form, make in FORMS.items():
        with case(form):
            text = f"{{{make(password)}}}"
            assert re.fullmatch(r'\{(Basic |\\"|WW91OiB)?\*\*\* ?(\\"|\w+={0,2})?\}', known.redact(text))
            assert known.is_in(text) is (form != "first half")


def test_the_judge_sees_each_form() -> None:
    """It finds what it must not find elsewhere."""
    for password in PASSWORDS:
        for form, make in FORMS.items():
            with case(password, form):
                assert shown_forms(f"error: {make(password)} was refused", password)
